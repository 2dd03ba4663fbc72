// Which calls may be sent again when it is not known whether the daemon received them.
//
// A call is repeatable if it is idempotent, for the terminals and for the
// caller:
//
//   reads    result, screen, list, show, status, history, decisions, rules, approvals,
//            check, session_terminals, session_cwd, path_list, mode without `set`,
//            read unless it takes what is `new` (a second one would miss it)
//   waits    wait, as long as it names a command, an approval or a place in the output, or
//            asks `from` the start: what happened meanwhile still counts then; or if it
//            waits for nothing but a state (prompt, port, file, silence): that is seen later, too
//   commands exec and run with a `command_id` of the client's: a daemon that knows it runs nothing
//   settings resize, rename, assign, associate, reload, mode with `set`: the same value twice
//
// Everything else is not: commands would run twice, keys be typed twice, an
// approval be answered that is another by then; and subscriptions belong to a
// connection that is gone.
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

namespace ttyward::client {

// Adds what makes a call repeatable that is not by itself: an id for the command, and that the daemon
// tells what "now" means.
void make_repeatable(std::string_view call, boost::json::object& args);
bool repeatable(std::string_view call, const boost::json::object& args);

}  // namespace ttyward::client
