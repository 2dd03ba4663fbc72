// ttyward wait: until the first of some conditions holds.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include <boost/json/object.hpp>

#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/fields.h"
#include "cli/option_values.h"
#include "cli/result_words.h"
#include "cli/shown_text.h"
#include "cli/signal_watch.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr int kExitTimeout = 124;

struct Arguments {
  std::string target;
  bool exit = false;
  bool input = false;
  bool prompt = false;
  std::string pattern;
  std::optional<int> port;
  std::string file;
  std::optional<double> quiet;
  std::optional<double> stable;
  bool from_start = false;
  double timeout = 30;
  std::string view;
};

std::string absolute_path(const std::string& path) {
  if (path.front() == '/') return path;
  const auto here = absolute_folder("");
  return here ? *here + "/" + path : path;
}

base::Result<json::object> conditions(const Arguments& args) {
  json::object call;
  if (args.exit) call["exit"] = true;
  if (args.input) call["input"] = true;
  if (args.prompt) call["prompt"] = true;
  set_text(call, "pattern", args.pattern);
  if (args.port) {
    if (*args.port < 0 || *args.port > 65'535)
      return base::fail(base::ErrorCode::InvalidArgument, "--port: give a port, or 0 for any");
    call["port"] = *args.port;
  }
  if (!args.file.empty()) call["file"] = absolute_path(args.file);
  const std::pair<const char*, std::optional<double>> times[] = {{"quiet", args.quiet},
                                                                 {"stable", args.stable}};
  for (const auto& [name, value] : times) {
    if (!value) continue;
    auto time = parse_seconds(name, *value);
    if (!time) return tl::unexpected(time.error());
    if (time->count() == 0)
      return base::fail(base::ErrorCode::InvalidArgument,
                        fmt::format("--{}: give more than 0 seconds", name));
    call[std::string(name) + "_ms"] = time->count();
  }
  if (args.from_start) call["from"] = "start";
  auto timeout = parse_seconds("timeout", args.timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  call["timeout_ms"] = timeout->count();
  set_text(call, "view", args.view);
  return call;
}

// Which conditions hold when a command has ended: without any given, that is what is waited for, and
// a terminal at its prompt has seen the end of its last one.
bool tells_an_end(const json::object& answer, bool by_default) {
  const std::string condition = text_in(answer, "condition");
  return condition == "exit" || (by_default && condition == "prompt");
}

// What held, for a script to read: its name, then what belongs to it.
std::string held(const json::object& answer, bool by_default) {
  std::string condition = text_in(answer, "condition");
  const json::object* match = object_in(answer, "match");
  const json::object* result = object_in(answer, "result");
  if (condition == "pattern" && match != nullptr)
    return fmt::format("pattern {}:{}", number_in(*match, "line").value_or(0),
                       one_line(text_in(*match, "text")));
  if (condition == "port") return fmt::format("port {}", number_in(answer, "port").value_or(0));
  if (condition == "file") return "file " + one_line(text_in(answer, "file"));
  if (tells_an_end(answer, by_default) && result != nullptr) return how_it_ended(*result);
  if (condition == "input" && result != nullptr) {
    const json::object* waiting = object_in(*result, "waiting");
    if (waiting != nullptr) return "input " + one_line(text_in(*waiting, "prompt"));
  }
  return condition;
}

int exit_code(const json::object& answer, bool by_default) {
  const std::string condition = text_in(answer, "condition");
  if (condition == "timeout") return kExitTimeout;
  const json::object* result = object_in(answer, "result");
  return tells_an_end(answer, by_default) && result != nullptr ? result_code(*result) : 0;
}

int wait(const Arguments& args, const Globals& globals) {
  auto call = conditions(args);
  if (!call) return complain("wait", call.error().message, kExitUsage);
  const bool by_default = !args.exit && !args.input && !args.prompt && args.pattern.empty() && !args.port &&
                          args.file.empty() && !args.quiet && !args.stable;
  return with_daemon("wait", [&](client::Session& daemon) -> Outcome {
    auto target = find_target(daemon, args.target);
    if (!target) return tl::unexpected(target.error());
    if (by_default) (*call)["exit"] = true;
    if (by_default && target->kind == Target::Kind::Terminal) (*call)["prompt"] = true;
    for (const auto& member : target->arguments()) call->insert(member);
    SignalWatch signals({SIGINT, SIGTERM, SIGHUP});
    client::CallOptions options;
    options.cancel_fd = signals.fd();
    auto answer = daemon.call("wait", std::move(*call), {}, options);
    if (const int number = signals.take(); number != 0) return 128 + number;
    if (!answer) return tl::unexpected(answer.error());
    const int code = exit_code(*answer, by_default);
    if (globals.json) {
      const int written = print_json("wait", *answer);
      return written != 0 ? written : code;
    }
    if (code == kExitTimeout && text_in(*answer, "condition") == "timeout")
      return complain(
          "wait", fmt::format("no condition was met within {} s; the command keeps running", args.timeout),
          code);
    const int written = print_text("wait", held(*answer, by_default) + "\n");
    return written != 0 ? written : code;
  });
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TARGET", args->target, "A terminal by name or id, or a command by id")->required();
  app.add_flag("--exit", args->exit, "Until the command ends (the default); its exit code passes through");
  app.add_option("--for", args->pattern, "Until a line matches this regular expression");
  app.add_option("--port", args->port, "Until it listens on this port; 0 for any");
  app.add_option("--file", args->file, "Until this file exists")->type_name("FILE");
  app.add_option("--quiet", args->quiet, "Until nothing was printed for this many seconds");
  app.add_option("--stable", args->stable, "Until the screen has not changed for this many seconds");
  app.add_flag("--input", args->input, "Until it waits for input");
  app.add_flag("--prompt", args->prompt, "Until the terminal can take a command");
  app.add_flag("--from-start", args->from_start, "Also match output printed before");
  app.add_option("--timeout", args->timeout,
                 "Time limit in seconds, 0 for none; exit code 124 when it is reached")
      ->capture_default_str();
  declare_view(app, args->view);
  return [args, &globals] { return wait(*args, globals); };
}

}  // namespace

const Verb kWait = {"wait", "Wait for a command's end, a line, a port, a file, silence or a question",
                    &declare};

}  // namespace ttyward::cli
