// A person's terminal that gives us each key as it is pressed, without echo, while this lives.
//
// It is /dev/tty, never standard input: that may be a pipe that somebody else fills. What we print goes on
// as usual. Ctrl-C is a key like any other (0x03), so the terminal is always put back as it was.
#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace ttyward::cli {

class SingleKeys {
 public:
  SingleKeys();
  SingleKeys(const SingleKeys&) = delete;
  SingleKeys& operator=(const SingleKeys&) = delete;
  ~SingleKeys() { pause(); }

  // False: there is no terminal.
  bool valid() const { return tty_.valid(); }
  int fd() const { return tty_.get(); }

  // Lines and echo again, for a question that wants a whole line.
  void pause();
  void resume();

  // Throws away what was typed up to now.
  void discard();
  // What was typed; nullopt: the terminal is gone. Does not block if poll says there is something.
  std::optional<std::string> read();
  void write(std::string_view text);

 private:
  base::UniqueFd tty_;
  std::optional<termios> before_;  // while we have changed it
};

}  // namespace ttyward::cli
