#include "engine/command_watch.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ttyward::engine {

using terminal::CommandState;

namespace {

// How long a command must be silent before the kernel is asked whether it waits for input, and how much
// longer each further time. Two looks in a row must agree.
constexpr std::chrono::milliseconds kFirstLook{150};
constexpr std::chrono::milliseconds kSecondLook{50};
constexpr std::chrono::milliseconds kLastLook{2000};

std::string shown(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s"
                                  : std::to_string(time.count()) + " ms";
}

}  // namespace

CommandWatch::CommandWatch(LiveTerminal& live, Hooks hooks)
    : live_(live), hooks_(std::move(hooks)), limit_timer_(live.loop), look_timer_(live.loop) {}

void CommandWatch::stop() {
  limit_timer_.cancel();
  look_timer_.cancel();
}

void CommandWatch::command_over() {
  if (live_.model.book().current() == nullptr) limit_timer_.cancel();
}

// --- time limits

void CommandWatch::arm() {
  limit_timer_.cancel();
  const Command* command = live_.model.book().active();
  if (command == nullptr || command->answered) return;
  std::optional<Clock::time_point> next;
  if (command->timeout.count() > 0) next = command->started + command->timeout;
  if (command->idle_timeout.count() > 0) {
    const auto idle = command->last_output + command->idle_timeout;
    next = next ? std::min(*next, idle) : idle;
  }
  if (next) limit_timer_.at(*next, [this] { check_limits(); });
}

void CommandWatch::check_limits() {
  const Command* command = live_.model.book().active();
  if (command == nullptr || command->answered) return;
  const auto now = Clock::now();
  if (command->timeout.count() > 0 && now >= command->started + command->timeout)
    return hooks_.limit_reached("it ran longer than its time limit of " + shown(command->timeout));
  if (command->idle_timeout.count() > 0 && now >= command->last_output + command->idle_timeout)
    return hooks_.limit_reached("it printed nothing for " + shown(command->idle_timeout));
  arm();
}

// --- input

void CommandWatch::runs_again(Command& command) {
  if (command.facts.state != CommandState::AwaitingInput) return;
  command.facts.state = CommandState::Running;
  command.facts.waiting.reset();
  live_.watchers.changed(kCommandState);
}

void CommandWatch::output_came() {
  input_looks_ = 0;
  Command* command = live_.model.book().current();
  if (!live_.model.book().runs(command)) return;
  command->last_output = live_.last_output;
  runs_again(*command);
  look_when_silent();
}

void CommandWatch::input_given() {
  input_looks_ = 0;
  Command* command = live_.model.book().current();
  if (command == nullptr || command->facts.state != CommandState::AwaitingInput) return;
  runs_again(*command);
  look_when_silent();
}

void CommandWatch::want_input_state(int by) {
  interest_ += by;
  if (by > 0) look_when_silent();
}

void CommandWatch::look_when_silent() {
  const CommandBook& book = live_.model.book();
  if (interest_ <= 0 || live_.model.closed() || !book.runs(book.current()) || look_timer_.running()) return;
  const auto silent = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - live_.last_output);
  const auto pause = input_looks_ == 1     ? kSecondLook
                     : silent < kFirstLook ? kFirstLook - silent
                                           : std::clamp(silent / 2, kFirstLook, kLastLook);
  look_timer_.after(pause, [this] {
    const CommandBook& commands = live_.model.book();
    if (interest_ <= 0 || !commands.runs(commands.current())) return;
    if (Clock::now() - live_.last_output < kFirstLook) return look_when_silent();
    look([this](const base::Result<pty::RunState>&) { look_when_silent(); });
  });
}

void CommandWatch::look(HolderPort::Looked done) {
  if (!live_.holder.connected() || live_.model.closed()) {
    if (done) {
      done(base::fail(base::ErrorCode::Unavailable, "terminal " + live_.model.spec().id + " has ended"));
    }
    return;
  }
  live_.ask_kernel([this, done = std::move(done)](const base::Result<pty::RunState>& state) {
    looked(state);
    if (done) done(state);
  });
}

void CommandWatch::looked(const base::Result<pty::RunState>& state) {
  CommandBook& book = live_.model.book();
  Command* command = book.current();
  if (!state || !book.runs(command) || command == book.ending() || live_.output_unread(*state)) return;
  if (hooks_.about_something_else(*state) || command->answered) return;
  // Until the command has begun, whoever reads is the shell, and what it reads is the command.
  const bool begun = !live_.model.has_shell() || command->started_seen;
  if (!state->waiting || !begun) {
    input_looks_ = 0;
    return runs_again(*command);
  }
  if (++input_looks_ < 2) return;
  const pty::Waiting& waits = *state->waiting;
  const bool was_waiting = command->facts.state == CommandState::AwaitingInput;
  command->facts.waiting =
      terminal::WaitingFor{pty::wait_kind_name(waits.kind), live_.model.feed().output().cursor_line(),
                           waits.program, waits.pid, waits.evidence};
  command->facts.state = CommandState::AwaitingInput;
  if (!was_waiting) live_.watchers.changed(kCommandState);
}

}  // namespace ttyward::engine
