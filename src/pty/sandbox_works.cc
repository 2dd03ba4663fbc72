#include "pty/sandbox_works.h"

#include <poll.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "pty/spawn.h"
#include "sandbox/confinement.h"
#include "sandbox/profile.h"

namespace ttyward::pty {
namespace {

bool ends_well(Spawned& spawned) {
  constexpr int kPatience = 5000;  // milliseconds
  pollfd ended{spawned.child.pidfd(), POLLIN, 0};
  if (::poll(&ended, 1, kPatience) != 1) return false;
  const auto exit = spawned.child.try_reap();
  return exit && *exit && (*exit)->status.signal == 0 && (*exit)->status.code == 0;
}

bool runs_in(const std::string& folder) {
  sandbox::PlanRequest request;
  request.profile = sandbox::profile_named("workspace").value_or(sandbox::Profile{});
  request.directory = folder;
  request.workspace = folder;
  auto plan = sandbox::make_plan(request);
  if (!plan) return false;
  SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", "exit 0"};
  spec.cwd = folder;
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.provider = Provider::Pipe;
  spec.sandbox = std::move(*plan);
  auto spawned = spawn(spec);
  return spawned && ends_well(*spawned);
}

bool try_it() {
  for (std::string folder : {"/tmp/ttyward-XXXXXX", "/var/tmp/ttyward-XXXXXX"}) {
    if (::mkdtemp(folder.data()) == nullptr) continue;
    const bool runs = runs_in(folder);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return runs;
  }
  return false;
}

}  // namespace

bool sandbox_works() {
  static const bool works = try_it();
  return works;
}

}  // namespace ttyward::pty
