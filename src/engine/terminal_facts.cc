#include "engine/terminal_facts.h"

namespace ttyward::engine {

using terminal::CommandState;

const char* TerminalFacts::state_name(State state) {
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

TerminalFacts::State TerminalFacts::state() const {
  if (model_->lost()) return State::Lost;
  if (!live()) return State::Finished;
  if (!ready()) return State::Starting;
  if (!busy()) return State::Idle;
  const bool awaits = current() != nullptr && current()->facts.state == CommandState::AwaitingInput;
  return awaits ? State::AwaitingInput : State::Busy;
}

const shell::ShellIdentity& TerminalFacts::shell() const {
  static const shell::ShellIdentity kNone;
  return has_shell() ? model_->shell().identity() : kNone;
}

const shell::ReadingState& TerminalFacts::reading() const {
  static const shell::ReadingState kUnknown;
  return has_shell() ? model_->shell().tracker().reading() : kUnknown;
}

const std::map<std::string, std::string>& TerminalFacts::environment_changes() const {
  static const std::map<std::string, std::string> kNone;
  return has_shell() ? model_->shell().environment_changes() : kNone;
}

bool TerminalFacts::settled() const {
  if (!live() || !has_shell() || on_pipes()) return true;
  const ShellSession& shell = model_->shell();
  return !shell.integrating() && shell.tracker().state() != shell::CommandTracker::State::Prompt;
}

bool TerminalFacts::can_follow() const {
  return on_pipes() || (has_shell() && model_->shell().marks_lost()) || quality() != shell::Quality::None;
}

bool TerminalFacts::paused() const {
  if (!holder_.connected() || !model_->feed().following() || !live()) return false;
  const auto status = model_->feed().reader().status();
  return status && (status->conditions & journal::kPaused) != 0;
}

}  // namespace ttyward::engine
