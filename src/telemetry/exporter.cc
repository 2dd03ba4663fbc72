#include "telemetry/exporter.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/thread.h"
#include "base/unix_time.h"

namespace ttyward::telemetry {

using std::chrono::milliseconds;

const char* Exporter::name_of(Signal signal) {
  return signal == Signal::Traces ? "spans" : "metrics";
}

Exporter::Exporter(Options options, base::UniqueFd hurry)
    : options_(std::move(options)), hurry_(std::move(hurry)), next_(Clock::now() + options_.interval) {}

base::Result<std::unique_ptr<Exporter>> Exporter::start(Options options) {
  base::UniqueFd hurry(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!hurry) return base::fail_errno(errno, "cannot make an eventfd");
  std::unique_ptr<Exporter> made(new Exporter(std::move(options), std::move(hurry)));
  auto thread = base::start_thread([exporter = made.get()] { exporter->run(); });
  if (!thread) return tl::unexpected(thread.error());
  made->thread_ = std::move(*thread);
  return made;
}

Exporter::~Exporter() {
  end();
  if (thread_.joinable()) thread_.join();
}

void Exporter::add(CommandSpan span) {
  const std::lock_guard lock(mutex_);
  if (ending_ || waiting_.size() >= options_.most_waiting) {
    counts_.dropped++;
    return;
  }
  waiting_.push_back(std::move(span));
  if (waiting_.size() == kBatch) wake_.notify_one();
}

void Exporter::set_metrics(std::vector<Family> families) {
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  metrics_ = std::move(families);
  wake_.notify_one();
}

void Exporter::end() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(ending_, true)) return;
  const uint64_t one = 1;
  static_cast<void>(::write(hurry_.get(), &one, sizeof one));
  wake_.notify_one();
}

SpanCounts Exporter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::vector<std::string> Exporter::problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all(problems_.begin(), problems_.end());
  std::erase(all, "");
  return all;
}

bool Exporter::wait() {
  std::unique_lock lock(mutex_);
  // Metrics and a full batch do not wait, unless the collector has just failed.
  wake_.wait_until(lock, next_, [this] {
    const bool due = metrics_ || waiting_.size() >= kBatch;
    return ending_ || (pause_.count() == 0 && due) || Clock::now() >= next_;
  });
  if (ending_ && last_moment_ == Clock::time_point::max()) last_moment_ = Clock::now() + options_.farewell;
  return !ending_ || !waiting_.empty() || !batch_.empty() || metrics_;
}

void Exporter::run() {
  while (wait()) {
    send_all();
    next_ = Clock::now() + (pause_.count() == 0 ? options_.interval : pause_);
    const bool over = last_moment_ != Clock::time_point::max();
    if (over && (pause_.count() != 0 || Clock::now() >= last_moment_)) break;
  }
  const std::lock_guard lock(mutex_);
  counts_.dropped += waiting_.size() + batch_.size();
  waiting_.clear();
  batch_.clear();
  ended_ = true;
}

void Exporter::send_all() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      const auto n = static_cast<std::ptrdiff_t>(std::min(kBatch - batch_.size(), waiting_.size()));
      std::move(waiting_.begin(), waiting_.begin() + n, std::back_inserter(batch_));
      waiting_.erase(waiting_.begin(), waiting_.begin() + n);
    }
    if (batch_.empty()) break;
    const Fate fate = send(Signal::Traces, otlp_traces(options_.resource, batch_));
    if (fate == Fate::Later) return;
    const std::lock_guard lock(mutex_);
    (fate == Fate::Taken ? counts_.sent : counts_.dropped) += batch_.size();
    batch_.clear();
  }
  std::optional<std::vector<Family>> metrics;
  {
    const std::lock_guard lock(mutex_);
    metrics.swap(metrics_);
  }
  if (metrics) send(Signal::Metrics, otlp_metrics(options_.resource, *metrics, base::unix_ms()));
}

Exporter::Fate Exporter::send(Signal signal, const std::string& body) {
  const char* const path = signal == Signal::Traces ? "/v1/traces" : "/v1/metrics";
  const std::string agent = "ttyward/" + options_.resource.version;
  const auto until = std::min(Clock::now() + options_.patience, last_moment_);
  const auto status = post({options_.endpoint, path, body, agent}, until, hurry_.get(), options_.farewell);
  if (status && *status >= 200 && *status < 300) {
    note_success(signal);
    return Fate::Taken;
  }
  const std::string why = status ? "it answered " + std::to_string(*status) : status.error().message;
  note_failure(signal, why);
  const bool refused = status && *status < 500 && *status != 429 && *status != 408;
  if (refused) pause_ = milliseconds(0);  // it works, and wants something else
  return refused ? Fate::Refused : Fate::Later;
}

void Exporter::note_failure(Signal signal, const std::string& why) {
  pause_ = pause_.count() == 0 ? options_.first_pause : std::min(pause_ * 2, options_.longest_pause);
  const std::string text = "telemetry.endpoint: " + options_.endpoint.authority() + " does not take " +
                           name_of(signal) + ": " + why;
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(problems_[static_cast<size_t>(signal)], text);
  }
  if (before.empty() && options_.failed) options_.failed(text);
}

void Exporter::note_success(Signal signal) {
  pause_ = milliseconds(0);
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(problems_[static_cast<size_t>(signal)], "");
  }
  if (!before.empty() && options_.works_again) {
    options_.works_again("telemetry.endpoint: " + options_.endpoint.authority() + " takes " +
                         name_of(signal) + " again");
  }
}

}  // namespace ttyward::telemetry
