#include "terminal/result.h"

#include "pty/exit_status.h"

namespace ttyward::terminal {

const char* command_state_name(CommandState state) {
  switch (state) {
    case CommandState::PendingApproval:
      return "pending_approval";
    case CommandState::Queued:
      return "queued";
    case CommandState::Running:
      return "running";
    case CommandState::AwaitingInput:
      return "awaiting_input";
    case CommandState::Exited:
      return "exited";
    case CommandState::Signaled:
      return "signaled";
    case CommandState::TimedOut:
      return "timed_out";
    case CommandState::Interrupted:
      return "interrupted";
    case CommandState::Denied:
      return "denied";
    case CommandState::Skipped:
      return "skipped";
    case CommandState::FailedToStart:
      return "failed_to_start";
    case CommandState::Lost:
      return "lost";
  }
  return "lost";
}

void CommandResult::decode_shell_code() {
  constexpr int kLastSignal = 64;
  if (!signal.empty() || !exit_code || *exit_code <= 128 || *exit_code > 128 + kLastSignal) return;
  signal = pty::signal_name(*exit_code - 128);
  core_dumped.reset();
  if (reason.empty())
    reason = "by the shell's convention, code " + std::to_string(*exit_code) + " means " + signal;
}

int CommandResult::shell_code() const {
  switch (state) {
    case CommandState::TimedOut:
      return 124;
    case CommandState::FailedToStart:
      return start_failure_code.value_or(125);
    case CommandState::Denied:
      return 126;
    case CommandState::Skipped:
      return 0;
    default:
      break;
  }
  if (exit_code) return *exit_code;
  if (!signal.empty()) {
    for (int number = 1; number <= 64; number++) {
      if (pty::signal_name(number) == signal) return 128 + number;
    }
  }
  return state == CommandState::Interrupted ? 130 : 125;
}

}  // namespace ttyward::terminal
