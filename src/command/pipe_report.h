// How every part of the pipeline ended with which a `bash -c LINE` ends.
//
// bash alone knows that, in PIPESTATUS, and only until it ends. So one more line is
// handed to it behind the caller's, which writes the statuses to a file and ends with the
// status there was. That happens only where the caller's line cannot tell the difference:
//
//   - the line is understood to its last byte (syntax/), so that what follows it is read as a
//     line of its own: no open quote, here-document or backslash can swallow it, and there is
//     no syntax error whose message would change;
//   - its last command is a pipeline of several parts in the foreground. bash waits for those,
//     so there is a moment for one more line. A single last command it would become itself
//     (exec), and with it go its signals: there nothing is added, and nothing is to be told;
//   - it has no trap, eval, sourced file or shell option by which it would see or be changed by
//     that line, no expansion that shows the text bash was given, and no program that
//     lists processes with their arguments.
//
// $0, $-, $#, line numbers, traps, exit codes and signals are as without it. Where the line is
// not reached (`exit`, `set -e` and a failure, a signal) nothing is told, and nothing else is different.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace ttyward::command {

// `line` for `bash -c`, and behind it what writes the statuses to the existing file `path`. Null: it would
// make a difference, or there is no pipeline at its end.
std::optional<std::string> reporting_line(std::string_view line, const std::string& path);

// From what was written there. Empty: nothing whole, or not what ended with `exit_code`.
std::vector<int> statuses_in(std::string_view report, int exit_code);

// A report to this process, for as long as it lives.
class PipeReport {
 public:
  // Changes `argv` if it is `bash -c LINE` and such a line.
  static std::optional<PipeReport> add_to(std::vector<std::string>& argv);
  std::vector<int> statuses(int exit_code) const;

 private:
  explicit PipeReport(base::UniqueFd memory) : memory_(std::move(memory)) {}
  base::UniqueFd memory_;
};

// Reads a report of bounded size from its beginning.
std::string read_report(int fd);
// Whether this is `bash -c LINE`.
bool is_bash_line(const std::vector<std::string>& argv);

}  // namespace ttyward::command
