// Submits jobs and waits for what becomes of them.
//
// Hosts tell a reply subject of changes. What was told while nobody could hear it is in the records, which
// are looked at whenever it is quiet. A job that is neither in the queue nor in a record was lost with a
// server's disk: it is submitted again, with the same id.
//
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/bus.h"
#include "fleet/messages.h"

namespace ttyward::fleet {

class Submitter {
 public:
  static base::Result<std::unique_ptr<Submitter>> open(Bus& bus);

  // `subject` is a pool's or a host's. Fails if not all could be put into the queue.
  base::Result<void> submit(const std::string& subject, std::vector<Job> jobs);
  // Waits for news of a job, at most that long. The same state may come more than once. None: nothing yet.
  std::optional<JobRecord> next(std::chrono::milliseconds patience);
  // How many have not ended.
  size_t open_jobs() const { return open_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Open {
    Job job;
    std::string subject;
    uint64_t sequence = 0;  // in the queue; 0: not known
    std::string host;       // that has it; empty: none known
    std::string host_id;
    JobRecord last;
    std::optional<Clock::time_point> missing_since;  // neither queued nor taken
  };

  explicit Submitter(Bus& bus) : bus_(bus) {}
  std::optional<JobRecord> take_news();
  // Looks at records, hosts and the queue instead of waiting for news.
  void look();
  void look_at(Open& job);
  bool is_gone(const std::string& host, const std::string& host_id);
  // The server has lost it: whether a host has it anyway is asked before it is submitted again.
  void settle_missing(Open& job);
  void submit_again(Open& job);

  Bus& bus_;
  std::string inbox_;
  std::chrono::milliseconds lease_{15'000};
  std::map<std::string, Open> open_;  // by id
  Clock::time_point last_look_ = Clock::now();
  Clock::time_point last_news_ = Clock::now();
  std::string looked_until_;                             // which of the open ones is next
  std::map<std::string, Clock::time_point> gone_since_;  // hosts without a sign of life
  std::vector<JobRecord> found_;                         // by looking

  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> news_;  // guarded by mutex_
  std::unique_ptr<Subscription> subscription_;
};

}  // namespace ttyward::fleet
