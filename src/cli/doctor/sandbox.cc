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

// One line for each layer that holds.
constexpr const char* kLook = R"look(
touch inside 2>/dev/null && echo workspace
touch /etc/ttyward-doctor 2>/dev/null || echo view of files
[ "$(ls /proc | grep -c '^[0-9]')" -lt 8 ] && echo process namespace
[ "$(grep -c : /proc/net/dev)" = 1 ] && echo network namespace
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

// What holds inside; or why nothing was run.
base::Result<std::string> look_inside(const char* profile, const std::string& folder) {
  sandbox::PlanRequest request;
  request.profile = sandbox::profile_named(profile).value_or(sandbox::Profile{});
  request.directory = folder;
  const char* const home = std::getenv("HOME");
  request.home = home != nullptr ? home : "";
  auto plan = sandbox::make_plan(request);
  if (!plan) return tl::unexpected(plan.error());
  pty::SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", kLook};
  spec.cwd = folder;
  spec.environment = probe_environment();
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

}  // namespace

std::vector<Finding> check_sandbox(const Context&) {
  const Folder folder;
  if (folder.path().empty()) return {{Level::Warn, "no folder could be made to try the sandbox in", ""}};
  const auto whole = look_inside("workspace", folder.path());
  if (whole) {
    std::string missing;
    for (const char* layer : {"workspace", "view of files", "process namespace", "network namespace",
                              "seccomp", "no new privileges", "no capabilities"}) {
      if (!has_line(*whole, layer)) missing += std::string(missing.empty() ? "" : ", ") + layer;
    }
    if (missing.empty())
      return {{Level::Ok, "the profile workspace was tried; enforced: " + listed(*whole), ""}};
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
