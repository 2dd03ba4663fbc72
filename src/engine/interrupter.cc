#include "engine/interrupter.h"

#include <csignal>
#include <utility>

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kLook{25};
constexpr int kLooks = 12;
constexpr int kLastRung = 4;  // the first is TERM, the others are KILL

}  // namespace

Interrupter::Interrupter(LiveTerminal& live, std::function<void()> before)
    : live_(live), before_(std::move(before)), again_timer_(live.loop), climb_timer_(live.loop) {}

void Interrupter::interrupt() {
  const TerminalModel& model = live_.model;
  const Command* command = model.book().current();
  due_ = !live_.holder.connected() || (model.has_shell() && command != nullptr && !command->started_seen);
  if (due_) return;
  const bool shell_in_front = model.has_shell() && foreground_group() == model.shell_pid();
  before_();
  live_.holder->interrupt();
  if (model.has_shell() && command != nullptr) again(command->facts.command_id, shell_in_front, kLooks);
}

void Interrupter::catch_up() {
  if (due_) interrupt();
}

void Interrupter::again(const std::string& command_id, bool shell_was_in_front, int looks) {
  again_timer_.after(kLook, [this, command_id, shell_was_in_front, looks] {
    const Command* command = live_.model.book().current();
    if (!live_.holder.connected() || !live_.model.book().runs(command) ||
        command->facts.command_id != command_id)
      return;
    const pid_t front = foreground_group();
    const bool shell_in_front = front == live_.model.shell_pid();
    // It came to the front after the signal; or it would be dead, had it got the signal.
    if (!shell_in_front && (shell_was_in_front || dies_of_interrupt(front))) live_.holder->interrupt();
    if (looks > 1) again(command_id, shell_in_front, looks - 1);
  });
}

void Interrupter::bring_down() {
  interrupt();
  climb(0);
}

void Interrupter::climb(int rung) {
  climb_timer_.after(live_.settings.interrupt_grace, [this, rung] {
    if (!live_.holder.connected() || !live_.model.book().runs(live_.model.book().current())) return;
    live_.holder->signal(rung == 0 ? SIGTERM : SIGKILL, command::Source::Target::Foreground);
    if (rung < kLastRung) climb(rung + 1);
  });
}

void Interrupter::command_over() {
  due_ = false;
  if (live_.model.book().current() == nullptr) climb_timer_.cancel();
}

void Interrupter::stop() {
  again_timer_.cancel();
  climb_timer_.cancel();
}

pid_t Interrupter::foreground_group() const {
  const auto first = place::process_now(live_.place, live_.model.child_pid());
  return first ? first->stat.terminal_foreground : 0;
}

bool Interrupter::dies_of_interrupt(pid_t pid) const {
  const auto front = place::process_now(live_.place, pid, place::kInterrupt);
  return front && front->dies_of_interrupt;
}

}  // namespace ttyward::engine
