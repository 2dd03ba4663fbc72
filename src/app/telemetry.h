// The service that counts what was run and asked, and tells a collector of it (docs/observability.md).
//
// Counting is always on. With telemetry.endpoint a telemetry::Exporter sends spans and, every
// telemetry.interval, the counts; it has a thread of its own and never delays the loop.
//
// Thread rule: the loop's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/caller.h"
#include "app/core.h"
#include "gate/approval.h"
#include "gate/audit.h"
#include "store/rows.h"
#include "telemetry/exporter.h"
#include "telemetry/metrics.h"
#include "wire/types/daemon_calls.h"

namespace ttyward::app {

class Telemetry {
 public:
  Telemetry(Core& core, std::function<telemetry::Gauges()> gauges);
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry() { end(); }

  // Begins, ends or changes the sending as the settings say.
  void follow_settings();
  // Sends what is left, and waits for that a second at most.
  void end();

  // It is over, or was not allowed to run.
  void command_ended(const store::CommandRow& row);
  void decided(const gate::AuditRow& row);
  void question_closed(const gate::Approval& approval);

  wire::MetricsText metrics(const Caller& caller, const wire::MetricsRequest& request) const;
  std::vector<std::string> problems() const;

 private:
  // What is known of a command before it ends.
  struct Known {
    std::string verdict;
    std::string decided_by;
    std::string risk;
    std::optional<int64_t> wait_ms;
  };
  static constexpr size_t kMostKnown = 8192;

  Known& known_of(const std::string& command_id);
  telemetry::SpanCounts span_counts() const;
  void send_metrics();
  void send_metrics_later();
  void stop_exporter();

  Core& core_;
  const std::function<telemetry::Gauges()> gauges_;
  const int64_t started_at_ms_;
  telemetry::Metrics metrics_;
  std::unordered_map<std::string, Known> known_;  // by command id; only while there is an exporter
  std::deque<std::string> known_order_;           // ids, oldest first; some may be gone
  config::TelemetrySettings settings_;            // of the exporter that runs
  std::unique_ptr<telemetry::Exporter> exporter_;
  std::vector<std::unique_ptr<telemetry::Exporter>> ending_;  // of settings that were changed
  telemetry::SpanCounts counts_before_;                       // of exporters that are gone
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::app
