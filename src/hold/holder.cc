#include "hold/holder.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "pty/proc.h"
#include "sandbox/confinement.h"

namespace ttyward::hold {

namespace {

pty::SpawnError setup_error(const base::Error& error) {
  const bool out = error.code == base::ErrorCode::Exhausted;
  return {out ? pty::SpawnFailure::Exhausted : pty::SpawnFailure::Setup, error};
}

base::Result<base::UniqueFd> watch_children() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return base::fail_errno(errno, "cannot block SIGCHLD");
  base::UniqueFd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return base::fail_errno(errno, "cannot make a signal descriptor");
  return fd;
}

struct JournalAndProcess {
  journal::Writer writer;
  pty::Spawned spawned;
  Holder::Clock::time_point spawned_at;
};

// The terminal that was prepared, in the size that is wanted now; the second time a new one.
base::Result<pty::PseudoTerminal> take_terminal(Prepared& prepared, const pty::WindowSize& size) {
  if (!prepared.terminal) return pty::open_pseudo_terminal(size);
  pty::PseudoTerminal terminal = *std::exchange(prepared.terminal, std::nullopt);
  if (auto resized = pty::resize(terminal.master.get(), size); !resized)
    return tl::unexpected(resized.error());
  return terminal;
}

tl::expected<JournalAndProcess, pty::SpawnError> begin(const std::shared_ptr<journal::Folder>& folder,
                                                       const HoldSpec& spec, pty::Provider provider,
                                                       Prepared& prepared) {
  journal::WriterOptions options = spec.journal;
  options.provider = provider;
  options.size = {spec.spawn.size.columns, spec.spawn.size.rows};
  auto writer = journal::Writer::create(folder, options, std::exchange(prepared.journal, std::nullopt));
  if (!writer) return tl::unexpected(setup_error(writer.error()));
  pty::SpawnSpec spawn = spec.spawn;
  spawn.provider = provider;
  // Before it: a command that has run for a while when we go on must not count as shorter than it was.
  const auto now = Holder::Clock::now();
  auto spawned =
      pty::spawn(spawn, [&](const pty::WindowSize& size) { return take_terminal(prepared, size); });
  if (!spawned) {
    static_cast<void>(folder->remove(options.id, writer->allocated()));
    return tl::unexpected(spawned.error());
  }
  return JournalAndProcess{std::move(*writer), std::move(*spawned), now};
}

}  // namespace

Holder::Started Holder::start(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                              HoldSpec spec, Scope scope, Prepared prepared) {
  base::UniqueFd child_signals;
  if (scope == Scope::OwnProcess) {
    if (auto reaper = pty::become_subreaper(); !reaper) return tl::unexpected(setup_error(reaper.error()));
    auto signals = watch_children();
    if (!signals) return tl::unexpected(setup_error(signals.error()));
    child_signals = std::move(*signals);
  }
  auto begun = begin(folder, spec, spec.spawn.provider, prepared);
  std::string fallback_reason;
  if (!begun && begun.error().failure == pty::SpawnFailure::NoPty && spec.no_pty == NoPty::UsePipes) {
    fallback_reason = begun.error().error.message;
    if (spec.spawn.stdin_kind != pty::StdinKind::Descriptor) spec.spawn.stdin_kind = pty::StdinKind::Null;
    begun = begin(folder, spec, pty::Provider::Pipe, prepared);
  }
  if (!begun) return tl::unexpected(begun.error());
  std::unique_ptr<Holder> holder(new Holder(poller, std::move(begun->writer), std::move(begun->spawned), spec,
                                            scope, begun->spawned_at));
  holder->fallback_reason_ = std::move(fallback_reason);
  holder->child_signals_ = std::move(child_signals);
  if (auto watching = holder->watch(); !watching) {
    // It runs already, but nothing would notice its end: end it with its whole group.
    ::kill(-holder->child_.pid(), SIGKILL);
    static_cast<void>(holder->child_.signal(SIGKILL));
    return tl::unexpected(setup_error(watching.error()));
  }
  return holder;
}

