#include "panel/screen_merge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rpc/json.h"

namespace ttyward::panel {

namespace json = boost::json;

void merge_screen(json::object& older, const json::object& newer) {
  if (rpc::flag_at(newer, "reset")) {
    older = newer;
    return;
  }
  const int64_t first = rpc::integer_at(newer, "first_row").value_or(0);
  const int64_t rows = rpc::integer_at(newer, "rows").value_or(0);
  std::map<int64_t, json::value> lines;
  for (const json::object* each : {static_cast<const json::object*>(&older), &newer}) {
    const json::array* const list = rpc::array_at(*each, "lines");
    if (list == nullptr) continue;
    for (const json::value& line : *list) {
      const auto row = line.is_object() ? rpc::integer_at(line.get_object(), "row") : std::nullopt;
      if (row && *row >= first && *row < first + rows) lines[*row] = line;
    }
  }
  json::array merged;
  merged.reserve(lines.size());
  for (auto& [row, line] : lines) merged.push_back(std::move(line));
  const bool reset = rpc::flag_at(older, "reset");
  older = newer;
  older["reset"] = reset;
  older["lines"] = std::move(merged);
}

std::optional<json::object> ScreenStream::offer(const json::object& event) {
  if (unpainted_ < kMostUnpainted) {
    ++unpainted_;
    return event;
  }
  const json::object* const newer = rpc::object_at(event, "screen");
  json::value* const older = waiting_ ? waiting_->if_contains("screen") : nullptr;
  if (older == nullptr || newer == nullptr || !older->is_object()) {
    waiting_ = event;
  } else {
    merge_screen(older->get_object(), *newer);
  }
  return std::nullopt;
}

std::optional<json::object> ScreenStream::painted() {
  unpainted_ = std::max(0, unpainted_ - 1);
  if (!waiting_ || unpainted_ >= kMostUnpainted) return std::nullopt;
  ++unpainted_;
  return std::exchange(waiting_, std::nullopt);
}

std::optional<json::object> ScreenStream::take_waiting() {
  return std::exchange(waiting_, std::nullopt);
}

}  // namespace ttyward::panel
