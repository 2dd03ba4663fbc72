// ttyward run: one command, shown live, with its true end. Needs no daemon.
// ttyward try: the same on a layer over the workspace, with a list of what it changed.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/line_there.h"
#include "app/objects.h"
#include "app/sandbox_plan.h"
#include "cli/change_text.h"
#include "cli/colour.h"
#include "cli/confined_run.h"
#include "cli/current_folder.h"
#include "cli/digest_paint.h"
#include "cli/far_run.h"
#include "cli/foreground.h"
#include "cli/local_policy.h"
#include "cli/result_json.h"
#include "cli/run_arguments.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"
#include "command/shell_choice.h"
#include "shell/quoting.h"
#include "wire/encoder.h"

namespace ttyward::cli {
namespace run_verb {
namespace {

struct Arguments {
  RunArguments shared;
  PolicyArguments policy;
  std::vector<std::string> words;
  bool on_layer = false;  // try

  const char* verb() const { return on_layer ? "try" : "run"; }
};

// One word is a line for a shell; after -- the words are a program and its arguments.
// In another place, `far` says which shell there is.
base::Result<std::vector<std::string>> make_argv(const Arguments& args, bool after_dashes,
                                                 const FarRun* far = nullptr) {
  if (args.words.empty() || args.words.front().empty()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      std::string("give a command: ttyward ") + args.verb() + " 'make test'");
  }
  if (after_dashes) return args.words;
  if (args.words.size() > 1) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "quote the command as one word, or put -- before a program and its arguments");
  }
  if (args.words.front().find_first_not_of(" \t\n") == std::string::npos) {
    return base::fail(base::ErrorCode::InvalidArgument, "the command is empty");
  }
  if (far != nullptr) return pty::shell_argv(far->shell(args.shared.shell), args.words.front());
  if (!args.shared.place.empty()) return std::vector<std::string>();
  auto shell = command::choose_shell(args.shared.shell);
  if (!shell) return tl::unexpected(shell.error());
  return pty::shell_argv(*shell, args.words.front());
}

