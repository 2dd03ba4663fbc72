// Starts holders without making the loop wait: a few threads do it, and keep some
// idle holders ready so that a command does not pay for their start. A launch is
// mostly waiting (a program is loaded, a journal is created), so several threads launch
// at the same time. Holders come from a fork server; if it cannot be started, each
// holder is a program that is started separately.
// Thread rule: start() and the callbacks on the loop's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hold/launch.h"
#include "io/loop.h"

namespace ttyward::engine {

class Launcher final : private io::Poller::Handler {
 public:
  using Launched = tl::expected<hold::LaunchReply, pty::SpawnError>;
  using Done = std::function<void(Launched)>;

  // `program` is the path of ttyward-hold.
  Launcher(io::Loop& loop, std::string program, size_t idle);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();  // what was not begun is not begun any more, and not told

  void start(hold::LaunchRequest request, Done done);
  // On this one and no other: it leads to another place.
  void start_on(base::Result<base::UniqueFd> control, hold::LaunchRequest request, Done done);
  // Idle holders prepare for requests with these folders from now on.
  void prepare_for(hold::HolderFolders folders);

 private:
  struct Job {
    hold::LaunchRequest request;
    Done done;
    std::optional<hold::IdleHolder> asked;  // it has the request already
    bool only_there = false;                // no other holder will do
  };
  struct Asked {
    Job job;
    io::Loop::TimerId patience = 0;
  };
  void on_ready(int fd, uint32_t events) override;
  bool await(Job& job);
  void hand_over(Job job);
  void work();
  // A holder for the job, from the fork server; none if there is no fork server.
  std::optional<hold::IdleHolder> next_holder();
  Launched launch(const hold::LaunchRequest& request, std::optional<hold::IdleHolder> holder) const;
  static bool needs_another(const Launched& launched);
  // Called with the mutex held.
  bool fork_server_wanted() const { return !fork_server_ && !raising_ && !given_up_; }

  io::Loop& loop_;
  const std::string program_;
  const size_t idle_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // read on the loop's thread

  std::map<int, Asked> asked_;  // by descriptor; their answers come to the loop

  std::mutex mutex_;
  std::condition_variable changed_;
  // --- guarded by mutex_
  std::deque<Job> jobs_;
  std::deque<hold::IdleHolder> ready_;
  std::optional<hold::ForkServer> fork_server_;
  std::optional<hold::HolderFolders> folders_;
  bool refill_ = false;    // a ready holder was used
  bool raising_ = false;   // a thread is starting a fork server
  bool given_up_ = false;  // it could not be started; tried again after the next launch
  bool ending_ = false;

  std::vector<std::thread> threads_;  // last: everything else is there when they start
};

}  // namespace ttyward::engine
