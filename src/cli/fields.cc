#include "cli/fields.h"

#include <limits>

#include "base/rfc3339.h"

namespace ttyward::cli {

namespace json = boost::json;

std::string text_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<int64_t> number_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return std::numeric_limits<int64_t>::max();
  return std::nullopt;
}

std::optional<int64_t> time_in(const json::object& from, std::string_view name) {
  return base::parse_rfc3339(text_in(from, name));
}

bool flag_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object* object_in(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

std::vector<const json::object*> objects_in(const json::object& from, std::string_view name) {
  std::vector<const json::object*> found;
  const json::value* value = from.if_contains(name);
  if (value == nullptr || !value->is_array()) return found;
  for (const json::value& each : value->get_array()) {
    if (each.is_object()) found.push_back(&each.get_object());
  }
  return found;
}

void set_text(json::object& args, std::string_view name, const std::string& text) {
  if (!text.empty()) args[name] = text;
}

}  // namespace ttyward::cli
