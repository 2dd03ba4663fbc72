// ttyward open: a terminal that stays.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "cli/choice.h"
#include "cli/daemon_verb.h"
#include "cli/fields.h"
#include "cli/option_values.h"
#include "cli/shown_text.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

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
};

base::Result<json::object> call_arguments(const Arguments& args) {
  json::object call;
  auto folder = absolute_folder(args.cwd);
  if (!folder) return tl::unexpected(folder.error());
  call["cwd"] = *folder;
  set_text(call, "task", args.task);
  if (args.pipe) call["provider"] = "pipe";
  if (args.reuse) {
    if (!args.name.empty() || !args.shell.empty() || !args.size.empty() || !args.environment.empty() ||
        args.login) {
      return base::fail(
          base::ErrorCode::InvalidArgument,
          "--reuse takes a terminal as it is: it can be combined only with --cwd, --task and --pipe");
    }
    return call;
  }
  set_text(call, "name", args.name);
  set_text(call, "shell", args.shell);
  if (!args.shell_args.empty()) {
    boost::json::array words(args.shell_args.begin(), args.shell_args.end());
    call["shell_args"] = std::move(words);
  }
  call["owner"] = args.owner;
  if (args.login) call["login"] = true;
  if (!args.size.empty()) {
    auto size = parse_size("--size", args.size);
    if (!size) return tl::unexpected(size.error());
    call["size"] = json::object{{"cols", size->columns}, {"rows", size->rows}};
  }
  json::object environment;
  for (const std::string& variable : args.environment) {
    auto parsed = parse_variable(variable);
    if (!parsed) return tl::unexpected(parsed.error());
    environment[parsed->first] = parsed->second;
  }
  if (!environment.empty()) call["env"] = std::move(environment);
  return call;
}

int open_terminal(const Arguments& args, const Globals& globals) {
  auto call = call_arguments(args);
  if (!call) return complain("open", call.error().message, kExitUsage);
  return with_daemon("open", [&](client::Session& daemon) -> Outcome {
    auto opened = daemon.call(args.reuse ? "acquire" : "open", std::move(*call));
    if (!opened) return tl::unexpected(opened.error());
    if (globals.json) return print_json("open", *opened);
    const json::object* terminal = object_in(*opened, "terminal");
    if (terminal == nullptr)
      return refuse(base::Error{base::ErrorCode::Corrupt, 0, "the daemon's answer has no terminal"});
    if (text_in(*terminal, "integration") == "none" && text_in(*terminal, "provider") != "pipe") {
      complain(
          "open",
          "its shell has no integration, so the end of a command is found by other means; see ttyward show " +
              text_in(*terminal, "id"),
          0);
    }
    return print_text("open", text_in(*terminal, "id") + "\n");
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
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
  app.add_flag("--reuse", args->reuse, "Take an idle terminal of the same task and folder, if there is one");
  return [args, &globals] { return open_terminal(*args, globals); };
}

}  // namespace

const Verb kOpen = {"open", "Open a terminal that stays; prints its id", &declare};

}  // namespace ttyward::cli
