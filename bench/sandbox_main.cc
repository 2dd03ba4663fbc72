// What a sandbox costs: bench_sandbox [REPETITIONS]. `true`, from the start to the collected exit with
// everything cleaned up, bare and in each profile, and under bubblewrap if it is installed. One line of JSON
// each; the rounds of all kinds are interleaved, so that a busy machine disturbs them alike.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pty/spawn.h"
#include "sandbox/confinement.h"
#include "sandbox/profile.h"

namespace {

using namespace ttyward;
using Clock = std::chrono::steady_clock;

struct Kind {
  std::string name;
  std::vector<std::string> argv;
  std::string profile;
  bool overlay = false;
  std::vector<double> ms;
};

class Scratch {
 public:
  Scratch() {
    char path[] = "/var/tmp/ttyward-bench-XXXXXX";
    if (::mkdtemp(path) != nullptr) path_ = path;
    for (const char* name : {"work", "home", "upper", "aside"})
      std::filesystem::create_directories(path_ + "/" + name);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string at(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

bool run_once(Kind& kind, const Scratch& scratch) {
  const auto begin = Clock::now();
  pty::SpawnSpec spec;
  spec.argv = kind.argv;
  spec.provider = pty::Provider::Pipe;
  spec.cwd = scratch.at("work");
  spec.environment = {"PATH=/usr/bin:/bin", "HOME=" + scratch.at("home")};
  if (!kind.profile.empty()) {
    sandbox::PlanRequest request;
    request.profile = sandbox::profile_named(kind.profile).value_or(sandbox::Profile{});
    request.directory = spec.cwd;
    request.home = scratch.at("home");
    request.path = "/usr/bin:/bin";
    auto plan = sandbox::make_plan(request);
    if (!plan) return false;
    for (sandbox::Entry& entry : plan->entries) {
      if (!kind.overlay || entry.path != plan->workspace) continue;
      entry.access = sandbox::Entry::Access::Overlay;
      entry.upper = scratch.at("upper");
      entry.work = scratch.at("aside");
    }
    spec.sandbox = std::move(*plan);
  }
  {
    auto spawned = pty::spawn(spec);
    if (!spawned) {
      std::fprintf(stderr, "%s: %s\n", kind.name.c_str(), spawned.error().error.message.c_str());
      return false;
    }
    pollfd ended{spawned->child.pidfd(), POLLIN, 0};
    ::poll(&ended, 1, -1);
    const auto exit = spawned->child.try_reap();
    if (!exit || !*exit || !(*exit)->status.success()) return false;
  }
  kind.ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  return true;
}

double at(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 300;
  const Scratch scratch;
  const std::vector<std::string> truth = {"/bin/true"};
  std::vector<Kind> kinds = {{"bare", truth, "", false, {}},
                             {"workspace-landlock", truth, "workspace-landlock", false, {}},
                             {"read-only", truth, "read-only", false, {}},
                             {"workspace", truth, "workspace", false, {}},
                             {"workspace+net", truth, "workspace+net", false, {}},
                             {"workspace on an overlay", truth, "workspace", true, {}}};
  if (::access("/usr/bin/bwrap", X_OK) == 0) {
    kinds.push_back({"bwrap",
                     {"/usr/bin/bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--dev", "/dev", "--proc",
                      "/proc", "--unshare-all", "--die-with-parent", "/bin/true"},
                     "",
                     false,
                     {}});
  }
  for (int i = 0; i < repetitions; ++i)
    for (Kind& kind : kinds) run_once(kind, scratch);
  const double bare = kinds.front().ms.empty() ? 0 : at(kinds.front().ms, 0.5);
  for (const Kind& kind : kinds) {
    if (kind.ms.empty()) continue;
    std::printf(
        "{\"bench\":\"sandbox\",\"kind\":\"%s\",\"n\":%zu,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"above_bare_ms\":%"
        ".3f}\n",
        kind.name.c_str(), kind.ms.size(), at(kind.ms, 0.5), at(kind.ms, 0.99), at(kind.ms, 0.5) - bare);
  }
  return 0;
}
