// The options that `run` and `batch` share, and what they make of them.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/result.h"
#include "cli/foreground.h"
#include "terminal/command_run.h"

namespace ttyward::cli {

struct RunArguments {
  std::string cwd;
  double timeout = -1;  // seconds; negative: the default for the situation
  double idle_timeout = -1;
  double input_patience = 5;
  bool pipe = false;
  bool keep_background = false;
  bool inherit_environment = false;
  std::vector<std::string> environment;
  std::string size;
  std::string view = "default";
  std::string shell;
  std::string overflow = "drop-middle";
  double kill_grace = -1;
};

void declare_run_options(CLI::App& app, RunArguments& args);

// Everything but argv. The error says what to write instead.
base::Result<terminal::RunOptions> make_run_options(const RunArguments& args, bool person_watches);
base::Result<std::string> find_shell(const std::string& asked);

}  // namespace ttyward::cli
