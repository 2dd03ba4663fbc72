// What running a command through command::RunningCommand costs, beside the bare limit, in one run.
//
//   bench_exec latency [REPETITIONS]
//   bench_exec throughput [WORD]     only lines with the word in them
//   bench_exec at_once COUNT
//   bench_exec soak COUNT
//   bench_exec program TTYWARD [REPETITIONS]
//
// Each line of output is a JSON object; bench/README.md says what it means. Ours
// and the bare kind take turns, so that the machine's mood hits both alike.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "command/running_command.h"

namespace {

using namespace ttyward;
using Clock = command::RunningCommand::Clock;
using pty::Provider;

const std::vector<std::string> kEnvironment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
                                               "TERM=xterm-256color"};

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Processor time of this process alone, all its threads.
double cpu_ms() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1000 + static_cast<double>(t.tv_usec) / 1000;
  };
  return ms(use.ru_utime) + ms(use.ru_stime);
}

// Peak memory of this process since the last call, in KiB.
long peak_kib() {
  long kib = 0;
  if (FILE* status = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) std::sscanf(line, "VmHWM: %ld", &kib);
    std::fclose(status);
  }
  if (FILE* reset = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", reset);
    std::fclose(reset);
  }
  return kib;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

// The limit: spawn, read everything into one buffer, wait.
struct Bare {
  pid_t pid = 0;
  int fd = -1;

