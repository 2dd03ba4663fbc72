#include "client/repeatable.h"

#include <algorithm>
#include <array>

#include <boost/json/value.hpp>

#include "base/ids.h"

namespace ttyward::client {

namespace {

constexpr std::array<std::string_view, 19> kAlways = {
    "result", "screen",      "list",      "show",      "status", "history",
    "rules",  "decisions",   "approvals", "check",     "mode",   "session_terminals",
    "rename", "session_cwd", "path_list", "associate", "assign", "resize",
    "resume",
};

bool given(const boost::json::object& args, boost::json::string_view name) {
  const boost::json::value* value = args.if_contains(name);
  return value != nullptr && !value->is_null();
}

}  // namespace

void make_repeatable(std::string_view call, boost::json::object& args) {
  if ((call == "exec" || call == "run") && !given(args, "command_id")) {
    args["command_id"] = base::random_id('c');
  } else if (call == "batch" && !given(args, "batch_id")) {
    args["batch_id"] = base::random_id('b');
  } else if (call == "open" && !given(args, "request")) {
    args["request"] = base::random_id('o');
  } else if (call == "wait" && !given(args, "stream")) {
    args["stream"] = true;
  }
}

bool repeatable(std::string_view call, const boost::json::object& args) {
  if (call == "reload" || std::find(kAlways.begin(), kAlways.end(), call) != kAlways.end()) return true;
  if (call == "read") {
    const boost::json::value* fresh = args.if_contains("new");
    return fresh == nullptr || fresh->is_null() || (fresh->is_bool() && !fresh->get_bool());
  }
  if (call == "wait") {
    const boost::json::value* from = args.if_contains("from");
    const bool from_start = from != nullptr && from->is_string() && from->get_string() == "start";
    // Without a command, `exit` and `input` mean the one that runs.
    const bool of_a_state = !given(args, "exit") && !given(args, "pattern") && !given(args, "input");
    return from_start || of_a_state || given(args, "command") || given(args, "approval") ||
           given(args, "from_place");
  }
  if (call == "exec" || call == "run") return given(args, "command_id");
  if (call == "batch") return given(args, "batch_id");
  if (call == "open") return given(args, "request");
  return false;
}

}  // namespace ttyward::client
