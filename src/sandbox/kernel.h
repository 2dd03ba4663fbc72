// System calls and constants newer than the headers of the machines we are built on. Each call returns what
// the kernel returns, with errno.
#pragma once

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace ttyward::sandbox::kernel {

inline int open_by_name(int folder, const char* path, uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve;
  return static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
}

inline int open_tree(int folder, const char* path, unsigned flags) {
  return static_cast<int>(::syscall(SYS_open_tree, folder, path, flags | O_CLOEXEC));
}

inline int move_mount(int tree, int target) {
  return static_cast<int>(
      ::syscall(SYS_move_mount, tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH));
}

inline int move_mount_to(int tree, int folder, const char* path) {
  return static_cast<int>(::syscall(SYS_move_mount, tree, "", folder, path, MOVE_MOUNT_F_EMPTY_PATH));
}

inline int set_mount(int tree, uint64_t set, uint64_t clear, bool with_children) {
  mount_attr attributes{};
  attributes.attr_set = set;
  attributes.attr_clr = clear;
  const unsigned flags = AT_EMPTY_PATH | (with_children ? AT_RECURSIVE : 0U);
  return static_cast<int>(::syscall(SYS_mount_setattr, tree, "", flags, &attributes, sizeof attributes));
}

// Shows the files of a detached mount as those of the user whom `names`, a user namespace, maps their owner
// to.
inline int map_owners(int tree, int names, bool with_children) {
  mount_attr attributes{};
  attributes.attr_set = 0x00100000;  // MOUNT_ATTR_IDMAP, newer than some headers
  attributes.userns_fd = static_cast<uint64_t>(names);
  const unsigned flags = AT_EMPTY_PATH | (with_children ? AT_RECURSIVE : 0U);
  return static_cast<int>(::syscall(SYS_mount_setattr, tree, "", flags, &attributes, sizeof attributes));
}

inline int fs_open(const char* type) {
  return static_cast<int>(::syscall(SYS_fsopen, type, 1 /* FSOPEN_CLOEXEC */));
}
inline int fs_string(int fs, const char* key, const char* value) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}
inline int fs_flag(int fs, const char* key) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, key, nullptr, 0));
}
inline int fs_create(int fs) {
  return static_cast<int>(::syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0));
}
inline int fs_mount(int fs, unsigned attributes) {
  return static_cast<int>(::syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, attributes));
}

// Landlock, by the kernel's documentation of its ABI.
inline constexpr uint64_t kLandlockExecute = 1ULL << 0;
inline constexpr uint64_t kLandlockWriteFile = 1ULL << 1;
inline constexpr uint64_t kLandlockReadFile = 1ULL << 2;
inline constexpr uint64_t kLandlockReadFolder = 1ULL << 3;
inline constexpr uint64_t kLandlockFirstFolderRight = 1ULL << 4;      // remove and make, up to bit 12
inline constexpr uint64_t kLandlockRefer = 1ULL << 13;                // ABI 2
inline constexpr uint64_t kLandlockTruncate = 1ULL << 14;             // ABI 3
inline constexpr uint64_t kLandlockIoctlDevice = 1ULL << 15;          // ABI 5
inline constexpr uint64_t kLandlockScopeAbstractSockets = 1ULL << 0;  // ABI 6
inline constexpr uint64_t kLandlockScopeSignals = 1ULL << 1;

struct LandlockRuleset {
  uint64_t fs;
  uint64_t net;
  uint64_t scoped;
};
#pragma pack(push, 1)
struct LandlockPath {
  uint64_t rights;
  int32_t folder;
};
#pragma pack(pop)

// The kernel's ABI version; 0 without Landlock.
inline int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1 /* VERSION */);
  return version > 0 ? static_cast<int>(version) : 0;
}
inline int landlock_create(const LandlockRuleset& ruleset, int version) {
  const size_t size = version >= 6 ? sizeof ruleset : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, &ruleset, size, 0));
}
inline int landlock_add_path(int ruleset, const LandlockPath& path) {
  return static_cast<int>(::syscall(SYS_landlock_add_rule, ruleset, 1 /* PATH_BENEATH */, &path, 0));
}
inline int landlock_restrict(int ruleset) {
  return static_cast<int>(::syscall(SYS_landlock_restrict_self, ruleset, 0));
}

}  // namespace ttyward::sandbox::kernel
