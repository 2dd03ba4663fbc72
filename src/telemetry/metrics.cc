#include "telemetry/metrics.h"

#include <algorithm>
#include <numeric>

#include "telemetry/command_span.h"

namespace ttyward::telemetry {
namespace {

// What is not in the list counts as its last entry.
template <size_t N>
size_t index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return std::min(static_cast<size_t>(found - names.begin()), N - 1);
}

template <size_t N>
std::vector<Point> points_of(const std::array<std::string_view, N>& names,
                             const std::array<uint64_t, N>& counts) {
  std::vector<Point> points;
  for (size_t i = 0; i < N; ++i) points.push_back({names[i], counts[i], {}});
  return points;
}

double seconds(int64_t ms) {
  return static_cast<double>(std::max<int64_t>(ms, 0)) / 1000;
}

}  // namespace

bool is_error(std::string_view outcome) {
  return outcome != "ok" && outcome != "skipped";
}

void Histogram::add(double value) {
  buckets[static_cast<size_t>(std::lower_bound(kBounds.begin(), kBounds.end(), value) - kBounds.begin())]++;
  sum += value;
}

uint64_t Histogram::count() const {
  return std::accumulate(buckets.begin(), buckets.end(), uint64_t{0});
}

void Metrics::command_ended(const Ended& ended) {
  commands_[index_of(kOutcomes, ended.outcome)]++;
  output_bytes_ += ended.output_bytes;
  if (ended.ran) durations_.add(seconds(ended.duration_ms));
}

void Metrics::question_closed(std::string_view answer, int64_t wait_ms) {
  questions_[index_of(kAnswers, answer)]++;
  waits_.add(seconds(wait_ms));
}

std::vector<Family> Metrics::families(const Gauges& gauges, const SpanCounts& spans) const {
  return {
      {"ttyward.commands", "ttyward_commands", "{command}", "Commands that ended, by outcome.", Kind::Counter,
       "outcome", points_of(kOutcomes, commands_)},
      {"ttyward.commands.running",
       "ttyward_commands_running",
       "{command}",
       "Commands that run now.",
       Kind::Gauge,
       "",
       {{"", gauges.running, {}}}},
      {"ttyward.command.duration",
       "ttyward_command_duration_seconds",
       "s",
       "How long commands ran that were started.",
       Kind::Histogram,
       "",
       {{"", 0, durations_}}},
      {"ttyward.command.output",
       "ttyward_command_output_bytes",
       "By",
       "Output of commands that ended.",
       Kind::Counter,
       "",
       {{"", output_bytes_, {}}}},
      {"ttyward.terminals",
       "ttyward_terminals",
       "{terminal}",
       "Terminals that live.",
       Kind::Gauge,
       "",
       {{"", gauges.terminals, {}}}},
      {"ttyward.approvals", "ttyward_approvals", "{question}",
       "Questions to people that are over, by answer.", Kind::Counter, "answer",
       points_of(kAnswers, questions_)},
      {"ttyward.approvals.waiting",
       "ttyward_approvals_waiting",
       "{question}",
       "Questions to people that are open now.",
       Kind::Gauge,
       "",
       {{"", gauges.questions, {}}}},
      {"ttyward.approval.wait",
       "ttyward_approval_wait_seconds",
       "s",
       "How long questions were open before they were over.",
       Kind::Histogram,
       "",
       {{"", 0, waits_}}},
      {"ttyward.journals",
       "ttyward_journals_bytes",
       "By",
       "Output that is kept on disk.",
       Kind::Gauge,
       "",
       {{"", gauges.journal_bytes, {}}}},
      {"ttyward.telemetry.spans",
       "ttyward_telemetry_spans",
       "{span}",
       "Spans of commands that a collector took, and those that were given up.",
       Kind::Counter,
       "result",
       {{"sent", spans.sent, {}}, {"dropped", spans.dropped, {}}}},
  };
}

}  // namespace ttyward::telemetry
