// What the holder costs: one JSON object a line.
//
//   journal_create   µs to make a journal, write ten bytes and close it
//   throughput       MB/s of a flooding writer through a pty and a pipe: read into
//                    a heap buffer (the limit) and through Holder into a journal
//   launch           ms from launch() to the reply (command executed), with a fresh and with
//                    an idle holder; `true` from start to end in process, and a bare spawn of it
//   memory           KiB of an idle ttyward-hold
//
// usage: bench_hold FOLDER [MB=256]
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "hold/holder.h"
#include "hold/launch.h"
#include "hold/testing_client.h"
#include "journal/reader.h"
#include "journal/writer.h"

namespace ttyward {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{10'000};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(p * static_cast<double>(values.size())))];
}

std::shared_ptr<journal::Folder> open_folder(const std::string& path) {
  auto folder = journal::Folder::open(path, uint64_t{64} << 30);
  if (!folder) {
    std::fprintf(stderr, "bench_hold: %s\n", folder.error().message.c_str());
    std::exit(1);
  }
  return *folder;
}

pty::SpawnSpec command(const std::string& line, pty::Provider provider) {
  pty::SpawnSpec spec;
  spec.argv = pty::shell_argv("/bin/sh", line);
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.provider = provider;
  return spec;
}

void bench_create(const std::string& folder) {
  auto journals = open_folder(folder + "/create");
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    journal::WriterOptions options;
    options.id = "c" + std::to_string(i);
    const auto start = Clock::now();
    auto writer = journal::Writer::create(journals, options);
    std::memcpy(writer->writable_span().data(), "0123456789", 10);
    writer->commit(10, journal::Stream::Terminal);
    writer->finish({});
    times.push_back(seconds_since(start) * 1e6);
  }
  std::printf("{\"bench\":\"journal_create\",\"us_p50\":%.1f,\"us_p99\":%.1f}\n", percentile(times, 0.5),
              percentile(times, 0.99));
}

double bare(const pty::SpawnSpec& spec, uint64_t& bytes) {
  std::vector<char> buffer(1 << 20);
  const auto start = Clock::now();
  auto spawned = pty::spawn(spec);
  const int fd = spec.provider == pty::Provider::Pty ? spawned->master.get() : spawned->stdout_fd.get();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  bytes = 0;
  for (ssize_t n = 0; (n = ::read(fd, buffer.data(), buffer.size())) > 0;) bytes += static_cast<uint64_t>(n);
  const double took = seconds_since(start);
  pollfd entry{spawned->child.pidfd(), POLLIN, 0};
  ::poll(&entry, 1, -1);
  static_cast<void>(spawned->child.try_reap());
  return took;
}

double held(const std::string& folder, const pty::SpawnSpec& spec, uint64_t quota, uint64_t& bytes) {
  auto journals = open_folder(folder + "/flood");
  auto poller = io::Poller::create();
  hold::HoldSpec hold;
  hold.spawn = spec;
  hold.journal.id = "t1";
  hold.journal.quota = quota;
  const auto start = Clock::now();
  auto holder = hold::Holder::start(*poller, journals, hold, hold::Scope::SharedProcess);
  while (!(*holder)->closed()) {
    const auto deadline = (*holder)->deadline();
    poller->wait(deadline
                     ? static_cast<int>(std::max<int64_t>(
                           0, std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count()))
                     : -1);
    (*holder)->turn(Clock::now());
  }
  const double took = seconds_since(start);
  bytes = (*holder)->journal().end();
  static_cast<void>(journal::remove_journal(journals->fd(), "t1"));
  return took;
}

void bench_throughput(const std::string& folder, const char* name, const pty::SpawnSpec& spec,
                      uint64_t quota) {
  double best_bare = 1e9;
  double best_held = 1e9;
  uint64_t bare_bytes = 0;
  uint64_t held_bytes = 0;
  for (int i = 0; i < 5; ++i) {
    best_bare = std::min(best_bare, bare(spec, bare_bytes));
    best_held = std::min(best_held, held(folder, spec, quota, held_bytes));
  }
  const double limit = static_cast<double>(bare_bytes) / best_bare / 1e6;
  const double ours = static_cast<double>(held_bytes) / best_held / 1e6;
  std::printf(
      "{\"bench\":\"throughput\",\"case\":\"%s\",\"provider\":\"%s\",\"mb\":%.0f,\"limit_mbps\":%.0f,\"held_"
      "mbps\":%.0f,"
      "\"ratio\":%.2f,\"complete\":%s}\n",
      name, pty::provider_name(spec.provider), static_cast<double>(bare_bytes) / 1e6, limit, ours,
      ours / limit, bare_bytes == held_bytes ? "true" : "false");
  std::fflush(stdout);
}

