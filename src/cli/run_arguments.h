// The options that `run` and `batch` share, and what they make of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/result.h"
#include "cli/foreground.h"
#include "command/running_command.h"
#include "config/settings.h"
#include "policy/verdict.h"

namespace ttyward::cli {

struct RunArguments {
  std::string place;  // empty: this machine
  std::string cwd;
  std::optional<double> timeout;  // seconds; none: the default for the situation
  std::optional<double> idle_timeout;
  std::optional<double> input_patience;
  bool pipe = false;
  bool keep_background = false;
  bool inherit_environment = false;
  std::vector<std::string> environment;
  std::string size;
  std::string view;  // empty: as the configuration says
  std::string shell;
  std::string overflow;  // empty: the same
  std::optional<double> kill_grace;
  std::string sandbox;  // empty: TTYWARD_SANDBOX, or for an agent the configuration
};

// The settings for a command in this folder.
config::Settings settings_in(const std::string& folder);

void declare_run_options(CLI::App& app, RunArguments& args);

// Everything but argv: what the options say, else the configuration of the folder it runs in. The error says
// what to write instead.
base::Result<command::RunOptions> make_run_options(const RunArguments& args, bool person_watches);
// The same for a command whose verdict may rely on a sandbox: it gets that one, or the stricter one that was
// asked for.
base::Result<command::RunOptions> make_run_options(RunArguments args, bool person_watches,
                                                   const policy::Verdict& verdict);

// For a command in another place, whose login has the environment `theirs`.
base::Result<std::vector<std::string>> environment_there(const RunArguments& args,
                                                         std::vector<std::string> theirs,
                                                         bool person_watches);

}  // namespace ttyward::cli
