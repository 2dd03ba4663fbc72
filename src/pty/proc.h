// Small readers of /proc. Each answers nullopt where the kernel or its settings
// do not let us see, and the callers say "unknown" then.
//
// `root` arguments exist for tests; everybody else reads /proc.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::pty {

// /proc/PID/stat, the fields we use.
struct ProcessStat {
  pid_t pid = 0;
  std::string comm;  // at most 15 bytes, and the program may have changed it
  char state = '?';  // R S D T t Z X I
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  dev_t terminal = 0;              // its controlling terminal; 0 = none
  pid_t terminal_foreground = -1;  // that terminal's foreground group
  int threads = 0;
  uint64_t cpu_ticks = 0;   // used by it and by children of its that were collected, in clock ticks
  uint64_t start_time = 0;  // ticks since boot: with the pid, a name that is never used twice

  // Ended, and only its status is left. A process whose first thread ended while
  // others run shows the same letter.
  bool zombie() const { return state == 'X' || (state == 'Z' && threads <= 1); }
  bool operator==(const ProcessStat&) const = default;
};

std::optional<ProcessStat> parse_stat(std::string_view text);
std::optional<ProcessStat> read_stat(pid_t pid);
// A number that changes when the process runs another program, or the same one anew (exec); nullopt if we may
// not look.
std::optional<uint64_t> read_image(pid_t pid);

// The whole of a small file under /proc, cut at `limit`; nullopt if unreadable.
std::optional<std::string> read_proc_file(const std::string& path, size_t limit = 64 * 1024);

// Every process there is, or nullopt if /proc cannot be listed.
std::optional<std::vector<pid_t>> list_pids();
// The thread ids of a process; empty if it is gone or hidden.
std::vector<pid_t> list_threads(pid_t pid);
// The open descriptor numbers of a process; nullopt if we may not look.
std::optional<std::vector<int>> list_descriptors(pid_t pid);

// The command line with blanks between the arguments, control characters shown as
// '?', cut at `limit` bytes; "[comm]" where there is none.
std::string read_command_line(pid_t pid, size_t limit = 512);
std::vector<std::string> read_arguments(pid_t pid, size_t limit = 4096);

}  // namespace ttyward::pty
