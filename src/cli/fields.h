// Reading what the daemon answers: members that are missing, null or of another
// type read as nothing. For .cc files only: it brings in Boost.JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace ttyward::cli {

std::string text_in(const boost::json::object& from, std::string_view name);
std::optional<int64_t> number_in(const boost::json::object& from, std::string_view name);
// A moment, RFC 3339 in the protocol, as milliseconds since the epoch.
std::optional<int64_t> time_in(const boost::json::object& from, std::string_view name);
bool flag_in(const boost::json::object& from, std::string_view name);
const boost::json::object* object_in(const boost::json::object& from, std::string_view name);
// Those of the array's elements that are objects.
std::vector<const boost::json::object*> objects_in(const boost::json::object& from, std::string_view name);

// For arguments: an empty text is an argument left out.
void set_text(boost::json::object& args, std::string_view name, const std::string& text);

}  // namespace ttyward::cli
