#include "engine/shell_session.h"

#include <algorithm>
#include <utility>

#include "base/mask_secrets.h"
#include "shell/text_tracking.h"

namespace ttyward::engine {
namespace {

shell::TrackerOptions tracker_options(const ShellSession::Options& options) {
  return {options.expected == shell::Quality::None ? "" : options.secret, options.expected, options.cwd,
          options.piped, options.identity.kind};
}

}  // namespace

ShellSession::ShellSession(Options options)
    : identity_(std::move(options.identity)),
      expected_(options.expected),
      tracker_(tracker_options({identity_, expected_, options.secret, options.cwd, options.piped})),
      cwd_(std::move(options.cwd)) {}

void ShellSession::cwd_changed(const shell::CwdChanged& event) {
  cwd_ = event.cwd;
  cwd_known_by_ = "shell";
}

void ShellSession::kernel_cwd(std::string cwd) {
  cwd_ = std::move(cwd);
  cwd_known_by_ = "kernel";
}

void ShellSession::environment_changed(const shell::EnvironmentChanged& event, bool started) {
  if (!started || integrating_) return;
  for (const shell::EnvironmentChange& change : event.changes) {
    environment_[change.name] = change.value ? *change.value : change.hidden ? "[hidden]" : "";
  }
}

void ShellSession::unmarked(const Unmarked& what, uint64_t at) {
  unmarked_reason_ = what.why;
  marks_lost_ = true;
  integrating_ = false;
  if (what.inner) inner_shells_.push_back(*what.inner);
  tracker_.prompt_seen_unmarked(at, what.why, what.inner.has_value());
}

void ShellSession::integrate(shell::ShellKind kind) {
  identity_.kind = kind;
  integrating_ = true;
  tracker_.integrate(kind, shell::attainable_quality(kind));
}

bool ShellSession::integrated() {
  if (!std::exchange(integrating_, false)) return false;
  marks_lost_ = false;
  return true;
}

void ShellSession::start_timed_out() {
  integration_failed_ = true;
  tracker_.integration_timed_out();
}

void ShellSession::note_from_text(const std::string& command) {
  if (elsewhere()) {
    if (auto moved = shell::cwd_after(command, cwd_, "")) {
      cwd_ = std::move(*moved);
      cwd_known_by_ = "text";
    }
    return;
  }
  if (!command.starts_with("export ")) return;
  for (const auto& [name, value] : shell::assigned_by(command)) {
    const std::string assignment = name + "=" + value;
    environment_[name] = base::mask_secrets(assignment) == assignment ? value : "[hidden]";
  }
}

void ShellSession::resume(const shell::CommandTracker::AtPrompt& from) {
  identity_.kind = from.kind;
  cwd_ = from.cwd;
  cwd_known_by_ = "shell";
  inner_shells_.clear();
  marks_lost_ = false;
  integrating_ = false;
  unmarked_reason_.clear();
  tracker_.resume(from);
}

bool ShellSession::settle() {
  integrating_ = false;
  unmarked_reason_.clear();
  if (quality() == shell::Quality::None) return false;
  return std::exchange(marks_lost_, false);
}

void ShellSession::returned() {
  inner_shells_.resize(std::min(inner_shells_.size(), tracker_.depth()));
  identity_.kind = tracker_.kind();
  cwd_ = tracker_.cwd();  // the outer shell's; the inner one may have stood elsewhere
  cwd_known_by_ = "shell";
  integrating_ = false;
  marks_lost_ = false;
}

}  // namespace ttyward::engine
