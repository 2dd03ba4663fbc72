// Who calls: what a connection is allowed, and what it said about itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::daemon {

enum class Role : uint8_t {
  Agent,     // runs, reads, waits; never answers an approval or changes policy
  Person,    // everything
  Viewer,    // reads only
  Dialogue,  // hands on what a person said in the dialogue of an agent's client; nothing else
};

const char* role_name(Role role);
std::optional<Role> role_named(std::string_view name);

// A person has to be certain: what is in doubt is an agent, and `why` says what is in doubt.
struct Admission {
  Role role = Role::Agent;
  bool person = false;  // certain to be one, whichever role it took
  std::string session;  // proven; empty: none
  std::string why;      // it did not get the role it asked for; empty: it did
  std::string refused;  // it may not connect at all; empty: it may
};

struct Caller {
  uint64_t connection = 0;  // never used twice
  Role role = Role::Agent;
  bool person = false;
  std::string why;      // as in Admission
  std::string client;   // what it calls itself
  std::string reader;   // whose unread output is meant
  std::string session;  // empty: none
  pid_t pid = 0;        // when it connected; 0: of another pid namespace
};

}  // namespace ttyward::daemon
