#include "cli/terminal_use.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "place/local.h"

namespace ttyward::cli {

std::vector<pty::ProcessStat> tree_of(pid_t root, const std::vector<pty::ProcessStat>& all) {
  std::multimap<pid_t, const pty::ProcessStat*> children;
  std::vector<pty::ProcessStat> found;
  std::set<pid_t> known{root};
  for (const pty::ProcessStat& stat : all) {
    if (stat.pid == root) found.push_back(stat);
    children.emplace(stat.parent, &stat);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i].pid);
    for (auto child = begin; child != end; ++child) {
      // A scan is no snapshot: a number that was given away meanwhile may stand above its own parent.
      if (known.insert(child->second->pid).second) found.push_back(*child->second);
    }
  }
  return found;
}

TerminalUses UseMeter::look(const std::vector<wire::Terminal>& terminals) {
  TerminalUses uses;
  std::map<std::string, Before> now;
  const std::vector<pty::ProcessStat> all = place::local().all_processes();
  for (const wire::Terminal& terminal : terminals) {
    const std::string& id = terminal.id;
    const int64_t root = terminal.holder_pid.value_or(0);
    if (root <= 0) continue;
    const std::vector<pty::ProcessStat> tree = tree_of(static_cast<pid_t>(root), all);
    if (tree.empty()) continue;
    Before taken{0, Clock::now()};
    std::vector<pid_t> pids;
    for (const pty::ProcessStat& stat : tree) {
      taken.ticks += stat.cpu_ticks;
      pids.push_back(stat.pid);
    }
    TerminalUse& use = uses[id];
    const long second = ::sysconf(_SC_CLK_TCK);
    use.cpu_ms = static_cast<int64_t>(taken.ticks) * 1000 / second;
    if (const auto before = before_.find(id); before != before_.end()) {
      const double seconds = std::chrono::duration<double>(taken.at - before->second.at).count();
      const auto ticks =
          static_cast<double>(taken.ticks - std::min(taken.ticks, before->second.ticks));  // never below 0
      if (seconds > 0) use.cpu_percent = 100 * ticks / static_cast<double>(second) / seconds;
    }
    now[id] = taken;
    std::set<uint16_t> ports;
    for (const pty::ListeningPort& port : place::ports_now(place::local(), pids)) ports.insert(port.port);
    use.ports.assign(ports.begin(), ports.end());
  }
  before_ = std::move(now);
  return uses;
}

std::string ports_text(const std::vector<uint16_t>& ports) {
  std::string out;
  for (const uint16_t port : ports) out += (out.empty() ? "" : ",") + std::to_string(port);
  return out.empty() ? "-" : out;
}

std::string cpu_text(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.0f}%", *percent) : "-";
}

}  // namespace ttyward::cli
