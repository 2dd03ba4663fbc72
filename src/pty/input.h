// What goes into a command: bytes, its interrupt, its end of input.
//
// InputQueue holds what the terminal or pipe would not take yet. It writes without
// blocking and in small pieces, so whoever feeds it is always free to read: a
// terminal echoes what is typed, and a writer that does not read in between
// would wait for ever.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ttyward::pty {

class InputQueue {
 public:
  // A paste of a long text fits; at the limit push() refuses rather than cut.
  static constexpr size_t kDefaultLimit = 1 << 20;

  enum class Progress : uint8_t {
    Empty,    // all is written
    Blocked,  // call again when the descriptor is writable
    Closed,   // nobody reads any more; what was queued is dropped
  };

  explicit InputQueue(size_t limit = kDefaultLimit) : limit_(limit) {}

  // All of it or nothing.
  base::Result<void> push(std::string_view bytes);
  // Writes what the descriptor (non-blocking) takes. Never raises SIGPIPE.
  Progress flush(int fd);

  size_t size() const { return pending_.size() - written_; }
  bool empty() const { return size() == 0; }
  void clear();

 private:
  size_t limit_;
  std::string pending_;
  size_t written_ = 0;  // bytes at the front of pending_ that are gone
};

enum class InterruptWay : uint8_t {
  LineDiscipline,   // the terminal's interrupt character: echoed as ^C, queues flushed, as typed by a person
  ForegroundGroup,  // the signal itself, to the terminal's foreground group
  ProcessGroup,     // the signal to the command's own group
};

// Interrupts what runs in the foreground of a terminal. `queue` is the terminal's
// input queue: behind waiting bytes the character would come late or never, so
// the signal is sent then.
base::Result<InterruptWay> interrupt_terminal(int master, const InputQueue& queue);

// Interrupts a command in pipes.
base::Result<InterruptWay> interrupt_group(pid_t leader);

// A line editor reads, with settings of the user's under which ordinary text does not arrive: Enter is
// ignored
// (`stty igncr`), or a letter is the key that interrupts (`stty intr x`). Puts that right in `settings`,
// which are those of the editor: it brings back the user's own when a line is done. False: there is nothing
// to do.
bool let_text_in(termios& settings);

// The bytes that mean "end of input" at this moment: the terminal's EOF character
// in line mode, nothing in raw mode, where there is no such thing.
std::string end_of_input(int master);

}  // namespace ttyward::pty
