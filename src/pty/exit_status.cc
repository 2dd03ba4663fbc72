#include "pty/exit_status.h"

#include <array>
#include <csignal>

namespace ttyward::pty {
namespace {

// Indexed by number. These are Linux's numbers on every architecture ttyward
// is built for (x86-64, arm64, riscv64); the static_asserts would catch another.
constexpr std::array<const char*, 32> kStandard = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};
static_assert(SIGBUS == 7 && SIGUSR1 == 10 && SIGCHLD == 17 && SIGSTOP == 19 && SIGSYS == 31);

// The kernel's real-time range as libc shows it: it keeps the first two.
constexpr int kFirstRealTime = 34;
constexpr int kMiddleRealTime = 49;  // `kill -l` counts up to here, then down from the top
constexpr int kLastRealTime = 64;

constexpr int kShellSignalBase = 128;

}  // namespace

std::string signal_name(int signal) {
  if (signal < 1 || signal > kLastRealTime) return {};
  if (signal < static_cast<int>(kStandard.size())) return kStandard[static_cast<size_t>(signal)];
  if (signal < kFirstRealTime) return "SIG" + std::to_string(signal);
  if (signal == kFirstRealTime) return "SIGRTMIN";
  if (signal == kLastRealTime) return "SIGRTMAX";
  if (signal <= kMiddleRealTime) return "SIGRTMIN+" + std::to_string(signal - kFirstRealTime);
  return "SIGRTMAX-" + std::to_string(kLastRealTime - signal);
}

std::optional<ShellSignal> decode_shell_code(int code) {
  const int signal = code - kShellSignalBase;
  std::string name = signal_name(signal);
  if (name.empty()) return std::nullopt;
  bool core = false;
  for (const int dumps :
       {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS})
    core = core || signal == dumps;
  return ShellSignal{signal, std::move(name), core};
}

std::string describe(const ExitStatus& status) {
  if (status.kind == ExitStatus::Kind::Exited) return "exit " + std::to_string(status.code);
  return signal_name(status.signal) + (status.core_dumped ? " (core dumped)" : "");
}

}  // namespace ttyward::pty
