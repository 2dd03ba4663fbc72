// The sandbox, tried out: a small program in each profile looks at itself.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/doctor/check.h"
#include "cli/doctor/probe.h"
#include "pty/spawn.h"
#include "sandbox/prepare.h"
#include "sandbox/profile.h"

namespace ttyward::cli::doctor {
namespace {

// One line for each layer that holds. OUTER_IPC is the IPC namespace of this process.
constexpr const char* kLook = R"look(
touch inside 2>/dev/null && echo workspace
touch /etc/ttyward-doctor 2>/dev/null || echo view of files
[ "$(ls /proc | grep -c '^[0-9]')" -lt 8 ] && echo process namespace
[ "$(grep -c : /proc/net/dev)" = 1 ] && echo network namespace
[ "$(readlink /proc/self/ns/ipc)" != "$OUTER_IPC" ] && echo ipc namespace
[ "$(ulimit -c)" = 0 ] && [ "$(ulimit -f)" != unlimited ] && [ "$(ulimit -t)" != unlimited ] && echo limits
grep -q /ttyward- /proc/self/cgroup && echo cgroup
grep -q '^Seccomp:.*2' /proc/self/status && echo seccomp
grep -q '^NoNewPrivs:.*1' /proc/self/status && echo no new privileges
grep -q '^CapEff:.*0000000000000000' /proc/self/status && echo no capabilities
)look";

class Folder {
 public:
  Folder() {
    for (std::string path : {"/tmp/ttyward-doctor-XXXXXX", "/var/tmp/ttyward-doctor-XXXXXX"}) {
      if (::mkdtemp(path.data()) == nullptr) continue;
      path_ = path;
      break;
    }
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_until_end(pty::Spawned& spawned) {
  std::string text;
  char buffer[1024];
  const auto deadline = std::chrono::steady_clock::now() + kProbePatience;
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd wait{spawned.stdout_fd.get(), POLLIN, 0};
    ::poll(&wait, 1, 100);
    const ssize_t got = ::read(spawned.stdout_fd.get(), buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got == 0) break;
  }
  return text;
}

// Landlock is what stops this in a profile that has no other wall around files.
constexpr const char* kLookAtLandlock = R"look(
touch stopped 2>/dev/null || echo landlock
)look";

constexpr const char* kLookAtOverlay = R"look(
touch on-the-layer && echo overlay
)look";

std::string ipc_namespace() {
  char name[64];
  const ssize_t length = ::readlink("/proc/self/ns/ipc", name, sizeof name);
  return length > 0 ? std::string(name, static_cast<size_t>(length)) : std::string();
}

// What holds inside; or why nothing was run.
base::Result<std::string> look_inside(const char* profile, const std::string& folder,
                                      const char* script = kLook, const std::string& layer = {}) {
  sandbox::PlanRequest request;
  request.profile = sandbox::profile_named(profile).value_or(sandbox::Profile{});
  request.directory = folder;
  const char* const home = std::getenv("HOME");
  request.home = home != nullptr ? home : "";
  auto plan = sandbox::make_plan(request);
  if (!plan) return tl::unexpected(plan.error());
  for (sandbox::Entry& entry : plan->entries) {
    if (layer.empty() || entry.path != plan->workspace) continue;
    entry.access = sandbox::Entry::Access::Overlay;
    entry.upper = layer + "/upper";
    entry.work = layer + "/work";
  }
  pty::SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.cwd = folder;
  spec.environment = probe_environment();
  spec.environment.push_back("OUTER_IPC=" + ipc_namespace());
  spec.provider = pty::Provider::Pipe;
  spec.sandbox = std::move(*plan);
  auto spawned = pty::spawn(spec);
  if (!spawned) return tl::unexpected(spawned.error().error);
  std::string seen = read_until_end(*spawned);
  end_probe(spawned->child);
  return seen;
}

std::string listed(const std::string& lines) {
  std::string out;
  for (const char c : lines) out += c == '\n' ? std::string(", ") : std::string(1, c);
  return out.size() > 2 ? out.substr(0, out.size() - 2) : out;
}

