// Keeps a shell's marks coming, and notices when they do not.
//
// The kernel tells: a shell waits for a command, and no mark came. If that shell cannot
// be the one we hooked (it was replaced by exec, or runs inside it), or an interrupt did
// not bring a mark either, the command that led there is closed and the shell is given our
// hooks by one typed line. If it does not take them, commands go by sentinel, and every
// result says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/live_terminal.h"
#include "engine/shell_at_prompt.h"
#include "engine/timer.h"

namespace ttyward::engine {

class Typist;

class ShellCare {
 public:
  ShellCare(LiveTerminal& live, Typist& typist);

  // The shell has started; its first mark is awaited, for a time.
  void watch_start();
  void started() { start_timer_.cancel(); }
  // Ctrl-C went out; if nothing comes of it, the shell may have lost its marks.
  void watch_interrupt();
  // It printed something.
  void output_came() { prompt_looks_ = 0; }
  void prompt();
  void command_ended(const shell::CommandFinished& event);
  // Something took out the hook that tells how commands end; its prompt is still marked.
  void hook_lost();
  // The hooks have arrived, or the shell they were for is gone.
  void integration_over() { integrate_timer_.cancel(); }
  // True: a shell without marks reads, or seems to; whatever else the kernel said is not about the command.
  bool consider(const pty::RunState& state);
  // The terminal has ended.
  void stop();

  std::optional<ShellAtPrompt> shell_at_prompt(const pty::RunState& state) const;

 private:
  void start_failed();
  std::optional<uint64_t> image_now() const;
  void look_for_prompt(int looks);
  std::optional<std::string> why_unmarked(const ShellAtPrompt& reader, const Command* command) const;
  void marks_lost(const ShellAtPrompt& reader, const std::string& why);
  void integrate(const ShellAtPrompt& reader);
  void give_up();

  LiveTerminal& live_;
  Typist& typist_;
  Timer start_timer_;
  Timer prompt_timer_;
  Timer integrate_timer_;
  int prompt_looks_ = 0;           // in a row that found a shell without marks
  int failed_integrations_ = 0;    // since a command ended with its mark
  std::optional<uint64_t> image_;  // of the shell's process, at its first prompt
};

// Whether running it changes how a shell prompts.
bool touches_prompts(std::string_view text);

}  // namespace ttyward::engine
