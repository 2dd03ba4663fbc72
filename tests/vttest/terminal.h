// A real program in a pseudo-terminal with our screen as its terminal. No clocks: whoever drives it says
// which text to wait for, and the program's own output is the barrier.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "vt/screen.h"

namespace ttyward::test {

class Terminal {
 public:
  Terminal(const std::vector<std::string>& command, int cols, int rows);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys);
  // Reads until the program has printed one of `texts` since the last call of type(), as its last words.
  // False if it ended or was silent for too long.
  bool wait_for(const std::vector<std::string>& texts);

  vt::Screen& screen() { return screen_; }
  // What was printed since type(), for messages about what went wrong.
  const std::string& recent() const { return recent_; }

 private:
  vt::Screen screen_;
  base::UniqueFd master_;
  pid_t child_ = -1;
  std::string recent_;
};

}  // namespace ttyward::test
