#include "daemon/person.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "place/local.h"

namespace ttyward::daemon {
namespace {

constexpr size_t kDeepest = 256;

// Below these runs a login of an unknown person, or a job that nobody started by hand.
constexpr std::array<std::string_view, 14> kLogins = {
    "sshd", "sshd-session", "sshd-auth", "dropbear", "mosh-server", "in.telnetd",  "telnetd",
    "cron", "crond",        "anacron",   "atd",      "fcron",       "systemd-run", "runsvdir"};
// Programs that relay input from elsewhere, or make a terminal without a person.
constexpr std::array<std::string_view, 20> kRelays = {
    "socat", "nc",    "ncat", "netcat",     "ssh",   "websocat", "script", "expect", "unbuffer", "perl",
    "ruby",  "tclsh", "php",  "scriptlive", "dtach", "abduco",   "ttyd",   "gotty",  "wetty",    "reptyr"};
constexpr std::array<std::string_view, 4> kManagers = {"systemd", "init", "s6-supervise", "runit"};
constexpr std::array<std::string_view, 4> kConsoles = {"login", "agetty", "getty", "mingetty"};

bool lists(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_relay(std::string_view name) {
  return lists(kRelays, name) || name.starts_with("python") || name.starts_with("systemd-socket-");
}

Lineage read_once(pid_t pid) {
  Lineage read;
  while (read.chain.size() < kDeepest) {
    auto process = place::process_now(place::local(), pid);
    if (!process) return read;
    pty::ProcessStat* const stat = &process->stat;
    // A parent that began after its child is another process by that number.
    if (!read.chain.empty() && stat->start_time > read.chain.back().start_time) return read;
    read.chain.push_back(std::move(*stat));
    pid = read.chain.back().parent;
    if (pid <= 0) {
      read.whole = true;
      return read;
    }
  }
  return read;
}

}  // namespace

Lineage lineage_of(pid_t pid) {
  Lineage read = read_once(pid);
  for (const pty::ProcessStat& each : read.chain) {
    const auto again = place::process_now(place::local(), each.pid);
    if (!again || again->stat.start_time != each.start_time || again->stat.parent != each.parent)
      read.whole = false;
  }
  return read;
}

std::string doubt_about(const Lineage& lineage, const std::function<bool(pid_t)>& holds_persons) {
  const auto& chain = lineage.chain;
  if (chain.empty() || !lineage.whole) return "not all of its ancestors can be seen";
  const pty::ProcessStat& peer = chain.front();
  if (is_relay(peer.comm)) return peer.comm + " relays input from elsewhere";
  if (peer.terminal == 0) return "it has no controlling terminal";
  for (const pty::ProcessStat& each : chain) {
    if (lists(kLogins, each.comm)) return "it runs below " + each.comm;
  }
  // The outermost process with a terminal: its parent made that terminal.
  const auto outermost = std::find_if(chain.rbegin(), chain.rend(),
                                      [](const pty::ProcessStat& each) { return each.terminal != 0; });
  const auto index = static_cast<size_t>(chain.rend() - outermost) - 1;
  if (index + 1 >= chain.size()) return {};  // the first process there is: a container's console
  const pty::ProcessStat& host = chain[index + 1];
  if (is_relay(host.comm)) return "its terminal was made by " + host.comm;
  if (host.pid == 1 || lists(kManagers, host.comm)) {
    return lists(kConsoles, chain[index].comm) ? "" : "its terminal was made by " + host.comm;
  }
  if (host.comm.starts_with("ttyward") && !holds_persons(host.pid)) {
    return "its terminal belongs to another ttyward";
  }
  return {};
}

}  // namespace ttyward::daemon
