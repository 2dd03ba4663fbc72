// Metrics as Prometheus reads them: the text exposition format, version 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/metrics.h"

namespace ttyward::telemetry {

std::string prometheus_text(std::span<const Family> families, std::string_view version,
                            int64_t started_at_ms);

}  // namespace ttyward::telemetry
