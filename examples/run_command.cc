// Runs a line of bash in a terminal of its own: what a person would have seen of it, and how it really ended.
//   run_command 'make test'
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <ttyward/base/folders.h>
#include <ttyward/base/ids.h>
#include <ttyward/command/journal_place.h>
#include <ttyward/command/running_command.h>
#include <ttyward/io/poller.h>
#include <ttyward/pty/environment.h>

using namespace ttyward;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s COMMAND\n", argv[0]);
    return 2;
  }
  auto poller = io::Poller::create();
  auto place = command::find_journal_place(base::user_folders());  // every byte is kept there while it runs
  if (!poller || !place) {
    std::fprintf(stderr, "%s\n", (!poller ? poller.error() : place.error()).message.c_str());
    return 125;
  }

  pty::EnvironmentRequest environment;  // only what is listed reaches the command: no tokens of ours
  for (char** entry = environ; *entry != nullptr; ++entry) environment.ours.emplace_back(*entry);

  command::RunOptions options;
  options.id = base::random_id('c');
  options.shown_command = argv[1];
  options.spawn.argv = pty::shell_argv("/bin/bash", argv[1]);
  options.spawn.environment = pty::build_environment(environment).variables;
  options.timeout = std::chrono::seconds(60);
  options.input_patience = std::chrono::seconds(1);  // nobody is here to answer questions

  auto run = command::RunningCommand::start(*poller, place->folder, options, nullptr);
  if (!run) {
    std::fprintf(stderr, "%s\n", run.error().error.message.c_str());
    return run.error().result.shell_code();
  }
  while (!(*run)->done() || !(*run)->settled()) {
    const auto now = command::RunningCommand::Clock::now();
    const auto next = (*run)->deadline().value_or(now + std::chrono::seconds(1));
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
    poller->wait(static_cast<int>(std::clamp<long long>(wait, 0, 1000)));
    (*run)->step(command::RunningCommand::Clock::now());
  }
  const terminal::CommandResult& result = (*run)->result();
  std::fputs(result.output.text.c_str(), stdout);
  std::printf("-- %s, exit code %s, %lld ms\n", terminal::command_state_name(result.state),
              result.exit_code ? std::to_string(*result.exit_code).c_str() : "none",
              static_cast<long long>(result.duration_ms));
  if (result.waiting) std::printf("-- it waited for: %s\n", result.waiting->prompt.c_str());
  return result.shell_code();
}
