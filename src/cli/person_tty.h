// The terminal of the person who called us: raw while a command has it, as it was afterwards.
#pragma once

#include <termios.h>

#include <optional>

#include "pty/pseudo_terminal.h"

namespace ttyward::cli {

class PersonTty {
 public:
  PersonTty() = default;
  PersonTty(const PersonTty&) = delete;
  PersonTty& operator=(const PersonTty&) = delete;
  ~PersonTty() { restore(); }

  // Keys go to the command unseen by our own terminal's line discipline.
  void make_raw();
  void restore();
  bool is_raw() const { return before_.has_value(); }

  static std::optional<pty::WindowSize> size();

 private:
  std::optional<termios> before_;
};

}  // namespace ttyward::cli
