#include "telemetry/prometheus.h"

#include <fmt/format.h>

#include <iterator>

namespace ttyward::telemetry {
namespace {

const char* type_name(Kind kind) {
  return kind == Kind::Counter ? "counter" : kind == Kind::Gauge ? "gauge" : "histogram";
}

void append_histogram(std::string& out, std::string_view name, const Histogram& histogram) {
  const auto to = std::back_inserter(out);
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += histogram.buckets[i];
    fmt::format_to(to, "{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], below);
  }
  fmt::format_to(to, "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, histogram.count(),
                 histogram.sum);
}

}  // namespace

std::string prometheus_text(std::span<const Family> families, std::string_view version,
                            int64_t started_at_ms) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "# HELP ttyward_build_info The version that runs.\n# TYPE ttyward_build_info gauge\n"
                 "ttyward_build_info{{version=\"{}\"}} 1\n"
                 "# HELP ttyward_start_time_seconds When the daemon started, since the epoch.\n"
                 "# TYPE ttyward_start_time_seconds gauge\nttyward_start_time_seconds {:.3f}\n",
                 version, static_cast<double>(started_at_ms) / 1000);
  for (const Family& family : families) {
    const std::string name = std::string(family.prometheus) + (family.kind == Kind::Counter ? "_total" : "");
    fmt::format_to(to, "# HELP {0} {1}\n# TYPE {0} {2}\n", name, family.about, type_name(family.kind));
    for (const Point& point : family.points) {
      if (family.kind == Kind::Histogram)
        append_histogram(out, name, point.histogram);
      else if (family.label_name.empty())
        fmt::format_to(to, "{} {}\n", name, point.value);
      else
        fmt::format_to(to, "{}{{{}=\"{}\"}} {}\n", name, family.label_name, point.label, point.value);
    }
  }
  return out;
}

}  // namespace ttyward::telemetry
