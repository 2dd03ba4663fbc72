// From people and agents to the command.
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "hold/holder.h"

namespace ttyward::hold {

namespace {

// A pipe without a reader raises SIGPIPE, which is nobody's wish here; and what
// the program around us has set for it is not ours to change.
ssize_t write_quietly(int fd, const char* data, size_t bytes) {
  sigset_t broken_pipe;
  sigset_t before;
  sigset_t pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const ssize_t wrote = ::write(fd, data, bytes);
  const int error = errno;
  if (wrote < 0 && error == EPIPE && !was_pending) {
    const timespec at_once{};
    ::sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return wrote;
}

}  // namespace

int Holder::input_fd() const {
  return provider_ == pty::Provider::Pty ? master() : stdin_.get();
}

journal::Writer::Echo Holder::echo() const {
  termios modes{};
  const bool hidden = provider_ == pty::Provider::Pty && ::tcgetattr(master(), &modes) == 0 &&
                      (modes.c_lflag & static_cast<tcflag_t>(ECHO)) == 0;
  return hidden ? journal::Writer::Echo::Off : journal::Writer::Echo::On;
}

base::Result<void> Holder::send_input(std::span<const std::byte> bytes) {
  if (input_closed_ || exited_at_) {
    return base::fail(base::ErrorCode::Unavailable, "the command takes no more input");
  }
  if (bytes.size() > kInputQueueBytes - std::min(input_.size(), kInputQueueBytes)) {
    return base::fail(base::ErrorCode::Exhausted, "the command does not read its input, and " +
                                                      std::to_string(input_.size()) +
                                                      " bytes already wait for it");
  }
  writer_.mark_input(bytes.size(), echo());
  input_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  flush_input();
  return {};
}

void Holder::flush_input() {
  size_t sent = 0;
  while (sent < input_.size()) {
    const char* data = input_.data() + sent;
    const size_t left = input_.size() - sent;
    const ssize_t wrote = provider_ == pty::Provider::Pty ? ::write(input_fd(), data, left)
                                                          : write_quietly(input_fd(), data, left);
    if (wrote > 0) {
      sent += static_cast<size_t>(wrote);
    } else if (wrote < 0 && errno == EINTR) {
      continue;
    } else if (wrote < 0 && errno == EAGAIN) {
      break;
    } else {  // EPIPE, EIO: whoever read it is gone
      sent = input_.size();
      if (provider_ == pty::Provider::Pipe) input_closed_ = true;
    }
  }
  input_.erase(0, sent);
  if (provider_ == pty::Provider::Pty) {
    if (!paused_ && sources_.front().state != Source::State::Ended) arm(sources_.front());
    return;
  }
  poller_.remove(stdin_.get());
  if (!input_.empty()) {
    if (!poller_.add(stdin_.get(), EPOLLOUT, *this)) input_.clear();
  } else if (input_closed_) {
    stdin_.reset();
  }
}

base::Result<void> Holder::close_input() {
  if (provider_ == pty::Provider::Pipe) {
    input_closed_ = true;
    if (stdin_.valid()) flush_input();
    return {};
  }
  termios modes{};
  if (::tcgetattr(master(), &modes) != 0) return base::fail_errno(errno, "cannot ask the terminal's modes");
  if ((modes.c_lflag & static_cast<tcflag_t>(ICANON)) == 0 || modes.c_cc[VEOF] == _POSIX_VDISABLE) {
    return base::fail(base::ErrorCode::Unsupported,
                      "the terminal is in raw mode, where no character means end of input");
  }
  const std::byte end_of_file{modes.c_cc[VEOF]};
  return send_input({&end_of_file, 1});
}

base::Result<void> Holder::signal(int number, Target target) {
  if (number < 1 || number > SIGRTMAX) {
    return base::fail(base::ErrorCode::InvalidArgument, "no such signal: " + std::to_string(number));
  }
  if (target == Target::Everything) {
    for (const pty::ProcessInfo& process : processes())
      static_cast<void>(pty::send_signal(process.id, number));
    return {};
  }
  if (target == Target::Leader || provider_ == pty::Provider::Pipe) {
    if (target == Target::Leader) return child_.signal(number);
    // The leader made its own group, and is not collected yet: the number is still its own.
    if (child_.exit()) return base::fail_errno(ESRCH, "cannot signal the command");
    if (::kill(-child_.pid(), number) != 0) return base::fail_errno(errno, "cannot signal the command");
    return {};
  }
  // By the terminal itself: it knows its foreground group, and no pid can be stale.
  if (::ioctl(master(), TIOCSIG, number) == 0) return {};
  const pid_t group = ::tcgetpgrp(master());
  if (group <= 1) return base::fail(base::ErrorCode::NotFound, "nobody is in the terminal's foreground");
  if (::kill(-group, number) != 0) return base::fail_errno(errno, "cannot signal the foreground group");
  return {};
}

base::Result<void> Holder::interrupt() {
  if (provider_ == pty::Provider::Pipe) return signal(SIGINT, Target::Foreground);
  termios modes{};
  const bool raw = ::tcgetattr(master(), &modes) == 0 && (modes.c_lflag & static_cast<tcflag_t>(ISIG)) == 0;
  if (raw) {
    const std::byte ctrl_c{3};
    return send_input({&ctrl_c, 1});
  }
  // Typed, the character would wait behind input nobody reads.
  input_.clear();
  ::tcflush(master(), TCOFLUSH);
  return signal(SIGINT, Target::Foreground);
}

}  // namespace ttyward::hold
