// Running a command in a shell that carries none of our hooks: an unknown one, one at
// the other end of ssh, one inside a container.
//
// The line that is typed prints a start mark, runs the command, and prints an end
// mark with its status. Both marks carry a nonce of this command's own. The echo of
// the line cannot be taken for them: there the escape characters are still spelled
// out. The command itself is spelled in octal inside printf's quotes, so that it may
// contain anything and history expansion finds nothing; lines stay far below the
// 4095 bytes a terminal keeps, and the 1023 that busybox edits.
//
// What it cannot see: `exit` and `exec` end the shell and with it the mark; a syntax
// error in a shell that then drops the whole line (dash). Whoever waits also watches
// for the shell's prompt or end, and puts a deadline on it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "shell/shell_kind.h"

namespace ttyward::shell {

enum class SentinelForm : uint8_t {
  Mark,  // OSC 633, seen by CommandTracker (Submission::sentinel_nonce)
  Text,  // a line of text, for paths that swallow OSC (tmux, screen, Windows consoles); seen by TextSentinel
};

struct Sentinel {
  std::string bytes;  // to type, the final carriage return included
};

// `nonce`: base::random_nonce(), new for each command.
base::Result<Sentinel> make_sentinel(std::string_view command, std::string_view nonce, Dialect dialect,
                                     SentinelForm form = SentinelForm::Mark);

// Finds the text form's marks in the terminal's bytes, wherever reads cut them.
class TextSentinel {
 public:
  explicit TextSentinel(std::string_view nonce);

  void feed(std::string_view bytes);

  bool started() const { return started_; }
  bool finished() const { return finished_; }
  int exit_code() const { return exit_code_; }
  // Offsets in all bytes fed: after the start mark's line, before the end mark's.
  uint64_t output_begin() const { return output_begin_; }
  uint64_t output_end() const { return output_end_; }

 private:
  std::string start_;
  std::string end_;
  std::string tail_;     // unread bytes that may be the beginning of a mark
  uint64_t offset_ = 0;  // of tail_
  bool started_ = false;
  bool finished_ = false;
  int exit_code_ = 0;
  uint64_t output_begin_ = 0;
  uint64_t output_end_ = 0;
};

}  // namespace ttyward::shell
