#include "cli/foreground.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

namespace ttyward::cli {
namespace {

using Clock = terminal::CommandRun::Clock;

constexpr size_t kStdinBytes = 4096;
// Input the command has not read yet; more is taken from our own standard input only when it has.
constexpr size_t kInputAhead = 64 * 1024;
constexpr int kRetryMs = 20;  // for descriptors that cannot be waited on: files, a slow reader

// What somebody types into a pipe should not come back as output.
void turn_echo_off(int master) {
  termios settings{};
  if (master < 0 || ::tcgetattr(master, &settings) != 0) return;
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(master, TCSANOW, &settings);
}

terminal::CommandResult setup_failure(const terminal::RunOptions& options, std::string reason) {
  terminal::CommandResult result;
  result.command_id = options.id;
  result.command = options.shown_command;
  result.cwd = options.spawn.cwd;
  result.state = terminal::CommandState::FailedToStart;
  result.reason = std::move(reason);
  return result;
}

}  // namespace

Stdin stdin_kind() {
  if (::isatty(STDIN_FILENO) != 0) return Stdin::Person;
  struct stat info{};
  if (::fstat(STDIN_FILENO, &info) != 0) return Stdin::None;
  const bool is_null = S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
  return is_null ? Stdin::None : Stdin::Given;
}

Foreground::Foreground(terminal::RunOptions options, Show show, Stdin input)
    : options_(std::move(options)), show_(show), input_(input) {}

Foreground::Outcome Foreground::run(const std::function<void(terminal::CommandRun&)>& when_done) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));

  auto place = terminal::find_journal_place(base::user_folders());
  if (!place) return {setup_failure(options_, place.error().message), false};
  if (!place->degraded.empty()) std::fprintf(stderr, "ttyward: %s\n", place->degraded.c_str());
  auto poller = hold::Poller::create();
  if (!poller) return {setup_failure(options_, poller.error().message), false};
  poller_ = std::move(*poller);

  auto started = terminal::CommandRun::start(*poller_, place->folder, options_, this);
  if (!started) return {started.error().result, false};
  run_ = std::move(*started);
  const bool on_pty = run_->holder().provider() == pty::Provider::Pty;
  if (show_ == Show::Lines) {
    const auto source =
        on_pty ? terminal::BinarySniffer::Source::Terminal : terminal::BinarySniffer::Source::Pipe;
    lines_ = std::make_unique<terminal::LiveLines>(options_.spawn.size.columns, source,
                                                   [this](std::string_view line) { out_.write(line); });
  }
  static_cast<void>(poller_->add(signals_.get(), EPOLLIN, *this));
  if (input_ == Stdin::Person && show_ == Show::Raw) tty_.make_raw();
  if (input_ == Stdin::Given) turn_echo_off(run_->holder().master());
  if (input_ != Stdin::None) {
    // A regular file is always ready and epoll refuses it; it is then read as the command takes it.
    stdin_watched_ = poller_->add(STDIN_FILENO, EPOLLIN, *this).has_value();
  }

  loop();
  if (lines_) lines_->finish();
  out_.drain();
  tty_.restore();
  if (when_done) when_done(*run_);

  // What is left of the command goes away now; its result is already known.
  const bool keeps = options_.survivors == hold::Survivors::Keep && run_->holder().exit().has_value();
  while (!keeps && !run_->settled()) {
    poller_->wait(wait_ms());
    run_->step(Clock::now());
  }
  terminal::CommandResult result = std::move(run_->result());
  const bool whole = !result.output.omitted && result.lost_bytes == 0;
  run_.reset();
  // Everything was handed over: nothing to read again later.
  if (whole || show_ != Show::Nothing)
    static_cast<void>(journal::remove_journal(place->folder->fd(), options_.id));
  return {std::move(result), true};
}

void Foreground::loop() {
  while (!run_->done()) {
    run_->pause_reading(out_.waiting() > OutStream::kEnough);
    poller_->wait(wait_ms());
    run_->step(Clock::now());
    out_.flush();
    if (input_ != Stdin::None && !stdin_watched_) read_stdin();
    if (out_.is_gone() && !run_->done()) {
      run_->terminate(terminal::CommandState::Interrupted, "nobody reads its output any more", Clock::now());
    }
  }
}

int Foreground::wait_ms() const {
  int64_t ms = -1;
  if (const auto deadline = run_->deadline()) {
    ms = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    ms = std::clamp<int64_t>(ms, 0, 3'600'000);
  }
  const bool retry = out_.waiting() > 0 || (input_ == Stdin::Given && !stdin_watched_);
  if (retry && (ms < 0 || ms > kRetryMs)) ms = kRetryMs;
  return static_cast<int>(ms);
}

void Foreground::on_data(std::string_view bytes) {
  if (show_ == Show::Raw) out_.write(bytes);
  if (lines_) lines_->feed(bytes);
}

void Foreground::on_ready(int fd, uint32_t) {
  if (fd == signals_.get()) {
    read_signals();
  } else {
    read_stdin();
  }
}

void Foreground::read_stdin() {
  if (input_ == Stdin::None || run_->holder().input_waiting() > kInputAhead) return;
  char buffer[kStdinBytes];
  const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) {
    static_cast<void>(run_->send_input({buffer, static_cast<size_t>(n)}));
    return;
  }
  if (stdin_watched_) poller_->remove(STDIN_FILENO);
  stdin_watched_ = false;
  input_ = Stdin::None;
  static_cast<void>(run_->close_input());
}

void Foreground::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    switch (static_cast<int>(info.ssi_signo)) {
      case SIGWINCH:
        if (const auto size = PersonTty::size(); size && show_ == Show::Raw)
          static_cast<void>(run_->resize(*size));
        break;
      case SIGINT:
        // The first asks as Ctrl-C does; whoever presses again means it.
        if (++interrupts_ == 1) {
          run_->interrupt();
        } else {
          run_->terminate(terminal::CommandState::Interrupted, "interrupted", Clock::now());
        }
        break;
      case SIGQUIT:
        run_->interrupt();
        break;
      default:
        run_->terminate(terminal::CommandState::Interrupted, "ttyward was told to stop", Clock::now());
        break;
    }
  }
}

}  // namespace ttyward::cli
