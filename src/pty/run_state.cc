#include "pty/run_state.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"
#include "pty/process_tree.h"
#include "pty/program_kind.h"

namespace ttyward::pty {
namespace {

// Enough for any program that talks to a person; a process with more is looked at
// in part.
constexpr size_t kMostThreads = 512;

struct Terminal {
  dev_t device = 0;
  pid_t foreground = -1;
  termios settings{};

  bool canonical() const { return (settings.c_lflag & ICANON) != 0; }
  bool echo() const { return (settings.c_lflag & ECHO) != 0; }
  // How line editors set their raw mode: they want Enter as typed (readline,
  // node), or exchange its two forms (zsh). `read -n1` leaves both alone.
  bool takes_enter_itself() const {
    return (settings.c_iflag & ICRNL) == 0 || (settings.c_iflag & INLCR) != 0;
  }
  // In raw mode a read may give up by itself.
  std::optional<std::chrono::milliseconds> read_timeout() const {
    if (canonical() || settings.c_cc[VMIN] != 0) return std::nullopt;
    return std::chrono::milliseconds(100 * settings.c_cc[VTIME]);
  }
};

std::optional<Terminal> command_terminal(const RunStateQuery& query) {
  Terminal terminal;
  terminal.device = query.slave_device;
  if (query.master < 0 || ::tcgetattr(query.master, &terminal.settings) != 0) return std::nullopt;
  terminal.foreground = ::tcgetpgrp(query.master);
  return terminal;
}

// A terminal that the command made for another: sudo, script and tmux run
// programs in terminals of their own.
std::optional<Terminal> nested_terminal(const ProcessStat& process) {
  Terminal terminal;
  terminal.device = process.terminal;
  terminal.foreground = process.terminal_foreground;
  const std::string path = "/dev/pts/" + std::to_string(minor(process.terminal));
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_rdev != process.terminal) return std::nullopt;
  if (::tcgetattr(fd.get(), &terminal.settings) != 0) return std::nullopt;
  return terminal;
}

WaitKind classify(const Terminal& terminal, ProgramKind program, AlternateScreen alternate) {
  if (terminal.canonical()) return terminal.echo() ? WaitKind::Line : WaitKind::Password;
  if (program == ProgramKind::Pager) return WaitKind::Pager;
  if (program == ProgramKind::Editor) return WaitKind::Editor;
  if (alternate == AlternateScreen::On) return WaitKind::Fullscreen;
  if (program == ProgramKind::LineEditor && !terminal.echo() && terminal.takes_enter_itself())
    return WaitKind::Line;
  return WaitKind::Key;
}

std::string settings_text(const Terminal& terminal) {
  return std::string(terminal.canonical() ? "line mode" : "raw mode") +
         (terminal.echo() ? ", echo on" : ", echo off");
}

std::string timeout_text(const std::optional<std::chrono::milliseconds>& timeout) {
  return timeout ? ", for " + std::to_string(timeout->count()) + " ms" : std::string();
}

class Inspector {
 public:
  Inspector(const RunStateQuery& query, RunState& state) : query_(query), state_(state) {}

  void look_into(const ProcessStat& process, const Terminal& terminal) {
    std::vector<pid_t> threads = list_threads(process.pid);
    if (threads.size() > kMostThreads) threads.resize(kMostThreads);
    bool readable = true;
    for (const pid_t tid : threads) {
      const ThreadLook look = look_at_thread(process, tid, terminal.device);
      readable = readable && look.readable;
      if (look.wait) consider(process, *look.wait, terminal);
    }
    if (!readable) consider_unreadable(process, terminal);
  }

 private:
  void consider(const ProcessStat& process, TtyWait wait, const Terminal& terminal) {
    if (const auto timeout = terminal.read_timeout(); timeout && wait.mode == WaitMode::Reads) {
      wait.mode = WaitMode::Listens;
      wait.timeout = timeout;
    }
    // Since the process was listed it may have become another program by exec.
    const auto now = read_stat(process.pid);
    const auto names = program_names(now && now->start_time == process.start_time ? *now : process);
    const ProgramKind program = program_kind(names);
    const WaitKind kind = classify(terminal, program, query_.alternate_screen);
    const bool listens = wait.mode == WaitMode::Listens;
    state_.listened = true;
    if (listens && program == ProgramKind::Relay) return;
    if (listens && state_.waiting) return;  // one that reads, or was found before, says more
    if (state_.waiting && state_.waiting->mode == WaitMode::Reads) return;
    std::string evidence = "process " + std::to_string(process.pid) + " (" + names.front() + ") " +
                           (listens ? "polls the terminal in " : "is blocked reading the terminal in ") +
                           wait.call + timeout_text(wait.timeout) + "; " + settings_text(terminal);
    state_.waiting = Waiting{kind, wait.mode, process.pid, names.front(), wait.timeout, std::move(evidence)};
  }

  // A program with other rights than ours (sudo, su, passwd) hides what it does.
  // Echo switched off in line mode is the mark of a question for a password.
  void consider_unreadable(const ProcessStat& process, const Terminal& terminal) {
    const bool asks = process.state == 'S' && terminal.canonical() && !terminal.echo();
    if (!asks) {
      state_.input_known = false;
      return;
    }
    if (state_.waiting) return;
    state_.waiting = Waiting{WaitKind::Password,
                             WaitMode::Listens,
                             process.pid,
                             process.comm,
                             std::nullopt,
                             "process " + std::to_string(process.pid) + " (" + process.comm +
                                 ") sleeps in the foreground, the terminal is in " + settings_text(terminal) +
                                 "; what it waits for cannot be read"};
  }

