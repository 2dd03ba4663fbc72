#include "pty/kill_ladder.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include "base/check.h"
#include "pty/proc.h"

namespace ttyward::pty {
namespace {

using std::chrono::milliseconds;

// Between looks while waiting: exits of children are events, but a grandchild's
// end is not, so somebody has to look.
constexpr milliseconds kFirstPause{2};
constexpr milliseconds kLongestPause{50};

// Looks within one step while killing. A fork storm makes new processes while we
// list the old, so the next look follows at once; but the owner has other
// descriptors to serve, so a step ends after a few and is due again immediately.
constexpr int kLooksPerStep = 4;

// Where the kernel cannot confirm it (a process is kept, or the process is shared).
constexpr int kLooksWithoutProof = 3;

// A process and all that came from it, also those that were left behind when their parent ended: the kernel
// gives them to somebody else, so they are known by having been seen.
class Family {
 public:
  explicit Family(pid_t leader) : roots_{leader} {}

  std::optional<std::vector<ProcessInfo>> operator()() {
    std::vector<ProcessInfo> all;
    std::set<pid_t> listed;
    const auto take = [&](ProcessInfo process) {
      if (listed.insert(process.id.pid).second) all.push_back(std::move(process));
    };
    for (const pid_t root : roots_) {
      if (listed.contains(root)) continue;
      auto self = describe_process(root);
      const auto seen = seen_.find(root);
      if (!self || (seen != seen_.end() && seen->second != self->id)) continue;  // ended
      auto below = list_descendants(root, CommandLines::Skip);
      if (!below) return std::nullopt;
      take(std::move(*self));
      for (ProcessInfo& process : *below) take(std::move(process));
    }
    roots_.clear();
    seen_.clear();
    for (const ProcessInfo& process : all) {
      roots_.push_back(process.id.pid);
      seen_.emplace(process.id.pid, process.id);
    }
    return all;
  }

 private:
  std::vector<pid_t> roots_;  // parents before children
  std::map<pid_t, ProcessId> seen_;
};

}  // namespace

std::vector<KillRung> default_kill_rungs() {
  return {{SIGINT, milliseconds(500)}, {SIGTERM, milliseconds(2000)}, {SIGKILL, milliseconds(5000)}};
}

KillActions KillActions::below_this_process(const std::vector<Child*>& owned) {
  return below(::getpid(), owned);
}

KillActions KillActions::below(pid_t leader, const std::vector<Child*>& owned) {
  KillActions actions;
  if (leader == ::getpid()) {
    actions.list = [leader] {
      return list_descendants(leader, CommandLines::Skip);  // a storm leaves no time for names
    };
  } else {
    actions.list = Family(leader);
  }
  actions.command_line = [](pid_t pid) { return read_command_line(pid); };
  actions.signal = send_signal;
  actions.signal_group = send_signal_to_group;
  actions.proof = [leader]() -> std::optional<bool> {
    if (leader != ::getpid()) return std::nullopt;
    return nothing_left();
  };
  if (leader == ::getpid()) {
    actions.reap = [owned] { pty::reap(owned); };
  } else {
    actions.reap = [owned] {
      for (Child* child : owned) static_cast<void>(child->try_reap());
    };
  }
  return actions;
}

KillLadder::KillLadder(KillActions actions, std::vector<KillRung> rungs, std::vector<ProcessId> keep,
                       Clock::time_point now)
    : actions_(std::move(actions)),
      rungs_(std::move(rungs)),
      keep_(keep.begin(), keep.end()),
      rung_ends_(now),
      next_step_(now),
      pause_(kFirstPause) {
  TTYWARD_CHECK(!rungs_.empty());
  rung_ends_ = now + rungs_.front().grace;
}

// Which processes are alive and which are kept. False: /proc cannot be read.
bool KillLadder::look() {
  actions_.reap();
  auto all = actions_.list();
  if (!all) return false;
  alive_.clear();
  kept_.clear();
  std::set<pid_t> kept_pids;
  for (ProcessInfo& process : *all) {  // parents come before their children
    if (process.zombie) continue;      // its parent's to collect; it runs no more
    const bool keep = keep_.contains(process.id) || kept_pids.contains(process.parent);
    if (keep) kept_pids.insert(process.id.pid);
    (keep ? kept_ : alive_).push_back(std::move(process));
  }
  return true;
}

// An empty list alone proves nothing: a process may fork and end while we read,
// so that neither it nor its child is seen.
bool KillLadder::nobody_left() {
  if (!alive_.empty()) {
    empty_looks_ = 0;
    return false;
  }
  ++empty_looks_;
  const std::optional<bool> proof = kept_.empty() ? actions_.proof() : std::nullopt;
  return proof.value_or(empty_looks_ >= kLooksWithoutProof);
}

void KillLadder::signal_newcomers() {
  const int signal = current_signal();
  for (const ProcessInfo& process : alive_) {
    if (!signaled_.insert(process.id).second) continue;
    static_cast<void>(actions_.signal(process.id, signal));  // ESRCH: it ended by itself, which is the aim
    // A stopped process would keep the signal for later.
    if (process.state == 'T' && signal != SIGKILL) static_cast<void>(actions_.signal(process.id, SIGCONT));
  }
}

// The kernel signals a group without letting a member fork in between, which one
// by one cannot promise. Only groups whose leader is alive and all of whose
// members we know to be ours: a session other than our own was made below us, and in one that we lead there
// is nobody else.
void KillLadder::signal_groups() {
  const pid_t our_session = ::getsid(0);
  const bool we_lead = our_session == ::getpid();
  std::set<pid_t> spared;
  for (const ProcessInfo& process : kept_) spared.insert(process.group);
  for (const ProcessInfo& process : alive_) {
    const bool leads = process.group == process.id.pid && (we_lead || process.session != our_session);
    if (leads && !spared.contains(process.group)) actions_.signal_group(process.id, SIGKILL);
  }
}

void KillLadder::climb(Clock::time_point now) {
  while (now >= rung_ends_ && rung_ + 1 < rungs_.size()) {
    ++rung_;
    rung_ends_ = now + rungs_[rung_].grace;
    signaled_.clear();
    pause_ = kFirstPause;
  }
}

KillLadder::Outcome KillLadder::finish(Outcome outcome) {
  for (std::vector<ProcessInfo>* named : {&alive_, &kept_})
    for (ProcessInfo& process : *named) process.command = actions_.command_line(process.id.pid);
  return outcome_ = outcome;
}

KillLadder::Outcome KillLadder::step(Clock::time_point now) {
  if (outcome_ != Outcome::Working) return outcome_;
  climb(now);
  const bool last = rung_ + 1 == rungs_.size();
  const bool killing = current_signal() == SIGKILL;
  bool look_again = true;
  bool newcomers = false;
  for (int looks = 0; look_again && looks < kLooksPerStep; ++looks) {
    if (!look()) return finish(Outcome::Unknown);
    if (nobody_left()) return finish(Outcome::NothingLeft);
    const size_t known = signaled_.size();
    signal_newcomers();
    newcomers = signaled_.size() != known;
    if (killing && newcomers && looks > 0) signal_groups();
    look_again = alive_.empty() || (killing && newcomers);
  }
  if (last && now >= rung_ends_) return finish(Outcome::Survivors);
  next_step_ = killing && newcomers ? now : std::min(rung_ends_, now + pause_);
  pause_ = std::min(pause_ * 2, kLongestPause);
  return outcome_;
}

}  // namespace ttyward::pty
