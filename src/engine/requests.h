// What the engine is asked to start.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/command.h"
#include "pty/spawn.h"
#include "sandbox/plan.h"
#include "terminal/result.h"

namespace ttyward::engine {

// A shell that stays.
struct OpenRequest {
  std::string request;  // asked for again by the same, it is not opened again; empty: always a new one
  std::string name;
  std::string cwd;                 // empty: the home folder
  std::vector<std::string> shell;  // empty: the usual one
  bool login = false;
  pty::Provider provider = pty::Provider::Pty;
  std::string task;
  Owner owner = Owner::Agent;
  std::string session;                   // of the agent who asks; empty: none
  std::vector<std::string> environment;  // NAME=value, from whoever asks
  std::vector<std::string> callers;      // the caller's own, of which a part is inherited; empty: ours
  std::optional<pty::WindowSize> size;
  std::optional<sandbox::Plan> sandbox;
  terminal::SandboxReport sandbox_report;  // what results state about it
  std::string place;                       // empty: this machine; else it was reached
};

// A terminal for one command.
struct RunRequest {
  std::string id;                 // of the command; empty: one is made
  std::string command;            // a line for the shell; or as shown, if argv is set
  std::vector<std::string> argv;  // without a shell
  std::string description;        // what it is for, as its caller says
  std::string cwd;
  std::vector<std::string> environment;
  std::vector<std::string> callers;  // as in OpenRequest
  pty::Provider provider = pty::Provider::Pty;
  std::optional<pty::WindowSize> size;
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds idle_timeout{300'000};
  std::optional<std::string> stdin_text;  // its whole standard input; none: the terminal
  bool keep_background = true;
  std::string task;
  Owner owner = Owner::Agent;
  std::string session;
  std::string verdict_json;
  std::optional<sandbox::Plan> sandbox;
  terminal::SandboxReport sandbox_report;
  std::string place;  // as in OpenRequest
};

}  // namespace ttyward::engine
