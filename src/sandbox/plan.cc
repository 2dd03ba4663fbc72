#include "sandbox/plan.h"

#include <algorithm>

namespace ttyward::sandbox {
namespace {

// The entry that decides about a path: the last one it lies in.
const Entry* entry_for(const Plan& plan, const std::string& path) {
  const Entry* found = nullptr;
  for (const Entry& entry : plan.entries)
    if (is_within(path, entry.path) && (found == nullptr || entry.path.size() >= found->path.size()))
      found = &entry;
  return found;
}

bool in_private_folder(const Plan& plan, const std::string& path) {
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"})
    if (is_within(path, folder)) return true;
  return !plan.home.empty() && is_within(path, plan.home);
}

// Made for every sandbox; no entry names them.
bool is_device(const std::string& path) {
  for (const char* device :
       {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/console",
        "/dev/ptmx", "/dev/pts", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"})
    if (is_within(path, device)) return true;
  return false;
}

// As the mounts lie upon each other: the deepest one decides, and of two at the same path the hidden one.
bool hides(const Plan& plan, const std::string& path) {
  const Entry* const entry = entry_for(plan, path);
  return std::any_of(plan.hidden.begin(), plan.hidden.end(), [&](const std::string& hidden) {
    return is_within(path, hidden) && (entry == nullptr || hidden.size() >= entry->path.size());
  });
}

}  // namespace

bool is_within(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_system_path(const std::string& path) {
  for (const char* folder : {"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",
                             "/nix", "/gnu", "/snap", "/var/lib", "/var/cache", "/sys", "/run"})
    if (is_within(path, folder)) return true;
  return false;
}

bool Plan::writes(const std::string& path) const {
  if (is_device(path) || is_within(path, "/proc/self")) return true;
  if (hides(*this, path)) return false;
  const Entry* const entry = entry_for(*this, path);
  for (const std::string& kept : read_only)
    if (is_within(path, kept) && (entry == nullptr || kept.size() >= entry->path.size())) return false;
  if (entry == nullptr) return in_private_folder(*this, path);
  return entry->access != Entry::Access::Read;
}

bool Plan::keeps(const std::string& path) const {
  const Entry* const entry = entry_for(*this, path);
  const bool lasts = entry != nullptr && entry->access != Entry::Access::Scratch;
  return writes(path) && (lasts || is_device(path) || is_within(path, "/proc/self"));
}

bool Plan::shows(const std::string& path) const {
  if (is_device(path) || is_within(path, "/proc")) return true;
  if (hides(*this, path)) return false;
  return entry_for(*this, path) != nullptr;
}

}  // namespace ttyward::sandbox
