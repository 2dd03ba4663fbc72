// Who calls: what a connection is allowed, and what it said about itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "wire/types/role.h"

namespace ttyward::app {

using wire::Role;

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

  // It acts as one, or is certain to be one.
  bool sees_everything() const { return person || role == Role::Person; }
};

}  // namespace ttyward::app
