// ttyward kill: end a terminal, or a command and all it started; or send it a signal.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <memory>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"
#include "pty/exit_status.h"
#include "wire/types/command_calls.h"

namespace ttyward::cli {
namespace kill_verb {
namespace {

constexpr int kExitSurvivors = 1;

struct Arguments {
  std::vector<std::string> targets;
  bool force = false;
  std::string signal;
  std::string to;
};

// The daemon wants a name.
std::string signal_text(const std::string& given) {
  int number = 0;
  const char* end = given.data() + given.size();
  const auto [stopped, error] = std::from_chars(given.data(), end, number);
  const bool is_number = error == std::errc() && stopped == end && number > 0 && number <= SIGRTMAX;
  return is_number ? pty::signal_name(number) : given;
}

Outcome signal_one(client::Session& daemon, const Arguments& args, const Globals& globals,
                   const Target& target) {
  wire::SignalRequest request{target.terminal_id(), target.command_id(), signal_text(args.signal), {}};
  request.to = wire::word_named<wire::SignalTarget>(args.to).value_or(request.to);
  auto answer = daemon.call(request);
  if (!answer) return tl::unexpected(answer.error());
  return globals.json ? print_answer("kill", *answer) : 0;
}

Outcome kill_one(client::Session& daemon, const Arguments& args, const Globals& globals,
                 const std::string& word) {
  auto target = find_target(daemon, word);
  if (!target) return tl::unexpected(target.error());
  if (!args.signal.empty()) return signal_one(daemon, args, globals, *target);
  auto answer = daemon.call(wire::KillRequest{target->terminal_id(), target->command_id(), args.force});
  if (!answer) return tl::unexpected(answer.error());
  if (globals.json) return print_answer("kill", *answer);
  for (const wire::Survivor& each : answer->survivors)
    complain("kill", fmt::format("still running: process {}", each.pid), 0);
  if (!answer->survivors.empty()) return kExitSurvivors;
  return answer->killed ? 0 : complain("kill", fmt::format("'{}' had ended already", word), 0);
}

int kill(const Arguments& args, const Globals& globals) {
  if (!args.signal.empty() && args.force)
    return complain("kill", "--force and --signal exclude each other", kExitUsage);
  if (args.signal.empty() && !args.to.empty()) return complain("kill", "--to needs --signal", kExitUsage);
  return with_daemon("kill", [&](client::Session& daemon) -> Outcome {
    int worst = 0;
    for (const std::string& word : args.targets) {
      const Outcome outcome = kill_one(daemon, args, globals, word);
      // The others are to be ended all the same.
      const int code =
          outcome ? *outcome : complain("kill", outcome.error().message, exit_code_of(outcome.error()));
      worst = std::max(worst, code);
    }
    return worst;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TARGET", args->targets, "Terminals by name or id, or commands by id")->required();
  app.add_flag("--force", args->force, "KILL at once, instead of INT, TERM and then KILL");
  app.add_option("--signal", args->signal, "Only send this signal, by name or number");
  choose(app.add_option("--to", args->to, "With --signal: which processes get it"),
         {"leader", "foreground", "all"});
  return [args, &globals] { return kill(*args, globals); };
}

}  // namespace
}  // namespace kill_verb

const Verb kKill = {"kill", "End a terminal, or a command and all it started", &kill_verb::declare};

}  // namespace ttyward::cli
