// Starts holders without making the loop wait: a thread does it, and keeps a few
// idle holders ready so that a command does not pay for their start.
// Thread rule: start() and the callbacks on the loop's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "hold/launch.h"
#include "io/loop.h"

namespace ttyward::engine {

class Launcher {
 public:
  using Launched = tl::expected<hold::LaunchReply, pty::SpawnError>;
  using Done = std::function<void(Launched)>;

  // `program` is the path of ttyward-hold.
  Launcher(io::Loop& loop, std::string program, size_t idle);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();  // what was not begun is not begun any more, and not told

  void start(hold::LaunchRequest request, Done done);

 private:
  struct Job {
    hold::LaunchRequest request;
    Done done;
  };
  void work();

  io::Loop& loop_;
  const std::string program_;
  const size_t idle_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read on the loop's thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  // guarded by mutex_
  bool ending_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace ttyward::engine
