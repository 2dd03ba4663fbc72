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

}  // namespace ttyward::cli
