#include "fleet/slot.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/mask_secrets.h"
#include "base/utf8.h"
#include "fleet/names.h"
#include "wire/types/command_calls.h"
#include "wire/types/policy_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kFirstYield{1000};  // a shorter command is reported once, with its result
constexpr milliseconds kLongestYield{5000};
constexpr milliseconds kRetry{200};
constexpr int64_t kMostStarts = 5;
constexpr int64_t kOldestProofMs = 25LL * 3600 * 1000;  // the queue keeps nothing longer
constexpr int64_t kClockSlackMs = 3600LL * 1000;
constexpr size_t kShownCommand = 200;
constexpr size_t kKeptCommand = 1000;
constexpr size_t kLongestRecord = 32 << 10;

std::string cut(std::string text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) most--;
  return text.substr(0, most) + "…";
}

std::string line_of(const Job& job) {
  std::string line = job.command;
  for (const std::string& word : job.argv) line += (line.empty() ? "" : " ") + word;
  return base::mask_secrets(line);
}

}  // namespace

bool JobsInHand::begin(const std::string& job) {
  const std::lock_guard lock(mutex_);
  return jobs_.insert(job).second;
}
void JobsInHand::end(const std::string& job) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job);
}
std::vector<std::string> JobsInHand::all() const {
  const std::lock_guard lock(mutex_);
  return {jobs_.begin(), jobs_.end()};
}
bool Host::pause(milliseconds time) const {
  pollfd stop{stop_fd, POLLIN, 0};
  return ::poll(&stop, 1, static_cast<int>(time.count())) == 0;
}
void Host::say(const std::string& text) const {
  std::fprintf(stderr, "ttyward fleet %s: %s\n", name.c_str(), text.c_str());
}

wire::ViewArguments record_view() {
  wire::ViewArguments view;
  view.view = "tail";
  view.lines = 200;
  view.chars = 8000;
  return view;
}

wire::CommandResult bounded(wire::CommandResult result) {
  result.command = cut(base::mask_secrets(result.command), kKeptCommand);
  result.verdict = {};
  if (text_of(result).size() > kLongestRecord) {
    result.background.clear();
    result.ended_background.clear();
    result.ports.clear();
    result.facts.reset();
    result.changes.reset();
    result.output = cut(result.output, kLongestRecord / 4);
  }
  return result;
}

std::optional<wire::CommandResult> find_in_history(DaemonLink& daemon, const std::string& id) {
  wire::HistoryRequest ask;
  ask.limit = wire::kMostRows;
  const auto rows = daemon.call(ask);
  if (!rows) return std::nullopt;
  for (const wire::HistoryRow& row : rows->commands) {
    if (row.command_id != id || !row.duration_ms) continue;
    wire::CommandResult found;
    found.command_id = id;
    found.terminal_id = row.terminal_id;
    found.command = row.command;
    found.cwd = row.cwd;
    found.state = row.state;
    found.exit_code = row.exit_code;
    found.signal = row.signal;
    found.known_by = row.known_by;
    found.started_at = row.started_at;
    found.duration_ms = *row.duration_ms;
    found.total_bytes = row.total_bytes;
    found.total_lines = row.total_lines;
    found.provider = row.provider;
    found.reason = row.reason.empty() ? "the host no longer has its output" : row.reason;
    return found;
  }
  return std::nullopt;
}

bool store_records_again(Host& host) {
  const std::vector<std::string> working = host.working.all();
  for (const Claim& claim : host.claims.all()) {
    if (std::find(working.begin(), working.end(), claim.job.id) == working.end()) continue;
    const auto stored =
        host.bus.put(kJobBucket, claim.job.id, text_of(new_record(host, claim.job, "taken")), 0);
    if (!stored && stored.error().code != base::ErrorCode::AlreadyExists) return false;
  }
  return true;
}

Slot::Slot(Host& host) : host_(host), agent_(host.as_agent, host.stop_fd) {
  if (host.as_person) person_.emplace(*host.as_person, host.stop_fd);
}

JobRecord new_record(const Host& host, const Job& job, const std::string& state) {
  JobRecord record;
  record.id = job.id;
  record.state = state;
  record.host = host.name;
  record.host_id = host.id;
  record.boot = host.boot;
  record.command = cut(line_of(job), kShownCommand);
  record.requester = job.requester;
  return record;
}

