#include "cli/foreground.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "cli/hold_program.h"

namespace ttyward::cli {
namespace {

using Clock = command::RunningCommand::Clock;

constexpr size_t kStdinBytes = 4096;
// Input the command has not read yet; more is taken from our own standard input only when it has.
constexpr size_t kInputAhead = 64 * 1024;

terminal::CommandResult setup_failure(const command::RunOptions& options, std::string reason) {
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

Foreground::Foreground(command::RunOptions options, Show show, Stdin input)
    : options_(std::move(options)), show_(show), input_(input) {
  if (input_ != Stdin::Given) return;
  // The command gets the very descriptor: no byte of a file or a pipe is changed, as a terminal's line
  // discipline would, and none is taken that the command does not read.
  options_.spawn.stdin_kind = pty::StdinKind::Descriptor;
  options_.spawn.stdin_fd = STDIN_FILENO;
}

Foreground::Outcome Foreground::run(const std::function<std::string(command::RunningCommand&)>& when_done) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));

  auto place = command::find_journal_place(base::user_folders());
  if (!place) return {setup_failure(options_, place.error().message), false, 0};
  if (!place->degraded.empty()) std::fprintf(stderr, "ttyward: %s\n", place->degraded.c_str());
  auto poller = io::Poller::create();
  if (!poller) return {setup_failure(options_, poller.error().message), false, 0};
  poller_ = std::move(*poller);

  auto started = start(*place);
  if (!started) return {started.error().result, false, 0};
  run_ = std::move(*started);
  const bool on_pty = run_->provider() == pty::Provider::Pty;
  if (show_ == Show::Lines) {
    const auto source =
        on_pty ? terminal::BinarySniffer::Source::Terminal : terminal::BinarySniffer::Source::Pipe;
    lines_ = std::make_unique<terminal::LiveLines>(options_.spawn.size.columns, source,
                                                   [this](std::string_view line) { out_.write(line); });
  }
  static_cast<void>(poller_->add(signals_.get(), EPOLLIN, *this));
  if (input_ == Stdin::Person && show_ == Show::Raw) tty_.make_raw();

  while (!run_->done()) {
    run_->pause_reading(out_.waiting() > OutStream::kEnough);
    turn();
    if (out_.is_gone() && !run_->done()) {
      run_->terminate(terminal::CommandState::Interrupted, "the reader of its output has closed",
                      Clock::now());
    }
  }
  if (lines_) lines_->finish();
  if (show_ == Show::Raw) print_rest(false);  // while the terminal is still the command's
  tty_.restore();
  out_.write(when_done(*run_));
  // What is left of the command goes away now; its result is already known.
  const auto& exit = run_->exit();
  const bool keeps = options_.survivors == hold::Survivors::Keep && exit && exit->survivors > 0;
  print_rest(!keeps);
  terminal::CommandResult result = std::move(run_->result());
  const bool whole = !result.output.omitted && result.lost_bytes == 0;
  const uint64_t allocated = run_->journal_bytes();
  run_.reset();
  // Everything was handed over: nothing to read again later. What stays goes on printing.
  if (!keeps && (whole || show_ != Show::Nothing))
    static_cast<void>(place->folder->remove(options_.id, allocated));
  return {std::move(result), true, told_to_stop_by_};
}

// What may stay behind must not lose its terminal when we end: then it is not ours, but a holder's.
command::RunningCommand::Started Foreground::start(const command::JournalPlace& place) {
  if (options_.survivors == hold::Survivors::Kill || options_.holder) {
    return command::RunningCommand::start(*poller_, place.folder, options_, this);
  }
  const auto program = find_hold_program();
  if (!program) {
    return tl::unexpected(command::RunningCommand::StartError{
        setup_failure(options_, program.error().message), program.error()});
  }
  const std::string& journals = place.folder->path();
  command::HolderPlace holder;
  holder.program = *program;
  holder.sockets = place.degraded.empty() ? base::user_folders().holders()
                                          : journals.substr(0, journals.rfind('/')) + "/holders";
  options_.holder = std::move(holder);
  // A holder's own files are private to us; the command's are as they would be without it.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  options_.spawn.umask = mask;
  return command::RunningCommand::start(*poller_, place.folder, options_, this);
}

// The reader may be slow; whoever does not want to wait for it can still stop us.
void Foreground::print_rest(bool settle) {
  const int signals_before = signals_seen_;
  const auto owes = [&] { return out_.waiting() > 0 && !out_.is_gone() && signals_seen_ == signals_before; };
  out_.flush();
  while (owes() || (settle && !run_->settled())) turn();
  if (signals_seen_ != signals_before && out_.waiting() > 0 && told_to_stop_by_ == 0)
    told_to_stop_by_ = SIGINT;
}

// One wait and what follows from it. What can be written now was written before.
void Foreground::turn() {
  watch(STDIN_FILENO, EPOLLIN, wants_keys(), stdin_watched_);
  watch(STDOUT_FILENO, EPOLLOUT, out_.waiting() > 0 && !out_.is_gone(), stdout_watched_);
  poller_->wait(wait_ms());
  run_->step(Clock::now());
  out_.flush();
}

// Keys the command has not read yet are a bound, and epoll would report what is left in our own terminal
// for ever: then it is not watched.
bool Foreground::wants_keys() const {
  return input_ == Stdin::Person && run_->input_waiting() <= kInputAhead;
}

void Foreground::watch(int fd, uint32_t events, bool wanted, bool& watched) {
  if (wanted == watched) return;
  // epoll refuses regular files; those never make us wait.
  if (wanted) {
    watched = poller_->add(fd, events, *this).has_value();
  } else {
    poller_->remove(fd);
    watched = false;
  }
}

int Foreground::wait_ms() const {
  if (out_.waiting() > 0 && !out_.is_gone() && !stdout_watched_) return 0;
  const auto deadline = run_->deadline();
  if (!deadline) return -1;
  const int64_t ms = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(ms, 0, 3'600'000));
}

void Foreground::on_data(std::string_view bytes) {
  if (show_ == Show::Raw) out_.write(bytes);
  if (lines_) lines_->feed(bytes);
}

void Foreground::on_link(const hold::LinkMessage& link) {
  if (link.linked == linked_) return;
  linked_ = link.linked;
  std::fprintf(stderr, "ttyward: %s\n",
               linked_ ? "the link is there again"
                       : (link.why + "; the command runs on, and the link is made again").c_str());
}

void Foreground::on_ready(int fd, uint32_t) {
  if (fd == signals_.get()) read_signals();
  if (fd == STDIN_FILENO) read_keys();
}

void Foreground::read_keys() {
  char buffer[kStdinBytes];
  const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n > 0) {
    run_->send_input({buffer, static_cast<size_t>(n)});
    return;
  }
  input_ = Stdin::None;  // the terminal is gone
  run_->close_input();
}

void Foreground::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    signals_seen_ += number == SIGWINCH ? 0 : 1;
    switch (number) {
      case SIGWINCH:
        if (const auto size = PersonTty::size(); size && show_ == Show::Raw) run_->resize(*size);
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
        told_to_stop_by_ = number;
        run_->terminate(terminal::CommandState::Interrupted, "ttyward was asked to stop", Clock::now());
        break;
    }
  }
}

}  // namespace ttyward::cli
