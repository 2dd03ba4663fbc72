#include "engine/terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "engine/json_fields.h"
#include "engine/time.h"
#include "pty/proc.h"
#include "vt/input_encoder.h"

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kInterruptLook{25};
constexpr int kInterruptLooks = 12;
// After an interrupt the kernel is asked this often whether a shell is back at its prompt.
constexpr int kPromptLooks = 20;

// Whether the process neither catches nor ignores SIGINT: the kernel's word.
bool dies_of_interrupt(pid_t pid) {
  const auto status = pty::read_proc_file("/proc/" + std::to_string(pid) + "/status");
  if (!status) return false;
  for (const char* name : {"\nSigIgn:", "\nSigCgt:"}) {
    const size_t at = status->find(name);
    if (at == std::string::npos) return false;
    const uint64_t mask = std::strtoull(status->c_str() + at + std::strlen(name), nullptr, 16);
    if ((mask >> (SIGINT - 1) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

const char* owner_name(Owner owner) {
  switch (owner) {
    case Owner::Agent:
      return "agent";
    case Owner::User:
      return "user";
    case Owner::System:
      return "system";
  }
  return "agent";
}

std::optional<Owner> owner_named(std::string_view name) {
  for (const Owner owner : {Owner::Agent, Owner::User, Owner::System}) {
    if (name == owner_name(owner)) return owner;
  }
  return std::nullopt;
}

const char* Terminal::state_name(State state) {
  switch (state) {
    case State::Starting:
      return "starting";
    case State::Idle:
      return "idle";
    case State::Busy:
      return "busy";
    case State::AwaitingInput:
      return "awaiting_input";
    case State::Finished:
      return "finished";
    case State::Lost:
      return "lost";
  }
  return "lost";
}

Terminal::Terminal(TerminalHost& host, TerminalSpec spec)
    : host_(host),
      spec_(std::move(spec)),
      private_folder_(host.logs_path + "/" + spec_.id + ".shell"),
      provider_(spec_.provider),
      cwd_(spec_.cwd),
      last_output_(Clock::now()) {
  begin_output();
}

Terminal::~Terminal() {
  *alive_ = false;
  for (size_t i = 0; i < watchers_.size(); i++) {
    if (watchers_[i] != nullptr) watchers_[i]->on_destroyed();
  }
  for (io::Loop::TimerId* timer :
       {&start_timer_, &editor_timer_, &times_timer_, &look_timer_, &abandon_timer_, &climb_timer_,
        &kill_timer_, &interrupt_timer_, &ending_timer_, &frame_timer_, &break_timer_, &replies_timer_,
        &integrate_timer_, &prompt_timer_}) {
    host_.loop.cancel(*timer);
  }
}

Terminal::State Terminal::state() const {
  if (lost_) return State::Lost;
  if (closed_) return State::Finished;
  if (!ready_) return State::Starting;
  if (!busy()) return State::Idle;
  return current_ != nullptr && current_->facts.state == terminal::CommandState::AwaitingInput
             ? State::AwaitingInput
             : State::Busy;
}

bool Terminal::busy() const {
  return queued_ != nullptr || (current_ != nullptr && !current_->over) ||
         (tracker_ && tracker_->state() == shell::CommandTracker::State::Executing);
}

shell::Quality Terminal::quality() const {
  return tracker_ ? tracker_->quality() : shell::Quality::None;
}

// Output within the last seconds; longer when the text says that something is being built.
bool Terminal::hot() const {
  if (closed_ || !busy() || last_output_at_ms_ == 0) return false;
  const auto age = Clock::now() - last_output_;
  if (age < host_.settings.hot) return true;
  if (age >= host_.settings.hot_compiling) return false;
  std::string text = output_->cursor_line();
  const vt::Screen& screen = output_->screen();
  if (text.empty() && screen.cursor().row > 0) text = screen.line(screen.cursor().row - 1).text;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has_any = [&](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return text.find(word) != std::string::npos; });
  };
  return has_any({"compiling", "building", "bundling", "transpiling", "generating", "linking", "starting"}) &&
         !has_any({"compiled", "success", "finished", "complete", "done", "error", "fail", "stopped"});
}

Command* Terminal::find(std::string_view command_id) const {
  for (const auto& command : commands_) {
    if (command->facts.command_id == command_id) return command.get();
  }
  return nullptr;
}

tl::unexpected<base::Error> Terminal::no_keyboard() const {
  return base::fail(
      base::ErrorCode::Unsupported,
      "terminal " + spec_.id +
          " is on pipes: what runs in it reads nothing; open one with the provider pty for that");
}

void Terminal::input(std::string_view bytes, Owner by, HolderLink::Done done) {
  if (!link_ || closed_) {
    return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  }
  if (on_pipes()) return done(no_keyboard());
  if (tracker_) {
    // Shells that do not mark a command's start are followed by what is typed; a person's line is theirs.
    if (by == Owner::User || quality() != shell::Quality::Rich) {
      const std::string kept = tracker_->needed_of(bytes);
      if (!kept.empty()) log({{"k", "typed"}, {"at", read_to_}, {"bytes", kept}});
    }
    tracker_->typed(bytes, read_to_);
    if (bytes.find(shell::kAbandonInput) != std::string_view::npos) note_break();
    for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
  }
  if (by == Owner::Agent || spec_.owner == Owner::Agent) note_typed();
  // Whoever waited has an answer now; whether it was enough the kernel will say.
  input_looks_ = 0;
  if (current_ != nullptr && current_->facts.state == terminal::CommandState::AwaitingInput) {
    current_->facts.state = terminal::CommandState::Running;
    current_->facts.waiting.reset();
    changed(kCommandState);
    look_when_silent();
  }
  send_bytes(bytes, std::move(done));
}

void Terminal::send_bytes(std::string_view bytes, HolderLink::Done done) {
  input_sent_ += bytes.size();
  link_->input(bytes, std::move(done));
}

void Terminal::secret(std::string text, HolderLink::Done done) {
  if (!link_ || closed_) {
    return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  }
  if (on_pipes()) return done(no_keyboard());
  // Typed only if a program reads with echo off at this very moment: what is echoed would be recorded.
  look([this, text = std::move(text), done = std::move(done)](const base::Result<pty::RunState>& state) {
    if (!state) return done(tl::unexpected(state.error()));
    if (!state->waiting || state->waiting->kind != pty::WaitKind::Password) {
      return done(base::fail(base::ErrorCode::Unavailable,
                             "no program in " + spec_.id +
                                 " reads a password now (echo is on or nobody reads); nothing was sent"));
    }
    input_looks_ = 0;
    if (current_ != nullptr && current_->facts.state == terminal::CommandState::AwaitingInput) {
      current_->facts.state = terminal::CommandState::Running;
      current_->facts.waiting.reset();
      changed(kCommandState);
    }
    note_typed();
    send_bytes(text + "\r", done);
    look_when_silent();
  });
}

void Terminal::note_reply(Command& command, GivenReply reply) {
  log({{"k", "reply"},
       {"c", command.facts.command_id},
       {"n", reply.reply},
       {"line", reply.line},
       {"asked", reply.asked},
       {"at", read_to_}});
  command.given_replies.push_back(std::move(reply));
}

void Terminal::close_input(HolderLink::Done done) {
  if (on_pipes()) return done(no_keyboard());
  if (!link_) return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  link_->close_input(std::move(done));
}

void Terminal::interrupt(const HolderLink::Done& done) {
  if (closed_) return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  if (current_ == nullptr && queued_ != nullptr) {
    queued_->facts.state = terminal::CommandState::Interrupted;
    queued_->facts.reason = "it was interrupted before it began";
    finish(*queued_);
    return done({});
  }
  if (current_ != nullptr) current_->interrupted = true;
  send_interrupt();
  // If nothing came of it, the shell may have lost its marks.
  if (tracker_ && current_ != nullptr) look_for_prompt(kPromptLooks);
  done({});
}

// A command that was just typed is not in the foreground yet: what is sent now would hit the shell, or be
// forgotten with the line it was about to read. And a process that is just becoming a program may lose a
// signal on the way. So it is looked after for a moment.
void Terminal::send_interrupt() {
  interrupt_due_ = link_ == nullptr || (tracker_ && current_ != nullptr && !current_->started_seen);
  if (interrupt_due_) return;
  const bool shell_in_front = tracker_ && foreground_group() == shell_pid();
  note_break();
  link_->interrupt();
  if (tracker_ && current_ != nullptr)
    interrupt_again(current_->facts.command_id, shell_in_front, kInterruptLooks);
}

void Terminal::interrupt_again(const std::string& command_id, bool shell_was_in_front, int looks) {
  host_.loop.cancel(interrupt_timer_);
  interrupt_timer_ = host_.loop.after(kInterruptLook, [this, command_id, shell_was_in_front, looks] {
    interrupt_timer_ = 0;
    if (!link_ || current_ == nullptr || current_->over || current_->facts.command_id != command_id) return;
    const pid_t front = foreground_group();
    const bool shell_in_front = front == shell_pid();
    // It came to the front after the signal; or it would be dead, had it got the signal.
    if (!shell_in_front && (shell_was_in_front || dies_of_interrupt(front))) link_->interrupt();
    if (looks > 1) interrupt_again(command_id, shell_in_front, looks - 1);
  });
}

pid_t Terminal::foreground_group() const {
  const auto stat = pty::read_stat(child_pid_);
  return stat ? stat->terminal_foreground : 0;
}

void Terminal::signal(int number, HolderLink::Target target, HolderLink::Done done) {
  if (!link_) return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  link_->signal(number, target, std::move(done));
}

void Terminal::resize(const pty::WindowSize& size, HolderLink::Done done) {
  if (!link_) return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  spec_.size = size;
  output_->resize(size.columns, size.rows);
  if (current_ != nullptr && current_->output) current_->output->resize(size.columns, size.rows);
  link_->resize(size, std::move(done));
  changed(kMeta | kOutput);
}

bool Terminal::paused() const {
  if (!link_ || !reader_ || closed_) return false;
  const auto status = reader_->status();
  return status && (status->conditions & journal::kPaused) != 0;
}

void Terminal::grant(uint64_t more, HolderLink::Done done) {
  if (!link_) return done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
  link_->grant(more, std::move(done));
  changed(kMeta);
}

void Terminal::raise_quota(uint64_t to) {
  const auto status = reader_ && link_ ? reader_->status() : base::Result<journal::Status>(journal::Status{});
  if (status && status->quota > 0 && status->quota < to) grant(to - status->quota, [](const auto&) {});
}

void Terminal::kill(Force force) {
  killing_ = true;
  if (!link_) {
    // Being launched: launched() comes back here. Gone already: nothing to do.
    if (closed_) changed(kClosed);
    return;
  }
  const auto bring_down = [this] {
    kill_timer_ = 0;
    std::vector<pty::KillRung> rungs{{SIGHUP, host_.settings.interrupt_grace}};
    for (const pty::KillRung& rung : host_.settings.kill_rungs) {
      if (rung.signal != SIGINT) rungs.push_back(rung);
    }
    if (link_) link_->terminate(rungs);
  };
  if (force == Force::Yes) {
    host_.loop.cancel(kill_timer_);
    return link_->terminate({{SIGKILL, host_.settings.kill_rungs.back().grace}});
  }
  if (kill_timer_ != 0) return;
  if (tracker_ && tracker_->ready() && !exit_) {
    // A shell at its prompt goes by itself, and its EXIT trap runs.
    send_bytes(identity_.kind == shell::ShellKind::Fish ? "exit\r" : " exit\r", [](const auto&) {});
    kill_timer_ = host_.loop.after(host_.settings.interrupt_grace, bring_down);
  } else {
    bring_down();
  }
}

void Terminal::set_name(std::string name) {
  spec_.name = std::move(name);
  log({{"k", "meta"}, {"name", spec_.name}, {"at", read_to_}});
  changed(kMeta);
}

void Terminal::set_task(std::string task) {
  if (spec_.task == task) return;
  spec_.task = std::move(task);
  log({{"k", "meta"}, {"task", spec_.task}, {"at", read_to_}});
  changed(kMeta);
}

void Terminal::assign_from_pool(const TerminalSpec& wanted) {
  spec_.pooled = false;
  spec_.name = wanted.name;
  spec_.owner = wanted.owner;
  spec_.session = wanted.session;
  spec_.task = wanted.task;
  spec_.request = wanted.request;
  log({{"k", "meta"},
       {"pooled", false},
       {"name", spec_.name},
       {"owner", owner_name(spec_.owner)},
       {"session", spec_.session},
       {"task", spec_.task},
       {"request", spec_.request},
       {"at", read_to_}});
  changed(kMeta);
}

void Terminal::promise() {
  constexpr std::chrono::seconds kPromise{30};
  promised_until_ = Clock::now() + kPromise;
}

void Terminal::set_lease(std::optional<Lease> lease) {
  lease_ = std::move(lease);
  changed(kMeta);
  if (!lease_) pump();
}

void Terminal::set_loan(std::optional<Loan> loan) {
  loan_ = std::move(loan);
  if (loan_) {
    const bool act = loan_->use == Loan::Use::Act;
    lent_for_acting_ = lent_for_acting_ || act;
    log({{"k", "loan"},
         {"act", act},
         {"to", loan_->to},
         {"by", loan_->by},
         {"since", loan_->since_ms},
         {"at", read_to_}});
  } else {
    log({{"k", "loan"}, {"over", true}, {"at", read_to_}});
  }
  changed(kMeta);
}

void Terminal::look(Looked done) {
  if (!link_ || closed_) {
    if (done) done(base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has ended"));
    return;
  }
  ask_kernel([this, done = std::move(done)](const base::Result<pty::RunState>& state) {
    looked(state);
    if (done) done(state);
  });
}

void Terminal::ask_kernel(Looked done) {
  const auto screen =
      output_ && output_->screen().is_alternate() ? pty::AlternateScreen::On : pty::AlternateScreen::Off;
  link_->run_state(screen,
                   [alive = alive_, done = std::move(done)](const base::Result<pty::RunState>& state) {
                     if (*alive) done(state);
                   });
}

void Terminal::processes(std::function<void(base::Result<std::vector<HolderLink::Process>>)> done) {
  if (!link_) return done(std::vector<HolderLink::Process>{});
  link_->processes(std::move(done));
}

void Terminal::unwatch(Watcher& watcher) {
  // In place: a watcher may go while watchers are being told.
  std::replace(watchers_.begin(), watchers_.end(), &watcher, static_cast<Watcher*>(nullptr));
  if (closed_) changed(kUnwatched);
}

void Terminal::changed(uint32_t changes) {
  changes_ |= changes;
  if (telling_ || replaying_) return;
  telling_ = true;
  host_.loop.post([this, alive = alive_] {
    if (*alive) tell();
  });
}

void Terminal::tell() {
  telling_ = false;
  const uint32_t changes = std::exchange(changes_, 0);
  const std::shared_ptr<bool> alive = alive_;
  for (size_t i = 0; i < watchers_.size(); i++) {
    if (watchers_[i] == nullptr) continue;
    watchers_[i]->on_change(*this, changes);
    if (!*alive) return;
  }
  std::erase(watchers_, nullptr);
}

void Terminal::log(const boost::json::object& record) {
  if (replaying_ || !log_) return;
  if (auto logged = log_->append(record); !logged) log_error_ = logged.error();
}

base::Result<std::string> Terminal::raw(uint64_t offset, size_t most, uint64_t* next) {
  if (!reader_) return base::fail(base::ErrorCode::Unavailable, "terminal " + spec_.id + " has no journal");
  std::string bytes(most, '\0');
  auto chunk = reader_->read(offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
  if (!chunk) return tl::unexpected(chunk.error());
  bytes.resize(chunk->bytes);
  *next = offset + chunk->bytes + chunk->gap;
  return bytes;
}

}  // namespace ttyward::engine