void Slot::take(const Delivery& message) {
  auto job = read_as<Job>(message.text());
  if (!job || !base::is_id(job->id, 'c') || job->command.empty() == job->argv.empty()) {
    host_.say("a message of the queue is not a job, and is dropped");
    static_cast<void>(host_.bus.send("tw1.dead", message.text()));
    return message.discard();
  }
  const auto has = [this](const std::string& need) {
    return std::find(host_.labels.begin(), host_.labels.end(), need) != host_.labels.end();
  };
  if (!std::all_of(job->needs.begin(), job->needs.end(), has)) return message.give_back(milliseconds(1000));
  if (!host_.in_hand.begin(job->id)) return message.give_back(host_.layout.lease / 3);  // another slot has it

  JobRecord record = new_record(host_, *job, "taken");
  uint64_t revision = 0;
  bool mine = false;
  const auto now = host_.presence->server_now_ms();
  const bool too_late = job->deadline_ms > 0 && now && *now - message.stored_at_ms() > job->deadline_ms;
  if (too_late) {
    record.state = "expired";
    record.reason = "no host took it before its deadline";
  }
  const Claim claim{*job, host_.boot, 1};
  if (auto kept = host_.claims.keep(claim); !kept) {
    host_.say(kept.error().message);
    host_.in_hand.end(job->id);
    return message.give_back(milliseconds(1000));
  }
  for (;;) {
    const auto created = host_.bus.put(kJobBucket, job->id, text_of(record), 0);
    if (created) {
      revision = *created;
      mine = true;
      break;
    }
    if (created.error().code == base::ErrorCode::AlreadyExists) {
      const auto entry = host_.bus.get(kJobBucket, job->id);
      if (entry) {
        mine = settle(*job, *entry, record, revision, message);
        break;
      }
    }
    // It may have been stored all the same: only another try can tell. The claim stays for the next worker.
    message.still_working();
    if (!host_.pause(kRetry)) return host_.in_hand.end(job->id);
  }
  if (mine && too_late && record.state == "expired") {
    static_cast<void>(host_.bus.send(job->reply.empty() ? "tw1.dead" : job->reply, text_of(record)));
    message.done();
    mine = false;
  }
  if (!mine) {
    host_.claims.remove(job->id);
    return host_.in_hand.end(job->id);
  }
  work(claim, std::move(record), revision, &message);
  host_.in_hand.end(job->id);
}

bool Slot::settle(const Job& job, const Entry& entry, JobRecord& record, uint64_t& revision,
                  const Delivery& message) {
  const auto found = read_as<JobRecord>(entry.value);
  if (!found) {
    message.discard();
    return false;
  }
  if (is_final(found->state)) {
    message.done();
    return false;
  }
  if (found->host_id == host_.id && found->boot == host_.boot) {
    record = *found;
    revision = entry.revision;
    return true;
  }
  if (found->host_id != host_.id) {
    switch (host_.presence->fate_of(found->host, found->host_id)) {
      case Presence::Fate::Alive:
      case Presence::Fate::Unsure:
        message.give_back(host_.layout.lease / 3);
        return false;
      case Presence::Fate::Gone:
        break;
    }
  }
  if (found->host_id == host_.id && !job.idempotent) {
    // Taken before this machine was started anew, and its claim did not reach the disk.
    const auto known = look_back(job);
    if (!known) return false;
    JobRecord last = *found;
    last.state = known->state;
    last.reason = known->reason;
    last.result = bounded(*known);
    uint64_t at = entry.revision;
    if (report(job, last, at, true)) message.done();
    return false;
  }
  // Whether that host began it cannot be known.
  JobRecord next = job.idempotent ? record : *found;
  if (job.idempotent) {
    next.attempt = found->attempt + 1;
  } else {
    next.state = "lost";
    next.reason = "host " + found->host + " is gone; whether the command ran there is not known";
  }
  const auto stored = host_.bus.put(kJobBucket, job.id, text_of(next), entry.revision);
  if (!stored) {
    message.give_back(host_.layout.lease / 3);
    return false;
  }
  if (!job.idempotent) {
    if (!job.reply.empty()) static_cast<void>(host_.bus.send(job.reply, text_of(next)));
    message.done();
    return false;
  }
  record = next;
  revision = *stored;
  return true;
}

