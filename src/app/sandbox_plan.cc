#include "app/sandbox_plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/folders.h"
#include "config/load.h"
#include "pty/sandbox_works.h"
#include "sandbox/prepare.h"

namespace ttyward::app {

using policy::EffectKind;

namespace {

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

sandbox::Profile configured(const config::SandboxSettings& settings) {
  return sandbox::profile_named(config::kSandboxProfiles[static_cast<size_t>(settings.profile)])
      .value_or(sandbox::Profile{});
}

sandbox::Settings sandbox_settings(const config::SandboxSettings& from) {
  sandbox::Settings made;
  made.readable = from.readable;
  made.writable = from.writable;
  made.hidden = from.hidden;
  made.unprotected = from.unprotected;
  made.hosts = from.hosts;
  made.limits.memory = static_cast<uint64_t>(from.memory);
  made.limits.processes = static_cast<uint64_t>(from.processes);
  made.limits.file_size = static_cast<uint64_t>(from.file_size);
  made.limits.open_files = static_cast<uint64_t>(from.open_files);
  made.limits.cpu_seconds = static_cast<uint64_t>(from.cpu_time.count() / 1000);
  made.limits.scratch = static_cast<uint64_t>(from.scratch);
  return made;
}

bool is_path(const std::string& target) {
  return target.starts_with("/") && target.find_first_of("*?[\n") == std::string::npos;
}

// A person has allowed a command that acts with the person's keys or rights, which a sandbox hides from it.
bool acts_as_person(const policy::Verdict& verdict) {
  if (verdict.decision != policy::Decision::Ask) return false;
  constexpr std::string_view kPrograms[] = {"git",  "ssh",    "scp",    "sftp",    "rsync", "gh",     "sudo",
                                            "doas", "docker", "podman", "kubectl", "aws",   "gcloud", "az"};
  return std::any_of(verdict.commands.begin(), verdict.commands.end(), [&](const std::string& command) {
    const std::string_view program = std::string_view(command).substr(0, command.find(' '));
    return std::find(std::begin(kPrograms), std::end(kPrograms), program) != std::end(kPrograms);
  });
}

std::vector<std::string> own_folders() {
  const base::Folders folders = base::user_folders();
  return {folders.state, folders.sockets(), folders.holders(), folders.config};
}

// Allowed without a person's answer, and a part of it only because the sandbox contains whatever it does:
// what another part of the line may use, this part must not get.
bool runs_unjudged_code(const policy::Verdict& verdict) {
  return verdict.decision == policy::Decision::Allow &&
         std::any_of(verdict.waived.begin(), verdict.waived.end(), [](const policy::Waived& each) {
           return each.rule == "mode auto" || each.rule == "sandbox";
         });
}

bool is_file(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// Whether it was allowed to use the network. What only a sandbox without network made harmless was not.
bool needs_network(const policy::Verdict& verdict) {
  if (runs_unjudged_code(verdict)) return false;
  const bool asked = verdict.decision == policy::Decision::Ask;  // and a person said yes
  const bool by_rule = std::any_of(
      verdict.waived.begin(), verdict.waived.end(),
      [](const policy::Waived& each) { return each.rule != "mode auto" && each.rule != "sandbox"; });
  return std::any_of(verdict.effects.begin(), verdict.effects.end(), [&](const policy::Effect& effect) {
    return effect.kind == EffectKind::Network || (effect.kind == EffectKind::Install && (asked || by_rule));
  });
}

}  // namespace

base::Result<sandbox::Profile> choose_profile(const std::string& asked, Asker asker,
                                              const config::SandboxSettings& settings) {
  const sandbox::Profile usual = configured(settings);
  if (asked.empty()) return asker == Asker::Agent ? usual : sandbox::Profile{};
  const auto wanted = sandbox::profile_named(asked);
  if (!wanted) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "there is no sandbox '" + asked + "': use " + sandbox::profile_names());
  }
  // An image is a choice of programs, which is a person's.
  const bool foreign_image = !wanted->image.empty() && *wanted != usual;
  if (asker == Asker::Agent && (foreign_image || !sandbox::is_as_strict(*wanted, usual))) {
    return base::fail(base::ErrorCode::PermissionDenied,
                      "the sandbox of agents here is " + sandbox::profile_name(usual) +
                          ": an agent can only ask for a stricter one, not for " + asked);
  }
  return *wanted;
}

std::string profile_for_try(const std::string& asked, Asker asker, const config::SandboxSettings& settings) {
  if (!asked.empty()) return asked;
  return asker == Asker::Agent && configured(settings).confines() ? "" : "workspace";
}

base::Result<std::optional<sandbox::Plan>> make_sandbox(const sandbox::Profile& profile,
                                                        const std::string& cwd,
                                                        const std::vector<std::string>& environment,
                                                        const config::SandboxSettings& settings) {
  if (!profile.confines()) return std::optional<sandbox::Plan>();
  sandbox::PlanRequest request;
  request.profile = profile;
  request.home = value_of(environment, "HOME");
  if (const char* home = std::getenv("HOME"); request.home.empty() && home != nullptr) request.home = home;
  request.directory = cwd.empty() ? request.home : cwd;
  request.path = value_of(environment, "PATH");
  if (const char* path = std::getenv("PATH"); request.path.empty() && path != nullptr) request.path = path;
  request.own_folders = own_folders();
  request.settings = sandbox_settings(settings);
  if (!profile.image.empty()) {
    const char* const engine = std::getenv("TTYWARD_SANDBOX");
    if (engine != nullptr && (std::string_view(engine) == "podman" || std::string_view(engine) == "docker"))
      request.engine = engine;
    const char* const options = std::getenv("TTYWARD_SANDBOX_FLAGS");
    std::istringstream words(options != nullptr ? options : "");
    for (std::string word; words >> word;) request.engine_options.push_back(word);
  }
  auto plan = sandbox::make_plan(request);
  if (!plan) return tl::unexpected(plan.error());
  return std::optional<sandbox::Plan>(std::move(*plan));
}

