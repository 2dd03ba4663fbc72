// The folders ttyward uses: whose they are, who may look into them, and what they are good for.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/unique_fd.h"
#include "cli/doctor/check.h"

namespace ttyward::cli::doctor {
namespace {

struct Place {
  std::string path;     // the nearest part of it that is there
  bool exists = false;  // all of it is
  Finding problem;      // level Ok: none
};

// The folder, or as much of it as there is, and what is wrong with that.
Place look_at(const std::string& path) {
  Place place{path, true, {}};
  struct stat st{};
  while (::lstat(place.path.c_str(), &st) != 0 && place.path.size() > 1) {
    place.exists = false;
    const size_t slash = place.path.rfind('/');
    place.path.resize(slash == 0 ? 1 : slash);
  }
  if (::stat(place.path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    place.problem = {Level::Fail, place.path + " is not a folder", "move it out of the way"};
  } else if (place.exists && st.st_uid != ::geteuid()) {
    place.problem = {Level::Fail, fmt::format("{} belongs to another user (uid {})", path, st.st_uid),
                     "give it to yourself with chown, or choose another place with TTYWARD_HOME"};
  } else if (place.exists && (st.st_mode & 077) != 0) {
    place.problem = {Level::Fail, path + " is open to other users", fmt::format("run: chmod go= '{}'", path)};
  } else if (::access(place.path.c_str(), W_OK) != 0) {
    place.problem = {Level::Fail,
                     fmt::format("{} cannot be written to: {}", place.path, std::strerror(errno)),
                     "make it writable, or choose another place with TTYWARD_HOME"};
  }
  return place;
}

std::string file_system_name(long type) {
  constexpr std::array<std::pair<long, const char*>, 9> kNames = {{{EXT4_SUPER_MAGIC, "ext4"},
                                                                   {XFS_SUPER_MAGIC, "xfs"},
                                                                   {BTRFS_SUPER_MAGIC, "btrfs"},
                                                                   {TMPFS_MAGIC, "tmpfs"},
                                                                   {OVERLAYFS_SUPER_MAGIC, "overlay"},
                                                                   {NFS_SUPER_MAGIC, "nfs"},
                                                                   {0xff534d42, "cifs"},
                                                                   {0x01021997, "9p"},
                                                                   {0x65735546, "fuse"}}};
  for (const auto& [number, name] : kNames)
    if (number == type) return name;
  return fmt::format("file system {:#x}", static_cast<unsigned long>(type));
}

// What a journal does with a file: allocates, maps, writes. Empty: it works.
std::string try_mapping(const std::string& folder) {
  constexpr off_t kBytes = 64 * 1024;
  const base::UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return errno == EOPNOTSUPP || errno == EISDIR ? "" : std::strerror(errno);
  if (const int error = ::posix_fallocate(file.get(), 0, kBytes)) return std::strerror(error);
  void* mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return std::strerror(errno);
  std::memset(mapped, 1, kBytes);
  ::munmap(mapped, kBytes);
  return {};
}

}  // namespace

std::vector<Finding> check_journals(const Context& context) {
  const std::string path = context.folders.journals();
  const Place place = look_at(path);
  if (place.problem.level != Level::Ok) return {place.problem};
  const std::string problem = try_mapping(place.path);
  if (!problem.empty()) {
    return {{Level::Fail, fmt::format("a file in {} cannot be allocated and mapped: {}", place.path, problem),
             "choose another place with TTYWARD_HOME or XDG_STATE_HOME"}};
  }
  struct statfs info{};
  if (::statfs(place.path.c_str(), &info) != 0)
    return {{Level::Warn, fmt::format("{}: {}", place.path, std::strerror(errno)), ""}};
  const auto type = static_cast<long>(info.f_type);
  const auto free = static_cast<int64_t>(info.f_bavail) * info.f_bsize;
  const std::string described =
      fmt::format("{}{}: {}, {} MiB free", path, place.exists ? "" : " (made when needed)",
                  file_system_name(type), free >> 20);
  if (type == NFS_SUPER_MAGIC || type == 0xff534d42) {
    return {
        {Level::Warn, described,
         "locks and mapped files are not reliable over a network; choose a local disk with XDG_STATE_HOME"}};
  }
  if (free < context.config.settings.limits.journal) {
    return {{Level::Warn, described,
             fmt::format("that is less than one terminal may keep ({} MiB, limits.journal): free some space",
                         context.config.settings.limits.journal >> 20)}};
  }
  return {{Level::Ok, described, ""}};
}

std::vector<Finding> check_runtime(const Context& context) {
  const std::string& path = context.folders.runtime;
  if (path.empty()) {
    return {{Level::Warn, "there is no XDG_RUNTIME_DIR: no private place for sockets is known",
             "log in with a session manager that sets it, or set it or TTYWARD_HOME to a folder of yours"}};
  }
  // A socket's address has 108 bytes, and ours add a folder and an id to it.
  constexpr size_t kLongestFolder = 70;
  if (path.size() > kLongestFolder) {
    return {{Level::Warn,
             fmt::format("{} is long ({} characters); sockets below it may not fit an address", path,
                         path.size()),
             "choose a shorter XDG_RUNTIME_DIR or TTYWARD_HOME"}};
  }
  const Place place = look_at(path);
  if (place.problem.level != Level::Ok) return {place.problem};
  return {{Level::Ok, path + (place.exists ? "" : " (made when needed)"), ""}};
}

std::vector<Finding> check_config(const Context& context) {
  std::vector<Finding> findings;
  for (const config::Problem& problem : context.config.problems) {
    const bool error = problem.severity == config::Severity::Error;
    findings.push_back({error ? Level::Warn : Level::Ok, problem.shown(),
                        error ? "fix it; until then the default is used" : ""});
  }
  if (findings.empty()) findings.push_back({Level::Ok, "no errors in " + context.config.file, ""});
  return findings;
}

}  // namespace ttyward::cli::doctor
