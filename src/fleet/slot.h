// One job at a time, from the queue to its result on the bus.
//
//   take    keep the claim in a file ─► create the record on the bus (only one host can) ─► run it
//   run     the daemon gets the command with the job's id: it runs it once, however often it is asked
//   report  the record says what became of it; the queue forgets the message; the claim is removed
//
// The queue forgets the message when the daemon has the command, or, for a job that may run again, when it is
// over: then the queue itself gives it to another host if this one goes.
//
// Thread rule: one thread; several slots share a Host.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/connection.h"
#include "fleet/bus.h"
#include "fleet/claims.h"
#include "fleet/daemon_link.h"
#include "fleet/messages.h"
#include "fleet/presence.h"
#include "fleet/proof.h"
#include "wire/types/arguments.h"

namespace ttyward::fleet {

// Jobs that slots work on now. Thread rule: any thread.
class JobsInHand {
 public:
  // False: another slot has it.
  bool begin(const std::string& job);
  void end(const std::string& job);
  std::vector<std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> jobs_;  // guarded by mutex_
};

// What the parts of a worker share. Constant once it is complete, except `stopping` and what
// stands below it.
struct Host {
  std::string name;
  std::string id;
  std::string boot;
  std::vector<std::string> labels;
  Layout layout;
  client::Options as_agent;
  std::optional<client::Options> as_person;  // none: the host has no person's token
  People people;
  Claims claims;
  Bus& bus;
  Presence* presence = nullptr;
  int stop_fd = -1;
  std::atomic<bool> stopping = false;

  JobsInHand in_hand = {};
  std::atomic<int> queues = 0;  // how often they were made: after a loss the server has none of our consumers
  JobsInHand working = {};      // those of them whose record says that they are ours

  // Waits, and returns early with false when the worker stops.
  bool pause(std::chrono::milliseconds time) const;
  void say(const std::string& text) const;
};

class Slot {
 public:
  explicit Slot(Host& host);

  void take(const Delivery& message);
  // A job that a worker before this one had in hand; the owner has put it among those in hand.
  void resume(Claim claim);

 private:
  // It is ours: runs and reports it. `message` is null for a job whose message is not with us.
  void work(const Claim& claim, JobRecord record, uint64_t revision, const Delivery* message);
  void work_on(const Claim& claim, JobRecord record, uint64_t revision, const Delivery* message);
  // Whether the daemon has begun it, in this boot or before.
  enum class Knows : uint8_t { Yes, No, Stopped };
  Knows daemon_knows(const Job& job);
  // What the daemon says in the end; none if the worker stops before.
  std::optional<wire::CommandResult> run(const Job& job, JobRecord& record, uint64_t& revision,
                                         const Delivery* message);
  // What is there of a command that another boot of this host began; none: it may still be running there.
  std::optional<wire::CommandResult> look_back(const Job& job);
  // The other host that has this job: waits, gives it up, or takes it over. True: it is ours now.
  bool settle(const Job& job, const Entry& entry, JobRecord& record, uint64_t& revision,
              const Delivery& message);
  std::string refusal(const Job& job) const;
  DaemonLink& link_for(const Job& job);
  // Changes the record and tells the submitter. False: it is another's now, or the worker stops.
  bool report(const Job& job, const JobRecord& record, uint64_t& revision, bool persist);

  Host& host_;
  DaemonLink agent_;
  std::optional<DaemonLink> person_;
};

JobRecord new_record(const Host& host, const Job& job, const std::string& state);
// After the server has lost its files: the records of what this host works on. False: not all could be
// stored.
bool store_records_again(Host& host);

// What the host's history has of a command whose result the daemon no longer keeps: all but its output.
std::optional<wire::CommandResult> find_in_history(DaemonLink& daemon, const std::string& id);

// The result of a command as a record carries it: with the end of its output, and bounded.
wire::CommandResult bounded(wire::CommandResult result);
wire::ViewArguments record_view();

}  // namespace ttyward::fleet
