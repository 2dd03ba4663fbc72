// One call to the daemon, for verbs that make just that.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "client/connection.h"

namespace ttyward::cli {

// Whether an agent called us: its role is never a person's.
bool is_agent();

// As ourselves: `verb` names the client, and the role is agent where is_agent().
client::Options daemon_options(const char* verb);

// Tells the person at this terminal what the daemon said every person has to know.
void show_notices(const wire::Welcome& welcome);

// The daemon is not started for this: what only asks has nothing to ask a fresh one.
base::Result<boost::json::object> call_daemon(const char* verb, std::string_view call,
                                              boost::json::object args);

// A member that is text; empty if it is not there or something else.
std::string text_of(const boost::json::object& from, std::string_view name);
int64_t number_of(const boost::json::object& from, std::string_view name);

}  // namespace ttyward::cli
