#include "pty/input.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace ttyward::pty {
namespace {

// A terminal takes at most 4 KiB at once; smaller pieces let its echo through.
constexpr size_t kPiece = 1024;

// write(2) without its signal: a reader that went away is an ordinary answer, and
// a library must not depend on the process's disposition.
ssize_t write_quietly(int fd, const char* data, size_t size) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const ssize_t n = ::write(fd, data, size);
  const int error = errno;
  if (n == -1 && error == EPIPE && !was_pending) {
    const timespec at_once{};
    ::sigtimedwait(&pipe_signal, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

}  // namespace

base::Result<void> InputQueue::push(std::string_view bytes) {
  if (bytes.size() > limit_ - std::min(limit_, size()))
    return base::fail(base::ErrorCode::Exhausted,
                      "the command does not read its input: " + std::to_string(size()) +
                          " bytes are waiting already (the limit is " + std::to_string(limit_) + ")");
  if (written_ > 0) {
    pending_.erase(0, written_);
    written_ = 0;
  }
  pending_ += bytes;
  return {};
}

InputQueue::Progress InputQueue::flush(int fd) {
  while (!empty()) {
    const ssize_t n = write_quietly(fd, pending_.data() + written_, std::min(kPiece, size()));
    if (n >= 0) {
      written_ += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      return Progress::Blocked;
    } else if (errno != EINTR) {
      clear();
      return Progress::Closed;
    }
  }
  clear();
  return Progress::Empty;
}

void InputQueue::clear() {
  pending_.clear();
  written_ = 0;
}

base::Result<InterruptWay> interrupt_terminal(int master, const InputQueue& queue) {
  termios settings{};
  if (::tcgetattr(master, &settings) != 0) return base::fail_errno(errno, "reading the terminal's settings");
  const cc_t character = settings.c_cc[VINTR];
  const bool handled = (settings.c_lflag & ISIG) != 0 && character != _POSIX_VDISABLE;
  if (handled && queue.empty() && ::write(master, &character, 1) == 1) return InterruptWay::LineDiscipline;
  if (::ioctl(master, TIOCSIG, SIGINT) == 0) return InterruptWay::ForegroundGroup;
  const pid_t group = ::tcgetpgrp(master);
  if (group <= 1) return base::fail(base::ErrorCode::NotFound, "nothing runs in the terminal's foreground");
  if (::kill(-group, SIGINT) != 0)
    return base::fail_errno(errno, "interrupting group " + std::to_string(group));
  return InterruptWay::ForegroundGroup;
}

base::Result<InterruptWay> interrupt_group(pid_t leader) {
  if (leader <= 1) return base::fail(base::ErrorCode::InvalidArgument, "no such command to interrupt");
  if (::kill(-leader, SIGINT) != 0)
    return base::fail_errno(errno, "interrupting group " + std::to_string(leader));
  return InterruptWay::ProcessGroup;
}

bool let_text_in(termios& settings) {
  if ((settings.c_lflag & (ICANON | ECHO)) != 0) return false;
  bool changed = false;
  if ((settings.c_iflag & IGNCR) != 0) {
    settings.c_iflag &= ~static_cast<tcflag_t>(IGNCR);
    changed = true;
  }
  const auto key = [&](size_t which, cc_t usual) {
    cc_t& set = settings.c_cc[which];
    const bool is_text =
        (set >= 0x20 && set != 0x7F) || set == '\r' || set == '\n' || set == '\t' || set == 0x1B;
    if (!is_text) return;
    set = usual;
    changed = true;
  };
  if ((settings.c_lflag & ISIG) != 0) {
    key(VINTR, 0x03);
    key(VQUIT, 0x1C);
    key(VSUSP, 0x1A);
  }
  if ((settings.c_iflag & IXON) != 0) {
    key(VSTART, 0x11);
    key(VSTOP, 0x13);
  }
  return changed;
}

std::string end_of_input(int master) {
  termios settings{};
  if (::tcgetattr(master, &settings) != 0 || (settings.c_lflag & ICANON) == 0) return {};
  const cc_t character = settings.c_cc[VEOF];
  return character == _POSIX_VDISABLE ? std::string() : std::string(1, static_cast<char>(character));
}

}  // namespace ttyward::pty
