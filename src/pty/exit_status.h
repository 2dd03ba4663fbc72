// How a process ended, as wait(2) saw it, and the names people know signals by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ttyward::pty {

struct ExitStatus {
  enum class Kind : uint8_t { Exited, Signaled };

  Kind kind = Kind::Exited;
  int code = 0;              // of exit(), when Exited
  int signal = 0;            // when Signaled
  bool core_dumped = false;  // the kernel's word, when Signaled

  // One number for a shell's `$?`: the code, or 128 + signal.
  int shell_code() const { return kind == Kind::Exited ? code : 128 + signal; }
  bool success() const { return kind == Kind::Exited && code == 0; }
  bool operator==(const ExitStatus&) const = default;
};

struct ResourceUse {
  int64_t cpu_ms = 0;       // user and system, of the process and of all it waited for
  int64_t max_rss_kib = 0;  // of the largest of them

  bool operator==(const ResourceUse&) const = default;
};

struct Exit {
  ExitStatus status;
  ResourceUse use;
};

// "SIGTERM", "SIGRTMIN+3", "SIGRTMAX-2"; "SIG32" and "SIG33", which libc keeps
// for itself; empty for a number outside 1..64.
std::string signal_name(int signal);

// What a shell's exit code above 128 may mean. It is a convention, not a fact:
// a program may exit with 130 of its own accord.
struct ShellSignal {
  int signal = 0;
  std::string name;
  bool core_dump_possible = false;  // the signal's default action dumps core

  bool operator==(const ShellSignal&) const = default;
};
std::optional<ShellSignal> decode_shell_code(int code);

// "exit 3", "SIGSEGV (core dumped)".
std::string describe(const ExitStatus& status);

}  // namespace ttyward::pty