  const RunStateQuery& query_;
  RunState& state_;
};

// Whether somebody above it in the command's tree is in the outer terminal's
// foreground, and so relays to it what is typed. Without such a one (a tmux
// server in the background) its terminal is none of the command's business.
bool is_relayed_to(const ProcessStat& process, const std::vector<ProcessStat>& processes,
                   const Terminal& outer) {
  pid_t parent = process.parent;
  for (size_t depth = 0; depth < processes.size(); ++depth) {
    const auto it = std::find_if(processes.begin(), processes.end(),
                                 [&](const ProcessStat& p) { return p.pid == parent; });
    if (it == processes.end()) return false;
    if (it->terminal == outer.device) return it->group == outer.foreground;
    parent = it->parent;
  }
  return false;
}

void find_waiting(const RunStateQuery& query, const std::vector<ProcessStat>& processes,
                  const Terminal& outer, RunState& state) {
  Inspector inspector(query, state);
  for (const ProcessStat& process : processes) {
    if (process.zombie() || process.state == 'T' || process.state == 't') continue;
    if (process.terminal == outer.device) {
      if (process.group == outer.foreground) inspector.look_into(process, outer);
    } else if (process.terminal == 0) {
      inspector.look_into(process, outer);  // left the session, but may still hold the descriptor
    } else if (process.group == process.terminal_foreground && is_relayed_to(process, processes, outer)) {
      if (const auto inner = nested_terminal(process)) inspector.look_into(process, *inner);
    }
  }
}

void find_terminal_stop(const std::vector<ProcessStat>& processes, const Terminal& terminal,
                        RunState& state) {
  for (const ProcessStat& process : processes) {
    const bool background = process.terminal == terminal.device && process.group != terminal.foreground;
    if (process.state != 'T' || !background) continue;
    const ThreadLook look = look_at_thread(process, process.pid, terminal.device);
    if (!look.touches_terminal) continue;
    const bool reads = look.wait.has_value();
    state.stopped_for_terminal = TerminalStop{
        process.pid, process.comm,
        "process " + std::to_string(process.pid) + " (" + process.comm +
            ") is stopped in the background while " +
            (reads ? "reading the terminal (SIGTTIN)" : "writing or setting the terminal (SIGTTOU)")};
    return;
  }
}

void judge_activity(const RunStateQuery& query, const std::vector<ProcessStat>& processes, pid_t foreground,
                    RunState& state) {
  const auto stopped = [](const ProcessStat& p) { return p.state == 'T' || p.state == 't'; };
  std::vector<const ProcessStat*> alive;
  std::vector<const ProcessStat*> front;
  for (const ProcessStat& process : processes) {
    if (process.zombie()) continue;
    alive.push_back(&process);
    const bool in_front = foreground > 0 ? process.group == foreground : process.pid == query.leader;
    if (in_front) front.push_back(&process);
  }
  for (const ProcessStat* process : alive) {
    if (process->state != 'R' && process->state != 'D') continue;
    state.activity = Activity::Running;
    state.evidence =
        "process " + std::to_string(process->pid) + " (" + process->comm + ") is in state " + process->state;
    return;
  }
  const bool all_stopped =
      !front.empty() && std::all_of(front.begin(), front.end(), [&](const auto* p) { return stopped(*p); });
  state.activity = all_stopped ? Activity::Stopped : Activity::Sleeping;
  state.evidence = all_stopped ? "every process in the foreground is stopped"
                               : std::to_string(alive.size()) + " processes, none of them computing";
}

}  // namespace

RunState run_state(const RunStateQuery& query) {
  RunState state;
  const auto leader = read_stat(query.leader);
  if (!leader && !read_stat(::getpid())) {  // nothing is to be seen, not even ourselves
    state.evidence = "/proc cannot be read";
    state.input_known = false;
    return state;
  }
  const std::string name = "process " + std::to_string(query.leader);
  if (!leader || leader->zombie()) {
    state.activity = leader ? Activity::Zombie : Activity::Finished;
    state.evidence = name + (leader ? " has ended and waits to be collected" : " is gone");
    return state;
  }
  auto processes = quick_descendant_stats(query.tree_root == 0 ? query.leader : query.tree_root);
  if (!processes) {
    state.evidence = "/proc cannot be listed";
    state.input_known = false;
    return state;
  }
  const auto is_leader = [&](const ProcessStat& p) { return p.pid == query.leader; };
  if (std::none_of(processes->begin(), processes->end(), is_leader))
    processes->insert(processes->begin(), *leader);

  const auto terminal = command_terminal(query);
  judge_activity(query, *processes, terminal ? terminal->foreground : -1, state);
  if (terminal) {
    state.terminal = TerminalMode{
        terminal->canonical(), terminal->echo(),
        !terminal->canonical() && !terminal->echo() && terminal->takes_enter_itself(), terminal->foreground};
    find_waiting(query, *processes, *terminal, state);
    find_terminal_stop(*processes, *terminal, state);
    pollfd output{query.master, POLLIN, 0};
    state.output_pending = ::poll(&output, 1, 0) > 0 && (output.revents & POLLIN) != 0;
  }
  return state;
}

const char* wait_kind_name(WaitKind kind) {
  switch (kind) {
    case WaitKind::Line:
      return "line";
    case WaitKind::Password:
      return "password";
    case WaitKind::Key:
      return "key";
    case WaitKind::Pager:
      return "pager";
    case WaitKind::Editor:
      return "editor";
    case WaitKind::Fullscreen:
      return "fullscreen";
  }
  return "line";
}

}  // namespace ttyward::pty
