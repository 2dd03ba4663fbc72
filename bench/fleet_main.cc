// The same commands as a fleet's, without a bus: straight to the daemons, over as many connections as workers
// have slots. bench/fleet.py starts it.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/folders.h"
#include "base/ids.h"
#include "client/session.h"
#include "wire/types/command_calls.h"

namespace {

using namespace ttyward;

base::Folders folders_under(const std::string& home) {
  return base::user_folders([&](const char* name) -> const char* {
    return std::string(name) == "TTYWARD_HOME" ? home.c_str() : nullptr;
  });
}

}  // namespace

// bench_fleet COUNT SLOTS COMMAND HOME…
int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int count = std::atoi(argv[1]);
  const int slots = std::atoi(argv[2]);
  std::atomic<int> next = 0;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 4; i < argc; i++) {
    for (int slot = 0; slot < slots; slot++) {
      threads.emplace_back([&, home = std::string(argv[i])] {
        client::Options options;
        options.folders = folders_under(home);
        options.role = "agent";
        options.client = "bench";
        options.start_daemon = false;
        auto daemon = client::Session::open(options);
        if (!daemon) return;
        while (next++ < count) {
          wire::RunRequest request;
          request.command = argv[3];
          request.command_id = base::random_id('c');
          request.keep_background = false;
          request.yield_after = std::chrono::milliseconds(1000);
          const auto answer = daemon->call(request);
          if (answer && answer->exit_code == 0) good++;
        }
      });
    }
  }
  for (std::thread& each : threads) each.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{{\"seconds\":{:.4f},\"good\":{}}}\n", took.count(), good.load());
  return good == count ? 0 : 1;
}
