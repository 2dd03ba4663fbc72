// Where ttyward keeps things, by the XDG rules; TTYWARD_HOME puts all of it under one folder.
#pragma once

#include <functional>
#include <string>

namespace ttyward::base {

// Looks an environment variable up; null if it is not set. Injected, so that tests need no real environment.
using Getenv = std::function<const char*(const char*)>;

struct Folders {
  std::string state;    // journals/, history.db
  std::string runtime;  // sockets; empty if there is no private place for them
  std::string config;   // config.toml, rules.toml

  std::string journals() const { return state + "/journals"; }
  // Where the daemon's socket is: without a runtime folder the state folder has to do.
  std::string sockets() const { return runtime.empty() ? state + "/run" : runtime; }
  std::string history() const { return state + "/history.db"; }
  std::string holders() const { return (runtime.empty() ? state : runtime) + "/holders"; }  // their sockets
  // A person's token: what proves one whose process alone does not.
  std::string person_token() const { return state + "/person-token"; }
};

Folders user_folders(const Getenv& getenv);
Folders user_folders();  // from this process's environment

}  // namespace ttyward::base
