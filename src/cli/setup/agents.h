// The agents we can set up: where each keeps its configuration, how it is told of an MCP server, and how its
// own shell is switched off.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/folders.h"
#include "cli/setup/edit.h"

namespace ttyward::cli::setup {

// What the plans depend on.
struct Surroundings {
  base::Getenv getenv;
  std::string program;       // the absolute path of ttyward
  std::string ttyward_home;  // TTYWARD_HOME, if it is set: the server must use the same
};

enum class Purpose : uint8_t {
  Server,  // tells the agent of our MCP server
  Shell,   // takes its own shell away
  Trust,   // lets it call our tools without asking by itself
};

struct PlannedEdit {
  Purpose purpose;
  std::string file;
  const Editor* editor;
  Edit edit;
  const char* new_file = "";  // what a file begins with that is not there yet
};

struct Agent {
  const char* name;
  const char* title;
  const char* program;  // on PATH; empty: none
  // What a person must know about its own shell; empty if it is off without more.
  const char* shell_note;
  std::vector<PlannedEdit> (*plan)(const Surroundings&);
};

std::span<const Agent> agent_table();
const Agent* find_agent(std::string_view name);

}  // namespace ttyward::cli::setup
