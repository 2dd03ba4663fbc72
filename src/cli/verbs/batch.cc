// ttyward batch: several commands in one shell, a true result for each.
#include "command/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/line_there.h"
#include "base/ids.h"
#include "cli/confined_run.h"
#include "cli/current_folder.h"
#include "cli/far_run.h"
#include "cli/foreground.h"
#include "cli/local_policy.h"
#include "cli/result_json.h"
#include "cli/run_arguments.h"
#include "cli/verbs/verbs.h"
#include "command/shell_choice.h"

namespace ttyward::cli {
namespace batch_verb {
namespace {

struct Arguments {
  RunArguments shared;
  PolicyArguments policy;
  bool keep_going = false;
  std::vector<std::string> commands;
};

void summarize(const command::BatchResult& batch) {
  for (const terminal::CommandResult& result : batch.results) {
    const std::string how = result.exit_code         ? fmt::format("exit {}", *result.exit_code)
                            : !result.signal.empty() ? result.signal
                                                     : terminal::command_state_name(result.state);
    std::fprintf(stderr, "ttyward batch: %s (%.3f s): %s\n", how.c_str(),
                 static_cast<double>(result.duration_ms) / 1000, result.command.c_str());
  }
  const bool left = !batch.results.empty() && batch.results.back().known_by == "wait";
  for (const std::string& command : batch.not_run)
    std::fprintf(stderr, "ttyward batch: not run%s: %s\n", left ? ", the shell had ended" : "",
                 command.c_str());
  if (!batch.shell.reason.empty()) complain("batch", batch.shell.reason, 0);
}

// In another place: the line that would run it there from here.
std::string there(const Arguments& args, const std::string& command) {
  if (args.shared.place.empty()) return command;
  return app::line_there(args.shared.place, command).value_or(command);
}

// Each command on its own, and all of them as one text: what one leaves in the shell changes what the next
// one means. The whole stands last, and only if it is graver than its parts.
std::vector<Judged> judge_all(LocalPolicy& policy, const Arguments& args, const std::string& cwd) {
  std::vector<Judged> judged;
  gate::Action whole{"", cwd, "", args.shared.environment, gate::Language::Bash};
  policy::Decision gravest = policy::Decision::Allow;
  for (const std::string& command : args.commands) {
    whole.command += command + "\n";
    judged.push_back(
        policy.judge({there(args, command), cwd, "", args.shared.environment, gate::Language::Bash}));
    gravest = std::max(gravest, judged.back().verdict.decision);
  }
  if (args.commands.size() > 1) {
    whole.command = there(args, whole.command);
    Judged together = policy.judge(std::move(whole));
    if (together.verdict.decision > gravest) judged.push_back(std::move(together));
  }
  return judged;
}

// Nothing runs: the command that must not is the result, the others are listed as not run.
int refuse(const command::RunOptions& options, const Arguments& args, const std::vector<Judged>& judged,
           const LocalPolicy& policy, const Ruling& ruling, bool json) {
  command::BatchResult result;
  result.shell.state = terminal::CommandState::Denied;
  result.shell.reason = ruling.reason;
  terminal::CommandResult denied = result.shell;
  denied.command_id = options.id + ".1";
  denied.command = judged[ruling.culprit].action.command;
  denied.cwd = options.spawn.cwd;
  denied.verdict_json = verdict_json(policy, judged[ruling.culprit]);
  result.results.push_back(std::move(denied));
  for (size_t i = 0; i < args.commands.size(); ++i) {
    if (i != ruling.culprit) result.not_run.push_back(args.commands[i]);
  }
  if (json) {
    std::printf("%s\n", json_of(result).c_str());
  } else {
    summarize(result);
  }
  return result.shell_code();
}

int run_batch(Arguments args, const Globals& globals) {
  if (args.commands.empty()) {
    return complain("batch", "give the commands, each as one word: ttyward batch 'make' 'make test'",
                    kExitUsage);
  }
  for (const std::string& command : args.commands) {
    if (command.find_first_not_of(" \t\n") == std::string::npos) {
      return complain("batch", "one of the commands is empty", kExitUsage);
    }
  }
  const auto project = project_container(args.shared.place, args.shared.cwd);
  if (!project) return complain("batch", project.error().message, kExitUsage);
  const bool here = args.shared.place.empty();
  if (const auto line = here ? base::Result<std::string>("") : app::line_there(args.shared.place, "true");
      !line)
    return complain("batch", line.error().message, kExitUsage);
  auto bash = here ? command::choose_shell(args.shared.shell) : base::Result<std::string>("bash");
  if (!bash) return complain("batch", bash.error().message, kExitUsage);
  if (bash->find("bash") == std::string::npos) {
    return complain("batch",
                    fmt::format("batch needs bash, not {}: install bash or name it with --shell", *bash),
                    kExitUsage);
  }
  auto options = make_run_options(args.shared, false);
  if (!options) return complain("batch", options.error().message, kExitUsage);

  const std::string judged_in = args.shared.place.empty() ? options->spawn.cwd : current_folder();
  auto policy = LocalPolicy::make(args.policy, PolicyLevel::Critical, "batch", judged_in);
  if (!policy) return complain("batch", policy.error().message, kExitUsage);
  const std::vector<Judged> judged = judge_all(*policy, args, judged_in);
  const auto before = judge_project(*policy, *project, judged_in);
  if (!before) return complain("batch", before.error().message, kExitUsage);
  std::vector<Judged> all = judged;
  all.insert(all.end(), before->begin(), before->end());
  const Ruling ruling = policy->settle(all);
  if (!ruling.allowed) return refuse(*options, args, all, *policy, ruling, globals.json);
  // They share a shell, so it has what all of them were allowed.
  policy::Verdict together;
  for (const Judged& each : judged) {
    if (!each.verdict.sandbox.empty()) together.sandbox = each.verdict.sandbox;
    together.effects.insert(together.effects.end(), each.verdict.effects.begin(), each.verdict.effects.end());
  }
  if (!together.sandbox.empty()) {
    options = make_run_options(args.shared, false, together);
    if (!options) return complain("batch", options.error().message, kExitUsage);
  }

  std::optional<FarRun> far;
  if (auto up = start_project(*project, args.shared.environment); !up)
    return complain("batch", up.error().message, kExitFailure);
  if (!args.shared.place.empty()) {
    auto reached = FarRun::reach(args.shared.place);
    if (!reached) return complain("batch", reached.error().message, kExitFailure);
    far = std::move(*reached);
    if (auto applied = far->apply(*options, args.shared, false); !applied)
      return complain("batch", applied.error().message, kExitUsage);
    *bash = far->shell(args.shared.shell);
    if (bash->find("bash") == std::string::npos)
      return complain("batch", "batch needs bash, and " + args.shared.place + " has none", kExitUsage);
  }
  command::Batch batch{args.commands,
                       args.keep_going ? command::OnFailure::KeepGoing : command::OnFailure::Stop,
                       base::random_nonce()};
  options->spawn.argv = batch.argv(*bash);
  const terminal::ViewLimits view = options->view;
  const Stdin input = stdin_kind() == Stdin::Given ? Stdin::Given : Stdin::None;
  if (input == Stdin::Given) options->input_patience = std::chrono::milliseconds(0);

  auto confined = ConfinedRun::prepare(*options, settings_in(judged_in).sandbox, OnLayer::IfConfigured);
  if (!confined) return complain("batch", confined.error().message, kExitFailure);

  command::BatchResult result;
  Foreground foreground(std::move(*options), globals.json ? Show::Nothing : Show::Lines, input);
  Foreground::Outcome outcome = foreground.run([&](command::RunningCommand& run) {
    result = command::split_batch(batch, run, view);
    for (size_t i = 0; i < result.results.size(); ++i)
      result.results[i].verdict_json = verdict_json(*policy, judged[i]);
    return globals.json ? json_of(result) + "\n" : "";
  });
  if (!outcome.started) confined->abandon();
  const auto changes = confined->finish(outcome.result);
  if (changes && !changes->problem.empty()) complain("batch", changes->problem, 0);
  if (!outcome.started) {
    result.shell = outcome.result;
    result.not_run = args.commands;
    if (globals.json) std::printf("%s\n", json_of(result).c_str());
  }
  if (!globals.json) summarize(result);
  return result.shell_code();
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  declare_run_options(app, args->shared);
  declare_policy_options(app, args->policy);
  app.add_flag("--keep-going", args->keep_going, "Continue after a command that failed");
  app.add_option("COMMAND", args->commands, "Commands, each as one word");
  return [args, &globals] { return run_batch(*args, globals); };
}

}  // namespace
}  // namespace batch_verb

const Verb kBatch = {"batch", "Run several commands in one shell, with a result for each",
                     &batch_verb::declare};

}  // namespace ttyward::cli
