// What the processes of terminals use: processor time and listening ports.
//
// Asked of this machine by the one who shows it, so that looking costs the daemon nothing. One scan serves
// all terminals. A terminal whose holder cannot be seen has no entry.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "place/place.h"
#include "wire/types/objects.h"

namespace ttyward::cli {

struct TerminalUse {
  std::optional<double> cpu_percent;  // of one processor, since the look before; none at the first look
  int64_t cpu_ms = 0;                 // used so far, by those that live and by those they waited for
  std::vector<uint16_t> ports;        // sorted, each once
  bool operator==(const TerminalUse&) const = default;
};
using TerminalUses = std::map<std::string, TerminalUse>;  // by terminal id

class UseMeter {
 public:
  TerminalUses look(const std::vector<wire::Terminal>& terminals);

 private:
  using Clock = std::chrono::steady_clock;
  struct Before {
    uint64_t ticks = 0;
    Clock::time_point at;
  };
  std::map<std::string, Before> before_;
};

// `root` and everything below it among `all`.
std::vector<pty::ProcessStat> tree_of(pid_t root, const std::vector<pty::ProcessStat>& all);

// "-" for none; "3000,8080"
std::string ports_text(const std::vector<uint16_t>& ports);
// "-" if it is not known; "7%"
std::string cpu_text(const std::optional<double>& percent);

}  // namespace ttyward::cli
