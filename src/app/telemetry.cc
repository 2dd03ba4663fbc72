#include "app/telemetry.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/http_endpoint.h"
#include "base/mask_secrets.h"
#include "base/unix_time.h"
#include "telemetry/prometheus.h"

namespace ttyward::app {

namespace {

constexpr size_t kLongestName = 256;      // of what people and agents choose
constexpr size_t kLongestCommand = 4096;  // the whole is in the history

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string_view outcome_of(const store::CommandRow& row) {
  if (row.state != "exited") return row.state;
  return !row.exit_code ? "unknown" : *row.exit_code == 0 ? "ok" : "failed";
}

bool was_started(std::string_view outcome) {
  return outcome != "denied" && outcome != "skipped" && outcome != "failed_to_start";
}

}  // namespace

Telemetry::Telemetry(Core& core, std::function<telemetry::Gauges()> gauges)
    : core_(core), gauges_(std::move(gauges)), started_at_ms_(base::unix_ms()) {}

void Telemetry::follow_settings() {
  const config::TelemetrySettings& wanted = core_.settings().telemetry;
  if (exporter_ && wanted.endpoint == settings_.endpoint && wanted.interval == settings_.interval) {
    settings_ = wanted;
    return;
  }
  stop_exporter();
  settings_ = wanted;
  if (wanted.endpoint.empty()) return;
  const auto endpoint = base::parse_http_endpoint(wanted.endpoint);
  if (!endpoint) return;  // the settings' own check says what is wrong
  telemetry::Exporter::Options options;
  options.endpoint = *endpoint;
  options.resource = {TTYWARD_VERSION, host_name(), ::getpid(), started_at_ms_};
  options.interval = wanted.interval;
  io::Log& log = core_.log;
  options.failed = [&log](const std::string& why) { log.warning(why, "telemetry"); };
  options.works_again = [&log](const std::string& text) { log.info(text, "telemetry"); };
  auto started = telemetry::Exporter::start(std::move(options));
  if (!started) return core_.log.warning("nothing is sent: " + started.error().message, "telemetry");
  exporter_ = std::move(*started);
  send_metrics_later();
}

void Telemetry::stop_exporter() {
  core_.loop.cancel(timer_);
  timer_ = 0;
  known_.clear();
  known_order_.clear();
  std::erase_if(ending_, [this](const auto& exporter) {
    if (!exporter->ended()) return false;
    const telemetry::SpanCounts counts = exporter->counts();
    counts_before_.sent += counts.sent;
    counts_before_.dropped += counts.dropped;
    return true;
  });
  if (!exporter_) return;
  exporter_->end();
  ending_.push_back(std::move(exporter_));
}

void Telemetry::end() {
  if (exporter_) send_metrics();
  stop_exporter();
  ending_.clear();
}

void Telemetry::send_metrics() {
  exporter_->set_metrics(metrics_.families(gauges_(), span_counts()));
}

void Telemetry::send_metrics_later() {
  timer_ = core_.loop.after(settings_.interval, [this] {
    send_metrics();
    send_metrics_later();
  });
}

telemetry::SpanCounts Telemetry::span_counts() const {
  telemetry::SpanCounts all = counts_before_;
  const auto add = [&all](const telemetry::Exporter& exporter) {
    const telemetry::SpanCounts counts = exporter.counts();
    all.sent += counts.sent;
    all.dropped += counts.dropped;
  };
  if (exporter_) add(*exporter_);
  for (const auto& exporter : ending_) add(*exporter);
  return all;
}

Telemetry::Known& Telemetry::known_of(const std::string& command_id) {
  const auto [at, is_new] = known_.try_emplace(command_id);
  if (is_new) {
    known_order_.push_back(command_id);
    // Ids of commands that ended are still in the order: twice as many are few enough to look through.
    while (known_order_.size() > 2 * kMostKnown || known_.size() > kMostKnown) {
      if (known_order_.front() != command_id) known_.erase(known_order_.front());
      known_order_.pop_front();
    }
  }
  return at->second;
}

void Telemetry::decided(const gate::AuditRow& row) {
  if (!exporter_ || row.command_id.empty()) return;
  Known& known = known_of(row.command_id);
  known.verdict = gate::name_of(row.outcome);
  known.decided_by = row.decided_by.substr(0, kLongestName);
  known.risk = row.risk;
}

void Telemetry::question_closed(const gate::Approval& approval) {
  const int64_t at = approval.answered_at_ms != 0 ? approval.answered_at_ms : base::unix_ms();
  const int64_t wait = std::max<int64_t>(at - approval.created_at_ms, 0);
  metrics_.question_closed(gate::name_of(approval.state), wait);
  if (exporter_ && !approval.command_id.empty()) known_of(approval.command_id).wait_ms = wait;
}

void Telemetry::command_ended(const store::CommandRow& row) {
  const std::string_view outcome = outcome_of(row);
  metrics_.command_ended({outcome, was_started(outcome), row.duration_ms.value_or(0), row.total_bytes});
  if (!exporter_) return;
  telemetry::CommandSpan span;
  span.command_id = row.id;
  span.terminal_id = row.terminal_id;
  span.terminal_name = base::mask_secrets(row.terminal_name.substr(0, kLongestName));
  span.task = base::mask_secrets(row.task.substr(0, kLongestName));
  span.owner = store::owner_name(row.owner);
  span.outcome = outcome;
  span.exit_code = row.exit_code;
  span.signal = row.signal;
  span.known_by = row.known_by;
  span.started_at_ms = row.started_at_ms;
  span.duration_ms = row.duration_ms.value_or(0);
  span.output_bytes = row.total_bytes;
  span.output_lines = row.total_lines;
  if (auto found = known_.extract(row.id); !found.empty()) {
    Known& known = found.mapped();
    span.verdict = std::move(known.verdict);
    span.decided_by = std::move(known.decided_by);
    span.risk = std::move(known.risk);
    span.approval_wait_ms = known.wait_ms;
    // A command that never ran has the time in which it was asked about.
    if (!was_started(outcome)) span.duration_ms = known.wait_ms.value_or(0);
  }
  if (settings_.commands) {
    // Masked as a whole first: the cut must not hide what makes a secret one.
    span.command = base::mask_secrets(row.command).substr(0, kLongestCommand);
    span.cwd = base::mask_secrets(row.cwd).substr(0, kLongestCommand);
  }
  exporter_->add(std::move(span));
}

wire::MetricsText Telemetry::metrics(const Caller&, const wire::MetricsRequest&) const {
  return {"text/plain; version=0.0.4; charset=utf-8",
          telemetry::prometheus_text(metrics_.families(gauges_(), span_counts()), TTYWARD_VERSION,
                                     started_at_ms_)};
}

std::vector<std::string> Telemetry::problems() const {
  return exporter_ ? exporter_->problems() : std::vector<std::string>{};
}

}  // namespace ttyward::app
