// Reading members of JSON objects without exceptions: null when a member is missing or of another type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace ttyward::rpc {

namespace json = boost::json;

inline std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

inline const json::value* member(const json::object& object, std::string_view name) {
  return object.if_contains(json::string_view(name.data(), name.size()));
}
inline const json::object* object_at(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value != nullptr ? value->if_object() : nullptr;
}
inline const json::array* array_at(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value != nullptr ? value->if_array() : nullptr;
}
inline std::optional<std::string> text_at(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(view(value->get_string()));
}
inline std::string text_or(const json::object& object, std::string_view name, std::string fallback = {}) {
  return text_at(object, name).value_or(std::move(fallback));
}
inline std::optional<int64_t> integer_at(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return static_cast<int64_t>(value->get_uint64() & INT64_MAX);
  if (value->is_double()) {
    const double number = value->get_double();
    if (number >= -9e15 && number <= 9e15 && number == static_cast<double>(static_cast<int64_t>(number)))
      return static_cast<int64_t>(number);
  }
  return std::nullopt;
}
inline bool flag_at(const json::object& object, std::string_view name, bool fallback = false) {
  const json::value* value = member(object, name);
  return value != nullptr && value->is_bool() ? value->get_bool() : fallback;
}
inline bool is_null(const json::object& object, std::string_view name) {
  const json::value* value = member(object, name);
  return value == nullptr || value->is_null();
}

}  // namespace ttyward::rpc
