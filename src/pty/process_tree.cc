#include "pty/process_tree.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <unordered_map>

#include "base/unique_fd.h"
#include "pty/proc.h"

namespace ttyward::pty {
namespace {

using ByParent = std::unordered_multimap<pid_t, ProcessStat>;

// Bounds the walk should a pid be reused in mid-scan and make a circle.
constexpr size_t kMostProcesses = 1 << 20;

std::optional<ByParent> scan() {
  const auto pids = list_pids();
  if (!pids) return std::nullopt;
  ByParent by_parent;
  for (const pid_t pid : *pids)
    if (auto stat = read_stat(pid)) by_parent.emplace(stat->parent, std::move(*stat));
  return by_parent;
}

// Appends the children of all threads of `parent`; false where the kernel does not list them.
bool add_children(pid_t parent, int threads, std::vector<ProcessStat>& to) {
  const std::vector<pid_t> tids = threads == 1 ? std::vector<pid_t>{parent} : list_threads(parent);
  const std::string folder = "/proc/" + std::to_string(parent) + "/task/";
  for (const pid_t tid : tids) {
    const auto text = read_proc_file(folder + std::to_string(tid) + "/children");
    if (!text) return false;
    for (const char* at = text->c_str(); *at != '\0';) {
      char* end = nullptr;
      const long pid = std::strtol(at, &end, 10);
      if (end == at) break;
      at = end + (*end == ' ' ? 1 : 0);
      if (auto stat = read_stat(static_cast<pid_t>(pid))) to.push_back(std::move(*stat));
    }
  }
  return true;
}

ProcessInfo info_of(const ProcessStat& stat, CommandLines lines) {
  return {{stat.pid, stat.start_time},
          stat.parent,
          stat.group,
          stat.session,
          stat.state,
          stat.zombie(),
          lines == CommandLines::Read ? read_command_line(stat.pid) : std::string()};
}

}  // namespace

base::Result<void> become_subreaper() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) return {};
  return base::fail_errno(errno, "becoming the reaper of orphaned processes");
}

std::optional<std::vector<ProcessStat>> descendant_stats(pid_t root) {
  const auto by_parent = scan();
  if (!by_parent) return std::nullopt;
  std::vector<ProcessStat> found;
  pid_t parent = root;
  for (size_t next = 0; next < kMostProcesses; ++next) {
    const auto [first, last] = by_parent->equal_range(parent);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
    if (next >= found.size()) break;
    parent = found[next].pid;
  }
  return found;
}

std::optional<std::vector<ProcessStat>> quick_descendant_stats(pid_t root) {
  const auto top = read_stat(root);
  std::vector<ProcessStat> found;
  if (!top || !add_children(root, top->threads, found)) return descendant_stats(root);
  for (size_t next = 0; next < found.size() && next < kMostProcesses; ++next) {
    // One that is gone by now has no list, and its children are listed with whoever adopted them.
    add_children(found[next].pid, found[next].threads, found);
  }
  return found;
}

std::optional<std::vector<ProcessInfo>> list_descendants(pid_t root, CommandLines lines) {
  const auto stats = descendant_stats(root);
  if (!stats) return std::nullopt;
  std::vector<ProcessInfo> found;
  found.reserve(stats->size());
  for (const ProcessStat& stat : *stats) found.push_back(info_of(stat, lines));
  return found;
}

std::optional<ProcessInfo> describe_process(pid_t pid) {
  const auto stat = read_stat(pid);
  if (!stat) return std::nullopt;
  return info_of(*stat, CommandLines::Read);
}

base::Result<void> send_signal(const ProcessId& id, int signal) {
  const auto context = [&] {
    return "sending " + signal_name(signal) + " to process " + std::to_string(id.pid);
  };
  const base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
  if (!pidfd) {
    // Out of descriptors, the process must still be stoppable: the check and the
    // signal are then two steps, which is the best there is.
    const bool no_descriptor = errno == EMFILE || errno == ENFILE || errno == ENOSYS;
    if (!no_descriptor) return base::fail_errno(errno, context());
  }
  // The descriptor holds whoever has the pid now; the start time says whether
  // that is whom we mean.
  const auto stat = read_stat(id.pid);
  if (!stat || stat->start_time != id.start_time) return base::fail_errno(ESRCH, context());
  const long rc =
      pidfd ? ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) : ::kill(id.pid, signal);
  if (rc != 0) return base::fail_errno(errno, context());
  return {};
}

void send_signal_to_group(const ProcessId& leader, int signal) {
  constexpr unsigned kProcessGroup = 1U << 2;  // PIDFD_SIGNAL_PROCESS_GROUP, newer than our headers
  const base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, leader.pid, 0)));
  const auto stat = read_stat(leader.pid);
  if (!pidfd || !stat || stat->start_time != leader.start_time || stat->group != leader.pid) return;
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, kProcessGroup);
}

size_t reap(std::span<Child* const> owned) {
  size_t orphans = 0;
  while (true) {
    // A look first: an exit that belongs to a Child is for that Child to collect.
    siginfo_t info{};
    ResourceUse use;
    if (wait_with_usage(P_ALL, 0, WEXITED | WNOHANG | WNOWAIT, info, use) != 0 || info.si_pid == 0)
      return orphans;
    const auto owner = std::find_if(owned.begin(), owned.end(),
                                    [&](const Child* c) { return c->pid() == info.si_pid && !c->exit(); });
    if (owner != owned.end()) {
      if (const auto exit = (*owner)->try_reap(); !exit || !*exit) return orphans;
    } else if (wait_with_usage(P_PID, static_cast<id_t>(info.si_pid), WEXITED | WNOHANG, info, use) == 0) {
      ++orphans;
    } else {
      return orphans;
    }
  }
}

bool nothing_left() {
  siginfo_t info{};
  ResourceUse use;
  return wait_with_usage(P_ALL, 0, WEXITED | WNOHANG | WNOWAIT, info, use) == ECHILD;
}

}  // namespace ttyward::pty
