// The options that `exec` and `expect` share, and the call they make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "base/result.h"
#include "wire/types/command_calls.h"

namespace ttyward::cli {

struct ExecOptions {
  std::string terminal;
  std::vector<std::string> words;
  std::string cwd;
  std::string description;
  double timeout = 0;
  double idle_timeout = 0;
  double yield = 0;
  std::string view;
  bool wait_if_busy = false;
  bool sentinel = false;
  std::string on_input;  // empty: by who asks
  std::string sandbox;
  std::string place;  // where the terminal has to be; empty: wherever it is
};

void declare_exec_options(CLI::App& app, ExecOptions& options);
// When to stop waiting for its end; of `exec` alone: a dialogue goes on until the command has ended.
void declare_leaving_options(CLI::App& app, ExecOptions& options);
// `after_dashes`: the words are a program and its arguments.
base::Result<wire::ExecRequest> exec_request(const ExecOptions& options, bool after_dashes);
// --view for any verb that shows output.
void declare_view(CLI::App& app, std::string& view);
// None was given: the configuration says which.
std::optional<std::string> view_named(const std::string& view);

}  // namespace ttyward::cli
