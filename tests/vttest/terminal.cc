#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

#include "../support/dump.h"
#include "base/check.h"

namespace ttyward::test {
namespace {

// How long the program may be silent before we call it stuck. Only ever waited for when something is wrong.
constexpr int kSilenceMs = 20'000;

}  // namespace

Terminal::Terminal(const std::vector<std::string>& command, int cols, int rows) : screen_(sized(cols, rows)) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(cols);
  size.ws_row = static_cast<unsigned short>(rows);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  int master = -1;
  child_ = forkpty(&master, nullptr, nullptr, &size);
  TTYWARD_CHECK(child_ >= 0);
  if (child_ == 0) {
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  master_ = base::UniqueFd(master);
}

Terminal::~Terminal() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void Terminal::type(std::string_view keys) {
  recent_.clear();
  TTYWARD_CHECK(write(master_.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

bool Terminal::wait_for(const std::vector<std::string>& texts) {
  while (true) {
    for (const std::string& text : texts) {
      if (recent_.ends_with(text)) return true;
    }
    pollfd ready{master_.get(), POLLIN, 0};
    if (poll(&ready, 1, kSilenceMs) != 1) return false;
    char buffer[65536];
    const ssize_t n = read(master_.get(), buffer, sizeof buffer);
    if (n <= 0) return false;
    const std::string_view bytes(buffer, static_cast<size_t>(n));
    recent_ += bytes;
    screen_.feed(bytes);
    const std::string replies = screen_.take_replies();
    if (!replies.empty()) {
      TTYWARD_CHECK(write(master_.get(), replies.data(), replies.size()) ==
                    static_cast<ssize_t>(replies.size()));
    }
  }
}

}  // namespace ttyward::test
