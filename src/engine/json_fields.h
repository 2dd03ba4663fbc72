// Members of a JSON object that may be missing or of another kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace ttyward::engine {

inline const boost::json::value* field(const boost::json::object& object, std::string_view name) {
  return object.if_contains(boost::json::string_view(name.data(), name.size()));
}

inline std::string text_of(const boost::json::object& object, std::string_view name,
                           std::string otherwise = {}) {
  const boost::json::value* value = field(object, name);
  if (value == nullptr || !value->is_string()) return otherwise;
  return std::string(value->get_string().data(), value->get_string().size());
}

inline std::optional<int64_t> number_of(const boost::json::object& object, std::string_view name) {
  const boost::json::value* value = field(object, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_uint64()) return static_cast<int64_t>(value->get_uint64());
  return std::nullopt;
}

inline int64_t number_or(const boost::json::object& object, std::string_view name, int64_t otherwise) {
  return number_of(object, name).value_or(otherwise);
}

inline bool truth_of(const boost::json::object& object, std::string_view name, bool otherwise = false) {
  const boost::json::value* value = field(object, name);
  return value != nullptr && value->is_bool() ? value->get_bool() : otherwise;
}

inline std::vector<std::string> strings_of(const boost::json::object& object, std::string_view name) {
  std::vector<std::string> out;
  const boost::json::value* value = field(object, name);
  if (value == nullptr || !value->is_array()) return out;
  for (const boost::json::value& item : value->get_array()) {
    if (item.is_string()) out.emplace_back(item.get_string().data(), item.get_string().size());
  }
  return out;
}

}  // namespace ttyward::engine
