// Bringing a command in a terminal to its end: time limits, interrupts, a prompt that has to come back.
#include <csignal>

#include "engine/terminal.h"
#include "shell/command_line.h"

namespace ttyward::engine {

using terminal::CommandState;

namespace {
// How long a shell takes to come back to its prompt after Ctrl-C, and when it is not waited for any longer.
constexpr std::chrono::milliseconds kBreakSettle{100};
constexpr std::chrono::milliseconds kLongestBreak{1000};
}  // namespace

void Terminal::arm_times() {
  host_.loop.cancel(times_timer_);
  const Command* command = current_ != nullptr && !current_->over ? current_ : queued_;
  if (command == nullptr || command->answered || replaying_) return;
  std::optional<Clock::time_point> next;
  if (command->timeout.count() > 0) next = command->started + command->timeout;
  if (command->idle_timeout.count() > 0) {
    const auto idle = command->last_output + command->idle_timeout;
    next = next ? std::min(*next, idle) : idle;
  }
  if (next) {
    times_timer_ = host_.loop.at(*next, [this] {
      times_timer_ = 0;
      check_times();
    });
  }
}

void Terminal::check_times() {
  const Command* command = current_ != nullptr && !current_->over ? current_ : queued_;
  if (command == nullptr || command->answered) return;
  const auto now = Clock::now();
  const auto seconds = [](std::chrono::milliseconds time) {
    return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s"
                                    : std::to_string(time.count()) + " ms";
  };
  if (command->timeout.count() > 0 && now >= command->started + command->timeout) {
    return end_command(CommandState::TimedOut,
                       "it ran longer than its time limit of " + seconds(command->timeout));
  }
  if (command->idle_timeout.count() > 0 && now >= command->last_output + command->idle_timeout) {
    return end_command(CommandState::TimedOut, "it printed nothing for " + seconds(command->idle_timeout));
  }
  arm_times();
}

// The caller has its answer at once; the command is brought down meanwhile, and the terminal is free when it
// is.
void Terminal::end_command(CommandState state, std::string reason) {
  Command* command = current_ != nullptr && !current_->over ? current_ : queued_;
  if (command == nullptr || command->answered) return;
  command->facts.state = state;
  command->facts.reason = std::move(reason);
  if (command == queued_) return finish(*command);
  command->answered = true;
  command->facts.duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - command->started).count();
  log({{"k", "answered"},
       {"c", command->facts.command_id},
       {"at", read_to_},
       {"state", terminal::command_state_name(state)},
       {"reason", command->facts.reason}});
  changed(kCommandFinished);
  if (!link_) return;
  if (spec_.temporary()) return link_->terminate(host_.settings.kill_rungs);
  send_interrupt();
  climb(0);
}

// A command in a shell: the shell itself must not be hit.
void Terminal::climb(int rung) {
  climb_timer_ = host_.loop.after(host_.settings.interrupt_grace, [this, rung] {
    climb_timer_ = 0;
    if (!link_ || current_ == nullptr || current_->over) return;
    link_->signal(rung == 0 ? SIGTERM : SIGKILL, HolderLink::Target::Foreground);
    if (rung < 4) climb(rung + 1);
  });
}

// Several interrupts may bring one prompt or several, and an empty line need not bring one at all: so a
// prompt counts once nothing came after it for a moment.
void Terminal::note_break() {
  if (!tracker_ || current_ != nullptr || tracker_->state() == shell::CommandTracker::State::Executing)
    return;
  log({{"k", "break"}, {"at", read_to_}});
  tracker_->interrupted();
  break_at_ = Clock::now();
  prompt_after_break_ = false;
  settle_after_break();
}

void Terminal::settle_after_break() {
  host_.loop.cancel(break_timer_);
  break_timer_ = host_.loop.after(kBreakSettle, [this] {
    break_timer_ = 0;
    if (!prompt_after_break_ && Clock::now() - break_at_ < kLongestBreak) return settle_after_break();
    if (tracker_) tracker_->line_abandoned();
    pump();
  });
}

// The shell asks for more: brought back to its prompt, however often it takes.
void Terminal::abandon_input() {
  if (replaying_ || !link_ || abandon_timer_ != 0) return;
  send_bytes(shell::kAbandonInput, {});
  abandon_timer_ = host_.loop.after(std::chrono::milliseconds(shell::kAbandonRetryMs), [this] {
    abandon_timer_ = 0;
    if (current_ != nullptr && !current_->over) abandon_input();
  });
}

}  // namespace ttyward::engine
