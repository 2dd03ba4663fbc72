// batch: several commands in one shell, each through the gate, each with its own result.
#include "app/batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "app/default_view.h"
#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "command/shell_choice.h"
#include "policy/verdict_json.h"

namespace ttyward::app {

using engine::Terminal;
using gate::GateDecision;
using std::chrono::milliseconds;
using terminal::CommandState;
using wire::Code;

namespace {

constexpr size_t kMostCommands = 1000;
constexpr size_t kLongestId = 40;

bool valid_batch_id(const std::string& id) {
  return id.size() <= kLongestId && std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '_';
         });
}

std::string wrong_with(const wire::BatchRequest& request) {
  if (request.commands.empty()) return "'commands' must have at least one command";
  if (request.commands.size() > kMostCommands) return "'commands' may have at most 1000 commands";
  if (!request.separate && !valid_batch_id(request.batch_id))
    return "'batch_id' must be at most 40 letters, digits, '-' and '_'";
  return {};
}

}  // namespace

// State passed from one command to the next. The pending callback owns it.
class Commands::ShellBatch : public std::enable_shared_from_this<Commands::ShellBatch> {
 public:
  ShellBatch(Commands& commands, Caller caller, wire::BatchRequest request,
             const Reply<wire::BatchResult>& reply)
      : commands_(commands),
        core_(commands.core_),
        caller_(std::move(caller)),
        request_(std::move(request)),
        reply_(reply),
        view_(view_of(request_.view, core_.settings().output)) {
    const milliseconds timeout = request_.timeout.value_or(core_.settings().times.timeout);
    if (timeout.count() > 0) deadline_ = std::chrono::steady_clock::now() + timeout;
  }

  void start() {
    engine::OpenRequest open;
    open.cwd = request_.cwd;
    open.environment = request_.env.entries;
    open.owner = owner_of(caller_);
    open.session = own_session(caller_);
    open.request = request_.batch_id;
    auto shell = command::choose_shell();
    if (!shell) return reply_.fail(shell.error());
    open.shell = {std::move(*shell)};
    open.task = request_.task;
    commands_.environment_.get(commands_.environment_.of(caller_), request_.cwd,
                               [self = shared_from_this(), open](std::vector<std::string> callers) {
                                 engine::OpenRequest ready = open;
                                 ready.callers = std::move(callers);
                                 self->begin(std::move(ready));
                               });
  }

 private:
  void begin(engine::OpenRequest open) {
    const policy::Verdict reliance = reliance_of(core_.gate->mode(caller_.session), asker_of(caller_));
    auto confined = confine(request_.sandbox, asker_of(caller_), open.cwd, open.callers,
                            core_.settings().sandbox, &reliance);
    if (!confined) return reply_.fail(confined.error());
    open.sandbox = std::move(confined->plan);
    open.sandbox_report = std::move(confined->report);
    SandboxProxies& proxies = commands_.proxies_;
    const auto proxy = proxies.start_unnamed(open.sandbox);
    if (!proxy) return reply_.fail(proxy.error());
    auto opened = core_.engine->open(std::move(open));
    if (opened) proxies.rename(*proxy, (*opened)->id());
    proxies.end(*proxy);
    if (!opened) return reply_.fail(opened.error());
    // Another's batch of that id.
    if (const auto why = refusal(core_, caller_, **opened, Use::Act)) return reply_.fail(*why);
    terminal_ = (*opened)->id();
    (*opened)->want_input_state(1);  // a command that waits is told as one that waits
    key_ = core_.calls.add(reply_, [self = shared_from_this()] {
      self->lose_interest();
      self->kill_terminal();
    });
    if (request_.yield_after.count() > 0) {
      core_.calls.after(key_, request_.yield_after, [self = shared_from_this()] { self->yield(); });
    }
    next();
  }

  void lose_interest() {
    if (auto terminal = core_.engine->find(terminal_)) (*terminal)->want_input_state(-1);
  }

  // A person who has taken the keyboard meanwhile keeps it.
  void kill_terminal() {
    auto terminal = core_.engine->find(terminal_);
    if (terminal && !(*terminal)->lease()) (*terminal)->kill();
  }

  // The one that runs goes on in its terminal, which stays; what has not begun is not run.
  void yield() {
    const auto terminal = core_.engine->find(terminal_);
    const engine::Command* running = terminal ? (*terminal)->last() : nullptr;
    stays_ = running != nullptr && !running->over();
    if (stays_) results_.push_back(result_object((*terminal)->result(*running, view_)));
    out_of_time_ = true;
    end();
  }

  void end() {
    const auto rest = request_.commands.begin() + static_cast<std::ptrdiff_t>(next_);
    wire::BatchResult answer;
    answer.results = std::move(results_);
    answer.not_run.assign(rest, request_.commands.end());
    if (!answer.not_run.empty()) answer.stopped_by = out_of_time_ ? "time" : "failure";
    reply_.ok(answer);
    lose_interest();
    if (!stays_) kill_terminal();
    core_.calls.end(key_);
  }

  // Whether a daemon before us ran it already: a batch is sent again by a client whose daemon died.
  bool began(const Terminal& terminal, const std::string& id) const {
    return terminal.find(id) != nullptr || core_.engine->forgot_command(id);
  }

