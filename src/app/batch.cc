// batch: several commands in one shell, each through the gate, each with its own result.
#include "app/batch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "app/default_view.h"
#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "base/ids.h"
#include "command/shell_choice.h"

namespace ttyward::app {

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

// Each command is an `exec` in a shell of the batch's own; this class takes the place of the client.
class Commands::ShellBatch : public std::enable_shared_from_this<Commands::ShellBatch> {
 public:
  ShellBatch(Commands& commands, Caller caller, wire::BatchRequest request,
             const Reply<wire::BatchResult>& reply)
      : commands_(commands),
        core_(commands.core_),
        caller_(std::move(caller)),
        request_(std::move(request)),
        reply_(reply),
        time_left_(request_.timeout.value_or(core_.settings().times.timeout)),
        limited_(time_left_.count() > 0) {}

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
  // The channel of one command. What the command goes on with holds it, and so the batch.
  class Part final : public AnswerChannel<wire::CommandResult> {
   public:
    Part(std::shared_ptr<ShellBatch> batch, std::string text)
        : batch_(std::move(batch)), text_(std::move(text)) {}

    bool open() const override { return open_; }
    void part(const wire::StreamPart&) override {}
    void on_cancel(std::function<void()> callback) override {
      if (open_) cancelled_ = std::move(callback);
    }
    void ok(const wire::CommandResult& answer) override {
      if (std::exchange(open_, false)) return batch_->finished(answer);
      // A person was asked, and refused it after the batch was answered.
      if (answer.state == "denied" || answer.state == "skipped") batch_->kill_terminal();
    }
    void fail(const wire::CallError& error) override {
      if (!std::exchange(open_, false)) return;
      terminal::CommandResult result;
      result.command = text_;
      result.state = CommandState::FailedToStart;
      result.reason = error.message;
      batch_->finished(result_object(result));
    }
    // Nobody is answered any more.
    void leave() {
      open_ = false;
      if (const auto cancelled = std::exchange(cancelled_, nullptr)) cancelled();
    }

   private:
    const std::shared_ptr<ShellBatch> batch_;
    const std::string text_;
    bool open_ = true;
    std::function<void()> cancelled_;
  };

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
    key_ = core_.calls.add(reply_, [self = shared_from_this()] { self->cancel(); });
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

  // The shell goes, and with it the question about a command that would have run in it.
  void cancel() {
    if (const auto part = part_.lock()) part->leave();
    if (const PendingCommand* pending = commands_.gatekeeper_.find(current_)) {
      const std::string approval = pending->facts.approval;
      static_cast<void>(core_.gate->withdraw(approval, caller_.connection));
    }
    lose_interest();
    kill_terminal();
  }

  // The current command goes on in its terminal, which stays, or runs there once a person allows it. The
  // rest is not run.
  void yield() {
    out_of_time_ = true;
    const auto part = part_.lock();
    if (!part || !part->open()) return;  // its result is here; the batch ends with it
    if (const PendingCommand* pending = commands_.gatekeeper_.find(current_)) {
      stays_ = true;
      commands_.gatekeeper_.answer(*pending, Reply<wire::CommandResult>(part));
      return part->leave();
    }
    const auto found = core_.engine->find_command(current_);
    if (found && found->command->over()) return;  // its result is on its way
    part->leave();
    if (found) {
      stays_ = true;
      const terminal::ViewLimits view = view_of(request_.view, core_.settings().output);
      results_.push_back(result_object(found->terminal->result(*found->command, view)));
    } else {
      next_--;  // it waits for the shell's prompt
    }
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

  void next() {
    if (!reply_.open()) return;
    const auto terminal = core_.engine->find(terminal_);
    const bool over = next_ >= request_.commands.size() || out_of_time_ || (failed_ && !request_.keep_going);
    if (over || !terminal) return end();
    current_ = request_.batch_id.empty() ? base::random_id('c')
                                         : request_.batch_id + "-" + std::to_string(next_ + 1);
    const auto known = core_.engine->find_command(current_);
    const bool began = known && core_.may(caller_, *known->terminal, Use::Act);
    const bool forgotten = !began && core_.engine->forgot_command(current_);
    if (!began && !forgotten && !(*terminal)->live()) return end();
    const std::string text = request_.commands[next_++];
    if (forgotten) return lose(text);
    const auto part = std::make_shared<Part>(shared_from_this(), text);
    part_ = part;
    Submission submission{caller_, terminal_, {}, current_, true, {}, Reply<wire::CommandResult>(part)};
    submission.how.stop_at_input = false;
    submission.how.view = view_of(request_.view, core_.settings().output);
    // A batch is sent again by a client whose daemon died: the command goes on, or has ended.
    if (began) {
      return commands_.following_.follow(caller_, *known->terminal, *known->command, submission.how,
                                         submission.reply);
    }
    submission.request.text = text;
    submission.request.by = owner_of(caller_);
    submission.request.session = own_session(caller_);
    if (limited_) submission.request.timeout = std::max(milliseconds(1), time_left_);
    commands_.judge_when_settled(submission);
  }

  void lose(const std::string& text) {
    terminal::CommandResult facts;
    facts.command_id = current_;
    facts.command = text;
    facts.state = CommandState::Lost;
    facts.reason = "it ran, but its result was lost when the daemon restarted; see ttyward history";
    finished(result_object(facts));
  }

  void finished(const wire::CommandResult& result) {
    time_left_ -= milliseconds(result.duration_ms);
    failed_ = result.state != "skipped" && !result.ended_well();
    results_.push_back(result);
    // Later: the caller has not finished with this command yet.
    core_.loop.post([self = shared_from_this(), alive = core_.alive] {
      if (*alive) self->next();
    });
  }

  Commands& commands_;
  Core& core_;
  const Caller caller_;
  const wire::BatchRequest request_;
  const Reply<wire::BatchResult> reply_;
  milliseconds time_left_;  // for all commands together; what a person takes to answer does not count
  const bool limited_;
  std::string terminal_;
  std::string current_;  // the id of the command that has no result yet
  std::weak_ptr<Part> part_;
  uint64_t key_ = 0;
  size_t next_ = 0;
  bool failed_ = false;
  bool out_of_time_ = false;
  bool stays_ = false;  // its terminal does: a command goes on there, or will
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
