#include "cli/ask_person.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/file_io.h"
#include "base/unique_fd.h"

namespace ttyward::cli {
namespace {

constexpr size_t kLongestAnswer = 64;

base::UniqueFd open_tty() {
  return base::UniqueFd(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
}

// While it lives, the signals that end a program come only inside wait(), and only end that; whatever our
// parent blocked or ignored, Ctrl-C is an answer.
class InterruptsEndTheWait {
 public:
  InterruptsEndTheWait() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    sigemptyset(&action.sa_mask);
    sigset_t set;
    sigemptyset(&set);
    for (const int number : kSignals) sigaddset(&set, number);
    ::sigprocmask(SIG_BLOCK, &set, &mask_);
    size_t i = 0;
    for (const int number : kSignals) ::sigaction(number, &action, &before_[i++]);
  }
  ~InterruptsEndTheWait() {
    size_t i = 0;
    for (const int number : kSignals) ::sigaction(number, &before_[i++], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  InterruptsEndTheWait(const InterruptsEndTheWait&) = delete;
  InterruptsEndTheWait& operator=(const InterruptsEndTheWait&) = delete;

  // For something to read. False if a signal came, now or since the guard was made.
  bool wait(int fd) const {
    sigset_t open = mask_;
    for (const int number : kSignals) sigdelset(&open, number);
    pollfd wanted{fd, POLLIN, 0};
    return ::ppoll(&wanted, 1, nullptr, &open) == 1;
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  struct sigaction before_[4];
  sigset_t mask_;
};

// One line; empty on end of file or when interrupted.
std::string read_line(int fd, const InterruptsEndTheWait& guard) {
  std::string line;
  while (line.size() <= kLongestAnswer) {
    char c = 0;
    if (!guard.wait(fd) || ::read(fd, &c, 1) != 1) return {};
    if (c == '\n') return line;
    line.push_back(c);
  }
  ::tcflush(fd, TCIFLUSH);
  return {};
}

bool is_yes(std::string_view answer) {
  while (!answer.empty() && (answer.back() == ' ' || answer.back() == '\r')) answer.remove_suffix(1);
  while (!answer.empty() && answer.front() == ' ') answer.remove_prefix(1);
  for (const std::string_view yes : {"y", "Y", "yes", "Yes", "YES"}) {
    if (answer == yes) return true;
  }
  return false;
}

}  // namespace

bool can_ask_person() {
  return (::isatty(STDIN_FILENO) != 0 || ::isatty(STDERR_FILENO) != 0) && open_tty();
}

bool ask_person(const std::string& question) {
  if (!can_ask_person()) return false;
  const base::UniqueFd tty = open_tty();
  const InterruptsEndTheWait guard;
  // What was typed or pasted before the question was seen is no answer to it.
  ::tcflush(tty.get(), TCIFLUSH);
  if (!base::write_all(tty.get(), question + " [y/N] ", "to the terminal")) return false;
  const std::string answer = read_line(tty.get(), guard);
  if (answer.empty()) static_cast<void>(base::write_all(tty.get(), "\n", "to the terminal"));
  return is_yes(answer);
}

}  // namespace ttyward::cli
