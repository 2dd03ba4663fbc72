// Types commands into a terminal's shell: one at a time, when the shell can take it,
// logged before it is typed.
//
// A shell can take a command when its prompt is there, nobody has half a line on it, its
// line editor has had a moment to start, and no interrupt is on its way. Half a line that
// a person left goes, as Ctrl-C would have it. A line that turns out not to be a whole
// command is abandoned, however often that takes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/live_terminal.h"
#include "engine/timer.h"

namespace ttyward::engine {

class Typist {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Typist(LiveTerminal& live);

  // Types what is queued, if the shell can take it now.
  void pump();
  // The shell threw away what was typed of it, and waits.
  void type_again(Command& command);
  // A prompt came; or the prompt after Ctrl-C.
  void prompt();
  // Something may stand on the shell's line that nobody wants there.
  void clear_line_first() { clear_line_ = true; }
  void line_is_clear() { clear_line_ = false; }
  // Ctrl-C goes to the prompt: until the shell has dealt with it, what is typed may go with the line.
  void note_break();
  // The shell asks for more than it was given.
  void abandon_input();
  bool abandoning() const { return abandon_timer_.running(); }
  void stop_abandoning() { abandon_timer_.cancel(); }
  void stop();

  // The newest process when the last command was sent; 0: not known.
  pid_t newest_before() const { return newest_before_; }
  // When that was. Its first processes may be older than our word of its start: the loop reads that later.
  std::optional<Clock::time_point> sent_at() const { return sent_at_; }
  // A command that we did not send has begun.
  void command_typed_by_others() {
    newest_before_ = 0;
    sent_at_.reset();
  }

 private:
  bool shell_can_take(const Command& command);
  base::Result<void> send(Command& command);
  base::Result<std::string> bytes_for(Command& command);
  base::Result<std::string> sentinel_bytes(Command& command);
  base::Result<void> write_command_file(Command& command, std::string_view content);
  void fail(Command& command, const base::Error& error);
  void settle_after_break();
  void ask_for_prompt();

  LiveTerminal& live_;
  Timer editor_timer_;
  bool editor_waited_ = false;
  bool clear_line_ = false;
  Timer abandon_timer_;
  Timer break_timer_;  // runs until the shell has dealt with Ctrl-C
  Clock::time_point break_at_;
  bool prompt_after_break_ = false;
  Timer prompt_timer_;  // runs while the end of a prompt is missing
  pid_t newest_before_ = 0;
  std::optional<Clock::time_point> sent_at_;
};

// The same command in another folder, and the shell back where it was.
std::string with_cwd(const std::string& text, const std::string& cwd, shell::ShellKind shell);

}  // namespace ttyward::engine
