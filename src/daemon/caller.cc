#include "daemon/caller.h"

namespace ttyward::daemon {

const char* role_name(Role role) {
  switch (role) {
    case Role::Agent:
      return "agent";
    case Role::Person:
      return "person";
    case Role::Viewer:
      return "viewer";
    case Role::Dialogue:
      return "dialogue";
  }
  return "viewer";
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role role : {Role::Agent, Role::Person, Role::Viewer, Role::Dialogue}) {
    if (name == role_name(role)) return role;
  }
  return std::nullopt;
}

}  // namespace ttyward::daemon