  void next() {
    if (!reply_.open()) return;
    const auto terminal = core_.engine->find(terminal_);
    const bool over = next_ >= request_.commands.size() || (failed_ && !request_.keep_going);
    if (over || !terminal) return end();
    const std::string known_as =
        request_.batch_id.empty() ? "" : request_.batch_id + "-" + std::to_string(next_ + 1);
    const bool began_before = !known_as.empty() && began(**terminal, known_as);
    if (!began_before && !(*terminal)->live()) return end();
    const std::string text = request_.commands[next_++];
    if (began_before) return rejoin(**terminal, known_as, text);
    gate::GateRequest gate = commands_.gatekeeper_.request(caller_, text, (*terminal)->cwd(), known_as);
    gate.terminal_id = terminal_;
    const std::string id = gate.command_id;
    commands_.gatekeeper_.ask(std::move(gate),
                              [self = shared_from_this(), id, text](const GateDecision& came) {
                                if (self->reply_.open()) self->decided(id, text, came);
                              });
  }

  void decided(const std::string& id, const std::string& text, const GateDecision& decision) {
    const auto terminal = core_.engine->find(terminal_);
    const bool fits = terminal && suffices((*terminal)->spec().sandbox, decision.verdict);
    if (decision.kind == GateDecision::Kind::Allowed && (fits || !terminal))
      return submit(id, text, policy::to_json(decision.verdict));
    terminal::CommandResult facts;
    facts.command_id = id;
    facts.command = text;
    if (decision.kind == GateDecision::Kind::Allowed) {
      facts.state = CommandState::FailedToStart;
      facts.reason = "it needs another sandbox than the shell of this batch has: run it on its own";
      facts.verdict_json = policy::to_json(decision.verdict);
      return done(result_object(facts));
    }
    done(result_object(Gatekeeper::refused_result(std::move(facts), decision)));
  }

  // The daemon before us ran it: it goes on, or has ended.
  void rejoin(Terminal& terminal, const std::string& id, const std::string& text) {
    if (const engine::Command* command = terminal.find(id)) {
      return command->over() ? take_result(id) : follow(terminal, id);
    }
    terminal::CommandResult facts;
    facts.command_id = id;
    facts.command = text;
    facts.state = CommandState::Lost;
    facts.reason = "it ran, but its result was lost when the daemon restarted; see ttyward history";
    results_.push_back(result_object(facts));
    next();
  }

  void submit(const std::string& id, const std::string& text, const std::string& verdict) {
    const auto terminal = core_.engine->find(terminal_);
    if (!terminal) return end();
    engine::CommandRequest request;
    request.id = id;
    request.text = text;
    request.by = owner_of(caller_);
    request.session = own_session(caller_);
    request.verdict_json = verdict;
    if (deadline_) {
      const auto left =
          std::chrono::duration_cast<milliseconds>(*deadline_ - std::chrono::steady_clock::now());
      request.timeout = std::max(milliseconds(1), left);
    }
    auto submitted = core_.engine->submit(**terminal, std::move(request));
    if (!submitted) {
      reply_.fail(submitted.error());
      return end();
    }
    follow(*submitted->terminal, id);
  }

  void follow(Terminal& terminal, const std::string& id) {
    OpenCall* call = core_.calls.find(key_);
    if (call == nullptr) return end();
    engine::WaitSpec spec;
    spec.command_id = id;
    spec.exit = true;
    spec.timeout = milliseconds(0);
    auto wait = engine::Wait::start(
        core_.loop, terminal, std::move(spec),
        [self = shared_from_this(), id](const engine::WaitOutcome&) { self->take_result(id); });
    if (!wait) {
      reply_.fail(wait.error());
      return end();
    }
    // The wait before this one may be the caller of this.
    std::shared_ptr<engine::Wait> former = std::move(call->wait);
    core_.loop.post([former] {});
    call->wait = std::move(*wait);
  }

  // Of one that has ended.
  void take_result(const std::string& id) {
    commands_.watching_.when_readable({id}, [self = shared_from_this(), id] {
      const auto found = self->core_.engine->find_command(id);
      if (!found) return self->end();
      self->done(result_object(found->terminal->result(*found->command, self->view_)));
    });
  }

  void done(wire::CommandResult result) {
    failed_ = result.state != "skipped" && !result.ended_well();
    results_.push_back(std::move(result));
    next();
  }

  Commands& commands_;
  Core& core_;
  const Caller caller_;
  const wire::BatchRequest request_;
  const Reply<wire::BatchResult> reply_;
  const terminal::ViewLimits view_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::string terminal_;
  uint64_t key_ = 0;
  size_t next_ = 0;
  bool failed_ = false;
  bool out_of_time_ = false;
  bool stays_ = false;  // its terminal does: a command goes on there
  std::vector<wire::CommandResult> results_;
};

void Commands::batch(const Caller& caller, const wire::BatchRequest& request,
                     const Reply<wire::BatchResult>& reply) {
  if (std::string wrong = wrong_with(request); !wrong.empty())
    return reply.fail(Code::InvalidArgument, std::move(wrong));
  if (request.separate) return SeparateBatch::start(*this, caller, request, reply);
  if (const auto outside = gatekeeper_.outside_roots(caller, request.cwd)) return reply.fail(*outside);
  std::make_shared<ShellBatch>(*this, caller, request, reply)->start();
}

}  // namespace ttyward::app
