#include "cli/exec_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/choice.h"
#include "cli/option_values.h"
#include "shell/quoting.h"
#include "terminal/output_view.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

base::Result<std::string> command_line(const std::vector<std::string>& words, bool after_dashes) {
  if (words.empty())
    return fail(ErrorCode::InvalidArgument, "give a command after the terminal's name, such as 'make test'");
  if (after_dashes) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell::quote_posix(word);
    return line;
  }
  if (words.size() > 1) {
    return fail(ErrorCode::InvalidArgument,
                "quote the command as one word, or put -- before a program and its arguments");
  }
  if (words.front().find_first_not_of(" \t\n") == std::string::npos)
    return fail(ErrorCode::InvalidArgument, "the command is empty");
  return words.front();
}

}  // namespace

void declare_view(CLI::App& app, std::string& view) {
  app.add_option("--view", view, "How much output the result holds")
      ->type_name(terminal::view_preset_names("|"));
}

std::optional<std::string> view_named(const std::string& view) {
  return view.empty() ? std::nullopt : std::optional(view);
}

void declare_exec_options(CLI::App& app, ExecOptions& options) {
  app.add_option("TERM", options.terminal,
                 "The terminal's name or id; the first characters of the id are enough")
      ->required();
  app.add_option("COMMAND", options.words, "A line for its shell; or -- and a program with its arguments");
  app.add_option("--cwd", options.cwd, "Folder to run in, for this command only")->type_name("FOLDER");
  app.add_option("--description", options.description, "What it is for, in your words; kept in the history")
      ->type_name("TEXT");
  app.add_option("--timeout", options.timeout, "Time limit in seconds; 0 means no limit");
  app.add_option("--idle-timeout", options.idle_timeout,
                 "Seconds without output after which it is stopped; 0 means no limit");
  app.add_flag("--wait", options.wait_if_busy, "Wait until the running command ends, instead of failing");
  app.add_flag("--sentinel", options.sentinel,
               "Type it into the program that reads the terminal now, such as a shell behind ssh, and find "
               "its end by a marker");
  app.add_option(
         "--sandbox", options.sandbox,
         "The profile that must confine it at least; where the terminal's is weaker, it runs beside the "
         "terminal, in its folder")
      ->type_name("PROFILE");
  declare_view(app, options.view);
}

void declare_leaving_options(CLI::App& app, ExecOptions& options) {
  app.add_option(
      "--yield", options.yield,
      "Stop waiting after this many seconds and leave it running, with exit code 75; 0 means never");
  choose(app.add_option("--on-input", options.on_input,
                        "When it asks for input: stay until somebody answers, or return with exit code 75 "
                        "(default: stay if a person is watching)"),
         {"stay", "return"});
}

base::Result<wire::ExecRequest> exec_request(const ExecOptions& options, bool after_dashes) {
  auto line = command_line(options.words, after_dashes);
  if (!line) return tl::unexpected(line.error());
  wire::ExecRequest request;
  request.terminal = options.terminal;
  request.command = std::move(*line);
  if (!options.cwd.empty()) {
    auto folder = absolute_folder(options.cwd);
    if (!folder) return tl::unexpected(folder.error());
    request.cwd = std::move(*folder);
  }
  auto timeout = parse_seconds("timeout", options.timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  auto idle_timeout = parse_seconds("idle-timeout", options.idle_timeout);
  if (!idle_timeout) return tl::unexpected(idle_timeout.error());
  auto yield = parse_seconds("yield", options.yield);
  if (!yield) return tl::unexpected(yield.error());
  request.timeout = *timeout;
  request.idle_timeout = *idle_timeout;
  request.yield_after = *yield;
  request.description = options.description;
  if (options.wait_if_busy) request.on_busy = wire::OnBusy::Wait;
  request.sentinel = options.sentinel;
  request.sandbox = options.sandbox;
  const bool person = ::isatty(STDERR_FILENO) != 0 && ::isatty(STDIN_FILENO) != 0;
  request.wait_for_input = options.on_input.empty() ? person : options.on_input == "stay";
  request.view.view = view_named(options.view);
  return request;
}

}  // namespace ttyward::cli
