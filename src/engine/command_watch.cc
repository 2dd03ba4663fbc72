#include "engine/command_watch.h"

#include <utility>

namespace ttyward::engine {

using command::CommandLife;
using Clock = TerminalModel::Clock;

CommandWatch::CommandWatch(LiveTerminal& live, Hooks hooks)
    : live_(live), hooks_(std::move(hooks)), timer_(live.loop) {}

void CommandWatch::drive() {
  Command* command = live_.model.book().active();
  if (command == nullptr || live_.model.closed()) return timer_.cancel();
  command->life.want_looks(interest_ > 0, Clock::now());
  for (;;) {
    switch (command->life.next(Clock::now())) {
      case CommandLife::Step::Look:
        look({});
        break;
      case CommandLife::Step::Kill:
        hooks_.answered(*command);
        return drive();  // another one may be there now
      case CommandLife::Step::ListProcesses:
        hooks_.list_left_behind(*command);
        break;
      case CommandLife::Step::Wait: {
        const auto deadline = command->life.deadline();
        if (!deadline) return timer_.cancel();
        return timer_.at(*deadline, [this] { drive(); });
      }
    }
  }
}

void CommandWatch::input_given() {
  Command* command = live_.model.book().current();
  if (!live_.model.book().runs(command)) return;
  const auto before = command->facts.state;
  command->life.input_given(Clock::now());
  if (command->facts.state != before) live_.watchers.changed(kCommandState);
  drive();
}

void CommandWatch::want_input_state(int by) {
  interest_ += by;
  drive();
}

void CommandWatch::look(HolderPort::Looked done) {
  if (!live_.holder.connected() || live_.model.closed()) {
    if (Command* command = live_.model.book().active()) command->life.look_failed(Clock::now());
    if (done)
      done(base::fail(base::ErrorCode::Unavailable, "terminal " + live_.model.spec().id + " has ended"));
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
  if (!book.runs(command)) {
    // One that was to be typed again by this engine: nothing can be said of it yet.
    if (Command* queued = book.queued()) queued->life.look_failed(Clock::now());
    return drive();
  }
  const auto before = command->facts.state;
  const bool stale = !state || command == book.ending() || live_.output_unread(*state);
  if (stale || hooks_.about_something_else(*state)) {
    if (book.runs(book.current())) book.current()->life.look_failed(Clock::now());
    return drive();
  }
  command->life.looked(*state, live_.model.feed().output().cursor_line(), Clock::now());
  if (command->facts.state != before) live_.watchers.changed(kCommandState);
  drive();
}

}  // namespace ttyward::engine