void Slot::resume(Claim claim) {
  const Job& job = claim.job;
  const bool same_boot = claim.boot == host_.boot;
  claim.starts++;
  static_cast<void>(host_.claims.keep(claim));
  // The claim may be older than the record: then nobody was told that the job is ours, and it is not. If the
  // daemon has it all the same, the server has lost the record.
  base::Result<Entry> entry = host_.bus.get(kJobBucket, job.id);
  while (!entry) {
    if (entry.error().code == base::ErrorCode::NotFound) {
      const Knows knows = daemon_knows(job);
      if (knows == Knows::Stopped) return host_.in_hand.end(job.id);
      if (knows == Knows::No) break;
      static_cast<void>(host_.bus.put(kJobBucket, job.id, text_of(new_record(host_, job, "taken")), 0));
    } else if (!host_.pause(kRetry)) {
      return host_.in_hand.end(job.id);
    }
    entry = host_.bus.get(kJobBucket, job.id);
  }
  const auto record = entry ? read_as<JobRecord>(entry->value) : tl::unexpected(entry.error());
  const bool mine =
      record && record->host_id == host_.id && (!is_final(record->state) || record->state == "lost");
  if (!mine) {
    host_.claims.remove(job.id);
    return host_.in_hand.end(job.id);
  }
  uint64_t revision = entry->revision;
  if (same_boot && claim.starts <= kMostStarts) {
    work(claim, *record, revision, nullptr);
    return host_.in_hand.end(job.id);
  }
  JobRecord last = *record;
  if (!same_boot) {
    const auto known = look_back(job);
    if (!known) return host_.in_hand.end(job.id);
    last.state = known->state;
    last.reason = known->reason;
    last.result = bounded(*known);
  } else {
    last.state = "failed_to_start";
    last.reason = std::to_string(claim.starts - 1) + " workers ended while they had it";
  }
  if (report(job, last, revision, true)) host_.claims.remove(job.id);
  host_.in_hand.end(job.id);
}

Slot::Knows Slot::daemon_knows(const Job& job) {
  for (;;) {
    wire::ResultRequest ask;
    ask.command = job.id;
    ask.view = record_view();
    const auto answer = link_for(job).call(ask);
    if (answer) return Knows::Yes;
    if (!is_passing(answer.error())) return find_in_history(link_for(job), job.id) ? Knows::Yes : Knows::No;
    if (!host_.pause(kRetry)) return Knows::Stopped;
  }
}

std::optional<wire::CommandResult> Slot::look_back(const Job& job) {
  for (;;) {
    wire::ResultRequest ask;
    ask.command = job.id;
    ask.view = record_view();
    auto answer = link_for(job).call(ask);
    if (answer) return *answer;
    if (!is_passing(answer.error())) {
      if (auto known = find_in_history(link_for(job), job.id)) return known;
      break;
    }
    if (!host_.pause(kRetry)) return std::nullopt;
  }
  wire::CommandResult lost;
  lost.command_id = job.id;
  lost.command = line_of(job);
  lost.state = "lost";
  lost.reason = "the host was started anew, and does not know whether the command ran";
  return lost;
}

std::string Slot::refusal(const Job& job) const {
  if (!job.proof) return {};
  if (!host_.as_person)
    return "host " + host_.name +
           " has no person's token; make one there with `ttyward person token`, and start its worker again";
  if (std::string doubt = host_.people.doubt(*job.proof, job_text(job)); !doubt.empty()) return doubt;
  const auto now = host_.presence->server_now_ms();
  const int64_t age = now && job.submitted_at ? *now - job.submitted_at->ms : kOldestProofMs + 1;
  if (age > kOldestProofMs || age < -kClockSlackMs)
    return "the proof is more than a day old, or the submitter's clock is wrong; submit it again";
  return {};
}

DaemonLink& Slot::link_for(const Job& job) {
  return job.proof && person_ ? *person_ : agent_;
}

void Slot::work(const Claim& claim, JobRecord record, uint64_t revision, const Delivery* message) {
  const Job& job = claim.job;
  host_.working.begin(job.id);
  work_on(claim, std::move(record), revision, message);
  host_.working.end(job.id);
}

