// Sends spans and metrics to a collector, on a thread of its own.
//
// Spans wait in a bounded queue and go out in batches: when a batch is full, or after `interval`. Of metrics
// only the newest wait: they are totals, so one that is not sent is missed by nobody.
//
// What happens when a collector
//   is not there, is slow, or answers 429 or 5xx   the batch is kept and sent again, after pauses that grow
//   answers another error                          the batch is dropped and counted: it would be refused
//   again
// and when the queue is full, new spans are dropped and counted. Neither ever delays the caller.
//
// Thread rule: any thread; the functions in Options are called by the exporter's thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/http_endpoint.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "telemetry/command_span.h"
#include "telemetry/metrics.h"
#include "telemetry/otlp.h"
#include "telemetry/post.h"

namespace ttyward::telemetry {

class Exporter {
 public:
  static constexpr size_t kBatch = 512;

  struct Options {
    base::HttpEndpoint endpoint;
    Resource resource;
    std::chrono::milliseconds interval{10'000};
    size_t most_waiting = 2048;
    std::chrono::milliseconds patience{10'000};   // for one POST
    std::chrono::milliseconds farewell{1000};     // for all that is left, at the end
    std::chrono::milliseconds first_pause{1000};  // after a failure; then twice as long each time
    std::chrono::milliseconds longest_pause{60'000};
    std::function<void(const std::string& why)> failed{};  // the first of failures in a row
    std::function<void(const std::string& text)> works_again{};
  };

  static base::Result<std::unique_ptr<Exporter>> start(Options options);
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;
  // end(), and waits for it.
  ~Exporter();

  void add(CommandSpan span);
  void set_metrics(std::vector<Family> families);
  // No more is taken. What waits is sent within `farewell`, if the collector takes it. Returns at once.
  void end();
  // After end(): the thread has nothing to do any more.
  bool ended() const { return ended_; }

  SpanCounts counts() const;
  // Why the last attempts failed, of spans and of metrics; empty if they did not.
  std::vector<std::string> problems() const;

 private:
  explicit Exporter(Options options, base::UniqueFd hurry);
  void run();
  // Waits for something to do. False: the end has come, and nothing is left.
  bool wait();
  void send_all();
  enum class Signal : uint8_t { Traces, Metrics };  // a collector may take one and not the other
  static const char* name_of(Signal signal);
  enum class Fate : uint8_t { Taken, Refused, Later };
  Fate send(Signal signal, const std::string& body);
  void note_failure(Signal signal, const std::string& why);
  void note_success(Signal signal);

  const Options options_;
  const base::UniqueFd hurry_;  // readable once the end has come

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<CommandSpan> waiting_;
  std::optional<std::vector<Family>> metrics_;
  SpanCounts counts_;
  std::array<std::string, 2> problems_;  // by signal
  bool ending_ = false;
  std::atomic<bool> ended_ = false;

  // The thread's own.
  std::vector<CommandSpan> batch_;
  Clock::time_point next_;
  std::chrono::milliseconds pause_{0};  // 0: the last attempt did not fail
  Clock::time_point last_moment_ = Clock::time_point::max();

  std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace ttyward::telemetry
