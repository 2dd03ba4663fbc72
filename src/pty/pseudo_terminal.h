// A pseudo terminal: the master we keep, the slave a child gets.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::pty {

struct WindowSize {
  uint16_t columns = 80;
  uint16_t rows = 24;
  uint16_t width_px = 0;  // of the whole text area; 0 = not known
  uint16_t height_px = 0;

  bool operator==(const WindowSize&) const = default;
};

struct PseudoTerminal {
  base::UniqueFd master;  // non-blocking
  base::UniqueFd slave;   // close it once the child has it: the master sees no end before
  std::string slave_path;
  dev_t slave_device = 0;  // st_rdev, by which run_state knows the terminal
};

// Opens a pair with the size and IUTF8 already set, both ends CLOEXEC and
// numbered above stdio.
base::Result<PseudoTerminal> open_pseudo_terminal(const WindowSize& size);

// Sets the size, and with it sends SIGWINCH to the foreground group if it changed.
base::Result<void> resize(int master, const WindowSize& size);
base::Result<WindowSize> window_size(int master);

// A program started with a stdio descriptor closed gets 0, 1 or 2 for the next
// thing it opens, and would then hand that to a child as its stdio. This moves
// the descriptor out of the way.
base::Result<base::UniqueFd> above_stdio(base::UniqueFd fd);

}  // namespace ttyward::pty
