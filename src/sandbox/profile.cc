#include "sandbox/profile.h"

#include <limits.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/path.h"
#include "sandbox/control_files.h"
#include "sandbox/control_group.h"
#include "sandbox/home.h"
#include "sandbox/repository.h"
#include "sandbox/stand_in.h"

namespace ttyward::sandbox {
namespace {

using Access = Entry::Access;

constexpr std::string_view kWeaker = "-landlock";
constexpr std::string_view kContainer = "container:";

struct Name {
  std::string_view name;
  Profile::Kind kind;
};
constexpr Name kNames[] = {{"read-only", Profile::Kind::ReadOnly},
                           {"workspace", Profile::Kind::Workspace},
                           {"workspace+net", Profile::Kind::WorkspaceNet},
                           {"none", Profile::Kind::None}};

// What programs need of the system. A new folder at the top is invisible until somebody lists it.
constexpr auto kSystem = std::to_array<const char*>(
    {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store",
     "/nix/var/nix/profiles", "/gnu/store", "/snap", "/var/lib/dpkg", "/var/lib/rpm", "/var/lib/pacman/local",
     "/var/lib/apt/lists", "/var/cache/fontconfig", "/sys/devices/system", "/sys/fs/cgroup",
     // Not the folder: name lookup answers at a socket there.
     "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/run/current-system"});

// Secrets of the system. Ordinary users cannot read most of them; a command of root's could.
constexpr auto kSecrets = std::to_array<const char*>({"/etc/shadow",
                                                      "/etc/shadow-",
                                                      "/etc/gshadow",
                                                      "/etc/gshadow-",
                                                      "/etc/sudoers",
                                                      "/etc/sudoers.d",
                                                      "/etc/ssl/private",
                                                      "/etc/pki/tls/private",
                                                      "/etc/ssh",
                                                      "/etc/krb5.keytab",
                                                      "/etc/NetworkManager/system-connections",
                                                      "/etc/wireguard",
                                                      "/etc/openvpn",
                                                      "/etc/letsencrypt",
                                                      "/etc/docker",
                                                      "/etc/kubernetes",
                                                      "/etc/rancher",
                                                      "/etc/security/opasswd",
                                                      "/etc/netplan",
                                                      "/etc/cni"});

constexpr uint64_t kDefaultFileSize = uint64_t{8} << 30;
constexpr uint64_t kDefaultOpenFiles = 16384;
constexpr uint64_t kDefaultCpuSeconds = 24 * 3600;

std::string canonical(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : std::string();
}

bool is_link(const char* path) {
  struct stat about{};
  return ::lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

std::string expanded(const std::string& path, const std::string& home) {
  if (path == "~") return home;
  if (path.starts_with("~/")) return home + path.substr(1);
  return path;
}

void show(Plan& plan, const std::string& path, Access access) {
  const std::string real = canonical(path);
  if (real.empty() || real == "/") return;
  Entry entry;
  entry.path = real;
  entry.access = access;
  plan.entries.push_back(std::move(entry));
}

void add_system(Plan& plan) {
  // Those that are links are skipped when they are opened; what they lead to is in the list, too.
  for (const char* path : kSystem) {
    Entry entry;
    entry.path = path;
    plan.entries.push_back(std::move(entry));
  }
  // A link that leads out of what is visible, as systemd's resolv.conf does.
  for (const char* path : {"/etc/resolv.conf", "/etc/localtime", "/etc/mtab"}) {
    const std::string real = is_link(path) ? canonical(path) : std::string();
    if (!real.empty() && !real.starts_with("/proc/") && !plan.shows(real)) show(plan, real, Access::Read);
  }
}

// Others than root cannot read them anyway.
void hide_system_secrets(Plan& plan) {
  if (!plan.run_as || plan.run_as->user != 0) return;
  for (const char* path : kSecrets) plan.hidden.emplace_back(path);
}

Limits limits_for(const Settings& settings) {
  Limits limits = settings.limits;
  if (limits.processes == 0) limits.processes = Limits{}.processes;
  if (limits.scratch == 0) limits.scratch = Limits{}.scratch;
  if (limits.file_size == 0) limits.file_size = kDefaultFileSize;
  if (limits.open_files == 0) limits.open_files = kDefaultOpenFiles;
  if (limits.cpu_seconds == 0) limits.cpu_seconds = kDefaultCpuSeconds;
  struct sysinfo machine{};
  if (settings.unlimited_memory) {
    limits.memory = 0;
  } else if (limits.memory == 0 && ::sysinfo(&machine) == 0) {
    limits.memory = static_cast<uint64_t>(machine.totalram) * machine.mem_unit / 4 * 3;
  }
  return limits;
}

// A command of root's runs as the owner of its workspace.
base::Result<void> choose_user(Plan& plan) {
  if (::geteuid() != 0) return {};
  struct stat about{};
  if (::stat(plan.workspace.c_str(), &about) != 0)
    return base::fail_errno(errno, "the sandbox cannot look at " + plan.workspace);
  plan.run_as = Identity{about.st_uid, about.st_gid, false};
  if (about.st_uid != 0) return {};
  if (plan.walls == Walls::Landlock) {
    return base::fail(base::ErrorCode::Unsupported,
                      "Landlock alone cannot confine root, who may change the mode of every file, and " +
                          plan.workspace +
                          " belongs to root; the command was not run. Give the folder to another user "
                          "(chown), as whom its commands then run, or use a profile with namespaces");
  }
  if (plan.walls == Walls::Container) return {};
  plan.run_as->stand_in = can_stand_in(plan.workspace, about.st_gid);
  if (!plan.run_as->stand_in) plan.notes.emplace_back(kRunsAsRoot);
  return {};
}

bool is_program(const std::string& name, const std::string& path) {
  for (std::string_view rest = path; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string file = std::string(rest.substr(0, end)) + "/" + name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Programs keep keys, settings and what they start by themselves there; a command that may write the whole
// folder could change them.
constexpr auto kNoProjects = std::to_array<std::string_view>(
    {".git", ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".config", ".local", ".cache", ".claude", ".codex",
     ".cursor", ".gemini", ".windsurf", ".vscode", ".idea", ".devcontainer", ".github"});

bool lies_in_no_project(const std::string& workspace, const std::string& home) {
  if (!home.empty() && workspace.starts_with(home + "/.")) return true;
  if (!home.empty() && is_within(workspace, home + "/bin")) return true;
  for (size_t at = 0; at < workspace.size();) {
    const size_t end = std::min(workspace.find('/', at + 1), workspace.size());
    const std::string_view part = std::string_view(workspace).substr(at + 1, end - at - 1);
    if (std::find(kNoProjects.begin(), kNoProjects.end(), part) != kNoProjects.end()) return true;
    at = end;
  }
  return false;
}

// A repository without a working folder: its hooks and its configuration stand there unprotected.
bool is_bare_repository(const std::string& workspace) {
  const auto has = [&](const char* name) { return ::access((workspace + name).c_str(), F_OK) == 0; };
  return has("/HEAD") && has("/objects") && has("/refs");
}

std::string home_of(uid_t user) {
  constexpr size_t kMost = 16 * 1024;
  std::string buffer(kMost, '\0');
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  const std::string home = found->pw_dir != nullptr ? canonical(found->pw_dir) : std::string();
  return home == "/" ? std::string() : home;
}

// The home folders whose keys are at stake: HOME may be unset, or name another folder.
std::vector<std::string> homes_around(const std::string& workspace, const std::string& home) {
  std::vector<std::string> homes = {home, home_of(::geteuid())};
  struct stat about{};
  if (::stat(workspace.c_str(), &about) == 0 && about.st_uid != ::geteuid())
    homes.push_back(home_of(about.st_uid));
  std::erase(homes, "");
  return homes;
}

base::Result<void> check_workspace(const std::string& workspace, const std::string& home,
                                   const std::string& asked) {
  const auto refuse = [&](const std::string& why) {
    return base::fail(base::ErrorCode::InvalidArgument, "the sandbox cannot use " + asked +
                                                            " as its workspace: " + why +
                                                            ". Start in the folder of a project");
  };
  if (workspace.empty()) return refuse("it does not exist");
  if (workspace == "/") return refuse("it is the whole machine");
  for (const std::string& each : homes_around(workspace, home)) {
    if (is_within(each, workspace)) return refuse("it contains the home folder " + each + " with its keys");
    if (lies_in_no_project(workspace, each)) return refuse("programs keep their settings and keys there");
  }
  for (const char* system :
       {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/boot"})
    if (is_within(workspace, system)) return refuse("it belongs to the system");
  for (const char* whole : {"/tmp", "/var/tmp", "/var", "/run", "/home", "/opt", "/srv", "/mnt"})
    if (workspace == whole) return refuse("it is shared with other programs");
  if (is_within(workspace, "/run") || is_within(workspace, "/var/run"))
    return refuse("programs that run meet there");
  if (lies_in_no_project(workspace, {})) return refuse("programs keep their settings and keys there");
  if (is_bare_repository(workspace)) return refuse("it is a repository without a working folder");
  return {};
}

void choose_groups(Plan& plan) {
  const GroupPlaces places = find_group_places();
  plan.groups.memory = !places.memory.empty() && plan.limits.memory != 0;
  plan.groups.processes = !places.processes.empty() && plan.limits.processes != 0;
}

// Landlock allows a folder with everything in it. So a folder with something hidden in it is not shown at
// all, and a workspace with something hidden in it is refused.
base::Result<void> leave_out_hidden(Plan& plan) {
  if (plan.walls != Walls::Landlock) return {};
  const auto has_hidden = [&](const Entry& entry) {
    return std::any_of(plan.hidden.begin(), plan.hidden.end(), [&](const std::string& hidden) {
      return ::access(hidden.c_str(), F_OK) == 0 &&
             (is_within(hidden, entry.path) || is_within(entry.path, hidden));
    });
  };
  const auto kept = [&](const Entry& entry) { return !entry.optional && has_hidden(entry); };
  if (const auto found = std::find_if(plan.entries.begin(), plan.entries.end(), kept);
      found != plan.entries.end()) {
    return base::fail(base::ErrorCode::Unsupported,
                      "Landlock alone cannot hide a part of " + found->path +
                          ", and sandbox.hidden names one; the command was not run. Use a profile with "
                          "namespaces, or move what is hidden out of the folder");
  }
  std::erase_if(plan.entries, has_hidden);
  return {};
}

void add_workspace(Plan& plan, const PlanRequest& request, const std::string& directory) {
  const bool writable = request.profile.kind != Profile::Kind::ReadOnly;
  Entry workspace;
  workspace.path = plan.workspace;
  workspace.access = writable ? Access::Write : Access::Read;
  workspace.optional = false;
  plan.entries.push_back(workspace);
  add_repository(plan, writable);
  if (writable) protect_control_files(plan, directory, request.settings.unprotected);
}

}  // namespace

std::optional<Profile> profile_named(std::string_view name) {
  Profile profile;
  if (name.starts_with(kContainer)) {
    name.remove_prefix(kContainer.size());
    const bool good = !name.empty() && name.front() != '-' &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
    if (!good) return std::nullopt;
    return Profile{Profile::Kind::Workspace, Walls::Container, std::string(name)};
  }
  if (name.ends_with(kWeaker)) {
    profile.walls = Walls::Landlock;
    name.remove_suffix(kWeaker.size());
    if (name == "none") return std::nullopt;
  }
  for (const Name& known : kNames) {
    if (known.name != name) continue;
    profile.kind = known.kind;
    return profile;
  }
  return std::nullopt;
}

std::string profile_name(const Profile& profile) {
  if (!profile.image.empty()) return std::string(kContainer) + profile.image;
  for (const Name& known : kNames) {
    if (known.kind != profile.kind) continue;
    const bool weaker = profile.walls == Walls::Landlock && profile.confines();
    return std::string(known.name) + std::string(weaker ? kWeaker : "");
  }
  return {};
}

std::string profile_names() {
  return "read-only, workspace, workspace+net, none, read-only-landlock, workspace-landlock, "
         "workspace+net-landlock, container:IMAGE";
}

bool is_as_strict(const Profile& a, const Profile& b) {
  if (!b.confines() || a == b) return true;
  if (!b.image.empty()) return false;
  if (!a.image.empty()) return a.kind <= b.kind;
  return a.kind <= b.kind && (a.walls == Walls::Namespaces || b.walls == Walls::Landlock);
}

Profile stricter(const Profile& a, const Profile& b) {
  if (!a.confines()) return b;
  if (!b.confines()) return a;
  if (!a.image.empty() || !b.image.empty()) return a.image.empty() ? b : a;
  return {std::min(a.kind, b.kind), std::min(a.walls, b.walls), {}};
}

base::Result<std::string> find_workspace(const std::string& directory, const std::string& home) {
  const std::string real_home = canonical(home);
  const std::string asked = workspace_of(canonical(directory), real_home);
  std::string workspace = canonical(asked);
  if (auto checked = check_workspace(workspace, real_home, asked); !checked)
    return tl::unexpected(checked.error());
  return workspace;
}

bool is_in_own_folder(const std::string& folder, const std::vector<std::string>& own) {
  return std::any_of(own.begin(), own.end(), [&](const std::string& each) {
    const std::string real = canonical(each);
    return !real.empty() && is_within(folder, real);
  });
}

base::Result<Plan> make_plan(const PlanRequest& request) {
  Plan plan;
  plan.profile = profile_name(request.profile);
  plan.walls = request.profile.walls;
  const std::string home = canonical(request.home);
  const std::string directory = canonical(request.directory);
  if (directory.empty()) {
    return base::fail(base::ErrorCode::NotFound, "the folder " + request.directory + " does not exist");
  }
  const std::string asked = request.workspace.empty() ? workspace_of(directory, home) : request.workspace;
  plan.workspace = canonical(asked);
  if (auto checked = check_workspace(plan.workspace, home, asked); !checked)
    return tl::unexpected(checked.error());
  if (is_in_own_folder(plan.workspace, request.own_folders)) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the sandbox cannot use " + asked +
                          " as its workspace: it belongs to ttyward. Start in the folder of a project");
  }
  const bool container = plan.walls == Walls::Container;
  if (container) {
    plan.image = request.profile.image;
    plan.engine_options = request.engine_options;
    plan.engine = request.engine;
    if (plan.engine.empty()) plan.engine = is_program("podman", request.path) ? "podman" : "docker";
    if (!is_program(plan.engine, request.path)) {
      return base::fail(base::ErrorCode::Unsupported,
                        "the profile " + plan.profile + " needs podman or docker, and " + plan.engine +
                            " is not there; the command was not run. Install one, or choose another profile");
    }
    if (plan.workspace.find(':') != std::string::npos)
      return base::fail(base::ErrorCode::InvalidArgument,
                        plan.workspace + " has a colon in its name, and cannot be mounted in a container");
  }
  if (!container) add_system(plan);
  plan.home = home == "/" ? std::string() : home;
  const std::string named = base::normalize_path(request.home);
  if (!plan.home.empty() && named != home && named.starts_with("/")) plan.home_link = named;
  if (!container) add_home(plan, request.path);
  for (const std::string& path : request.settings.readable) show(plan, expanded(path, home), Access::Read);
  add_workspace(plan, request, directory);
  const bool writes = request.profile.kind != Profile::Kind::ReadOnly;
  for (const std::string& path : request.settings.writable)
    show(plan, expanded(path, home), writes ? Access::Write : Access::Read);
  for (const std::string& path : request.settings.hidden) plan.hidden.push_back(expanded(path, home));
  for (const std::string& folder : request.own_folders) {
    const std::string real = canonical(folder);
    if (!real.empty()) plan.hidden.push_back(real);
  }
  plan.entries.insert(plan.entries.end(), request.also.begin(), request.also.end());
  if (!container) add_tools_elsewhere(plan, request.path, request.variables);
  if (request.profile.kind == Profile::Kind::WorkspaceNet) {
    plan.network = request.settings.hosts.empty() ? Network::Host : Network::Proxy;
    plan.hosts = request.settings.hosts;
  }
  plan.limits = limits_for(request.settings);
  if (!container) choose_groups(plan);
  if (auto possible = leave_out_hidden(plan); !possible) return tl::unexpected(possible.error());
  if (auto chosen = choose_user(plan); !chosen) return tl::unexpected(chosen.error());
  hide_system_secrets(plan);
  return plan;
}

}  // namespace ttyward::sandbox
