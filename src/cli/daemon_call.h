// One call to the daemon, for verbs that make just that.
#pragma once

#include <utility>

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
template <client::Request R>
base::Result<typename R::Answer> call_daemon(const char* verb, const R& request) {
  auto connection = client::Connection::open(daemon_options(verb));
  if (!connection) return tl::unexpected(connection.error());
  auto answer = connection->call(request);
  if (!answer) return base::fail(base::ErrorCode::Unavailable, answer.error().message);
  return std::move(*answer);
}

}  // namespace ttyward::cli
