// Spans and metrics as OpenTelemetry's collectors take them: OTLP over HTTP, encoded as JSON.
// https://opentelemetry.io/docs/specs/otlp/
//
// A span's ids are made from the command's id, so one that is sent twice is the same span. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/command_span.h"
#include "telemetry/metrics.h"

namespace ttyward::telemetry {

// Who speaks.
struct Resource {
  std::string version;
  std::string host;
  int64_t pid = 0;
  int64_t started_at_ms = 0;  // counters count from here
};

// The body for /v1/traces.
std::string otlp_traces(const Resource& resource, std::span<const CommandSpan> spans);
// The body for /v1/metrics.
std::string otlp_metrics(const Resource& resource, std::span<const Family> families, int64_t now_ms);

std::string trace_id(std::string_view command_id);  // 32 hexadecimal digits
std::string span_id(std::string_view command_id);   // 16 hexadecimal digits

}  // namespace ttyward::telemetry
