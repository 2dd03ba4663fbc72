#include "app/caller_environment.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "place/local.h"

namespace ttyward::app {
namespace {

constexpr size_t kMostKnown = 64;  // connections

constexpr std::string_view kIdentity[] = {"HOME", "USER", "LOGNAME", "SHELL"};

std::string_view name_of(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace

// The kernel shows the environment a process was started with, so it is read once for each connection:
// finding out whether the caller is inside a terminal takes a look at each of its ancestors.
const std::vector<std::string>& CallerEnvironment::of(const Caller& caller) {
  if (const auto known = known_.find(caller.connection); known != known_.end()) return known->second;
  if (known_.size() >= kMostKnown) known_.erase(known_.begin());  // the oldest connection
  return known_[caller.connection] = read(caller);
}

std::vector<std::string> CallerEnvironment::read(const Caller& caller) const {
  if (caller.pid <= 0) return {};
  // What runs in a terminal may call with any environment; it does not get more than the terminal has.
  if (const engine::Terminal* inside = core_.engine->terminal_of_process(caller.pid))
    return inside->spec().environment;
  const auto process = place::process_now(place::local(), caller.pid, place::kEnvironment);
  if (!process) return {};
  // Who the user is does not depend on the caller.
  std::vector<std::string> entries = process->environment;
  for (const std::string& ours : core_.engine->settings().our_environment) {
    const std::string_view name = name_of(ours);
    if (std::find(std::begin(kIdentity), std::end(kIdentity), name) == std::end(kIdentity)) continue;
    std::erase_if(entries, [&](const std::string& entry) { return name_of(entry) == name; });
    entries.push_back(ours);
  }
  return entries;
}

void CallerEnvironment::get(const std::vector<std::string>& callers, const std::string& cwd,
                            const std::function<void(std::vector<std::string>)>& then) {
  if (core_.settings().shell.environment != config::ShellEnvironment::Login) return then(callers);
  std::string home = "/";
  for (const std::string& entry : core_.engine->settings().our_environment) {
    if (entry.starts_with("HOME=")) home = entry.substr(5);
  }
  if (!login_) login_ = std::make_unique<LoginEnvironment>(core_.loop);
  login_->get(core_.engine->settings().shell.front(), home, cwd.empty() ? home : cwd,
              [callers, then](std::vector<std::string> made) {
                // What the login shell does not know of, a display or a proxy, is the caller's.
                for (const std::string& entry : callers) {
                  const bool known = std::any_of(made.begin(), made.end(), [&](const std::string& each) {
                    return name_of(each) == name_of(entry);
                  });
                  if (!known) made.push_back(entry);
                }
                then(std::move(made));
              });
}

}  // namespace ttyward::app
