// A terminal's commands as callers see them.
#include <algorithm>

#include "engine/open_ports.h"
#include "engine/terminal.h"

namespace ttyward::engine {

using terminal::CommandState;

terminal::CommandResult Terminal::facts(const Command& command) const {
  terminal::CommandResult result = command.life.result(Clock::now());
  if (!command.over()) {
    result.total_bytes = command.started_seen ? read_to() - std::min(read_to(), command.range().begin) : 0;
    result.lost_bytes = command.started_seen || spec().temporary() ? model_->lost_of(command) : 0;
    if (!command.answered()) add_live_facts(command, result);
  }
  if (spec().temporary() && pid() > 0) result.pid = result.process_group = pid();
  if (!spec().sandbox.profile.empty()) result.sandbox = spec().sandbox;
  return result;
}

// What is true of a command only until it ends.
void Terminal::add_live_facts(const Command& command, terminal::CommandResult& result) const {
  if (result.reason.empty() && paused()) {
    result.reason =
        "paused: its output has reached the journal's quota; to let it go on: ttyward resume " + id();
  }
  if (lease() && !command.sent && result.state == CommandState::Running) {
    result.state = CommandState::Queued;
    result.reason = "it has not started: " + lease()->by + " has the keyboard of this terminal";
  } else if (!spec().temporary() && command.started_seen && pid() > 0) {
    const pid_t front = interrupter_.foreground_group();
    if (front > 0 && front != pid()) result.pid = result.process_group = front;
  }
}

terminal::CommandResult Terminal::result(const Command& command, const terminal::ViewLimits& view) {
  terminal::CommandResult result = facts(command);
  if (!command.over() && command.started_seen && holder_pid_ > 0) {
    std::vector<pid_t> pids;
    for (const auto& process : place::descendants_now(place_, holder_pid_)) pids.push_back(process.pid);
    add_ports(result, place::ports_now(place_, pids));
  }
  if (!command.started_seen && !spec().temporary()) return result;
  // Made from the journal if need be, which nobody sees.
  terminal::Output& output = model_->output_of(const_cast<Command&>(command));
  result.lost_bytes = model_->lost_of(command);
  command::describe_output(output, view, command.over(), result);
  return result;
}

}  // namespace ttyward::engine
