// A small program started to see whether something works: bounded in time, gone afterwards.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pty/spawn.h"

namespace ttyward::cli::doctor {

inline constexpr std::chrono::milliseconds kProbePatience{2000};

struct ProbeResult {
  std::string problem;                    // why it could not be started; empty if it could
  int sys_errno = 0;                      // with the problem
  std::string output;                     // stdout and stderr, at most 64 KiB
  std::optional<pty::ExitStatus> status;  // none: it had to be killed
};

// In pipes, with our PATH and nothing else of our environment.
ProbeResult run_probe(std::vector<std::string> argv, pty::PreExecHook hook = nullptr);

// Kills and collects.
void end_probe(pty::Child& child);

// PATH and LC_ALL, for programs we only ask something.
std::vector<std::string> probe_environment();

}  // namespace ttyward::cli::doctor