  static Bare start(const std::vector<std::string>& argv, Provider provider,
                    const std::vector<std::string>& variables = kEnvironment) {
    Bare bare;
    int theirs = -1;
    if (provider == Provider::Pty) {
      if (::openpty(&bare.fd, &theirs, nullptr, nullptr, nullptr) != 0) std::abort();
    } else {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
      bare.fd = ends[0];
      theirs = ends[1];
    }
    ::fcntl(bare.fd, F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (provider == Provider::Pty) posix_spawn_file_actions_adddup2(&actions, theirs, 0);
    posix_spawn_file_actions_adddup2(&actions, theirs, 1);
    posix_spawn_file_actions_adddup2(&actions, theirs, 2);
    posix_spawn_file_actions_addclose(&actions, theirs);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    const auto argv_pointers = pointers(argv);
    const auto environment = pointers(variables);
    if (::posix_spawn(&bare.pid, argv.front().c_str(), &actions, &attributes, argv_pointers.data(),
                      environment.data()) != 0) {
      std::abort();
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    ::close(theirs);
    return bare;
  }
  uint64_t read_to_end() const {
    static char buffer[1 << 20];
    uint64_t total = 0;
    while (true) {
      const ssize_t n = ::read(fd, buffer, sizeof buffer);
      if (n > 0) {
        total += static_cast<uint64_t>(n);
      } else if (n == 0 || errno != EINTR) {
        return total;
      }
    }
  }
  uint64_t end() {
    const uint64_t total = read_to_end();
    ::close(fd);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return total;
  }
};

// Ours: everything a result needs, in this process.
class Ours {
 public:
  Ours() : poller_(std::move(io::Poller::create().value())) {
    std::string pattern = "/tmp/ttyward-bench-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
    folder_ = journal::Folder::open(path_ + "/journals").value();
  }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;
  ~Ours() {
    const std::string command = "rm -rf " + path_;
    if (std::system(command.c_str()) != 0) std::perror("rm");
  }

  std::unique_ptr<command::RunningCommand> start(const std::vector<std::string>& argv, Provider provider,
                                                 hold::Scope scope = hold::Scope::OwnProcess) {
    command::RunOptions options;
    options.spawn.argv = argv;
    options.spawn.environment = kEnvironment;
    options.spawn.provider = provider;
    options.id = base::random_id('c');
    options.timeout = std::chrono::minutes(10);
    options.scope = scope;
    last_id_ = options.id;
    auto run = command::RunningCommand::start(poller_, folder_, std::move(options), nullptr);
    if (!run) {
      std::fprintf(stderr, "%s\n", run.error().error.message.c_str());
      std::exit(1);
    }
    return std::move(*run);
  }
  void wait(const command::RunningCommand& run) {
    const auto deadline = run.deadline();
    const int64_t left =
        deadline ? std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count() : -1;
    poller_.wait(static_cast<int>(std::clamp<int64_t>(left, deadline ? 0 : -1, 60'000)));
  }
  terminal::CommandResult finish(std::unique_ptr<command::RunningCommand> run) {
    while (!run->done() || !run->settled()) {
      wait(*run);
      run->step(Clock::now());
    }
    terminal::CommandResult result = std::move(run->result());
    const uint64_t allocated = run->journal_bytes();
    run.reset();
    static_cast<void>(folder_->remove(result.command_id, allocated));
    return result;
  }
  io::Poller& poller() { return poller_; }
  const std::string& path() const { return path_; }

 private:
  io::Poller poller_;
  std::string path_;
  std::shared_ptr<journal::Folder> folder_;
  std::string last_id_;
};

std::vector<std::string> shell(const std::string& line) {
  return {"/bin/bash", "-c", line};
}

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(p * static_cast<double>(values.size())))];
}

void print_pair(const std::string& what, const char* provider, const std::vector<double>& ours,
                const std::vector<double>& bare) {
  fmt::print(
      "{{\"bench\":\"{}\",\"provider\":\"{}\",\"n\":{},\"ours_p50_ms\":{:.3f},\"ours_p99_ms\":{:.3f},"
      "\"bare_p50_ms\":{:.3f},\"bare_p99_ms\":{:.3f},\"ratio_p50\":{:.3f},\"ratio_p99\":{:.3f}}}\n",
      what, provider, ours.size(), percentile(ours, 0.5), percentile(ours, 0.99), percentile(bare, 0.5),
      percentile(bare, 0.99), percentile(ours, 0.5) / percentile(bare, 0.5),
      percentile(ours, 0.99) / percentile(bare, 0.99));
  std::fflush(stdout);
}

void latency(int repetitions) {
  Ours runner;
  for (const std::string line : {"true", "echo hi"}) {
    for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
      std::vector<double> ours;
      std::vector<double> bare;
      for (int i = 0; i < repetitions + 10; i++) {
        auto start = Clock::now();
        const auto result = runner.finish(runner.start(shell(line), provider));
        const double ours_ms = ms_since(start);
        if (result.exit_code != 0 || (line != "true" && result.output.text != "hi\n")) std::abort();
        start = Clock::now();
        Bare::start(shell(line), provider).end();
        if (i < 10) continue;  // warming up
        ours.push_back(ours_ms);
        bare.push_back(ms_since(start));
      }
      print_pair("latency " + line, pty::provider_name(provider), ours, bare);
    }
  }
}

void throughput(const std::string& only) {
  const std::string log = "/tmp/ttyward-bench-log-" + std::to_string(::getpid());
  if (FILE* out = std::fopen(log.c_str(), "w")) {
    uint64_t written = 0;
    for (uint64_t i = 0; written < 100'000'000; i++) {
      written += static_cast<uint64_t>(std::fprintf(
          out, "2026-11-15 08:30:%02d.%03d INFO worker-%d request %llu served in %d ms from cache\n",
          static_cast<int>(i / 1000 % 60), static_cast<int>(i % 1000), static_cast<int>(i % 7),
          static_cast<unsigned long long>(i), static_cast<int>(i * 7919 % 500)));
    }
    std::fclose(out);
  }
  Ours runner;
  for (const std::string& line :
       {"cat " + log, std::string("seq 1 5000000"), std::string("yes | head -c 50M")}) {
    if (line.find(only) == std::string::npos) continue;
    for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
      std::vector<double> ours;
      std::vector<double> bare;
      std::vector<double> ours_cpu;
      std::vector<double> bare_cpu;
      uint64_t bytes = 0;
      long peak = 0;
      for (int i = 0; i < 3; i++) {
        peak_kib();
        auto start = Clock::now();
        auto cpu = cpu_ms();
        const auto result = runner.finish(runner.start(shell(line), provider));
        ours.push_back(ms_since(start));
        ours_cpu.push_back(cpu_ms() - cpu);
        peak = std::max(peak, peak_kib());
        start = Clock::now();
        cpu = cpu_ms();
        bytes = Bare::start(shell(line), provider).end();
        bare.push_back(ms_since(start));
        bare_cpu.push_back(cpu_ms() - cpu);
        if (result.exit_code != 0 || result.total_bytes != bytes) {
          std::fprintf(stderr, "%s: %llu of %llu bytes\n", line.c_str(),
                       static_cast<unsigned long long>(result.total_bytes),
                       static_cast<unsigned long long>(bytes));
          std::exit(1);
        }
      }
      const auto least = [](const std::vector<double>& times) {
        return *std::min_element(times.begin(), times.end());
      };
      const double best = least(ours);
      const double limit = least(bare);
      fmt::print(
          "{{\"bench\":\"throughput "
          "{}\",\"provider\":\"{}\",\"bytes\":{},\"ours_s\":{:.3f},\"bare_s\":{:.3f},"
          "\"speed_of_limit\":{:.3f},\"ours_cpu_s\":{:.3f},\"bare_cpu_s\":{:.3f},\"peak_rss_mib\":{:.1f}}}\n",
          line.substr(0, line.find(" /tmp")), pty::provider_name(provider), bytes, best / 1000, limit / 1000,
          limit / best, least(ours_cpu) / 1000, least(bare_cpu) / 1000, static_cast<double>(peak) / 1024);
      std::fflush(stdout);
    }
  }
  ::unlink(log.c_str());
}

