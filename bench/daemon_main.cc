// Commands and terminals through the daemon: what the way over its socket costs, what an idle terminal
// weighs, and how long it takes to find everything again. Prints JSON.
//
// Usage: bench_daemon [--n N] [--at-once N] [--terminals N] [--megabytes N] [--only
// start|latency|warm|pool|at-once|recovery]
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/folders.h"
#include "base/ids.h"
#include "client/connection.h"
#include "pty/child.h"
#include "pty/spawn.h"

namespace {

namespace json = boost::json;
using namespace ttyward;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Spread {
  double least = 0;
  double p50 = 0;
  double p99 = 0;
};

Spread spread(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2], times[std::min(times.size() - 1, times.size() * 99 / 100)]};
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench_daemon: {}\n", why);
  std::exit(1);
}

class Daemon {
 public:
  explicit Daemon(const std::string& home) {
    options_.folders = {home + "/state", home + "/run", home + "/config"};
    options_.program = TTYWARD;
    options_.client = "bench";
    connect();
  }
  void connect() {
    auto opened = client::Connection::open(options_);
    if (!opened) give_up(opened.error().message);
    connection_.emplace(std::move(*opened));
  }
  json::object call(const char* name, json::object args) {
    auto came = connection_->call(name, std::move(args));
    if (!came) give_up(std::string(name) + ": " + came.error().message);
    return std::move(*came);
  }
  client::Connection& connection() { return *connection_; }
  void kill() {
    const auto pid = static_cast<pid_t>(call("status", {}).at("pid").as_int64());
    if (pid > 1) ::kill(pid, SIGKILL);
    connection_.reset();
  }

 private:
  client::Options options_;
  std::optional<client::Connection> connection_;
};

std::string text(const json::value& value) {
  return {value.as_string().data(), value.as_string().size()};
}

// bash in a pty, spawned, read to its end and waited for: what cannot be had for less.
double bare_command(const char* line, std::vector<std::string> environment) {
  const auto start = Clock::now();
  pty::SpawnSpec spec;
  spec.argv = pty::shell_argv("/bin/bash", line);
  spec.environment = std::move(environment);
  auto spawned = pty::spawn(spec);
  if (!spawned) give_up(spawned.error().error.message);
  char buffer[4096];
  int status = 0;
  // The end of the output, then the end of the process.
  for (;;) {
    const ssize_t n = ::read(spawned->master.get(), buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno == EIO)) break;
    if (n < 0 && errno == EAGAIN) ::usleep(20);
  }
  ::waitpid(spawned->child.pid(), &status, 0);
  return ms_since(start);
}

int64_t private_kib(int64_t pid) {
  std::ifstream rollup("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string line;
  int64_t sum = 0;
  while (std::getline(rollup, line)) {
    if (line.starts_with("Private_")) sum += std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10);
  }
  return sum;
}

// Nobody sits at a terminal here: a token says that the calls are a person's, as it does for scripts.
void be_a_person(const std::string& home) {
  const std::string state = home + "/state";
  const std::string token = state + "/person-token";
  if (::mkdir(state.c_str(), 0700) != 0) give_up("cannot make " + state);
  ::umask(0077);
  std::ofstream(token) << base::random_id('p') << base::random_id('p') << base::random_id('p') << "\n";
  ::setenv("TTYWARD_PERSON_TOKEN_FILE", token.c_str(), 1);
}