Holder::Holder(io::Poller& poller, journal::Writer writer, pty::Spawned spawned, const HoldSpec& spec,
               Scope scope, Clock::time_point now)
    : poller_(poller),
      scope_(scope),
      provider_(spawned.provider),
      slave_path_(std::move(spawned.slave_path)),
      slave_device_(spawned.slave_device),
      drain_time_(spec.drain_time),
      survivors_(spec.survivors),
      started_(now),
      writer_(std::move(writer)),
      child_(std::move(spawned.child)),
      confinement_(std::move(spawned.confinement)) {
  TTYWARD_CHECK(child_.pid() > 1);  // its negative goes to kill(2), where -1 means everybody
  if (provider_ == pty::Provider::Pty) {
    sources_.push_back({std::move(spawned.master), journal::Stream::Terminal});
  } else {
    sources_.push_back({std::move(spawned.stdout_fd), journal::Stream::Stdout});
    sources_.push_back({std::move(spawned.stderr_fd), journal::Stream::Stderr});
    stdin_ = std::move(spawned.stdin_fd);
    input_closed_ = !stdin_.valid();
  }
  const auto stat = pty::read_stat(child_.pid());
  writer_.set_child(static_cast<uint32_t>(child_.pid()), stat ? stat->start_time : 0);
}

Holder::~Holder() {
  for (const Source& source : sources_) poller_.remove(source.fd.get());
  poller_.remove(stdin_.get());
  poller_.remove(child_.pidfd());
  poller_.remove(child_signals_.get());
}

base::Result<void> Holder::watch() {
  for (const Source& source : sources_) {
    if (auto added = poller_.add(source.fd.get(), EPOLLIN, *this); !added) return added;
  }
  if (child_signals_.valid()) {
    if (auto added = poller_.add(child_signals_.get(), EPOLLIN, *this); !added) return added;
  }
  return poller_.add(child_.pidfd(), EPOLLIN, *this);
}

void Holder::on_ready(int fd, uint32_t events) {
  if (fd == child_.pidfd()) {
    static_cast<void>(child_.try_reap());
    child_over_ = true;  // even if somebody else collected it: then how it ended is unknown
    children_changed_ = true;
    poller_.remove(fd);
    return;
  }
  if (fd == child_signals_.get()) {
    signalfd_siginfo info{};
    // Only emptied: SIGCHLD does not queue, so its content cannot say which children ended. reap() asks for
    // all.
    while (::read(fd, &info, sizeof info) == sizeof info) {
    }
    children_changed_ = true;
    return;
  }
  if (fd == stdin_.get()) {
    flush_input();
    return;
  }
  for (Source& source : sources_) {
    if (source.fd.get() != fd) continue;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) drain(source);
    if ((events & EPOLLOUT) != 0) flush_input();
    return;
  }
}

void Holder::turn(Clock::time_point now) {
  if (closed_) return;
  // The order matters. Children are collected before the ladder looks who is alive. The exit is noted before
  // the drain time is checked, because noting it starts that time. Clients are told last, when all is
  // settled.
  if (children_changed_) reap();
  if (ladder_ && (children_changed_ || now >= ladder_->next_step())) step_ladder(now);
  children_changed_ = false;
  look_for_room(now);
  if (!exited_at_ && child_over()) note_exit(now);
  if (exited_at_ && !exit_ && (all_ended() || now >= *drain_until_)) settle();
  if (exit_) try_close(now);
  tell();
}

std::optional<Holder::Clock::time_point> Holder::deadline() const {
  if (closed_) return std::nullopt;
  std::optional<Clock::time_point> first;
  const auto consider = [&](Clock::time_point at) { first = first ? std::min(*first, at) : at; };
  if (ladder_ && ladder_->outcome() == pty::KillLadder::Outcome::Working) consider(ladder_->next_step());
  if (drain_until_ && !all_ended()) consider(*drain_until_);
  if (look_for_room_) consider(*look_for_room_);
  return first;
}

base::Result<void> Holder::resize(const pty::WindowSize& size) {
  if (provider_ != pty::Provider::Pty) {
    return base::fail(base::ErrorCode::Unsupported, "a command on pipes has no terminal size");
  }
  if (size.columns == 0 || size.rows == 0) {
    return base::fail(base::ErrorCode::InvalidArgument, "a terminal has at least one column and one row");
  }
  if (auto done = pty::resize(master(), size); !done) return done;
  writer_.mark_resize({size.columns, size.rows});
  return {};
}

std::vector<pty::ProcessInfo> Holder::processes() const {
  const pid_t root = scope_ == Scope::OwnProcess ? ::getpid() : child_.pid();
  auto found = pty::list_descendants(root);
  if (!found) return {};
  const pid_t init = confinement_ ? confinement_->init() : 0;
  std::erase_if(*found,
                [&](const pty::ProcessInfo& process) { return process.zombie || process.id.pid == init; });
  if (scope_ == Scope::SharedProcess && !child_.exit()) {
    if (auto leader = pty::describe_process(root)) found->insert(found->begin(), std::move(*leader));
  }
  return std::move(*found);
}

}  // namespace ttyward::hold
