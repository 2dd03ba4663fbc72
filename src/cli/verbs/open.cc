// ttyward open: a terminal that stays.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "cli/choice.h"
#include "cli/current_folder.h"
#include "cli/daemon_verb.h"
#include "cli/far_run.h"
#include "cli/local_policy.h"
#include "cli/option_values.h"
#include "cli/remote_host.h"
#include "cli/verbs/verbs.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::cli {
namespace open_verb {
namespace {

struct Arguments {
  std::string name;
  std::string cwd;
  std::string shell;
  std::vector<std::string> shell_args;
  std::string task;
  std::string owner = "user";
  std::string size;
  std::vector<std::string> environment;
  bool login = false;
  bool pipe = false;
  bool reuse = false;
  std::string sandbox;
  std::string place;
};

constexpr int kRefused = 126;  // by policy, as everywhere

base::Result<wire::AcquireRequest> acquire_request(const Arguments& args) {
  if (!args.name.empty() || !args.shell.empty() || !args.size.empty() || !args.environment.empty() ||
      args.login || !args.sandbox.empty() || !args.place.empty()) {
    return base::fail(
        base::ErrorCode::InvalidArgument,
        "--reuse takes a terminal as it is: it can be combined only with --cwd, --task and --pipe");
  }
  auto folder = absolute_folder(args.cwd);
  if (!folder) return tl::unexpected(folder.error());
  wire::AcquireRequest request;
  request.cwd = std::move(*folder);
  request.task = args.task;
  if (args.pipe) request.provider = base::Provider::Pipe;
  return request;
}

base::Result<wire::OpenRequest> open_request(const Arguments& args) {
  // A folder of another place is looked for there.
  auto folder = args.place.empty() ? absolute_folder(args.cwd) : base::Result<std::string>(args.cwd);
  if (!folder) return tl::unexpected(folder.error());
  wire::OpenRequest request;
  request.place = args.place;
  request.cwd = std::move(*folder);
  request.task = args.task;
  if (args.pipe) request.provider = base::Provider::Pipe;
  request.name = args.name;
  request.shell = args.shell;
  request.shell_args = args.shell_args;
  request.owner = wire::word_named<wire::Owner>(args.owner);
  request.login = args.login;
  request.sandbox = args.sandbox;
  if (!args.size.empty()) {
    auto size = parse_size("--size", args.size);
    if (!size) return tl::unexpected(size.error());
    request.size = wire::Size{size->columns, size->rows};
  }
  for (const std::string& variable : args.environment) {
    auto parsed = parse_variable(variable);
    if (!parsed) return tl::unexpected(parsed.error());
    request.env.entries.push_back(parsed->first + "=" + parsed->second);
  }
  return request;
}

template <client::Request R>
int open_terminal(const base::Result<R>& request, const Globals& globals) {
  if (!request) return complain("open", request.error().message, kExitUsage);
  return with_daemon("open", [&](client::Session& daemon) -> Outcome {
    auto opened = daemon.call(*request);
    if (!opened) return tl::unexpected(opened.error());
    if (globals.json) return print_answer("open", *opened);
    const wire::Terminal& terminal = opened->terminal;
    if (terminal.integration == "none" && terminal.provider != "pipe") {
      complain(
          "open",
          "its shell has no integration, so the end of a command is found by other means; see ttyward show " +
              terminal.id,
          0);
    }
    return print_text("open", terminal.id + "\n");
  });
}

int open_or_reuse(Arguments args, const Globals& globals) {
  if (args.reuse) return open_terminal(acquire_request(args), globals);
  if (talks_to_host() && args.place == "devcontainer")
    return complain("open", "--in devcontainer works on this machine only: leave out --host", kExitUsage);
  // The daemon knows containers, not projects: theirs is brought up here.
  const auto project = project_container(args.place, args.cwd);
  if (!project) return complain("open", project.error().message, kExitUsage);
  if (*project != nullptr) {
    auto policy = LocalPolicy::make({}, PolicyLevel::Critical, "open", current_folder());
    if (!policy) return complain("open", policy.error().message, kExitUsage);
    const auto judged = judge_project(*policy, *project, current_folder());
    if (!judged) return complain("open", judged.error().message, kExitUsage);
    const Ruling ruling = policy->settle(*judged);
    if (!ruling.allowed) return complain("open", ruling.reason, kRefused);
    if (auto up = start_project(*project, args.environment); !up)
      return complain("open", up.error().message, kExitFailure);
  }
  return open_terminal(open_request(args), globals);
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  declare_place(app, args->place);
  app.add_option("--name", args->name, "A name for it");
  app.add_option("--cwd", args->cwd, "Folder to start in (default: the current one)")->type_name("FOLDER");
  app.add_option("--shell", args->shell, "Name or path of its shell (default: yours)")->type_name("FILE");
  app.add_option("--shell-arg", args->shell_args, "An argument for that shell; may be repeated")
      ->type_name("ARG")
      ->allow_extra_args(false);
  app.add_flag("--login", args->login, "A login shell");
  app.add_flag("--pipe", args->pipe, "A shell on pipes instead of a terminal; its programs read no input");
  app.add_option("--task", args->task, "Task it belongs to");
  choose(app.add_option("--owner", args->owner, "Whose it is"), {"user", "agent"})->capture_default_str();
  app.add_option("--env", args->environment, "NAME=value for its environment; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--size", args->size, "Its size, such as 120x40");
  app.add_option(
         "--sandbox", args->sandbox,
         "Confine it and all its commands: read-only, workspace, workspace+net or none (docs/sandbox.md)")
      ->type_name("PROFILE");
  app.add_flag("--reuse", args->reuse, "Take an idle terminal of the same task and folder, if there is one");
  return [args, &globals] { return open_or_reuse(*args, globals); };
}

}  // namespace
}  // namespace open_verb

const Verb kOpen = {"open", "Open a terminal that stays; prints its id", &open_verb::declare};

}  // namespace ttyward::cli