int64_t number(int argc, char** argv, const char* name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; i++) {
    if (std::strcmp(argv[i], name) == 0) return std::strtoll(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

bool wanted(int argc, char** argv, const char* part) {
  for (int i = 1; i + 1 < argc; i++) {
    if (std::strcmp(argv[i], "--only") == 0) return std::strcmp(argv[i + 1], part) == 0;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t n = number(argc, argv, "--n", 200);
  const int64_t at_once = number(argc, argv, "--at-once", 500);
  const int64_t terminals = number(argc, argv, "--terminals", 64);
  const int64_t megabytes = number(argc, argv, "--megabytes", 10);
  const char* const where = std::getenv("TMPDIR");  // the file system matters: each command makes three files
  std::string home = std::string(where != nullptr ? where : "/tmp") + "/ttyward-bench-XXXXXX";
  if (::mkdtemp(home.data()) == nullptr) give_up("cannot make " + home);
  ::setenv("HOME", home.c_str(), 1);  // nobody's start-up files
  be_a_person(home);
  json::object out;

  const auto started = Clock::now();
  Daemon daemon(home);
  daemon.call("run", {{"command", "true"}});
  out["start_daemon_and_first_result_ms"] = ms_since(started);

  const auto measure = [&](const char* key, auto&& once) {
    std::vector<double> times;
    for (int64_t i = 0; i < n; i++) times.push_back(once());
    const Spread s = spread(std::move(times));
    out[key] = json::object{{"min_ms", s.least}, {"p50_ms", s.p50}, {"p99_ms", s.p99}};
  };
  if (wanted(argc, argv, "latency")) {
    measure("bare_pty_true", [] { return bare_command("true", {"PATH=/usr/bin:/bin"}); });
    // bash reads a dozen files where LANG is set, as it is for the commands of the daemon.
    std::vector<std::string> ours;
    for (char** entry = environ; *entry != nullptr; ++entry) ours.emplace_back(*entry);
    measure("bare_pty_true_same_environment", [&] { return bare_command("true", ours); });
    measure("round_trip", [&] {
      const auto start = Clock::now();
      daemon.call("path_list", {});
      return ms_since(start);
    });
    measure("run_true", [&] {
      const auto start = Clock::now();
      daemon.call("run", {{"command", "true"}});
      return ms_since(start);
    });
  }
  if (wanted(argc, argv, "warm")) {
    const std::string terminal = text(daemon.call("open", {{"cwd", "/"}}).at("terminal").at("id"));
    measure("warm_echo", [&] {
      const auto start = Clock::now();
      const json::object came = daemon.call("exec", {{"terminal", terminal}, {"command", "echo hi"}});
      if (came.at("output") != "hi\n" || came.at("exit_code") != 0) give_up("echo hi went wrong");
      return ms_since(start);
    });
    daemon.call("kill", {{"terminal", terminal}});
  }

  std::vector<std::string> opened;
  if (wanted(argc, argv, "pool")) {
    std::vector<double> opening;
    for (int i = 0; i < 4; i++) {
      ::usleep(500'000);  // the pool fills while nothing else happens
      const auto start = Clock::now();
      opened.push_back(text(daemon.call("open", {{"cwd", "/"}}).at("terminal").at("id")));
      opening.push_back(ms_since(start));
    }
    out["open_from_pool_ms"] = *std::min_element(opening.begin(), opening.end());
  }

  if (wanted(argc, argv, "at-once")) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < at_once; i++) {
      daemon.connection().start("run", {{"command", "sleep 1; echo " + std::to_string(i)}});
    }
    int64_t right = 0;
    for (int64_t left = at_once; left > 0;) {
      auto message = daemon.connection().next(std::chrono::seconds(60));
      if (!message) give_up(message.error().message);
      if (!*message) give_up("an answer did not come");
      const auto* reply = std::get_if<client::Reply>(&**message);
      if (reply == nullptr) continue;
      left--;
      if (reply->result && reply->result->at("exit_code") == 0) right++;
    }
    out["at_once"] =
        json::object{{"commands", at_once}, {"right", right}, {"seconds", ms_since(start) / 1000}};
  }

  if (wanted(argc, argv, "recovery")) {
    // What an idle terminal weighs.
    for (const std::string& id : opened) daemon.call("kill", {{"terminal", id}});
    while (daemon.call("status", {}).at("terminals") != 0) ::usleep(10'000);
    const int64_t before = daemon.call("status", {}).at("memory_kib").as_int64();
    std::vector<std::string> many;
    int64_t holders = 0;
    for (int64_t i = 0; i < terminals; i++) {
      const json::object made = daemon.call("open", {{"cwd", "/"}});
      many.push_back(text(made.at("terminal").at("id")));
      holders += private_kib(made.at("terminal").at("holder_pid").as_int64());
    }
    const int64_t after = daemon.call("status", {}).at("memory_kib").as_int64();
    out["idle_terminal"] =
        json::object{{"daemon_kib", static_cast<double>(after - before) / static_cast<double>(terminals)},
                     {"holder_private_kib", static_cast<double>(holders) / static_cast<double>(terminals)}};

    // Everything again after a kill.
    const std::string flood = home + "/flood";
    {
      std::ofstream file(flood);
      const std::string line(79, 'x');
      for (int64_t i = 0; i < megabytes * (1 << 20) / 80; i++) file << line << '\n';
    }
    for (const std::string& id : many) {
      const json::object came = daemon.call(
          "exec", {{"terminal", id}, {"command", "cat " + flood}, {"yield_after_ms", 0}, {"lines", 1}});
      if (came.at("exit_code") != 0) give_up("cat went wrong");
    }
    daemon.kill();
    const auto again = Clock::now();
    daemon.connect();
    const json::object status = daemon.call("status", {});
    out["recovery"] = json::object{{"terminals", terminals},
                                   {"megabytes_each", megabytes},
                                   {"seconds_to_first_answer", ms_since(again) / 1000},
                                   {"found", status.at("recovered").at("terminals")},
                                   {"memory_kib", status.at("memory_kib")}};
  }
  daemon.call("stop", {{"kill_terminals", true}});
  fmt::print("{}\n", boost::json::serialize(out));
  ::usleep(200'000);
  std::filesystem::remove_all(home);
  return 0;
}
