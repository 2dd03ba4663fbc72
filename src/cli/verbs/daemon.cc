// ttyward daemon: run it, ask how it is, stop it.
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/folders.h"
#include "base/unique_fd.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/hold_program.h"
#include "cli/time_text.h"
#include "cli/verbs/verbs.h"
#include "client/connection.h"
#include "daemon/daemon_application.h"
#include "daemon/process.h"

namespace ttyward::cli {
namespace daemon_verb {
namespace {

constexpr int kExitNotRunning = 1;
constexpr int kEndPatience = 40'000;  // milliseconds; the daemon gives its own work 30 s

struct Arguments {
  base::Folders folders = base::user_folders();
  bool detach = false;
  bool kill_terminals = false;
};

int run_daemon(const Arguments& args) {
  const auto hold = find_hold_program();
  if (!hold) return complain("daemon", hold.error().message, kExitFailure);
  daemon::RunOptions options;
  options.folders = args.folders;
  options.where = args.detach ? daemon::Where::Background : daemon::Where::Foreground;
  return daemon::run(
      options,
      [&](daemon::Process& process) -> std::unique_ptr<daemon::Application> {
        return std::make_unique<daemon::DaemonApplication>(process, *hold);
      },
      "ttyward daemon");
}

client::Options options_of(const Arguments& args) {
  client::Options options = daemon_options("daemon");
  options.folders = args.folders;
  return options;
}

int show_status(const Arguments& args, bool as_json) {
  auto connection = client::Connection::open(options_of(args));
  if (!connection) return complain("daemon", connection.error().message, kExitNotRunning);
  auto status = connection->call(wire::StatusRequest{});
  if (!status) return complain("daemon", status.error().message, kExitFailure);
  if (as_json) return print_answer("daemon", *status);
  fmt::print("ttyward {}, running since {}, pid {}\n", connection->welcome().version,
             time_text(status->started_at.ms), connection->welcome().pid);
  fmt::print("terminals {}, running commands {}, open questions {}, connections {}, memory {} KiB\n",
             status->terminals.value_or(0), status->commands.value_or(0), status->approvals.value_or(0),
             status->connections, status->memory_kib);
  for (const std::string& warning : status->warnings) complain("daemon", warning, 0);
  if (status->config) {
    for (const std::string& error : status->config->errors) complain("daemon", error, 0);
  }
  return 0;
}

int show_metrics(const Arguments& args, bool as_json) {
  auto connection = client::Connection::open(options_of(args));
  if (!connection) return complain("daemon", connection.error().message, kExitNotRunning);
  auto metrics = connection->call(wire::MetricsRequest{});
  if (!metrics) return complain("daemon", metrics.error().message, kExitFailure);
  if (as_json) return print_answer("daemon", *metrics);
  fmt::print("{}", metrics->text);
  return 0;
}

int stop_daemon(const Arguments& args) {
  auto connection = client::Connection::open(options_of(args));
  if (!connection && connection.error().code == base::ErrorCode::NotFound) {
    fmt::print("no daemon is running\n");
    return 0;
  }
  if (!connection) return complain("daemon", connection.error().message, kExitFailure);
  // Opened before the daemon is told, while the number cannot mean anybody else.
  const pid_t pid = connection->welcome().pid;
  const base::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  auto told = connection->call(wire::StopRequest{args.kill_terminals});
  if (!told) return complain("daemon", told.error().message, kExitFailure);
  pollfd entry{process.get(), POLLIN, 0};
  while (process && ::poll(&entry, 1, kEndPatience) < 0 && errno == EINTR) {
  }
  if (process && entry.revents == 0) {
    return complain("daemon", fmt::format("the daemon has not ended yet; to end it now: kill -9 {}", pid),
                    kExitFailure);
  }
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  CLI::App* run = app.add_subcommand("run", "Run the daemon; clients start it when they need it");
  run->add_flag("--detach", args->detach, "Run in the background; return when it is ready");
  run->add_option("--state", args->folders.state)->group("");
  run->add_option("--runtime", args->folders.runtime)->group("");
  run->add_option("--config", args->folders.config)->group("");
  const CLI::App* status = app.add_subcommand("status", "Show whether it runs, and its state");
  const CLI::App* metrics = app.add_subcommand("metrics", "Print its counts, as Prometheus reads them");
  CLI::App* stop = app.add_subcommand("stop", "Stop the daemon; terminals stay alive");
  stop->add_flag("--kill-terminals", args->kill_terminals, "End all terminals as well");
  app.require_subcommand(1);
  const Globals* shared = &globals;
  return [args, shared, run, status, metrics] {
    if (run->parsed()) return run_daemon(*args);
    if (metrics->parsed()) return show_metrics(*args, shared->json);
    return status->parsed() ? show_status(*args, shared->json) : stop_daemon(*args);
  };
}

}  // namespace
}  // namespace daemon_verb

const Verb kDaemon = {"daemon", "Run, query or stop the process that keeps terminals", &daemon_verb::declare};

}  // namespace ttyward::cli
