// batch: several commands in one shell, each through the gate, each with its own result.
#include <algorithm>

#include <boost/json/array.hpp>

#include "daemon/engine_application.h"
#include "daemon/objects.h"
#include "policy/verdict_json.h"

namespace ttyward::daemon {

namespace json = boost::json;
using engine::GateDecision;
using engine::Terminal;
using terminal::CommandState;

namespace {
bool valid_batch_id(const std::string& id) {
  constexpr size_t kLongest = 40;
  return id.size() <= kLongest && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '_';
         });
}
}  // namespace

// Several in one shell of their own: what one leaves behind is there for the next.
struct EngineApplication::Batch {
  Caller caller;
  Responder responder;
  std::string id;  // by the caller; that of its commands begins with it
  std::vector<std::string> commands;
  std::string terminal;
  bool keep_going = false;
  bool failed = false;
  size_t next = 0;
  std::chrono::steady_clock::time_point deadline;
  bool has_deadline = false;
  terminal::ViewLimits view;
  json::array results;
  uint64_t key = 0;
};

void EngineApplication::batch(const Caller& caller, Args& args, const Responder& responder) {
  auto batch =
      std::make_shared<Batch>(Batch{caller, responder, {}, {}, {}, false, false, 0, {}, false, {}, {}, 0});
  batch->id = args.text("batch_id");
  if (!batch->id.empty() && !valid_batch_id(batch->id)) {
    args.wrong("'batch_id' must be at most 40 letters, digits, '-' and '_'");
  }
  batch->commands = args.texts("commands");
  batch->keep_going = args.flag("keep_going");
  batch->view = view_of(args);
  engine::OpenRequest request;
  request.cwd = args.text("cwd");
  request.environment = args.environment("env");
  request.owner = owner_of(caller);
  request.request = batch->id;
  request.shell = {"/bin/bash"};
  const auto timeout = args.duration("timeout_ms", config_.settings.times.timeout);
  if (batch->commands.empty()) args.wrong("'commands' must have at least one command");
  if (batch->commands.size() > 1000) args.wrong("'commands' may have at most 1000 commands");
  if (args.refused(responder)) return;
  if (outside_roots(caller, request.cwd, responder)) return;
  batch->has_deadline = timeout.count() > 0;
  batch->deadline = std::chrono::steady_clock::now() + timeout;
  auto opened = engine_->open(std::move(request));
  if (!opened) return responder.fail(wire::call_error(opened.error()));
  batch->terminal = (*opened)->id();
  batch->key = add_call(caller, responder, [this, id = batch->terminal] {
    if (auto terminal = engine_->find(id)) (*terminal)->kill();
  });
  next_of_batch(batch);
}

void EngineApplication::end_batch(const std::shared_ptr<Batch>& batch) {
  json::array rest;
  for (size_t i = batch->next; i < batch->commands.size(); i++) rest.emplace_back(batch->commands[i]);
  batch->responder.ok({{"results", std::move(batch->results)}, {"not_run", std::move(rest)}});
  if (auto terminal = engine_->find(batch->terminal)) (*terminal)->kill();
  end_call(batch->key);
}

// Whether a daemon before us ran it already; a batch is sent again by a client whose daemon died.
bool EngineApplication::began_of_batch(const Terminal& terminal, const std::string& command_id) const {
  return terminal.find(command_id) != nullptr || engine_->forgot_command(command_id);
}

void EngineApplication::next_of_batch(const std::shared_ptr<Batch>& batch) {
  if (!batch->responder.open()) return;
  auto terminal = engine_->find(batch->terminal);
  const bool over = batch->next >= batch->commands.size() || (batch->failed && !batch->keep_going);
  if (over || !terminal) return end_batch(batch);
  const std::string known_as = batch->id.empty() ? "" : batch->id + "-" + std::to_string(batch->next + 1);
  const bool began_before = !known_as.empty() && began_of_batch(**terminal, known_as);
  if (!began_before && !(*terminal)->live()) return end_batch(batch);
  const std::string text = batch->commands[batch->next++];
  engine::GateRequest gate = gate_request(batch->caller, text, (*terminal)->cwd());
  gate.terminal_id = batch->terminal;
  if (!known_as.empty()) gate.command_id = known_as;
  const std::string id = gate.command_id;
  const auto done = [this, batch](json::object result) {
    const bool skipped = result["state"] == "skipped";
    batch->failed = !skipped && (result["state"] != "exited" || result["exit_code"] != 0);
    batch->results.push_back(std::move(result));
    next_of_batch(batch);
  };
  const auto follow = [this, batch, id, done](Terminal& of) {
    OpenCall* call = open_call(batch->key);
    if (call == nullptr) return end_batch(batch);
    engine::WaitSpec spec;
    spec.command_id = id;
    spec.exit = true;
    spec.timeout = std::chrono::milliseconds(0);
    auto wait =
        engine::Wait::start(*loop_, of, std::move(spec), [this, batch, id, done](const engine::WaitOutcome&) {
          const auto found = engine_->find_command(id);
          if (!found) return end_batch(batch);
          done(result_object(found->terminal->result(*found->command, batch->view)));
        });
    if (!wait) {
      batch->responder.fail(wire::call_error(wait.error()));
      return end_batch(batch);
    }
    // The wait before this one may be the caller of this.
    std::shared_ptr<engine::Wait> former = std::move(call->wait);
    loop_->post([former] {});
    call->wait = std::move(*wait);
  };
  if (began_before) {
    // The daemon before us ran it: it goes on, or has ended.
    if (const engine::Command* command = (*terminal)->find(id)) {
      if (!command->over) return follow(**terminal);
      return done(result_object((*terminal)->result(*command, batch->view)));
    }
    terminal::CommandResult facts;
    facts.command_id = id;
    facts.command = text;
    facts.state = CommandState::Lost;
    facts.reason = "it ran, and its result was forgotten when the daemon was restarted; see ttyward history";
    batch->results.push_back(result_object(facts));
    return next_of_batch(batch);
  }
  const auto refused = [id, text](const GateDecision& decision) {
    terminal::CommandResult facts;
    facts.command_id = id;
    facts.command = text;
    facts.state = decision.kind == GateDecision::Kind::Skipped ? CommandState::Skipped : CommandState::Denied;
    facts.reason = decision.reason;
    facts.verdict_json = policy::to_json(decision.verdict);
    facts.approval = decision.approval_id;
    return result_object(facts);
  };
  const auto go = [this, batch, id, text, follow](const std::string& verdict) {
    auto target = engine_->find(batch->terminal);
    if (!target) return end_batch(batch);
    engine::CommandRequest request;
    request.id = id;
    request.text = text;
    request.by = owner_of(batch->caller);
    request.verdict_json = verdict;
    if (batch->has_deadline) {
      request.timeout =
          std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                     batch->deadline - std::chrono::steady_clock::now()));
    }
    auto submitted = engine_->submit(**target, std::move(request));
    if (!submitted) {
      batch->responder.fail(wire::call_error(submitted.error()));
      return end_batch(batch);
    }
    follow(*submitted->terminal);
  };
  const GateDecision decision =
      gate_->ask(gate, [this, alive = alive_, batch, go, done, refused](const GateDecision& came) {
        if (!*alive || !batch->responder.open()) return;
        if (came.kind == GateDecision::Kind::Allowed) return go(policy::to_json(came.verdict));
        done(refused(came));
      });
  if (decision.kind == GateDecision::Kind::Allowed) return go(policy::to_json(decision.verdict));
  if (decision.kind != GateDecision::Kind::Pending) done(refused(decision));
}

}  // namespace ttyward::daemon
