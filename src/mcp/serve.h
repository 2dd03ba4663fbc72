// `ttyward mcp`: puts the parts together and runs until the client is gone. A composition root.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace ttyward::mcp {

struct ServeOptions {
  std::string http;                  // an address to listen on; empty: stdio
  std::string token_file;            // HTTP: a token to keep; empty: a new one each time
  std::vector<std::string> roots;    // folders commands may be started in; empty: any
  std::string session;               // what this agent's session is called in the daemon; empty: a new one
  std::string mode;                  // policy's mode of the session; empty: what is configured
  std::string sandbox;               // the profile that confines every command at least; empty: as configured
  bool http_dialogue = false;        // HTTP: take a person's answers from the client's dialogue
  std::vector<std::string> aliases;  // other names for the tool run_command
  std::chrono::milliseconds wait{0};  // for a command's end unless the caller says so; 0: as usual
  bool conformance = false;
};

// Returns the exit code; what is wrong goes to stderr.
int serve(const ServeOptions& options);

}  // namespace ttyward::mcp
