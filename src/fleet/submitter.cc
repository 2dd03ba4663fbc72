#include "fleet/submitter.h"

#include <algorithm>
#include <thread>

#include "fleet/host_calls.h"
#include "fleet/names.h"
#include "fleet/slot.h"
#include "wire/messages.h"
#include "wire/types/command_calls.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kQuiet{1000};    // without news, before records are looked at
constexpr milliseconds kBetween{2000};  // two looks
constexpr size_t kLooksAtOnce = 200;
constexpr int kMostTries = 40;
constexpr size_t kMostHosts = 10'000;

}  // namespace

base::Result<std::unique_ptr<Submitter>> Submitter::open(Bus& bus) {
  const auto lease = bus.lease();
  if (!lease) return tl::unexpected(lease.error());
  std::unique_ptr<Submitter> made(new Submitter(bus));
  made->lease_ = *lease;
  made->inbox_ = bus.new_inbox();
  Submitter* self = made.get();
  auto subscribed = bus.subscribe(made->inbox_, [self](const Incoming& came) {
    const std::lock_guard lock(self->mutex_);
    self->news_.emplace_back(came.text);
    self->came_.notify_all();
  });
  if (!subscribed) return tl::unexpected(subscribed.error());
  made->subscription_ = std::move(*subscribed);
  return made;
}

base::Result<void> Submitter::submit(const std::string& subject, std::vector<Job> jobs) {
  std::vector<Bus::Letter> letters;
  for (Job& job : jobs) {
    job.reply = inbox_;
    letters.push_back({subject, text_of(job), job.id});
    Open& open = open_[job.id];
    open.job = std::move(job);
    open.subject = subject;
  }
  // The same id again is harmless: the queue drops it, or a host finds its record.
  base::Result<void> outcome;
  if (letters.size() > 1) {
    const std::vector<std::string> missing = bus_.publish_all(letters);
    std::erase_if(letters, [&](const Bus::Letter& each) {
      return std::find(missing.begin(), missing.end(), each.id) == missing.end();
    });
  }
  for (const Bus::Letter& letter : letters) {
    base::Result<uint64_t> stored = bus_.publish(letter.subject, letter.text, letter.id);
    for (int i = 0; i < kMostTries && !stored && stored.error().code == base::ErrorCode::Unavailable; i++) {
      std::this_thread::sleep_for(milliseconds(250));
      stored = bus_.publish(letter.subject, letter.text, letter.id);
    }
    if (stored) {
      open_[letter.id].sequence = *stored;
    } else {
      outcome = tl::unexpected(stored.error());
      open_.erase(letter.id);
    }
  }
  last_news_ = Clock::now();
  return outcome;
}

std::optional<JobRecord> Submitter::take_news() {
  for (;;) {
    JobRecord record;
    if (!found_.empty()) {
      record = std::move(found_.back());
      found_.pop_back();
    } else {
      std::string text;
      {
        const std::lock_guard lock(mutex_);
        if (news_.empty()) return std::nullopt;
        text = std::move(news_.front());
        news_.pop_front();
      }
      auto read = read_as<JobRecord>(text);
      if (!read) continue;
      record = std::move(*read);
    }
    const auto found = open_.find(record.id);
    if (found == open_.end()) continue;
    last_news_ = Clock::now();
    if (is_final(record.state)) {
      open_.erase(found);
    } else {
      found->second.host = record.host;
      found->second.host_id = record.host_id;
      found->second.last = record;
    }
    return record;
  }
}

std::optional<JobRecord> Submitter::next(milliseconds patience) {
  const auto until = Clock::now() + patience;
  for (;;) {
    if (auto record = take_news()) return record;
    const auto now = Clock::now();
    if (now >= until) return std::nullopt;
    if (now - last_news_ > kQuiet && now - last_look_ > kBetween) {
      look();
      last_look_ = Clock::now();
      continue;
    }
    std::unique_lock lock(mutex_);
    came_.wait_until(lock, std::min(until, now + kQuiet / 4), [this] { return !news_.empty(); });
  }
}

void Submitter::look() {
  if (!bus_.connected()) {
    for (auto& [id, open] : open_) open.missing_since.reset();
    return gone_since_.clear();
  }
  auto at = open_.upper_bound(looked_until_);
  for (size_t i = 0; i < std::min(kLooksAtOnce, open_.size()); i++) {
    if (at == open_.end()) at = open_.begin();
    looked_until_ = at->first;
    look_at(at->second);
    ++at;
  }
}

