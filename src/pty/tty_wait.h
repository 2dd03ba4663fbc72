// What one thread is blocked in, as far as a terminal is concerned.
//
// /proc/PID/task/TID/syscall gives the system call and its arguments; the
// descriptor's target tells a terminal from a pipe or a socket; for poll and
// select the descriptor sets are read from the process's memory, for epoll from
// fdinfo. All of it needs ptrace access, which an ancestor of the same user has;
// without it the answer is "not readable", never "not waiting".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pty/proc.h"

namespace ttyward::pty {

enum class WaitMode : uint8_t {
  Reads,    // blocked in a read of the terminal: it cannot go on without input
  Listens,  // the terminal is among what it waits for: it may well go on without
};

struct TtyWait {
  WaitMode mode = WaitMode::Reads;
  int fd = -1;
  std::optional<std::chrono::milliseconds> timeout;  // nullopt: for ever
  std::string call;                                  // "read(0)", "epoll_pwait(14)"
};

struct ThreadLook {
  bool readable = true;           // false: we may not look, and know nothing
  std::optional<TtyWait> wait;    // the wait for the terminal, if it is in one
  bool touches_terminal = false;  // in any call on the terminal (write, ioctl): why it may have been stopped
};

// `process` is the thread's process; `terminal` the device asked about.
ThreadLook look_at_thread(const ProcessStat& process, pid_t tid, dev_t terminal);

// The first six arguments of a blocked system call.
struct BlockedCall {
  long number = -1;
  uint64_t arguments[6] = {};
};
// nullopt for "running", for a thread blocked outside a call, and for nonsense.
std::optional<BlockedCall> parse_blocked_call(std::string_view text);

// Whether an epoll descriptor's fdinfo lists `fd` as waited on for input.
bool epoll_waits_for_input(std::string_view fdinfo, int fd);

}  // namespace ttyward::pty
