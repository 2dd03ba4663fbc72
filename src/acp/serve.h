// `ttyward acp -- AGENT…`: puts the parts together and runs until one side is gone. A composition root.
#pragma once

#include <string>
#include <vector>

namespace ttyward::acp {

struct ServeOptions {
  std::vector<std::string> agent;  // its argv
  std::string profile = "auto";    // auto, none, the id of one that comes with ttyward, or a file
  bool inject_mcp = true;
  std::string sandbox;  // the profile that confines every command at least; empty: as configured
  int protocol = 1;
};

// Returns the exit code: the agent's, or 125 if it could not be started. What is wrong goes to stderr.
int serve(const ServeOptions& options);

// This program, absolute.
std::string own_program();

}  // namespace ttyward::acp
