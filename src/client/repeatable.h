// Which calls may be sent again when nobody knows whether the daemon saw them.
//
// A call is repeatable if doing it twice is as good as doing it once, for the
// terminals and for the caller:
//
//   reads    result, screen, list, show, status, history, decisions, rules, approvals,
//            check, session_terminals, session_cwd, path_list, mode without `set`,
//            read unless it takes what is `new` (a second one would miss it)
//   waits    wait, as long as it names a command or an approval, asks `from` the
//            start, or waits for no `pattern`: what happened meanwhile still
//            counts then
//   settings resize, rename, assign, associate, reload, mode with `set`: the same value twice
//
// Everything else is not: commands would run twice, keys be typed twice, an
// approval be answered that is another by then; and subscriptions belong to a
// connection that is gone.
#pragma once

#include <string_view>

#include <boost/json/object.hpp>

namespace ttyward::client {

bool repeatable(std::string_view call, const boost::json::object& args);

}  // namespace ttyward::client