void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void at_once(int count) {
  raise_descriptor_limit();
  const auto line = [](int i) { return shell("sleep 1; echo " + std::to_string(i)); };
  auto start = Clock::now();
  std::vector<Bare> bare;
  for (int i = 0; i < count; i++) bare.push_back(Bare::start(line(i), Provider::Pty));
  for (Bare& one : bare) one.end();
  const double bare_ms = ms_since(start);

  Ours runner;
  start = Clock::now();
  std::vector<std::unique_ptr<command::RunningCommand>> runs;
  for (int i = 0; i < count; i++) {
    runs.push_back(runner.start(line(i), Provider::Pty, hold::Scope::SharedProcess));
  }
  size_t done = 0;
  while (done < runs.size()) {
    runner.poller().wait(50);
    const auto now = Clock::now();
    done = 0;
    for (auto& run : runs) {
      if (!run->done() || !run->settled()) run->step(now);
      done += run->done() && run->settled() ? 1 : 0;
    }
  }
  const double ours_ms = ms_since(start);
  int good = 0;
  for (int i = 0; i < count; i++) {
    const terminal::CommandResult& result = runs[static_cast<size_t>(i)]->result();
    good += result.exit_code == 0 && result.output.text == std::to_string(i) + "\n" ? 1 : 0;
  }
  fmt::print(
      "{{\"bench\":\"at once\",\"count\":{},\"good\":{},\"ours_s\":{:.3f},\"bare_s\":{:.3f},\"ratio\":{:.3f},"
      "\"peak_rss_mib\":{:.1f}}}\n",
      count, good, ours_ms / 1000, bare_ms / 1000, ours_ms / bare_ms, static_cast<double>(peak_kib()) / 1024);
}

size_t entries(const std::string& path) {
  size_t n = 0;
  if (DIR* dir = ::opendir(path.c_str())) {
    while (::readdir(dir) != nullptr) n++;
    ::closedir(dir);
  }
  return n;
}

long resident_kib() {
  long pages = 0;
  if (FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * 4;
}

void soak(int count) {
  Ours runner;
  for (int i = 0; i <= count; i++) {
    const Provider provider = i % 3 == 0 ? Provider::Pipe : Provider::Pty;
    const auto result = runner.finish(runner.start(shell("echo " + std::to_string(i)), provider));
    if (result.exit_code != 0 || result.output.text != std::to_string(i) + "\n") {
      std::fprintf(stderr, "command %d: %s\n", i, (result.output.text + result.reason).c_str());
      std::exit(1);
    }
    if (i % std::max(1, count / 5) == 0) {
      fmt::print(
          "{{\"bench\":\"soak\",\"commands\":{},\"descriptors\":{},\"resident_kib\":{},\"terminals\":{}}}\n",
          i, entries("/proc/self/fd"), resident_kib(), entries("/dev/pts"));
      std::fflush(stdout);
    }
  }
}

// `ttyward run LINE` as a program, beside bash alone; both with pipes to us, and with a home that is empty.
void program(const std::string& ttyward, int repetitions) {
  const Ours place;
  std::vector<std::string> environment = kEnvironment;
  environment.push_back("HOME=" + place.path());
  for (const std::string line : {"true", "echo hi"}) {
    std::vector<double> ours;
    std::vector<double> bare;
    for (int i = 0; i < repetitions + 5; i++) {
      auto start = Clock::now();
      Bare::start({ttyward, "run", line}, Provider::Pipe, environment).end();
      const double ours_ms = ms_since(start);
      start = Clock::now();
      Bare::start(shell(line), Provider::Pipe).end();
      if (i < 5) continue;
      ours.push_back(ours_ms);
      bare.push_back(ms_since(start));
    }
    print_pair("program " + line, "pty", ours, bare);
  }
}

int number(int argc, char** argv, int index, int otherwise) {
  return argc > index ? std::max(1, std::atoi(argv[index])) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "latency") {
    latency(number(argc, argv, 2, 200));
  } else if (mode == "throughput") {
    throughput(argc > 2 ? argv[2] : "");
  } else if (mode == "at_once") {
    at_once(number(argc, argv, 2, 100));
  } else if (mode == "soak") {
    soak(number(argc, argv, 2, 10'000));
  } else if (mode == "program" && argc > 2) {
    program(argv[2], number(argc, argv, 3, 200));
  } else {
    std::fputs(
        "bench_exec latency [N] | throughput [WORD] | at_once COUNT | soak [N] | program TTYWARD [N]\n",
        stderr);
    return 2;
  }
  return 0;
}
