// The sandbox of a command, from the configuration and what its caller asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/caller.h"
#include "base/result.h"
#include "config/settings.h"
#include "policy/evaluate.h"
#include "policy/verdict.h"
#include "sandbox/profile.h"
#include "terminal/result.h"

namespace ttyward::app {

enum class Asker : uint8_t { Person, Agent };
inline Asker asker_of(const Caller& caller) {
  return caller.role == Role::Person ? Asker::Person : Asker::Agent;
}

// Which profile holds. `asked` may be empty: then the configuration's holds for an agent, and none for a
// person. An agent can only ask for a stricter one than is configured.
base::Result<sandbox::Profile> choose_profile(const std::string& asked, Asker asker,
                                              const config::SandboxSettings& settings);

// Which profile to ask for where a command is tried and nobody asks for one: what it changes goes to a layer,
// so it needs a profile that confines, and not more than is configured.
std::string profile_for_try(const std::string& asked, Asker asker, const config::SandboxSettings& settings);

// The plan for a command that starts in `cwd` with this environment (NAME=value); none if it is not confined.
base::Result<std::optional<sandbox::Plan>> make_sandbox(const sandbox::Profile& profile,
                                                        const std::string& cwd,
                                                        const std::vector<std::string>& environment,
                                                        const config::SandboxSettings& settings);

struct Confined {
  std::optional<sandbox::Plan> plan;  // none: not confined
  terminal::SandboxReport report;     // what results state about it
};
// Both at once, with what a project at `cwd` makes stricter. A verdict that relies on a sandbox gets it, and
// in it what policy or a person has allowed the command to do: its effects. Null: nothing was judged.
base::Result<Confined> confine(const std::string& asked, Asker asker, const std::string& cwd,
                               const std::vector<std::string>& environment,
                               const config::SandboxSettings& settings,
                               const policy::Verdict* verdict = nullptr);

// What the terminals of an agent in this mode rely on.
policy::Verdict reliance_of(policy::Mode mode, Asker asker);

// What policy or a person has allowed a command to do becomes possible inside: its network, the files it
// reads, the files and folders it changes. A file that does not exist yet cannot be shown by itself, and its
// folder was not what was allowed, so that stays refused, and the plan's notes say so.
void grant_effects(sandbox::Plan& plan, const policy::Verdict& verdict);
// What the command does, as policy understood it, that the plan does not allow: "write /etc/x", "network
// host".
std::vector<std::string> denied_by(const sandbox::Plan& plan, const policy::Verdict& verdict);

// Whether a command with this verdict may run in a terminal with this sandbox (its profile may be empty:
// none): the terminal is confined as the verdict says, and the command needs no more than that.
bool suffices(const terminal::SandboxReport& sandbox, const policy::Verdict& verdict);

// Whether a profile was asked for that allows more than the one on which verdicts rely: then a person is
// asked as if there were no sandbox.
bool wants_more(const std::string& asked);

// Whether a command that starts in `cwd` can be confined to its workspace. `home`: of whoever runs it.
bool can_confine(const std::string& cwd, const std::string& home);

terminal::SandboxReport report_of(const sandbox::Plan& plan);

}  // namespace ttyward::app