bool has_line(const std::string& lines, const std::string& line) {
  return ("\n" + lines).find("\n" + line + "\n") != std::string::npos;
}

// As an ordinary user's folder: Landlock alone is not for root.
bool landlock_holds() {
  const Folder folder;
  constexpr uid_t kNobody = 65534;
  if (folder.path().empty()) return false;
  if (::geteuid() == 0 && ::chown(folder.path().c_str(), kNobody, kNobody) != 0) return false;
  const auto seen = look_inside("read-only-landlock", folder.path(), kLookAtLandlock);
  return seen && has_line(*seen, "landlock");
}

// Whether changes go to a layer, as `ttyward try` needs it.
bool overlay_holds() {
  const Folder folder;
  const Folder layer;
  std::error_code failed;
  for (const char* part : {"/upper", "/work"}) std::filesystem::create_directory(layer.path() + part, failed);
  if (folder.path().empty() || layer.path().empty() || failed) return false;
  const auto seen = look_inside("workspace", folder.path(), kLookAtOverlay, layer.path());
  return seen && has_line(*seen, "overlay") &&
         std::filesystem::exists(layer.path() + "/upper/on-the-layer") &&
         !std::filesystem::exists(folder.path() + "/on-the-layer");
}

// What a sandbox has beside its walls, where the machine can: told, not required.
std::vector<Finding> check_extras(const std::string& seen) {
  std::vector<Finding> findings;
  findings.push_back(
      landlock_holds()
          ? Finding{Level::Ok, "Landlock was tried and holds", ""}
          : Finding{Level::Warn, "Landlock does not hold here: sandboxes lack their second wall around files",
                    "use a kernel with Landlock (lsm=landlock,… on its command line)"});
  findings.push_back(
      overlay_holds()
          ? Finding{Level::Ok, "a layer over a workspace was tried: ttyward try works", ""}
          : Finding{Level::Warn, "no layer can be put over a workspace: ttyward try does not work",
                    "use Linux 5.11 or later with overlayfs, and a state folder that is not on an overlay"});
  if (!has_line(seen, "cgroup")) {
    findings.push_back({Level::Warn, "no cgroup can be made: memory is limited for each process of a sandbox",
                        "run as root, or in a systemd user session that delegates memory and pids"});
  }
  return findings;
}

}  // namespace

std::vector<Finding> check_sandbox(const Context&) {
  const Folder folder;
  if (folder.path().empty()) return {{Level::Warn, "no folder could be made to try the sandbox in", ""}};
  const auto whole = look_inside("workspace", folder.path());
  if (whole) {
    std::string missing;
    for (const char* layer : {"workspace", "view of files", "process namespace", "network namespace",
                              "ipc namespace", "limits", "seccomp", "no new privileges", "no capabilities"}) {
      if (!has_line(*whole, layer)) missing += std::string(missing.empty() ? "" : ", ") + layer;
    }
    if (missing.empty()) {
      std::vector<Finding> findings = check_extras(*whole);
      findings.insert(findings.begin(),
                      {Level::Ok, "the profile workspace was tried; enforced: " + listed(*whole), ""});
      return findings;
    }
    return {{Level::Fail, "in the profile workspace these do not hold: " + missing,
             "do not rely on the sandbox on this machine"}};
  }
  std::vector<Finding> findings = {
      {Level::Warn, whole.error().message,
       "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 or "
       "kernel.apparmor_restrict_unprivileged_userns=0; in a container, allow them in its seccomp profile"}};
  const auto weaker = look_inside("workspace-landlock", folder.path());
  findings.push_back(
      weaker ? Finding{Level::Ok, "the weaker profile workspace-landlock works; enforced: " + listed(*weaker),
                       ""}
             : Finding{Level::Warn, weaker.error().message, "use Linux 5.13 or later with Landlock"});
  return findings;
}

}  // namespace ttyward::cli::doctor
