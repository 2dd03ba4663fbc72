#include "command/run.h"

#include <unistd.h>

#include <algorithm>

#include "base/folders.h"
#include "base/ids.h"
#include "command/journal_place.h"
#include "command/running_command.h"
#include "command/shell_choice.h"
#include "io/poller.h"
#include "pty/environment.h"

namespace ttyward {
namespace {

using Clock = command::RunningCommand::Clock;

terminal::CommandResult not_started(const std::string& command, const std::string& reason) {
  terminal::CommandResult result;
  result.command = command;
  result.state = terminal::CommandState::FailedToStart;
  result.reason = reason;
  return result;
}

}  // namespace

terminal::CommandResult run(const std::string& command, const RunChoices& choices) {
  auto poller = io::Poller::create();
  if (!poller) return not_started(command, poller.error().message);
  auto place = command::find_journal_place(base::user_folders());
  if (!place) return not_started(command, place.error().message);
  pty::EnvironmentRequest environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.ours.emplace_back(*entry);
  environment.requested = choices.environment;
  pty::Environment made = pty::build_environment(environment);
  if (!made.refused.empty())
    return not_started(
        command, "variable " + made.refused.front().name + " is refused: " + made.refused.front().reason);

  const auto shell = command::choose_shell();
  if (!shell) return not_started(command, shell.error().message);
  command::RunOptions options;
  options.id = base::random_id('c');
  options.shown_command = command;
  options.spawn.argv = pty::shell_argv(*shell, command);
  options.spawn.cwd = choices.cwd;
  options.spawn.environment = std::move(made.variables);
  options.timeout = choices.timeout;
  options.idle_timeout = std::chrono::milliseconds(0);
  options.input_patience = choices.input_patience;
  options.view = choices.view;
  // Other threads may have children of their own, which are not ours to collect.
  options.scope = hold::Scope::SharedProcess;
  const std::string id = options.id;
  auto run = command::RunningCommand::start(*poller, place->folder, std::move(options), nullptr);
  if (!run) return run.error().result;
  command::RunningCommand& running = **run;
  while (!running.done() || !running.settled()) {
    const auto now = Clock::now();
    const auto next = running.deadline().value_or(now + std::chrono::seconds(1));
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    poller->wait(static_cast<int>(std::clamp<long long>(wait, 0, 1000)));
    running.step(Clock::now());
  }
  terminal::CommandResult result = std::move(running.result());
  run->reset();
  static_cast<void>(journal::remove_journal(place->folder->fd(), id));
  return result;
}

}  // namespace ttyward
