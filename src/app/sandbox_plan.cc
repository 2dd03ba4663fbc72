#include "app/sandbox_plan.h"

#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/folders.h"
#include "config/load.h"
#include "policy/rules.h"
#include "proxy/host.h"
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
  // What stands beside them and runs nothing.
  constexpr std::string_view kHarmless[] = {"cd", "echo", "printf", "true", "pwd", "test",
                                            "[",  "tail", "head",   "grep", "wc",  "cat"};
  const auto is_among = [](const auto& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  bool acts = false;
  for (const std::string& command : verdict.commands) {
    const std::string_view program = std::string_view(command).substr(0, command.find(' '));
    const bool redirection = program.find_first_of("<>") != std::string_view::npos;
    if (is_among(kPrograms, program)) {
      acts = true;
    } else if (!redirection && !is_among(kHarmless, program)) {
      return false;  // it would get the person's keys, too
    }
  }
  return acts;
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

bool is_this_machine(const proxy::Host& host) {
  constexpr std::string_view kLocal = "localhost";
  if (!host.address) return host.name == kLocal || host.name.ends_with("." + std::string(kLocal));
  const std::string text = host.address->text();
  return text.starts_with("127.") || text == "0.0.0.0" || text == "::1" || text == "::";
}

// The hosts that it was allowed to reach, as rules of the proxy; empty: it needs the machine's network,
// because it does not say which hosts, or does not use a proxy, or means this machine.
std::vector<std::string> hosts_of(const policy::Verdict& verdict) {
  constexpr std::string_view kNoProxy[] = {"ping", "ping6",      "nc",  "ncat", "netcat", "telnet", "dig",
                                           "host", "nslookup",   "ssh", "scp",  "sftp",   "rsync",  "mosh",
                                           "ftp",  "traceroute", "git", "nmap", "socat",  "whois",  "drill"};
  for (const std::string& command : verdict.commands) {
    const std::string_view program = std::string_view(command).substr(0, command.find(' '));
    if (std::find(std::begin(kNoProxy), std::end(kNoProxy), program) != std::end(kNoProxy)) return {};
  }
  std::vector<std::string> hosts;
  for (const policy::Effect& effect : verdict.effects) {
    if (effect.kind == EffectKind::Install) return {};
    if (effect.kind != EffectKind::Network) continue;
    std::string host = policy::host_of(effect.target);
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    const auto parsed = proxy::parse_host(host);
    if (!parsed || is_this_machine(*parsed)) return {};
    host = parsed->text() + ":*";
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
  }
  return hosts;
}

void grant_network(sandbox::Plan& plan, const policy::Verdict& verdict) {
  if (plan.network != sandbox::Network::None || !needs_network(verdict)) return;
  plan.hosts = plan.walls == sandbox::Walls::Namespaces ? hosts_of(verdict) : std::vector<std::string>();
  if (plan.hosts.empty()) {
    plan.network = sandbox::Network::Host;
    plan.notes.emplace_back("with network, because the command was allowed to use it");
    return;
  }
  plan.network = sandbox::Network::Proxy;
  std::string names;
  for (const std::string& host : plan.hosts)
    names += (names.empty() ? "" : ", ") + host.substr(0, host.size() - 2);
  plan.notes.push_back("with a proxy to " + names + ", because the command was allowed to connect to it");
}

bool is_there(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// Or on the way to it.
bool is_behind_link(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) == nullptr || path != real;
}

bool is_temporary(const std::string& path) {
  return sandbox::is_within(path, "/tmp") || sandbox::is_within(path, "/var/tmp") ||
         sandbox::is_within(path, "/dev/shm");
}

// Whether a person, or a rule of theirs, has said yes to the changes: then they are to last.
bool is_approved(const policy::Verdict& verdict) {
  if (runs_unjudged_code(verdict)) return false;
  return verdict.decision == policy::Decision::Ask || !verdict.waived.empty();
}

bool changes_file(const policy::Effect& effect) {
  return (effect.kind == EffectKind::Write || effect.kind == EffectKind::Delete) && is_path(effect.target);
}

// A change that was approved, and that would be made in a private folder and be gone at the end. Temporary
// files that do not exist are expected to be private.
bool would_be_lost(const sandbox::Plan& plan, const policy::Effect& effect) {
  if (!changes_file(effect) || plan.keeps(effect.target) || !plan.writes(effect.target)) return false;
  const bool at_home = !plan.home.empty() && sandbox::is_within(effect.target, plan.home);
  return at_home || !is_temporary(effect.target) || is_there(effect.target);
}

// What git keeps in the repository's configuration: remotes, settings, what branches follow.
bool writes_git_config(const std::string& command) {
  constexpr std::string_view kWriting[] = {
      "git remote add ",          "git remote set-url ", "git remote rename ",  "git remote remove ",
      "git remote rm ",           "git branch -u ",      "git branch --set-up", "git push -u ",
      "git push --set-upstream ", "git submodule add ",  "git config "};
  const bool reads =
      command.find(" --get") != std::string::npos || command.find(" --list") != std::string::npos ||
      command.find(" -l") != std::string::npos || command.find(" --global") != std::string::npos ||
      std::count(command.begin(), command.end(), ' ') < 3;
  return std::any_of(std::begin(kWriting), std::end(kWriting), [&](std::string_view begin) {
    return command.starts_with(begin) && !(begin == "git config " && reads);
  });
}

bool is_own(const std::string& path) {
  const std::vector<std::string> own = own_folders();
  return std::any_of(own.begin(), own.end(), [&](const std::string& folder) {
    return sandbox::is_within(path, folder) || sandbox::is_within(folder, path);
  });
}

void grant_change(sandbox::Plan& plan, const policy::Effect& effect, bool approved) {
  const std::string& path = effect.target;
  if (is_own(path)) return;
  // A key that is hidden, or a control file that is protected, at this very path. What lies in such a folder
  // is mounted upon it.
  if (approved && std::erase(plan.read_only, path) > 0 && plan.keeps(path)) {
    plan.notes.push_back("with " + path + " not protected, because the command was allowed to change it");
    return;
  }
  if (!is_there(path) || is_behind_link(path)) {
    plan.notes.push_back(path + (is_there(path) ? " is a link" : " does not exist") +
                         ", and only files and folders that exist can be made writable in a sandbox: the "
                         "command cannot change it");
    return;
  }
  if (approved) std::erase(plan.hidden, path);
  plan.entries.push_back({path, sandbox::Entry::Access::Write, true, {}, {}});
  plan.notes.push_back("with " + path + " writable, because the command was allowed to change it");
  if (effect.kind == EffectKind::Delete)
    plan.notes.push_back(path + " itself cannot be removed in a sandbox, only what is in it");
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
  request.variables = environment;
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

void grant_effects(sandbox::Plan& plan, const policy::Verdict& verdict) {
  grant_network(plan, verdict);
  const bool unjudged = runs_unjudged_code(verdict);
  for (const policy::Effect& effect : verdict.effects) {
    switch (effect.kind) {
      case EffectKind::Write:
      case EffectKind::Delete:
        if (changes_file(effect) &&
            (!plan.writes(effect.target) || (is_approved(verdict) && would_be_lost(plan, effect))))
          grant_change(plan, effect, is_approved(verdict));
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
  const std::string config = plan.workspace + "/.git/config";
  if (!plan.writes(config) && plan.writes(plan.workspace) &&
      std::any_of(verdict.commands.begin(), verdict.commands.end(), writes_git_config))
    denied.push_back("write " + config + " (protected; run the command without a sandbox)");
  for (const policy::Effect& effect : verdict.effects) {
    const bool network =
        effect.kind == EffectKind::Network || (effect.kind == EffectKind::Install && needs_network(verdict));
    if (network && plan.network == sandbox::Network::None)
      denied.push_back("network" + (effect.target.empty() ? "" : " " + effect.target));
    if (changes_file(effect) && !plan.writes(effect.target) && (effect.target != config || denied.empty())) {
      denied.push_back("write " + effect.target);
    } else if (would_be_lost(plan, effect) && (is_approved(verdict) || is_there(effect.target))) {
      denied.push_back("write " + effect.target + " (what is written goes to a private folder and is lost)");
    }
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

bool suffices(const terminal::SandboxReport& sandbox, const policy::Verdict& verdict) {
  if (verdict.sandbox.empty()) return true;
  const auto relied_on = sandbox::profile_named(verdict.sandbox);
  const auto has = sandbox::profile_named(sandbox.profile);
  if (!relied_on || !has || !sandbox::is_as_strict(*has, *relied_on)) return false;
  // Allowed for more than the terminal has.
  for (const policy::Effect& effect : verdict.effects)
    if (is_approved(verdict) && changes_file(effect) && !is_temporary(effect.target) &&
        !sandbox.workspace.empty() && !sandbox::is_within(effect.target, sandbox.workspace))
      return false;
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
  report.notes = sandbox::notes_of(plan);
  return report;
}

}  // namespace ttyward::app
