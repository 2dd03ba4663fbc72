// How long the daemon's loop is busy at a stretch, under floods, searches and old results: the services
// without a socket, in this process. Prints JSON.
//
// Usage: bench_loop [--megabytes N] [--floods N]
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/services.h"

namespace {

namespace json = boost::json;
using namespace ttyward;
using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench_loop: {}\n", why);
  std::exit(1);
}

class Nobody final : public app::EventSink {
 public:
  void event(uint64_t, uint64_t, const wire::AnyEvent&) override {}
  bool must_pause(uint64_t) const override { return false; }
  void on_drained(uint64_t, std::function<void()>) override {}
};

// The answer of one call.
template <class T>
class Kept final : public app::AnswerChannel<T> {
 public:
  bool open() const override { return !answer; }
  void ok(const T& came) override {
    if (open()) answer = came;
  }
  void fail(const wire::CallError& error) override { give_up(error.message); }
  void part(const wire::StreamPart&) override {}
  void on_cancel(std::function<void()>) override {}
  std::optional<T> answer;
};

double thread_cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

double quantile(std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(q * static_cast<double>(sorted.size())))];
}

json::object spread(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {{"p50", quantile(times, 0.5)},
          {"p99", quantile(times, 0.99)},
          {"p99_9", quantile(times, 0.999)},
          {"max", times.empty() ? 0 : times.back()}};
}

class Bench {
 public:
  Bench() {
    const char* const where = std::getenv("TMPDIR");
    home_ = std::string(where != nullptr ? where : "/tmp") + "/ttyward-bench-XXXXXX";
    if (::mkdtemp(home_.data()) == nullptr) give_up("cannot make " + home_);
    ::setenv("HOME", home_.c_str(), 1);  // nobody's start-up files
    const base::Folders folders{home_ + "/state", home_ + "/run", home_ + "/config"};
    for (const std::string& each : {folders.state, folders.runtime, folders.config}) {
      std::filesystem::create_directories(each);
      std::filesystem::permissions(each, std::filesystem::perms::owner_all);
    }
    loop_ = std::move(io::Loop::create().value());
    auto made = app::Services::start(*loop_, log_, {folders, TTYWARD_HOLD, "bench", 022}, nobody_);
    if (!made) give_up(made.error().message);
    services_ = std::move(*made);
    person_.connection = 1;
    person_.role = app::Role::Person;
    person_.person = true;
    person_.reader = "bench";
  }
  ~Bench() {
    services_.reset();
    std::filesystem::remove_all(home_);
  }

  const std::string& home() const { return home_; }
  app::Services& services() { return *services_; }
  const app::Caller& person() const { return person_; }

  void turn(std::chrono::milliseconds longest = std::chrono::milliseconds(1)) {
    const double before = thread_cpu_ms();
    loop_->turn(longest);
    turns_.push_back(thread_cpu_ms() - before);
  }
  template <class T>
  T wait_for(const std::shared_ptr<Kept<T>>& kept) {
    while (kept->open()) turn();
    return *kept->answer;
  }
  std::string open() {
    wire::OpenRequest request;
    request.cwd = home_;
    const auto kept = std::make_shared<Kept<wire::OneTerminal>>();
    services_->terminals().open(person_, request, app::Reply<wire::OneTerminal>(kept));
    return wait_for(kept).terminal.id;
  }
  std::shared_ptr<Kept<wire::CommandResult>> exec(const std::string& terminal, const std::string& command) {
    wire::ExecRequest request;
    request.terminal = terminal;
    request.command = command;
    request.yield_after = std::chrono::milliseconds(0);
    auto kept = std::make_shared<Kept<wire::CommandResult>>();
    services_->commands().exec(person_, request, app::Reply<wire::CommandResult>(kept));
    return kept;
  }
  std::shared_ptr<Kept<wire::ReadAnswer>> read(const wire::ReadRequest& request) {
    auto kept = std::make_shared<Kept<wire::ReadAnswer>>();
    services_->watching().read(person_, request, app::Reply<wire::ReadAnswer>(kept));
    return kept;
  }

  void stop() {
    bool stopped = false;
    services_->stop(true, [&] { stopped = true; });
    while (!stopped) turn();
  }

  // What `work` does, measured: processor time of each turn of the loop, and how late a timer is that wants
  // to fire each millisecond.
  json::object measure(const std::function<void()>& work) {
    turns_.clear();
    std::vector<double> late;
    io::Loop::TimerId timer = 0;
    const std::function<void(Clock::time_point)> tick = [&](Clock::time_point due) {
      timer = loop_->at(due, [&, due] {
        const auto now = Clock::now();
        late.push_back(std::chrono::duration<double, std::milli>(now - due).count());
        tick(now + std::chrono::milliseconds(1));
      });
    };
    tick(Clock::now());
    const auto begun = Clock::now();
    work();
    loop_->cancel(timer);
    return {{"seconds", std::chrono::duration<double>(Clock::now() - begun).count()},
            {"turns", turns_.size()},
            {"turn_cpu_ms", spread(turns_)},
            {"timer_late_ms", spread(std::move(late))}};
  }