void Slot::work_on(const Claim& claim, JobRecord record, uint64_t revision, const Delivery* message) {
  const Job& job = claim.job;
  std::optional<wire::CommandResult> result;
  if (const std::string why = refusal(job); !why.empty()) {
    result.emplace();
    result->command_id = job.id;
    result->command = line_of(job);
    result->state = "denied";
    result->reason = why;
  } else {
    result = run(job, record, revision, message);
  }
  if (!result) return;  // the worker stops; the claim stays for the next one
  record.state = result->state;
  record.reason = result->reason;
  record.result = bounded(std::move(*result));
  if (!report(job, record, revision, true) && host_.stopping) return;
  if (message != nullptr) message->done();
  host_.claims.remove(job.id);
}

std::optional<wire::CommandResult> Slot::run(const Job& job, JobRecord& record, uint64_t& revision,
                                             const Delivery* message) {
  wire::RunRequest request;
  request.command = job.command;
  request.argv = job.argv;
  request.command_id = job.id;
  request.cwd = job.cwd;
  request.env = job.env;
  if (job.timeout_ms > 0) request.timeout = milliseconds(job.timeout_ms);
  if (job.idle_timeout_ms > 0) request.idle_timeout = milliseconds(job.idle_timeout_ms);
  request.sandbox = job.sandbox;
  request.task = job.task;
  request.keep_background = false;
  request.view = record_view();
  request.yield_after = std::min(kFirstYield, host_.layout.lease / 3);
  std::string told = record.state;
  int busy = 0;
  for (;;) {
    auto answer = link_for(job).call(request);
    if (host_.stopping) return std::nullopt;
    if (answer && is_final(answer->state)) return *answer;
    if (message != nullptr) message->still_working();
    if (!answer) {
      const bool full =
          answer.error().code == wire::Code::Exhausted || answer.error().code == wire::Code::Busy;
      if (is_passing(answer.error()) || (full && ++busy < 150)) {
        if (!host_.pause(kRetry)) return std::nullopt;
        continue;
      }
      // The daemon knows the id and no longer the result: it ran.
      if (answer.error().code == wire::Code::NotFound) {
        if (auto known = find_in_history(link_for(job), job.id)) return known;
      }
      wire::CommandResult failed;
      failed.command_id = job.id;
      failed.command = line_of(job);
      failed.state = answer.error().code == wire::Code::NotFound ? "lost"
                     : answer.error().code == wire::Code::Denied ? "denied"
                                                                 : "failed_to_start";
      failed.reason = answer.error().message;
      return failed;
    }
    // The daemon has it: what is left is to wait, and the queue need not remember it.
    if (message != nullptr && !job.idempotent) message->done();
    if (answer->state != told) {
      told = answer->state;
      record.state = answer->state;
      record.result = bounded(*answer);
      static_cast<void>(report(job, record, revision, false));
    }
    request.yield_after = std::min(kLongestYield, host_.layout.lease / 3);
    request.wait_for_input = true;
    if (answer->state == "pending_approval" && !answer->approval.empty()) {
      wire::WaitRequest wait;
      wait.approval = answer->approval;
      wait.timeout = request.yield_after;
      static_cast<void>(link_for(job).call(wait));
      if (host_.stopping) return std::nullopt;
    }
  }
}

bool Slot::report(const Job& job, const JobRecord& record, uint64_t& revision, bool persist) {
  const std::string text = text_of(record);
  for (;;) {
    const auto stored = host_.bus.put(kJobBucket, job.id, text, revision);
    if (stored) {
      revision = *stored;
      if (!job.reply.empty()) static_cast<void>(host_.bus.send(job.reply, text));
      return true;
    }
    if (stored.error().code == base::ErrorCode::AlreadyExists) {
      const auto entry = host_.bus.get(kJobBucket, job.id);
      if (entry) {
        const auto other = read_as<JobRecord>(entry->value);
        // Somebody gave us up and took it over. Both ran it, which the job allows.
        if (other && other->host_id != host_.id) return false;
        revision = entry->revision;
        continue;
      }
      if (entry.error().code == base::ErrorCode::NotFound) {
        revision = 0;
        continue;
      }
    }
    if (!persist || !host_.pause(kRetry)) return false;
  }
}

}  // namespace ttyward::fleet
