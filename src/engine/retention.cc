#include "engine/retention.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/unix_time.h"

namespace ttyward::engine {
namespace {

constexpr size_t kForgottenKept = 4096;
// Forgetting deletes files: never long at a time.
constexpr std::chrono::milliseconds kForgetPause{20};
constexpr ptrdiff_t kForgetAtOnce = 16;
constexpr std::chrono::seconds kTrimPause{2};

}  // namespace

// Results or terminals of a burst are gone, and the allocator keeps their memory for more of them.
void Retention::trim_soon() {
  if (trim_timer_.running()) return;
  trim_timer_.after(kTrimPause, [] { ::malloc_trim(0); });
}

void Retention::forget_soon() {
  if (forget_timer_.running()) return;
  forget_timer_.after(kForgetPause, [this] { forget_old(); });
}

// Those that ended longest ago go; one whose background processes live stays, and one of whose end somebody
// is still to be told.
void Retention::forget_old() {
  std::vector<const Terminal*> ended;
  for (const auto& terminal : terminals_) {
    if (!terminal->live() && !terminal->holder_alive()) ended.push_back(terminal.get());
  }
  std::stable_sort(ended.begin(), ended.end(), [](const Terminal* a, const Terminal* b) {
    return a->closed_at_ms() < b->closed_at_ms();
  });
  std::vector<std::string> old;
  size_t kept = 0;
  const int64_t now = base::unix_ms();
  std::optional<int64_t> next;  // when one more is old enough
  for (auto at = ended.rbegin(); at != ended.rend(); ++at) {
    const Terminal& terminal = **at;
    if (!terminal.spec().pooled && ++kept <= settings_.finished_kept) continue;
    if (terminal.watched_beside(owner_)) continue;
    const int64_t until = terminal.closed_at_ms() + settings_.finished_moment.count();
    if (!terminal.spec().pooled && kept <= settings_.finished_most && until > now) {
      next = until;
    } else {
      old.push_back(terminal.id());
    }
  }
  if (next) age_timer_.after(std::chrono::milliseconds(*next - now), [this] { forget_old(); });
  if (std::ssize(old) > kForgetAtOnce) {
    old.erase(old.begin(), old.end() - kForgetAtOnce);  // those that ended first
    forget_soon();
  }
  for (const std::string& id : old) forget(id);
}

bool Retention::forget_now(const Terminal& terminal) {
  if (terminal.watched_beside(owner_)) return false;
  forget(std::string(terminal.id()));
  return true;
}

void Retention::forget(const std::string& id) {
  const auto found = terminals_.find(id);
  if (!found) return;
  forgotten_(**found);
  const std::unique_ptr<Terminal> gone = terminals_.take_out(id);
  for (const auto& command : gone->commands()) note_forgotten(command->facts.command_id);
  sweeper_.later([logs = logs_, journals = journals_, id] {
    static_cast<void>(TerminalLog::remove(logs, id));
    ::unlinkat(logs, (id + ".replied").c_str(), 0);
    ::unlinkat(logs, statuses_file(id).c_str(), 0);
    static_cast<void>(journal::remove_journal(journals->fd(), id));
  });
  trim_soon();
}

void Retention::note_forgotten(const std::string& command_id) {
  forgotten_commands_.push_back(command_id);
  if (forgotten_commands_.size() > kForgottenKept) forgotten_commands_.pop_front();
}

bool Retention::forgot_command(std::string_view id) const {
  return std::find(forgotten_commands_.begin(), forgotten_commands_.end(), id) != forgotten_commands_.end();
}

}  // namespace ttyward::engine
