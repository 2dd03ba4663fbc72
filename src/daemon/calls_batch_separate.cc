// batch with `separate`: each command is a `run` of its own, with its own terminal and limits, several at
// once if asked.
#include <algorithm>

#include <boost/json/array.hpp>

#include "base/ids.h"
#include "base/sha256.h"
#include "daemon/engine_application.h"
#include "daemon/objects.h"

namespace ttyward::daemon {

namespace json = boost::json;

namespace {

// The same for the same batch and number: a batch that is sent again, because its daemon died, finds the
// commands that it began.
std::string command_id_in(const std::string& batch, size_t index) {
  if (batch.empty()) return base::random_id('c');
  constexpr std::string_view kCharacters = "abcdefghijklmnopqrstuvwxyz234567";
  constexpr size_t kLength = 12;
  const auto digest = base::sha256(batch + "-" + std::to_string(index + 1));
  std::string id = "c";
  for (size_t i = 0; i < kLength; i++) id += kCharacters[static_cast<size_t>(digest[i]) % kCharacters.size()];
  return id;
}

}  // namespace

// Takes the place of the client for each command, and answers the client once for all of them.
class EngineApplication::SeparateBatch final : public Responder::Sink {
 public:
  struct Plan {
    std::string id;  // by the caller; empty: none
    std::vector<std::string> commands;
    json::object common;  // arguments of every command
    size_t parallel = 1;
    bool keep_going = false;
    std::chrono::milliseconds yield_after{0};
  };

  SeparateBatch(EngineApplication& application, Caller caller, Responder responder, Plan plan)
      : application_(application),
        caller_(std::move(caller)),
        responder_(std::move(responder)),
        plan_(std::move(plan)),
        results_(plan_.commands.size()) {}
  ~SeparateBatch() {
    for (const auto& call : calls_) call->sink = nullptr;
  }

  void start() {
    begun_ = std::chrono::steady_clock::now();
    key_ = application_.add_call(caller_, responder_, [this] { take_back(); });
    advance();
  }
  uint64_t key() const { return key_; }

  void part(uint64_t, uint64_t, const json::object&) override {}
  void ok(uint64_t, uint64_t index, const json::object& value) override { finished(index, value); }
  void fail(uint64_t, uint64_t index, const wire::CallError& error) override {
    terminal::CommandResult result;
    result.command = plan_.commands[index];
    result.state = terminal::CommandState::FailedToStart;
    result.reason = error.message;
    finished(index, result_object(result));
  }

 private:
  void finished(size_t index, json::object result) {
    const json::value& state = result["state"];
    if (state == "running" || state == "pending_approval") {
      out_of_time_ = true;  // it goes on; the time to wait is over for all
    } else {
      failed_ = failed_ || (state != "skipped" && (state != "exited" || result["exit_code"] != 0));
    }
    results_[index] = std::move(result);
    running_--;
    advance();
  }

  std::chrono::milliseconds left() const {
    return plan_.yield_after -
           std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun_);
  }

  void advance() {
    if (advancing_) return;  // a command that is refused is over while it is being started
    advancing_ = true;
    const bool bounded = plan_.yield_after.count() > 0;
    while (next_ < plan_.commands.size() && running_ < plan_.parallel && !(failed_ && !plan_.keep_going)) {
      out_of_time_ = out_of_time_ || (bounded && left().count() <= 0);
      if (out_of_time_) break;
      running_++;
      const size_t index = next_++;
      json::object args = plan_.common;
      args["command"] = plan_.commands[index];
      args["command_id"] = command_id_in(plan_.id, index);
      if (bounded) args["yield_after_ms"] = std::max<int64_t>(1, left().count());
      calls_.push_back(std::make_shared<Responder::State>(Responder::State{this, 0, index, {}}));
      Args read(std::move(args));
      application_.run(caller_, read, Responder(calls_.back()));
    }
    advancing_ = false;
    if (running_ == 0) end();
  }

  void end() {
    json::array results;
    for (std::optional<json::object>& result : results_) {
      if (result) results.push_back(std::move(*result));
    }
    json::array rest;
    for (size_t i = next_; i < plan_.commands.size(); i++) rest.emplace_back(plan_.commands[i]);
    json::object answer{{"results", std::move(results)}, {"not_run", std::move(rest)}};
    if (next_ < plan_.commands.size()) answer["stopped_by"] = out_of_time_ ? "time" : "failure";
    responder_.ok(answer);
    application_.end_call(key_);
  }

  // The commands that run go on, as those of `run` do.
  void take_back() {
    for (const auto& call : calls_) {
      call->sink = nullptr;
      if (const auto cancelled = std::exchange(call->cancelled, nullptr)) cancelled();
    }
  }

  EngineApplication& application_;
  const Caller caller_;
  const Responder responder_;
  const Plan plan_;
  std::vector<std::optional<json::object>> results_;
  std::vector<std::shared_ptr<Responder::State>> calls_;
  std::chrono::steady_clock::time_point begun_;
  uint64_t key_ = 0;
  size_t next_ = 0;
  size_t running_ = 0;
  bool failed_ = false;
  bool out_of_time_ = false;
  bool advancing_ = false;
};

void EngineApplication::separate_batch(const Caller& caller, Args& args, const Responder& responder) {
  SeparateBatch::Plan plan;
  plan.id = args.text("batch_id");
  plan.commands = args.texts("commands");
  plan.keep_going = args.flag("keep_going");
  plan.parallel = static_cast<size_t>(args.number("parallel", 1, 1, 64));
  plan.yield_after = args.duration("yield_after_ms", std::chrono::milliseconds(0));
  for (const char* name : {"cwd", "env", "task", "view", "lines", "chars", "timeout_ms", "idle_timeout_ms"}) {
    if (const auto value = args.any(name)) plan.common[name] = *value;
  }
  check_batch(plan.commands, args);
  if (args.refused(responder)) return;
  const auto batch = std::make_shared<SeparateBatch>(*this, caller, responder, std::move(plan));
  // It may be over before it comes back: nobody but us holds it then.
  batch->start();
  if (OpenCall* call = open_call(batch->key())) call->parts.push_back(batch);
}

}  // namespace ttyward::daemon
