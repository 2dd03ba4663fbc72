// Who calls: what a connection is allowed, and what it said about itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::daemon {

enum class Role : uint8_t {
  Agent,   // runs, reads, waits; never answers an approval or changes policy
  Person,  // everything
  Viewer,  // reads only
};

const char* role_name(Role role);
std::optional<Role> role_named(std::string_view name);

struct Caller {
  uint64_t connection = 0;  // never used twice
  Role role = Role::Agent;
  std::string client;   // what it calls itself
  std::string reader;   // whose unread output is meant
  std::string session;  // empty: none
  pid_t pid = 0;        // when it connected; 0: of another pid namespace
};

}  // namespace ttyward::daemon
