#include "client/repeatable.h"

#include <algorithm>
#include <array>

#include <boost/json/value.hpp>

namespace ttyward::client {

namespace {

constexpr std::array<std::string_view, 18> kAlways = {
    "result", "screen",      "list",      "show",      "status", "history",
    "rules",  "decisions",   "approvals", "check",     "mode",   "session_terminals",
    "rename", "session_cwd", "path_list", "associate", "assign", "resize",
};

bool given(const boost::json::object& args, boost::json::string_view name) {
  const boost::json::value* value = args.if_contains(name);
  return value != nullptr && !value->is_null();
}

}  // namespace

bool repeatable(std::string_view call, const boost::json::object& args) {
  if (call == "reload" || std::find(kAlways.begin(), kAlways.end(), call) != kAlways.end()) return true;
  if (call == "read") {
    const boost::json::value* fresh = args.if_contains("new");
    return fresh == nullptr || fresh->is_null() || (fresh->is_bool() && !fresh->get_bool());
  }
  if (call == "wait") {
    const boost::json::value* from = args.if_contains("from");
    const bool from_start = from != nullptr && from->is_string() && from->get_string() == "start";
    if (from_start || given(args, "command") || given(args, "approval")) return true;
    return !given(args, "pattern");  // all else is so or not so; a line may be past
  }
  return false;
}

}  // namespace ttyward::client