 private:
  std::string home_;
  std::unique_ptr<io::Loop> loop_;
  io::Log log_;
  Nobody nobody_;
  std::unique_ptr<app::Services> services_;
  app::Caller person_;
  std::vector<double> turns_;
};

int64_t number(int argc, char** argv, const char* name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; i++) {
    if (std::strcmp(argv[i], name) == 0) return std::strtoll(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

// Lines of a build's log, every tenth of them in colours.
void write_log(const std::string& path, int64_t bytes) {
  std::ofstream file(path);
  int64_t written = 0;
  for (int64_t i = 0; written < bytes; i++) {
    const std::string line =
        i % 10 == 0
            ? fmt::format("\033[32m[{}]\033[0m built \033[1mtarget_{}\033[0m\n", i, i % 977)
            : fmt::format("[{}] src/module_{}/file_{}.cc: compiled in {} ms\n", i, i % 97, i % 1013, i % 59);
    file << line;
    written += static_cast<int64_t>(line.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t megabytes = number(argc, argv, "--megabytes", 64);
  const int64_t floods = number(argc, argv, "--floods", 4);
  Bench bench;
  const std::string large = bench.home() + "/large";
  const std::string part = bench.home() + "/part";
  write_log(large, megabytes << 20);
  write_log(part, (megabytes << 20) / 8);
  json::object out{{"megabytes", megabytes}, {"floods", floods}};

  std::vector<std::string> terminals;
  for (int64_t i = 0; i < floods; i++) terminals.push_back(bench.open());
  const std::string quick = bench.open();
  const std::string old = bench.open();
  // Enough large results that the first of them are not in memory any more.
  std::vector<std::string> results;
  for (int i = 0; i < 12; i++) results.push_back(bench.wait_for(bench.exec(old, "cat " + part)).command_id);

  // All of them at once, and somebody who works beside.
  std::vector<std::shared_ptr<Kept<wire::CommandResult>>> running;
  std::vector<double> beside;
  const auto start_floods = [&] {
    running.clear();
    for (const std::string& id : terminals) running.push_back(bench.exec(id, "cat " + large));
  };
  const auto flooding = [&] {
    return std::any_of(running.begin(), running.end(), [](const auto& each) { return each->open(); });
  };
  const auto echo = [&] {
    const auto begun = Clock::now();
    bench.wait_for(bench.exec(quick, "echo hi"));
    beside.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begun).count());
  };
  out["flood"] = bench.measure([&] {
    start_floods();
    while (flooding()) echo();
  });
  out["echo_beside_floods_ms"] = spread(std::exchange(beside, {}));

  std::vector<std::string> outputs;
  for (const auto& each : running) outputs.push_back(each->answer->command_id);

  out["grep"] = bench.measure([&] {
    std::vector<std::shared_ptr<Kept<wire::ReadAnswer>>> searches;
    for (const std::string& id : outputs) {
      wire::ReadRequest request;
      request.command = id;
      request.grep = "file_1012.*58 ms$";
      request.most = 100'000;
      searches.push_back(bench.read(request));
    }
    for (const auto& each : searches) bench.wait_for(each);
  });
  out["old_results"] = bench.measure([&] {
    std::vector<std::shared_ptr<Kept<wire::CommandResult>>> asked;
    for (int i = 0; i < 3; i++) {
      asked.push_back(std::make_shared<Kept<wire::CommandResult>>());
      bench.services().commands().result(bench.person(), {results[static_cast<size_t>(i)], {}},
                                         app::Reply<wire::CommandResult>(asked.back()));
    }
    for (const auto& each : asked) bench.wait_for(each);
  });
  out["colours"] = bench.measure([&] {
    wire::ReadRequest request;
    request.command = results.back();
    request.ansi = true;
    request.tail = 100;
    bench.wait_for(bench.read(request));
  });
  out["pattern_from_start"] = bench.measure([&] {
    wire::WaitRequest request;
    request.command = outputs.front();
    request.pattern = "this is nowhere";
    request.from = wire::WaitFrom::Start;
    auto kept = std::make_shared<Kept<wire::WaitOutcome>>();
    bench.services().watching().wait(bench.person(), request, app::Reply<wire::WaitOutcome>(kept));
    bench.wait_for(kept);
  });
  // Everything at the same time.
  out["all_at_once"] = bench.measure([&] {
    start_floods();
    std::vector<std::shared_ptr<Kept<wire::ReadAnswer>>> reads;
    for (int i = 3; flooding() || i < 5; i++) {
      wire::ReadRequest request;
      request.command = outputs[static_cast<size_t>(i) % outputs.size()];
      request.grep = "file_7.*58 ms$";
      reads.push_back(bench.read(request));
      request = {};
      request.command = results[static_cast<size_t>(i) % results.size()];
      request.tail = 20;
      request.ansi = i % 2 == 0;
      reads.push_back(bench.read(request));
      for (int n = 0; n < 20; n++) echo();
      for (const auto& each : reads) bench.wait_for(each);
      reads.clear();
    }
  });
  out["echo_beside_all_ms"] = spread(beside);
  fmt::print("{}\n", json::serialize(out));
  bench.stop();
  return 0;
}