hold::LaunchRequest request(const std::string& folder, const std::string& id, const std::string& line) {
  hold::LaunchRequest request;
  request.journals = folder + "/journals";
  request.sockets = folder + "/holders";
  request.hold.spawn = command(line, pty::Provider::Pty);
  request.hold.journal.id = id;
  return request;
}

void bench_launch(const std::string& folder) {
  std::vector<double> bare_times;
  std::vector<double> replies;
  std::vector<double> pooled;
  std::vector<double> in_process;
  for (int i = 0; i < 200; ++i) {
    uint64_t bytes = 0;
    bare_times.push_back(bare(command("true", pty::Provider::Pty), bytes) * 1e3);
    in_process.push_back(held(folder, command("true", pty::Provider::Pty), journal::kDefaultQuota, bytes) *
                         1e3);
    auto start = Clock::now();
    if (!hold::launch(TTYWARD_HOLD, request(folder, "a" + std::to_string(i), "true"))) std::exit(1);
    replies.push_back(seconds_since(start) * 1e3);
    auto idle = hold::IdleHolder::start(TTYWARD_HOLD);
    start = Clock::now();
    if (!std::move(*idle).launch(request(folder, "b" + std::to_string(i), "true"))) std::exit(1);
    pooled.push_back(seconds_since(start) * 1e3);
  }
  std::printf(
      "{\"bench\":\"launch\",\"bare_true_ms\":[%.2f,%.2f],\"in_process_true_ms\":[%.2f,%.2f],"
      "\"launch_reply_ms\":[%.2f,%.2f],\"pooled_reply_ms\":[%.2f,%.2f],\"values\":\"[best, p50]\"}\n",
      percentile(bare_times, 0), percentile(bare_times, 0.5), percentile(in_process, 0),
      percentile(in_process, 0.5), percentile(replies, 0), percentile(replies, 0.5), percentile(pooled, 0),
      percentile(pooled, 0.5));
}

void bench_memory(const std::string& folder) {
  auto reply = hold::launch(TTYWARD_HOLD, request(folder, "m", "echo ready; read line"));
  if (!reply) std::exit(1);
  auto client = hold::Client::connect(folder + "/holders", "m", kPatience);
  static_cast<void>(client->watch(0));
  static_cast<void>(client->next_event(kPatience));
  std::ifstream rollup("/proc/" + std::to_string(reply->holder) + "/smaps_rollup");
  long value = 0;
  long private_kib = 0;
  long rss = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (std::sscanf(line.c_str(), "Rss: %ld", &value) == 1) rss = value;
    if (std::sscanf(line.c_str(), "Private_Clean: %ld", &value) == 1) private_kib += value;
    if (std::sscanf(line.c_str(), "Private_Dirty: %ld", &value) == 1) private_kib += value;
  }
  std::ifstream maps("/proc/" + std::to_string(reply->holder) + "/smaps");
  long anonymous = 0;
  for (std::string line; std::getline(maps, line);) {
    if (std::sscanf(line.c_str(), "Anonymous: %ld", &value) == 1) anonymous += value;
  }
  std::printf("{\"bench\":\"memory\",\"rss_kib\":%ld,\"private_kib\":%ld,\"anonymous_kib\":%ld}\n", rss,
              private_kib, anonymous);
  static_cast<void>(client->terminate({{SIGKILL, std::chrono::seconds(5)}}, kPatience));
}

int run(const std::string& parent, uint64_t mb) {
  std::string folder = parent + "/hold-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  bench_create(folder);
  bench_launch(folder);
  bench_memory(folder);
  const std::string bytes = std::to_string(mb << 20);
  const uint64_t everything = uint64_t{8} << 30;
  const auto zero = "head -c " + bytes + " /dev/zero";
  const auto lines =
      "yes 'a line of a log file, about as long as they usually are, eighty characters' | head -c " +
      std::to_string(mb << 18);
  bench_throughput(folder, "zeros, all kept", command(zero, pty::Provider::Pipe), everything);
  bench_throughput(folder, "zeros, 256 MiB quota", command(zero, pty::Provider::Pipe),
                   journal::kDefaultQuota);
  bench_throughput(folder, "log lines", command(lines, pty::Provider::Pty), everything);
  bench_throughput(folder, "log lines, stty -onlcr", command("stty -onlcr; " + lines, pty::Provider::Pty),
                   everything);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return 0;
}

}  // namespace
}  // namespace ttyward

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_hold FOLDER [MB=256]\n");
    return 2;
  }
  return ttyward::run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256);
}
