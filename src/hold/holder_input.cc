// From people and agents to the command.
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "hold/holder.h"

namespace ttyward::hold {

int Holder::input_fd() const {
  return provider_ == pty::Provider::Pty ? master() : stdin_.get();
}

// Before something is typed: whether it will be echoed. The shell's own line editor takes any text.
journal::Writer::Echo Holder::before_input() {
  termios modes{};
  if (provider_ != pty::Provider::Pty || ::tcgetattr(master(), &modes) != 0) return journal::Writer::Echo::On;
  const bool hidden = (modes.c_lflag & static_cast<tcflag_t>(ECHO)) == 0;
  if (hidden && pty::let_text_in(modes) && ::tcgetpgrp(master()) == child_.pid())
    ::tcsetattr(master(), TCSANOW, &modes);
  return hidden ? journal::Writer::Echo::Off : journal::Writer::Echo::On;
}

base::Result<void> Holder::send_input(std::span<const std::byte> bytes) {
  if (input_closed_ || exited_at_) {
    return base::fail(base::ErrorCode::Unavailable, "the command accepts no more input");
  }
  if (auto queued = input_.push({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); !queued) {
    return queued;
  }
  writer_.mark_input(bytes.size(), before_input());
  flush_input();
  return {};
}

void Holder::flush_input() {
  const auto progress = input_.flush(input_fd());
  if (provider_ == pty::Provider::Pty) {
    if (!paused_ && sources_.front().state != Source::State::Ended) arm(sources_.front());
    return;
  }
  if (progress == pty::InputQueue::Progress::Closed) input_closed_ = true;
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
  const std::string end = pty::end_of_input(master());
  if (end.empty()) {
    return base::fail(base::ErrorCode::Unsupported,
                      "the terminal is in raw mode, where no character means end of input");
  }
  return send_input({reinterpret_cast<const std::byte*>(end.data()), end.size()});
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
  if (target == Target::Leader) return child_.signal(number);
  if (provider_ == pty::Provider::Pipe) {
    // The leader made its own group, and until it is collected the kernel does not reuse the number.
    if (child_over()) return base::fail_errno(ESRCH, "cannot signal the command");
    if (::kill(-child_.pid(), number) != 0) return base::fail_errno(errno, "cannot signal the command");
    return {};
  }
  // By the terminal itself where it can: it knows its foreground group, and no pid can be stale.
  if (number == SIGINT || number == SIGQUIT || number == SIGTSTP) {
    if (::ioctl(master(), TIOCSIG, number) == 0) return {};
    return base::fail_errno(errno, "cannot signal the terminal's foreground group");
  }
  const pid_t group = ::tcgetpgrp(master());
  if (group <= 1) return base::fail_errno(ESRCH, "nothing is in the terminal's foreground");
  if (::kill(-group, number) != 0) return base::fail_errno(errno, "cannot signal the foreground group");
  return {};
}

base::Result<void> Holder::interrupt() {
  if (child_over()) return base::fail_errno(ESRCH, "cannot interrupt the command");
  const auto done = provider_ == pty::Provider::Pty ? pty::interrupt_terminal(master(), input_)
                                                    : pty::interrupt_group(child_.pid());
  if (!done) return tl::unexpected(done.error());
  // What was typed ahead was meant for what has just been interrupted.
  input_.clear();
  flush_input();
  return {};
}

pty::RunState Holder::run_state(pty::AlternateScreen screen) const {
  pty::RunStateQuery query;
  query.leader = child_.pid();
  query.tree_root = scope_ == Scope::OwnProcess ? ::getpid() : 0;
  query.master = master();
  query.slave_device = slave_device_;
  query.alternate_screen = screen;
  return pty::run_state(query);
}

}  // namespace ttyward::hold
