// What an agent types must reach a program that reads it, never the shell behind that program: what a shell
// is given runs, and what runs passes the gate. So does what is typed to a program that runs things.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/terminal.h"
#include "gate/judge.h"
#include "pty/run_state.h"

namespace ttyward::engine {

// After any of these a program that reads a line may be gone: ends of line and of file, interrupt, quit,
// suspend. What follows would be the shell's.
inline constexpr std::string_view kEndsReading = "\r\n\x03\x04\x1a\x1c";

struct TypedInput {
  enum class Kind : uint8_t {
    Type,    // it may be typed
    Refuse,  // it may not; `error` says why. Unavailable: not yet
    Line,    // a command line for the shell that reads: to be judged as one
    Ask,     // for a program that runs what it is given: a person has to allow it
  };
  Kind kind = Kind::Type;
  std::optional<base::Error> error;
  std::string program;  // who reads
  pid_t pid = 0;
  bool echo = true;                                 // off: what is typed is nobody's to record
  std::string line;                                 // of Line: without its end
  std::string cwd;                                  // of Line: where that shell is; empty: not known
  gate::Language language = gate::Language::Other;  // of Line
};

// What becomes of `bytes` that an agent wants to type while the kernel says `state`. Looks at the program
// that reads through the terminal's place.
TypedInput judge_agent_input(const Terminal& terminal, const base::Result<pty::RunState>& state,
                             std::string_view bytes);

}  // namespace ttyward::engine
