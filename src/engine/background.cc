#include "engine/background.h"

#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <vector>

#include "pty/listening_ports.h"
#include "pty/proc.h"
#include "pty/process_tree.h"

namespace ttyward::engine {
namespace {

constexpr pid_t kMostYounger = 2000;  // processes looked at one by one
constexpr int kDeepest = 64;          // generations

bool descends_from(const pty::ProcessStat& process, pid_t ancestor) {
  pid_t parent = process.parent;
  for (int i = 0; i < kDeepest && parent > 1; i++) {
    if (parent == ancestor) return true;
    const auto stat = pty::read_stat(parent);
    parent = stat ? stat->parent : 0;
  }
  return false;
}

int64_t boot_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

// Numbers are given in turn.
pid_t newest_pid() {
  const auto text = pty::read_proc_file("/proc/loadavg");
  const size_t at = text ? text->find_last_of(' ') : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(text->c_str() + at, nullptr, 10));
}

// Jobs of an interactive shell have groups of their own; what is in the shell's group belongs to its prompt.
// Only processes that are younger than the command are looked at: there are few, and a look at all of them
// would cost more than most commands.
void list_background(const BackgroundSearch& search, terminal::CommandResult& facts) {
  std::vector<pid_t> pids;
  const auto consider = [&](const pty::ProcessStat& process) {
    const bool of_prompt = process.group == search.shell && !search.shells_group_too;
    if (process.pid == search.shell || process.zombie() || of_prompt) return;
    pids.push_back(process.pid);
    facts.background.push_back({process.pid, pty::read_command_line(process.pid)});
  };
  const pid_t newest = newest_pid();
  const pid_t before = search.newest_before;
  if (before > 0 && newest >= before && newest - before <= kMostYounger) {
    for (pid_t pid = before + 1; pid <= newest; pid++) {
      const auto process = pty::read_stat(pid);
      if (process && descends_from(*process, search.holder)) consider(*process);
    }
  } else if (const auto below = pty::descendant_stats(search.holder)) {
    const int64_t began = boot_ms() - search.ran.count();
    const int64_t tick_ms = 1000 / ::sysconf(_SC_CLK_TCK);
    for (const pty::ProcessStat& process : *below) {
      if (static_cast<int64_t>(process.start_time + 1) * tick_ms >= began) consider(process);
    }
  }
  list_ports(facts, pids);
}

void list_ports(terminal::CommandResult& facts, std::span<const pid_t> pids) {
  if (pids.empty()) return;
  for (const auto& port : pty::listening_ports(pids).value_or(std::vector<pty::ListeningPort>()))
    facts.ports.push_back({port.port, port.pid});
}

}  // namespace ttyward::engine
