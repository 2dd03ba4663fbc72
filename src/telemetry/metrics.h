// Counts of what the daemon did since it started, and their form for those who read them.
//
//   Metrics ─ families(now) ─► vector<Family> ─► otlp.h (JSON) or prometheus.h (text)
//
// The set of families and of their labels is fixed: nothing that a command or an agent chooses is a label.
// Thread rule: one thread; families are values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::telemetry {

inline constexpr std::array<std::string_view, 10> kOutcomes = {
    "ok",     "failed",  "signaled",        "timed_out", "interrupted",
    "denied", "skipped", "failed_to_start", "lost",      "unknown"};
inline constexpr std::array<std::string_view, 5> kAnswers = {"allowed", "denied", "skipped", "expired",
                                                             "withdrawn"};
// Upper bounds in seconds.
inline constexpr std::array<double, 10> kBounds = {0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600};

enum class Kind : uint8_t { Counter, Gauge, Histogram };

struct Histogram {
  std::array<uint64_t, kBounds.size() + 1> buckets{};  // each on its own, not cumulative; the last: above all
  double sum = 0;
  void add(double value);
  uint64_t count() const;
};

struct Point {
  std::string_view label;  // the value of the family's label; empty: it has none
  uint64_t value = 0;
  Histogram histogram;  // of a histogram, instead of `value`
};

struct Family {
  std::string_view name;        // as OpenTelemetry has it: ttyward.command.duration
  std::string_view prometheus;  // as Prometheus has it, without _total: ttyward_command_duration_seconds
  std::string_view unit;        // as OpenTelemetry writes it: s, By, {command}
  std::string_view about;
  Kind kind = Kind::Counter;
  std::string_view label_name;  // empty: no label
  std::vector<Point> points;
};

// What is so now.
struct Gauges {
  uint64_t running = 0;
  uint64_t terminals = 0;
  uint64_t questions = 0;
  uint64_t journal_bytes = 0;
};

// What became of spans.
struct SpanCounts {
  uint64_t sent = 0;
  uint64_t dropped = 0;
};

class Metrics {
 public:
  struct Ended {
    std::string_view outcome;
    bool ran = false;  // it was started, so that it has a duration
    int64_t duration_ms = 0;
    uint64_t output_bytes = 0;
  };
  void command_ended(const Ended& ended);
  void question_closed(std::string_view answer, int64_t wait_ms);
  std::vector<Family> families(const Gauges& gauges, const SpanCounts& spans) const;

 private:
  std::array<uint64_t, kOutcomes.size()> commands_{};
  std::array<uint64_t, kAnswers.size()> questions_{};
  uint64_t output_bytes_ = 0;
  Histogram durations_;
  Histogram waits_;
};

}  // namespace ttyward::telemetry
