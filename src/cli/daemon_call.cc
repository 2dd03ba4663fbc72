#include "cli/daemon_call.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "policy/escaped_view.h"

namespace ttyward::cli {

bool is_agent() {
  const char* role = std::getenv("TTYWARD_ROLE");
  return role != nullptr && std::string_view(role) == "agent";
}

client::Options daemon_options(const char* verb) {
  client::Options options;
  options.client = std::string("ttyward ") + verb;
  options.role = is_agent() ? "agent" : "person";
  options.start_daemon = false;
  return options;
}

void show_notices(const wire::Welcome& welcome) {
  if (welcome.role != "person" || ::isatty(STDERR_FILENO) == 0) return;
  for (const std::string& notice : welcome.notices)
    std::fprintf(stderr, "ttyward: %s\n", policy::escape_text(notice).c_str());
}

base::Result<boost::json::object> call_daemon(const char* verb, std::string_view call,
                                              boost::json::object args) {
  auto connection = client::Connection::open(daemon_options(verb));
  if (!connection) return tl::unexpected(connection.error());
  auto answer = connection->call(call, std::move(args));
  if (!answer) return base::fail(base::ErrorCode::Unavailable, answer.error().message);
  return std::move(*answer);
}

std::string text_of(const boost::json::object& from, std::string_view name) {
  const boost::json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

int64_t number_of(const boost::json::object& from, std::string_view name) {
  const boost::json::value* value = from.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

}  // namespace ttyward::cli