void Submitter::look_at(Open& open) {
  const auto entry = bus_.get(kJobBucket, open.job.id);
  if (entry || entry.error().code != base::ErrorCode::NotFound) open.missing_since.reset();
  if (entry) {
    auto record = read_as<JobRecord>(entry->value);
    if (!record) return;
    if (is_final(record->state)) return found_.push_back(std::move(*record));
    if (record->state != open.last.state || record->host_id != open.host_id) found_.push_back(*record);
    if (is_gone(record->host, record->host_id)) {
      // Another host takes over what may run again. What may not is not known any more.
      if (open.job.idempotent) return;
      record->state = "lost";
      record->reason = "host " + record->host + " has given no sign of life for " +
                       std::to_string(lease_.count() / 1000) + " s; if it comes back, `ttyward fleet show " +
                       record->id + "` has the result";
      return found_.push_back(std::move(*record));
    }
    // A host that lost its own note of the job is reminded of it.
    wire::ResultRequest ask;
    ask.command = open.job.id;
    if (record->state == "taken" && open.last.state == "taken")
      static_cast<void>(call_host(bus_, record->host, "claim", wire::arguments_text(ask)));
    open.last = *record;
    return;
  }
  if (entry.error().code != base::ErrorCode::NotFound) return;
  // Not taken. It waits in the queue, or the server has lost it.
  if (open.sequence == 0) {
    const auto queued = bus_.queued();
    if (!queued || *queued > 0) return open.missing_since.reset();
  } else {
    const auto waits = bus_.is_queued(open.sequence);
    if (!waits || *waits) return open.missing_since.reset();
  }
  // Hosts store the records of what they have in hand again, within a lease.
  const auto now = Clock::now();
  if (!open.missing_since) open.missing_since = now;
  if (now - *open.missing_since > lease_) settle_missing(open);
}

void Submitter::settle_missing(Open& open) {
  const auto hosts = bus_.entries(kHostBucket, kMostHosts);
  if (!hosts) return;
  const std::string& id = open.job.id;
  bool there = open.host.empty();  // the host that had it
  wire::ResultRequest ask;
  ask.command = id;
  ask.view = record_view();
  for (const Entry& each : *hosts) {
    const auto beat = read_as<HostBeat>(each.value);
    if (!beat) continue;
    if (std::find(beat->jobs.begin(), beat->jobs.end(), id) != beat->jobs.end()) return;
    there = there || beat->host_id == open.host_id;
    JobRecord record;
    record.id = id;
    record.host = beat->host;
    record.host_id = beat->host_id;
    record.boot = beat->boot;
    const auto answer = call_host(bus_, beat->host, "result", wire::arguments_text(ask));
    if (answer) {
      auto result = read_as<wire::CommandResult>(wire::object_text(*answer));
      if (!result || !is_final(result->state)) return;  // it runs there
      record.state = result->state;
      record.reason = result->reason;
      record.result = std::move(*result);
      return found_.push_back(std::move(record));
    }
    if (answer.error().code == wire::Code::NotFound) continue;
    if (answer.error().code == wire::Code::Unavailable) return;  // asked again later
    record.state = "lost";
    record.reason = "the server has lost its files, and " + answer.error().message;
    return found_.push_back(std::move(record));
  }
  if (there || open.job.idempotent) return submit_again(open);
  JobRecord record = open.last;
  record.state = "lost";
  record.reason = "the server has lost its files, and host " + open.host + " gives no sign of life";
  found_.push_back(std::move(record));
}

void Submitter::submit_again(Open& open) {
  // A host may be about to create the record: the queue forgets a message only afterwards.
  const auto entry = bus_.get(kJobBucket, open.job.id);
  if (entry || entry.error().code != base::ErrorCode::NotFound) return;
  const auto stored = bus_.publish(open.subject, text_of(open.job), open.job.id);
  if (stored) open.sequence = *stored;
  open.missing_since.reset();
}

bool Submitter::is_gone(const std::string& host, const std::string& host_id) {
  const auto entry = bus_.get(kHostBucket, host);
  const auto beat = entry ? read_as<HostBeat>(entry->value) : tl::unexpected(entry.error());
  if (beat && beat->host_id == host_id) {
    gone_since_.erase(host);
    return false;
  }
  if (!entry && entry.error().code != base::ErrorCode::NotFound) return false;
  const auto since = gone_since_.emplace(host, Clock::now()).first->second;
  return Clock::now() - since > lease_;
}

}  // namespace ttyward::fleet
