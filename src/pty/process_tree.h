// Everything a command started, wherever it went.
//
// A process that calls setsid or forks twice leaves its group, its session and its
// parent, but not its ancestry: with become_subreaper() every orphan below us
// becomes our child. So "descendants of this process" is the complete answer, and
// "no children at all" (nothing_left) is the kernel's proof that no process is left.
//
// The lists come from a scan of all stat files. /proc/PID/task/TID/children
// is shorter, but absent on many kernels and unreliable while processes end: good
// enough for a scan that is repeated, not for ending every process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "pty/child.h"
#include "pty/proc.h"

namespace ttyward::pty {

// A process by pid and start time, which no other process ever shares.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time = 0;

  auto operator<=>(const ProcessId&) const = default;
};

struct ProcessInfo {
  ProcessId id;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';
  bool zombie = false;  // ended; only its status is left to collect
  std::string command;
};

base::Result<void> become_subreaper();

enum class CommandLines : uint8_t { Skip, Read };

// All descendants of `root`, parents before children, zombies included; nullopt
// where /proc cannot be read.
std::optional<std::vector<ProcessInfo>> list_descendants(pid_t root, CommandLines lines = CommandLines::Read);

// The same without names, for those who look closer themselves.
std::optional<std::vector<ProcessStat>> descendant_stats(pid_t root);

// The same at the price of the tree alone, however many processes there are beside it. While processes come
// and go one may be missed.
std::optional<std::vector<ProcessStat>> quick_descendant_stats(pid_t root);

// One process; nullopt if it is not there.
std::optional<ProcessInfo> describe_process(pid_t pid);

// Sends to that very process: a pid that was given to somebody else meanwhile is
// ESRCH.
base::Result<void> send_signal(const ProcessId& id, int signal);

// Sends to the process group that this very process leads, members alone
// included. Does nothing on kernels before 6.9, which can only name a group by
// its number, and a number may mean others by the time it is used.
void send_signal_to_group(const ProcessId& leader, int signal);

// Collects every child of ours that ended, orphans we adopted and the `owned`
// ones alike; an owned one keeps its exit in its Child. For a process all of
// whose children come from this module. Returns how many orphans were collected.
size_t reap(std::span<Child* const> owned);

// True if this process has no children, living or dead. For a subreaper this
// means: nothing of what was ever started below it is left.
bool nothing_left();

}  // namespace ttyward::pty
