// A verb that talks to the daemon: connect, ask, say what went wrong in one line.
#pragma once

#include <functional>
#include <string>

#include <boost/json/object.hpp>
#include <tl/expected.hpp>

#include "base/result.h"
#include "client/session.h"
#include "config/load.h"

namespace ttyward::cli {

// The command is not at its end: it runs on, waits for input or for an approval.
// EX_TEMPFAIL of sysexits.h, "come back later". Not 0, or a script would go on with
// work that is not done; not 124, nothing was ended.
inline constexpr int kExitNotYet = 75;

// An exit code, or why there is none.
using Outcome = tl::expected<int, client::CallFailure>;

// Settings as they are for whoever called us, in the folder they called us from.
config::Loaded load_here();

// How this program calls itself to the daemon, which is started if it is not there.
client::Options client_options(const char* verb);
// Connects, does `then`, and says what failed: 2 for what the caller wrote, 126 for what policy
// forbids, 125 for everything else.
int with_daemon(const char* verb, const std::function<Outcome(client::Session&)>& then);
int with_daemon(const char* verb, const client::Options& options,
                const std::function<Outcome(client::Session&)>& then);

int exit_code_of(const client::CallFailure& failure);
tl::unexpected<client::CallFailure> refuse(const base::Error& error);
tl::unexpected<client::CallFailure> refuse(std::string message);  // of what the caller wrote

// One line of JSON on stdout. Returns 0, or complains that it cannot be written.
int print_json(const char* verb, const boost::json::object& object);
// Data on stdout; what cannot be written is complained of.
int print_text(const char* verb, std::string_view text);
// The same of an answer.
template <wire::Described Answer>
int print_answer(const char* verb, const Answer& answer) {
  return print_text(verb, wire::json_text(answer) + "\n");
}

}  // namespace ttyward::cli