std::string shown(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// What policy judges: the line, or the words as a line that means exactly them.
base::Result<gate::Action> action_of(const Arguments& args, const std::string& cwd, bool after_dashes) {
  gate::Action action;
  action.cwd = cwd;
  action.environment_changes = args.shared.environment;
  if (!args.shared.place.empty()) {
    auto words = shell::quote_command(args.words, shell::Dialect::Posix);
    if (!words) return tl::unexpected(words.error());
    auto there = app::line_there(args.shared.place, after_dashes ? *words : args.words.front());
    if (!there) return tl::unexpected(there.error());
    action.command = std::move(*there);
    return action;
  }
  if (!after_dashes) {
    action.command = args.words.front();
    action.language = language_of(args.shared.shell);
    return action;
  }
  auto line = shell::quote_command(args.words, shell::Dialect::Posix);
  if (!line) return tl::unexpected(line.error());
  action.command = std::move(*line);
  return action;
}

int refuse(const char* verb, const command::RunOptions& options, const std::string& verdict,
           const Ruling& ruling, bool json) {
  terminal::CommandResult result;
  result.command_id = options.id;
  result.command = options.shown_command;
  result.cwd = options.spawn.cwd;
  result.state = terminal::CommandState::Denied;
  result.reason = ruling.reason;
  result.verdict_json = verdict;
  if (json) std::printf("%s\n", json_of(result).c_str());
  if (!json) complain(verb, ruling.reason, 0);
  return result.shell_code();
}

void say_what_happened(const char* verb, const terminal::CommandResult& result) {
  if (!result.fallback_reason.empty()) {
    std::fprintf(stderr, "ttyward %s: no terminal was available (%s); it ran on pipes\n", verb,
                 result.fallback_reason.c_str());
  }
  if (result.binary) {
    std::fprintf(stderr, "ttyward %s: the output is binary (%llu bytes) and is not shown\n", verb,
                 static_cast<unsigned long long>(result.total_bytes));
  }
  if (result.lost_bytes > 0) {
    std::fprintf(stderr, "ttyward %s: %llu bytes of output could not be kept\n", verb,
                 static_cast<unsigned long long>(result.lost_bytes));
  }
  if (!result.reason.empty()) complain(verb, result.reason, 0);
  if (result.sandbox && result.exit_code.value_or(0) != 0) {
    for (const std::string& denied : result.sandbox->denied) {
      std::fprintf(stderr,
                   "ttyward %s: the sandbox %s does not allow: %s. To allow it, see sandbox.readable, "
                   "sandbox.writable "
                   "and the profile workspace+net\n",
                   verb, result.sandbox->profile.c_str(), denied.c_str());
    }
  }
  for (const terminal::BackgroundProcess& process : result.background) {
    std::fprintf(stderr, "ttyward %s: still running: %lld %s\n", verb, static_cast<long long>(process.pid),
                 process.command.c_str());
  }
}

// What it changed, and what to do with that. To stderr: the command's output is on stdout.
void say_what_changed(const std::string& id, const wire::Changes& changes, bool tried) {
  std::string text;
  if (!changes.problem.empty()) text += "ttyward: " + changes.problem + "\n";
  const std::string where = one_line(short_path(changes.workspace));
  if (tried) {
    text += fmt::format("ttyward try: {}, and {} is as it was\n{}", change_totals(changes), where,
                        change_lines(changes, Paint()));
    const bool any = changes.added + changes.changed + changes.deleted > 0;
    if (any) {
      text += fmt::format(
          "look: ttyward changes {0} --diff   keep: ttyward apply {0}   throw away: ttyward discard {0}\n",
          id);
    }
  } else if (changes.state == "applied") {
    text +=
        fmt::format("ttyward run: {} in {}; ttyward undo takes that back\n", change_totals(changes), where);
  }
  std::fputs(text.c_str(), stderr);
}

int run_command(Arguments args, const Globals& globals) {
  const char* verb = args.verb();
  // Of a digest nothing is shown before the end, and it is the one an agent would get.
  const bool digest = !globals.json && args.shared.view == "digest";
  const bool person =
      !globals.json && !digest && stdin_kind() == Stdin::Person && ::isatty(STDOUT_FILENO) != 0;
  const auto project = project_container(args.shared.place, args.shared.cwd);
  if (!project) return complain(verb, project.error().message, kExitUsage);
  auto argv = make_argv(args, globals.after_dashes);
  if (!argv) return complain(verb, argv.error().message, kExitUsage);
  if (args.on_layer && !args.shared.place.empty())
    return complain(verb, "changes can be tried on this machine only: leave out --in", kExitUsage);
  auto options = make_run_options(args.shared, person);
  if (!options) return complain(verb, options.error().message, kExitUsage);
  options->shown_command = shown(args.words);

  // In another place the rules of the folder here hold, for it is from here that it is used.
  const std::string judged_in = args.shared.place.empty() ? options->spawn.cwd : current_folder();
  auto policy = LocalPolicy::make(args.policy, PolicyLevel::Critical, verb, judged_in);
  if (!policy) return complain(verb, policy.error().message, kExitUsage);
  auto action = action_of(args, judged_in, globals.after_dashes);
  if (!action) return complain(verb, action.error().message, kExitUsage);
  if (!app::wants_more(args.shared.sandbox)) policy->consider_sandbox(*action);
  const Judged judged = policy->judge(std::move(*action));
  const std::string verdict = globals.json ? verdict_json(*policy, judged) : "";
  auto all = judge_project(*policy, *project, judged_in);
  if (!all) return complain(verb, all.error().message, kExitUsage);
  all->push_back(judged);
  const Ruling ruling = policy->settle(*all);
  if (!ruling.allowed) {
    const std::string why = globals.json ? verdict_json(*policy, (*all)[ruling.culprit]) : "";
    return refuse(verb, *options, why, ruling, globals.json);
  }
  if (!judged.verdict.sandbox.empty()) {
    options = make_run_options(args.shared, person, judged.verdict);
    if (!options) return complain(verb, options.error().message, kExitUsage);
    options->shown_command = shown(args.words);
  }
  std::optional<FarRun> far;
  std::optional<PlainSsh> plain;
  if (auto up = start_project(*project, args.shared.environment); !up)
    return complain(verb, up.error().message, kExitFailure);
  if (!args.shared.place.empty()) {
    auto reached = FarRun::reach(args.shared.place);
    if (!reached) plain = PlainSsh::instead_of(args.shared.place, reached.error());
    if (!reached && !plain) return complain(verb, reached.error().message, kExitFailure);
    if (plain) {
      complain(verb, reached.error().message + "; plain ssh runs it, and only what ssh says is known of it",
               0);
      auto applied = plain->apply(*options, args.shared, args.words.front(),
                                  globals.after_dashes ? args.words : std::vector<std::string>());
      if (!applied) return complain(verb, applied.error().message, kExitUsage);
      argv = options->spawn.argv;
    } else {
      far = std::move(*reached);
      if (auto applied = far->apply(*options, args.shared, person); !applied)
        return complain(verb, applied.error().message, kExitUsage);
      argv = make_argv(args, globals.after_dashes, &*far);
    }
  }
  options->spawn.argv = std::move(*argv);
  if (options->sandbox) options->sandbox->denied = app::denied_by(*options->spawn.sandbox, judged.verdict);
  auto confined = ConfinedRun::prepare(*options, settings_in(judged_in).sandbox,
                                       args.on_layer ? OnLayer::Always : OnLayer::IfConfigured);
  if (!confined) return complain(verb, confined.error().message, kExitFailure);

  if (person) {
    options->replies = command::Replies::Viewer;
    options->input_patience = std::chrono::milliseconds(0);
  }
  Stdin input = stdin_kind();
  if (input == Stdin::Person && !person) input = Stdin::None;  // its keys are not ours to take

  const Show show = globals.json || digest ? Show::Nothing : person ? Show::Raw : Show::Lines;
  const std::string id = options->id;
  // What a command changed, or was refused, is known when nothing of it is left.
  const bool known_later = options->spawn.sandbox.has_value();
  Foreground foreground(std::move(*options), show, input);
  Foreground::Outcome outcome = foreground.run([&](command::RunningCommand& run) {
    run.result().verdict_json = verdict;
    if (plain) plain->correct(run.result());
    if (globals.json) return known_later ? std::string() : json_of(run.result()) + "\n";
    return digest ? painted_digest(run.result().output.text, Paint::for_stdout()) : std::string();
  });
  outcome.result.verdict_json = verdict;
  if (!outcome.started) confined->abandon();
  const auto changes = confined->finish(outcome.result);
  if (globals.json && (known_later || !outcome.started)) {
    wire::CommandResult result = app::result_object(outcome.result);
    result.changes = changes;
    std::printf("%s\n", wire::json_text(result).c_str());
  }
  if (!globals.json) say_what_happened(verb, outcome.result);
  if (!globals.json && changes) say_what_changed(id, *changes, args.on_layer);
  return outcome.shell_code();
}

std::function<int()> declare_either(CLI::App& app, const Globals& globals, bool on_layer) {
  auto args = std::make_shared<Arguments>();
  args->on_layer = on_layer;
  if (on_layer) args->shared.sandbox = "workspace";
  declare_run_options(app, args->shared);
  declare_policy_options(app, args->policy);
  app.add_option("COMMAND", args->words, "A line for the shell; or -- and a program with its arguments");
  return [args, &globals] { return run_command(*args, globals); };
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  return declare_either(app, globals, false);
}

std::function<int()> declare_try(CLI::App& app, const Globals& globals) {
  return declare_either(app, globals, true);
}

}  // namespace
}  // namespace run_verb

const Verb kRun = {"run", "Run one command and report exactly how it ended", &run_verb::declare};
const Verb kTry = {"try", "Run one command without its changes: look at them, then apply or discard them",
                   &run_verb::declare_try};

}  // namespace ttyward::cli
