#include "telemetry/otlp.h"

#include <fmt/format.h>

#include <string>

#include "base/hex.h"
#include "base/json_text.h"
#include "base/sha256.h"

namespace ttyward::telemetry {
namespace {

using base::JsonObject;

constexpr int kInternal = 1;    // SPAN_KIND_INTERNAL
constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE
constexpr int kError = 2;       // STATUS_CODE_ERROR

// 64-bit numbers are texts in OTLP's JSON.
std::string nanoseconds(int64_t ms) {
  return std::to_string(ms < 0 ? 0 : ms) + (ms > 0 ? "000000" : "");
}

template <class Items, class Make>
std::string array_of(const Items& items, Make make) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += make(item);
  }
  return out + "]";
}

// {"key":…,"value":…} one after the other.
class Attributes {
 public:
  Attributes& text(std::string_view key, std::string_view value) {
    return value.empty() ? *this : add(key, JsonObject().text("stringValue", value).str());
  }
  Attributes& number(std::string_view key, int64_t value) {
    return add(key, JsonObject().text("intValue", std::to_string(value)).str());
  }
  std::string str() const { return out_ + "]"; }

 private:
  Attributes& add(std::string_view key, const std::string& value) {
    if (out_.size() > 1) out_ += ',';
    out_ += JsonObject().text("key", key).raw("value", value).str();
    return *this;
  }
  std::string out_ = "[";
};

std::string resource_json(const Resource& resource) {
  Attributes attributes;
  attributes.text("service.name", "ttyward").text("service.version", resource.version);
  attributes.text("host.name", resource.host).number("process.pid", resource.pid);
  return JsonObject().raw("attributes", attributes.str()).str();
}

std::string scope_json(const Resource& resource) {
  return JsonObject().text("name", "ttyward").text("version", resource.version).str();
}

std::string span_json(const CommandSpan& span) {
  Attributes attributes;
  attributes.text("ttyward.command.id", span.command_id).text("ttyward.terminal.id", span.terminal_id);
  attributes.text("ttyward.terminal.name", span.terminal_name).text("ttyward.task", span.task);
  attributes.text("ttyward.owner", span.owner).text("ttyward.outcome", span.outcome);
  attributes.text("ttyward.verdict", span.verdict).text("ttyward.decided_by", span.decided_by);
  attributes.text("ttyward.risk", span.risk);
  if (span.approval_wait_ms) attributes.number("ttyward.approval.wait_ms", *span.approval_wait_ms);
  if (span.exit_code) attributes.number("process.exit.code", *span.exit_code);
  attributes.text("ttyward.signal", span.signal).text("ttyward.known_by", span.known_by);
  attributes.number("ttyward.output.bytes", static_cast<int64_t>(span.output_bytes));
  attributes.number("ttyward.output.lines", static_cast<int64_t>(span.output_lines));
  attributes.text("process.command_line", span.command).text("process.working_directory", span.cwd);
  JsonObject out;
  out.text("traceId", trace_id(span.command_id)).text("spanId", span_id(span.command_id));
  out.text("name", "ttyward.command").number("kind", kInternal);
  out.text("startTimeUnixNano", nanoseconds(span.started_at_ms));
  out.text("endTimeUnixNano", nanoseconds(span.started_at_ms + span.duration_ms));
  out.raw("attributes", attributes.str());
  JsonObject status;
  if (is_error(span.outcome)) status.number("code", kError).text("message", span.outcome);
  return out.raw("status", status.str()).str();
}

std::string point_json(const Resource& resource, const Family& family, const Point& point, int64_t now_ms) {
  JsonObject out;
  Attributes attributes;
  if (!family.label_name.empty()) attributes.text(family.label_name, point.label);
  out.raw("attributes", attributes.str());
  out.text("startTimeUnixNano", nanoseconds(resource.started_at_ms))
      .text("timeUnixNano", nanoseconds(now_ms));
  if (family.kind != Kind::Histogram) return out.text("asInt", std::to_string(point.value)).str();
  const Histogram& histogram = point.histogram;
  out.text("count", std::to_string(histogram.count())).raw("sum", fmt::format("{}", histogram.sum));
  out.raw("bucketCounts", array_of(histogram.buckets, [](uint64_t n) { return fmt::format("\"{}\"", n); }));
  out.raw("explicitBounds", array_of(kBounds, [](double bound) { return fmt::format("{}", bound); }));
  return out.str();
}

std::string metric_json(const Resource& resource, const Family& family, int64_t now_ms) {
  JsonObject data;
  data.raw("dataPoints", array_of(family.points, [&](const Point& point) {
             return point_json(resource, family, point, now_ms);
           }));
  if (family.kind != Kind::Gauge) data.number("aggregationTemporality", kCumulative);
  if (family.kind == Kind::Counter) data.boolean("isMonotonic", true);
  const char* const kind = family.kind == Kind::Counter ? "sum"
                           : family.kind == Kind::Gauge ? "gauge"
                                                        : "histogram";
  return JsonObject()
      .text("name", family.name)
      .text("description", family.about)
      .text("unit", family.unit)
      .raw(kind, data.str())
      .str();
}

// {"resourceSpans":[{"resource":…,"scopeSpans":[{"scope":…,"spans":[…]}]}]}, or the same of metrics.
std::string envelope(const Resource& resource, const char* outer, const char* inner, const char* name,
                     const std::string& items) {
  const std::string scope = JsonObject().raw("scope", scope_json(resource)).raw(name, items).str();
  const std::string all =
      JsonObject().raw("resource", resource_json(resource)).raw(inner, "[" + scope + "]").str();
  return JsonObject().raw(outer, "[" + all + "]").str();
}

std::string digits(std::string_view command_id, size_t from, size_t bytes) {
  const base::Digest digest = base::sha256("ttyward span of " + std::string(command_id));
  return base::to_hex(std::span(digest).subspan(from, bytes));
}

}  // namespace

std::string trace_id(std::string_view command_id) {
  return digits(command_id, 0, 16);
}

std::string span_id(std::string_view command_id) {
  return digits(command_id, 16, 8);
}

std::string otlp_traces(const Resource& resource, std::span<const CommandSpan> spans) {
  return envelope(resource, "resourceSpans", "scopeSpans", "spans", array_of(spans, span_json));
}

std::string otlp_metrics(const Resource& resource, std::span<const Family> families, int64_t now_ms) {
  return envelope(resource, "resourceMetrics", "scopeMetrics", "metrics",
                  array_of(families, [&](const Family& f) { return metric_json(resource, f, now_ms); }));
}

}  // namespace ttyward::telemetry