// What policy or a person has allowed a command to do is possible inside: its network, the files it reads,
// the folders it writes. A file that does not exist yet cannot be shown by itself, and its folder was not
// what was allowed, so that stays refused.
void grant_effects(sandbox::Plan& plan, const policy::Verdict& verdict) {
  if (plan.network == sandbox::Network::None && needs_network(verdict)) {
    plan.network = sandbox::Network::Host;
    plan.notes.emplace_back("with network, because the command was allowed to use it");
  }
  const bool unjudged = runs_unjudged_code(verdict);
  for (const policy::Effect& effect : verdict.effects) {
    switch (effect.kind) {
      case EffectKind::Write:
      case EffectKind::Delete:
        if (is_path(effect.target) && !plan.writes(effect.target)) {
          plan.entries.push_back({effect.target, sandbox::Entry::Access::Write, true, {}, {}});
          plan.notes.push_back("with " + effect.target +
                               " writable, because the command was allowed to change it");
        }
        break;
      case EffectKind::Read:
      case EffectKind::List:
        // A folder shows everything below it, and sockets can be connected to.
        if (unjudged && !is_file(effect.target)) break;
        if (is_path(effect.target) && effect.target != "/" && !plan.shows(effect.target))
          plan.entries.push_back({effect.target, sandbox::Entry::Access::Read, true, {}, {}});
        break;
      default:
        break;
    }
  }
}

std::vector<std::string> denied_by(const sandbox::Plan& plan, const policy::Verdict& verdict) {
  std::vector<std::string> denied;
  for (const policy::Effect& effect : verdict.effects) {
    const bool network =
        effect.kind == EffectKind::Network || (effect.kind == EffectKind::Install && needs_network(verdict));
    if (network && plan.network == sandbox::Network::None)
      denied.push_back("network" + (effect.target.empty() ? "" : " " + effect.target));
    const bool write = effect.kind == EffectKind::Write || effect.kind == EffectKind::Delete;
    if (write && is_path(effect.target) && !plan.writes(effect.target))
      denied.push_back("write " + effect.target);
    if (effect.kind == EffectKind::Read && is_path(effect.target) && !plan.shows(effect.target) &&
        !plan.writes(effect.target))
      denied.push_back("read " + effect.target);
  }
  return denied;
}

base::Result<Confined> confine(const std::string& asked, Asker asker, const std::string& cwd,
                               const std::vector<std::string>& environment,
                               const config::SandboxSettings& settings, const policy::Verdict* verdict) {
  config::Loaded there;
  there.settings.sandbox = settings;
  if (asker == Asker::Agent && !cwd.empty()) config::tighten_for_project(there, cwd);
  auto profile = choose_profile(asked, asker, there.settings.sandbox);
  if (!profile) return tl::unexpected(profile.error());
  const bool judged = verdict != nullptr && !verdict->sandbox.empty();
  if (judged) {
    const auto relied_on = sandbox::profile_named(verdict->sandbox);
    if (relied_on && !acts_as_person(*verdict)) profile = sandbox::stricter(*profile, *relied_on);
  }
  Confined confined;
  auto plan = make_sandbox(*profile, cwd, environment, there.settings.sandbox);
  if (!plan) return tl::unexpected(plan.error());
  confined.plan = std::move(*plan);
  if (!confined.plan) return confined;
  if (judged) grant_effects(*confined.plan, *verdict);
  confined.report = report_of(*confined.plan);
  if (verdict != nullptr) confined.report.denied = denied_by(*confined.plan, *verdict);
  return confined;
}

policy::Verdict reliance_of(policy::Mode mode, Asker asker) {
  policy::Verdict made;
  if (mode == policy::Mode::Auto && asker == Asker::Agent) made.sandbox = "workspace";
  return made;
}

bool suffices(const std::string& profile, const policy::Verdict& verdict) {
  if (verdict.sandbox.empty()) return true;
  const auto relied_on = sandbox::profile_named(verdict.sandbox);
  const auto has = sandbox::profile_named(profile);
  if (!relied_on || !has || !sandbox::is_as_strict(*has, *relied_on)) return false;
  // Allowed for more than the terminal has.
  return !acts_as_person(verdict) && !needs_network(verdict);
}

bool wants_more(const std::string& asked) {
  const auto profile = sandbox::profile_named(asked);
  return profile && !sandbox::is_as_strict(*profile, {sandbox::Profile::Kind::Workspace, {}, {}});
}

bool can_confine(const std::string& cwd, const std::string& home) {
  const auto workspace = sandbox::find_workspace(cwd, home);
  return workspace && !sandbox::is_in_own_folder(*workspace, own_folders()) && pty::sandbox_works();
}

terminal::SandboxReport report_of(const sandbox::Plan& plan) {
  terminal::SandboxReport report;
  report.profile = plan.profile;
  report.workspace = plan.workspace;
  report.layers = sandbox::layers_of(plan);
  report.notes = plan.notes;
  return report;
}

}  // namespace ttyward::app
