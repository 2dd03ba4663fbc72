// A container as a sandbox: the words with which podman or docker runs a command in an image.
//
// The same Plan as for the other profiles: its folders are mounted at their own paths, its control files
// read-only, its limits and network become options. Everything else that the command sees is the image's.
#pragma once

#include <string>
#include <vector>

#include "sandbox/plan.h"

namespace ttyward::sandbox {

struct ContainerStart {
  std::string directory;               // where the command starts; absolute
  bool terminal = false;               // its stdio is a terminal
  std::vector<std::string> variables;  // NAME=value; their names are passed on, not on the command line
  std::vector<std::string> argv;
};

// The engine with its options, the image and the command.
std::vector<std::string> container_argv(const Plan& plan, const ContainerStart& start);

// Of the engine's own program: what it needs to find its service, which is not for the command.
std::vector<std::string> engine_variables();

}  // namespace ttyward::sandbox
