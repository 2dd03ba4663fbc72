// ttyward wait: until the first of some conditions holds.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/daemon_verb.h"
#include "cli/exec_options.h"
#include "cli/option_values.h"
#include "cli/result_words.h"
#include "cli/shown_text.h"
#include "cli/signal_watch.h"
#include "cli/target.h"
#include "cli/verbs/verbs.h"
#include "wire/types/watching_calls.h"

namespace ttyward::cli {
namespace {

constexpr int kExitTimeout = 124;

struct Arguments {
  std::string target;
  bool exit = false;
  bool input = false;
  bool prompt = false;
  std::string pattern;
  std::optional<int64_t> port;
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

base::Result<std::chrono::milliseconds> more_than_none(const char* name, const std::optional<double>& value) {
  if (!value) return std::chrono::milliseconds(0);
  auto time = parse_seconds(name, *value);
  if (time && time->count() == 0)
    return base::fail(base::ErrorCode::InvalidArgument, fmt::format("--{}: give more than 0 seconds", name));
  return time;
}

base::Result<wire::WaitRequest> conditions(const Arguments& args) {
  wire::WaitRequest request;
  request.exit = args.exit;
  request.input = args.input;
  request.prompt = args.prompt;
  request.pattern = args.pattern;
  if (args.port && (*args.port < 0 || *args.port > 65'535))
    return base::fail(base::ErrorCode::InvalidArgument, "--port: give a port, or 0 for any");
  request.port = args.port;
  if (!args.file.empty()) request.file = absolute_path(args.file);
  auto quiet = more_than_none("quiet", args.quiet);
  if (!quiet) return tl::unexpected(quiet.error());
  auto stable = more_than_none("stable", args.stable);
  if (!stable) return tl::unexpected(stable.error());
  auto timeout = parse_seconds("timeout", args.timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  request.quiet = *quiet;
  request.stable = *stable;
  request.timeout = *timeout;
  if (args.from_start) request.from = wire::WaitFrom::Start;
  request.view.view = view_named(args.view);
  return request;
}

// Which conditions hold when a command has ended: without any given, that is what is waited for, and
// a terminal at its prompt has seen the end of its last one.
bool tells_an_end(const wire::WaitOutcome& came, bool by_default) {
  return came.condition == "exit" || (by_default && came.condition == "prompt");
}

// What held, for a script to read: its name, then what belongs to it.
std::string held(const wire::WaitOutcome& came, bool by_default) {
  if (came.condition == "pattern" && came.match && *came.match)
    return fmt::format("pattern {}:{}", (*came.match)->line, one_line((*came.match)->text));
  if (came.condition == "port" && came.port) return fmt::format("port {}", came.port->value_or(0));
  if (came.condition == "file" && came.file) return "file " + one_line(came.file->value_or(""));
  if (tells_an_end(came, by_default) && came.result) return how_it_ended(*came.result);
  if (came.condition == "input" && came.result && came.result->waiting)
    return "input " + one_line(came.result->waiting->prompt);
  return came.condition;
}

int exit_code(const wire::WaitOutcome& came, bool by_default) {
  if (came.condition == "timeout") return kExitTimeout;
  return tells_an_end(came, by_default) && came.result ? result_code(*came.result) : 0;
}

int wait(const Arguments& args, const Globals& globals) {
  auto request = conditions(args);
  if (!request) return complain("wait", request.error().message, kExitUsage);
  const bool by_default = !args.exit && !args.input && !args.prompt && args.pattern.empty() && !args.port &&
                          args.file.empty() && !args.quiet && !args.stable;
  return with_daemon("wait", [&](client::Session& daemon) -> Outcome {
    auto target = find_target(daemon, args.target);
    if (!target) return tl::unexpected(target.error());
    request->exit |= by_default;
    request->prompt |= by_default && target->kind == Target::Kind::Terminal;
    request->terminal = target->terminal_id();
    request->command = target->command_id();
    SignalWatch signals({SIGINT, SIGTERM, SIGHUP});
    client::CallOptions options;
    options.cancel_fd = signals.fd();
    auto came = daemon.call(*request, {}, options);
    if (const int number = signals.take(); number != 0) return 128 + number;
    if (!came) return tl::unexpected(came.error());
    const int code = exit_code(*came, by_default);
    if (!globals.json && came->condition == "timeout") {
      const bool runs = came->result && is_open(came->result->state);
      return complain("wait",
                      fmt::format("no condition was met within {} s{}", args.timeout,
                                  runs ? "; the command keeps running" : ""),
                      code);
    }
    const int written =
        globals.json ? print_answer("wait", *came) : print_text("wait", held(*came, by_default) + "\n");
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
