#include "sandbox/enter.h"

#include <linux/capability.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <initializer_list>

#include "sandbox/identity_map.h"
#include "sandbox/kernel.h"

namespace ttyward::sandbox {
namespace {

constexpr uint64_t kWhole = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
constexpr size_t kLongestPath = 4096;
constexpr char kEmptyFile[] = ".empty-file";
constexpr char kScratch[] = ".scratch";

TTYWARD_NO_SANITIZE bool fail(Failure& failure, Layer layer, size_t item = 0) {
  failure.layer = layer;
  failure.sys_errno = errno == 0 ? EIO : errno;
  failure.item = item;
  return false;
}

TTYWARD_NO_SANITIZE bool make_folder(const Steps& steps, int root, const char* path) {
  if (::mkdirat(root, path, 0755) != 0) return errno == EEXIST || errno == EROFS;
  return steps.user_namespace ||
         ::fchownat(root, path, steps.user_outside, steps.group_outside, AT_SYMLINK_NOFOLLOW) == 0;
}

TTYWARD_NO_SANITIZE bool make_last(const Steps& steps, int root, const char* path, bool folder) {
  if (folder) return make_folder(steps, root, path);
  return ::mknodat(root, path, S_IFREG | 0444, 0) == 0 || errno == EEXIST || errno == EROFS;
}

TTYWARD_NO_SANITIZE bool make_folders_above(const Steps& steps, int root, const char* path) {
  char part[kLongestPath];
  for (size_t length = 0; path[length] != '\0'; ++length) {
    if (length + 1 >= sizeof part) {
      errno = ENAMETOOLONG;
      return false;
    }
    part[length] = path[length];
    if (path[length + 1] != '/') continue;
    part[length + 1] = '\0';
    if (!make_folder(steps, root, part)) return false;
  }
  return true;
}

// Makes a folder or an empty file, and the folders above it where they are missing.
TTYWARD_NO_SANITIZE bool make_place(const Steps& steps, int root, const char* path, bool folder) {
  if (make_last(steps, root, path, folder)) return true;
  return errno == ENOENT && make_folders_above(steps, root, path) && make_last(steps, root, path, folder);
}

TTYWARD_NO_SANITIZE bool make_link(const Steps& steps, int root, const Link& link) {
  if (::symlinkat(link.target, root, link.path) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT || !make_folders_above(steps, root, link.path)) return errno == EROFS;
  return ::symlinkat(link.target, root, link.path) == 0 || errno == EEXIST || errno == EROFS;
}

TTYWARD_NO_SANITIZE bool closed(bool result, int fd) {
  const int error = errno;
  if (fd >= 0) ::close(fd);
  errno = error;
  return result;
}

// Within a folder of the machine somebody might exchange a part of the path for a link: then `careful`
// refuses. Elsewhere all parts of the path were made by us. Closes the tree.
TTYWARD_NO_SANITIZE bool attach(int root, int tree, const char* target, bool careful = false) {
  if (!careful) return closed(kernel::move_mount_to(tree, root, target) == 0, tree);
  const int place = kernel::open_by_name(root, target, O_PATH, kWhole | RESOLVE_BENEATH);
  const bool done = place >= 0 && kernel::move_mount(tree, place) == 0;
  return closed(closed(done, place), tree);
}

// Where the kernel cannot, as on file systems of its own, the files stay others'.
TTYWARD_NO_SANITIZE void give_to_stand_in(const Steps& steps, int tree) {
  if (kernel::map_owners(tree, steps.stand_in, true) != 0) kernel::map_owners(tree, steps.stand_in, false);
}

// The source of a step: a detached mount to bind, or a folder to lay something over. Looked up once more by
// its name, because a descriptor from outside of this mount namespace cannot be mounted; what was exchanged
// since is refused.
TTYWARD_NO_SANITIZE int open_source(const Steps& steps, const Step& step) {
  const bool given = step.own && steps.stand_in >= 0;
  const bool bind = given || step.kind == Step::Kind::Bind || step.kind == Step::Kind::Node;
  const int fd =
      bind ? kernel::open_tree(AT_FDCWD, step.source, OPEN_TREE_CLONE | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW)
           : kernel::open_by_name(AT_FDCWD, step.source, O_PATH, kWhole);
  struct stat now{};
  if (fd < 0 || ::fstat(fd, &now) != 0) return -1;
  if (now.st_dev != step.device || now.st_ino != step.inode) {
    errno = ESTALE;
    return -1;
  }
  if (given) give_to_stand_in(steps, fd);
  return fd;
}

TTYWARD_NO_SANITIZE void name_descriptor(char (&name)[48], int fd) {
  *put_number(put_text(name, "/proc/self/fd/"), static_cast<unsigned long>(fd)) = '\0';
}

TTYWARD_NO_SANITIZE int mount_overlay(int lower, int upper, int work) {
  const int fs = kernel::fs_open("overlay");
  if (fs < 0) return -1;
  char below[48];
  char above[48];
  char aside[48];
  name_descriptor(below, lower);
  name_descriptor(above, upper);
  name_descriptor(aside, work);
  if (kernel::fs_string(fs, "lowerdir", below) != 0 || kernel::fs_string(fs, "upperdir", above) != 0 ||
      kernel::fs_string(fs, "workdir", aside) != 0 || kernel::fs_flag(fs, "userxattr") != 0 ||
      kernel::fs_create(fs) != 0)
    return -1;
  return kernel::fs_mount(fs, 0);
}

TTYWARD_NO_SANITIZE int overlay_named(int lower, const char* upper, const char* work) {
  const int above = kernel::open_by_name(AT_FDCWD, upper, O_PATH | O_DIRECTORY, kWhole);
  const int aside = kernel::open_by_name(AT_FDCWD, work, O_PATH | O_DIRECTORY, kWhole);
  return above < 0 || aside < 0 ? -1 : mount_overlay(lower, above, aside);
}

TTYWARD_NO_SANITIZE void name_scratch(char (&name)[32], size_t number) {
  *put_number(put_text(name, ".scratch/"), number) = '\0';
}

// An overlay whose changes go to a folder of the private file system, which nobody can name.
TTYWARD_NO_SANITIZE int overlay_scratch(const Steps& steps, int root, int lower, size_t number) {
  char name[32];
  name_scratch(name, number);
  if (::mkdirat(root, name, 0700) != 0) return -1;
  const int holder = kernel::open_by_name(root, name, O_PATH | O_DIRECTORY, kWhole);
  if (holder < 0) return -1;
  if (!make_folder(steps, holder, "upper") || ::mkdirat(holder, "work", 0700) != 0) return -1;
  const int above = ::openat(holder, "upper", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const int aside = ::openat(holder, "work", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return above < 0 || aside < 0 ? -1 : mount_overlay(lower, above, aside);
}

TTYWARD_NO_SANITIZE int clone_own(int root, const char* path) {
  return kernel::open_tree(root, path, OPEN_TREE_CLONE);
}

TTYWARD_NO_SANITIZE uint64_t attributes_of(const Step& step) {
  uint64_t set = MOUNT_ATTR_NOSUID;
  if (step.kind != Step::Kind::Node) set |= MOUNT_ATTR_NODEV;
  // A device can be written to on a read-only mount; its mode and times, which are the machine's, cannot.
  if (step.read_only || step.kind == Step::Kind::Node) set |= MOUNT_ATTR_RDONLY;
  return set;
}

TTYWARD_NO_SANITIZE int make_own(const Steps& steps, int root, size_t index) {
  char name[32];
  name_scratch(name, index);
  if (::mkdirat(root, name, 0700) != 0 || ::fchmodat(root, name, steps.steps[index].mode, 0) != 0) return -1;
  if (!steps.user_namespace && ::fchownat(root, name, steps.user_outside, steps.group_outside, 0) != 0)
    return -1;
  return clone_own(root, name);
}

TTYWARD_NO_SANITIZE int make_text(const Steps& steps, int root, size_t index) {
  const Step& step = steps.steps[index];
  char name[32];
  name_scratch(name, index);
  constexpr mode_t kReadable = 0444;
  const int file = ::openat(root, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadable);
  if (file < 0) return -1;
  const bool whole = ::write(file, step.text, step.text_size) == static_cast<ssize_t>(step.text_size) &&
                     ::fchmod(file, kReadable) == 0;
  return closed(whole, file) ? clone_own(root, name) : -1;
}

TTYWARD_NO_SANITIZE bool mount_step(const Steps& steps, int root, size_t index, int source) {
  const Step& step = steps.steps[index];
  int tree = source;
  switch (step.kind) {
    case Step::Kind::Bind:
    case Step::Kind::Node:
    case Step::Kind::Overlay:  // mounted already
      break;
    case Step::Kind::Scratch:
      tree = overlay_scratch(steps, root, source, index);
      if (tree < 0) {
        tree = step.own && steps.stand_in >= 0
                   ? source
                   : kernel::open_tree(source, "", OPEN_TREE_CLONE | AT_EMPTY_PATH | AT_RECURSIVE);
        if (tree >= 0 && kernel::set_mount(tree, MOUNT_ATTR_RDONLY, 0, true) != 0) return false;
      }
      break;
    case Step::Kind::Own:
      tree = make_own(steps, root, index);
      break;
    case Step::Kind::Mask:
      tree = clone_own(root, kEmptyFile);
      break;
    case Step::Kind::Text:
      tree = make_text(steps, root, index);
      break;
  }
  if (tree < 0) return false;
  return kernel::set_mount(tree, attributes_of(step), 0, true) == 0 &&
         (step.careful || make_place(steps, root, step.target, step.folder)) &&
         attach(root, tree, step.target, step.careful);
}

TTYWARD_NO_SANITIZE bool mount_new(const Steps& steps, int root, const char* type, const char* target,
                                   const char* const (*options)[2], size_t option_count,
                                   unsigned attributes) {
  const int fs = kernel::fs_open(type);
  if (fs < 0) return false;
  bool done = true;
  for (size_t i = 0; done && i < option_count; ++i)
    done = kernel::fs_string(fs, options[i][0], options[i][1]) == 0;
  const int tree = done && kernel::fs_create(fs) == 0 ? kernel::fs_mount(fs, attributes) : -1;
  return tree >= 0 && make_place(steps, root, target, true) && attach(root, tree, target);
}

TTYWARD_NO_SANITIZE bool restrict_below(int root, const char* path) {
  const int tree = kernel::open_tree(root, path, OPEN_TREE_CLONE | AT_RECURSIVE);
  if (tree < 0) return errno == ENOENT;
  return kernel::set_mount(tree, MOUNT_ATTR_RDONLY, 0, true) == 0 && attach(root, tree, path);
}

TTYWARD_NO_SANITIZE bool mask_file(int root, const char* path) {
  struct stat there{};
  if (::fstatat(root, path, &there, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  const int tree = clone_own(root, kEmptyFile);
  if (tree < 0) return false;
  return kernel::set_mount(tree, MOUNT_ATTR_RDONLY, 0, false) == 0 && attach(root, tree, path);
}

// A fresh /proc shows this process namespace only. The files by which root configures the kernel are writable
// for user 0 even without capabilities, so they become read-only.
TTYWARD_NO_SANITIZE bool mount_proc(const Steps& steps, int root) {
  if (!mount_new(steps, root, "proc", "proc", nullptr, 0,
                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC))
    return false;
  if (!restrict_below(root, "proc/sys")) return false;
  if (steps.user_outside != 0) return true;
  for (const char* path :
       {"proc/sysrq-trigger", "proc/irq", "proc/bus", "proc/fs", "proc/acpi", "proc/scsi", "proc/mtrr",
        "proc/driver", "proc/tty", "proc/asound", "proc/dynamic_debug", "proc/pressure", "proc/net/rpc"})
    if (!restrict_below(root, path)) return false;
  for (const char* path :
       {"proc/kcore", "proc/keys", "proc/timer_list", "proc/sched_debug", "proc/slabinfo", "proc/vmallocinfo",
        "proc/pagetypeinfo", "proc/kpageflags", "proc/kpagecount", "proc/kpagecgroup", "proc/kmsg"})
    if (!mask_file(root, path)) return false;
  return true;
}

TTYWARD_NO_SANITIZE bool mount_devpts(const Steps& steps, int root) {
  constexpr const char* kOptions[][2] = {{"ptmxmode", "0666"}, {"mode", "620"}};
  return mount_new(steps, root, "devpts", "dev/pts", kOptions, 2, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

TTYWARD_NO_SANITIZE int make_root(const Steps& steps) {
  const int fs = kernel::fs_open("tmpfs");
  if (fs < 0) return -1;
  if (kernel::fs_string(fs, "mode", "0755") != 0 || kernel::fs_string(fs, "size", steps.scratch_size) != 0 ||
      kernel::fs_create(fs) != 0)
    return -1;
  return kernel::fs_mount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

// The sources are open at the same time. What is raised here is set again with the limits.
TTYWARD_NO_SANITIZE void allow_descriptors(size_t steps) {
  constexpr rlim_t kOthers = 512;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= steps + kOthers) return;
  files.rlim_cur = steps + kOthers < files.rlim_max ? steps + kOthers : files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

// The sources are opened before the new root covers a folder in which some of them lie.
TTYWARD_NO_SANITIZE bool open_sources(const Steps& steps, int* sources, int& terminal, Failure& failure) {
  for (size_t i = 0; i < steps.step_count; ++i) {
    sources[i] = -1;
    if (steps.steps[i].source == nullptr) continue;
    const Step& step = steps.steps[i];
    sources[i] = open_source(steps, step);
    // The folders of a layer may lie there, too.
    if (sources[i] >= 0 && step.kind == Step::Kind::Overlay)
      sources[i] = overlay_named(sources[i], step.upper, step.work);
    if (sources[i] < 0) return fail(failure, Layer::FileView, i);
  }
  terminal = steps.terminal == nullptr ? -1 : kernel::open_tree(AT_FDCWD, steps.terminal, OPEN_TREE_CLONE);
  return true;
}

TTYWARD_NO_SANITIZE bool fill_root(const Steps& steps, int root, const int* sources, int terminal,
                                   Failure& failure) {
  const size_t whole = steps.step_count;  // not one step's failure, but the view's
  if (::mknodat(root, kEmptyFile, S_IFREG, 0) != 0 || ::mkdirat(root, kScratch, 0700) != 0)
    return fail(failure, Layer::FileView, whole);
  for (size_t i = 0; i < steps.step_count; ++i)
    if (!mount_step(steps, root, i, sources[i])) return fail(failure, Layer::FileView, i);
  for (size_t i = 0; i < steps.link_count; ++i)
    if (!make_link(steps, root, steps.links[i])) return fail(failure, Layer::FileView, whole);
  if (!mount_devpts(steps, root)) return fail(failure, Layer::FileView, whole);
  if (terminal >= 0) {
    if (!make_place(steps, root, "dev/console", false) || !attach(root, terminal, "dev/console"))
      return fail(failure, Layer::FileView, whole);
  }
  if (!mount_proc(steps, root)) return fail(failure, Layer::Processes);
  ::unlinkat(root, kEmptyFile, 0);
  // The overlays have their folders already; nobody else may enter.
  if (::fchmodat(root, kScratch, 0000, 0) != 0) return fail(failure, Layer::FileView, whole);
  return kernel::set_mount(root, MOUNT_ATTR_RDONLY, 0, false) == 0 || fail(failure, Layer::FileView, whole);
}

TTYWARD_NO_SANITIZE bool build_view(const Steps& steps, Failure& failure) {
  const size_t whole = steps.step_count;
  int sources[kMostSteps];
  int terminal = -1;
  allow_descriptors(steps.step_count);
  // Nothing mounted here is seen outside, and nothing mounted outside later is seen here.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fail(failure, Layer::FileView, whole);
  if (!open_sources(steps, sources, terminal, failure)) return false;
  const int root = make_root(steps);
  if (root < 0) return fail(failure, Layer::FileView, whole);
  const int place = ::open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (place < 0 || kernel::move_mount(root, place) != 0) return fail(failure, Layer::FileView, whole);
  if (!fill_root(steps, root, sources, terminal, failure)) return false;
  if (::fchdir(root) != 0 || ::syscall(SYS_pivot_root, ".", ".") != 0 || ::umount2(".", MNT_DETACH) != 0 ||
      ::chdir("/") != 0)
    return fail(failure, Layer::FileView, whole);
  return true;
}

TTYWARD_NO_SANITIZE bool enter_directory(const Steps& steps, Failure& failure) {
  struct stat here{};
  if (::chdir(steps.directory) != 0 || ::stat(".", &here) != 0) return fail(failure, Layer::Directory);
  if (steps.directory_inode == 0) return true;  // an overlay has its own numbers
  if (here.st_dev == steps.directory_device && here.st_ino == steps.directory_inode) return true;
  errno = ESTALE;
  return fail(failure, Layer::Directory);
}

TTYWARD_NO_SANITIZE bool raise_loopback() {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  put_text(request.ifr_name, "lo");
  bool done = ::ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  done = done && ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  return done;
}

TTYWARD_NO_SANITIZE bool join_groups(const Steps& steps) {
  for (const int group : steps.groups)
    if (group >= 0 && ::write(group, "0", 1) != 1) return false;
  return true;
}

TTYWARD_NO_SANITIZE bool set_limits(const Steps& steps) {
  for (size_t i = 0; i < steps.limit_count; ++i) {
    rlimit value = steps.limits[i].value;
    rlimit now{};
    const auto resource = static_cast<__rlimit_resource>(steps.limits[i].resource);
    // A limit that is lower already stays.
    if (::getrlimit(resource, &now) == 0) {
      if (now.rlim_max < value.rlim_max) value.rlim_max = now.rlim_max;
      if (now.rlim_cur < value.rlim_cur) value.rlim_cur = now.rlim_cur;
      if (value.rlim_cur > value.rlim_max) value.rlim_cur = value.rlim_max;
    }
    if (::setrlimit(resource, &value) != 0) return false;
  }
  return true;
}

// What root has opened for the command can be opened by it again, by way of /dev/stdout and its relatives.
TTYWARD_NO_SANITIZE void give_stdio(const Steps& steps) {
  constexpr auto kPipes = 0x50495045;  // PIPEFS_MAGIC: pipes without a name
  for (int fd = 0; fd <= 2; ++fd) {
    struct statfs about{};
    if (::fstatfs(fd, &about) == 0 && about.f_type == kPipes)
      (void)!::fchown(fd, steps.user_outside, steps.group_outside);
  }
  constexpr auto kSameGroup = static_cast<gid_t>(-1);
  if (steps.terminal != nullptr) (void)!::chown("/dev/console", steps.user_outside, kSameGroup);
}

TTYWARD_NO_SANITIZE bool become_user(const Steps& steps) {
  const int dumpable = ::prctl(PR_GET_DUMPABLE);
  const bool done = ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                    (steps.stand_in < 0 || ::syscall(SYS_setns, steps.stand_in, CLONE_NEWUSER) == 0) &&
                    ::syscall(SYS_setresgid, steps.group, steps.group, steps.group) == 0 &&
                    ::syscall(SYS_setresuid, steps.user, steps.user, steps.user) == 0;
  const int error = errno;
  // Another user clears this for everybody who shares our memory: for our parent.
  ::prctl(PR_SET_DUMPABLE, dumpable);
  errno = error;
  // A namespace of its own even so: limits count in it, and nothing outside belongs to it.
  if (!done || !steps.namespaces || steps.stand_in >= 0) return done;
  return ::unshare(CLONE_NEWUSER) == 0 && map_identity({steps.user, steps.user}, {steps.group, steps.group});
}

TTYWARD_NO_SANITIZE bool drop_capabilities() {
  for (unsigned long capability = 0; capability < 64; ++capability)
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2];
  __builtin_memset(none, 0, sizeof none);
  return ::syscall(SYS_capset, &header, none) == 0;
}

TTYWARD_NO_SANITIZE bool apply_landlock(const Steps& steps) {
  const int version = steps.landlock_version;
  kernel::LandlockRuleset ruleset{};
  ruleset.fs = (uint64_t{1} << 13) - 1;
  if (version >= 2) ruleset.fs |= kernel::kLandlockRefer;
  if (version >= 3) ruleset.fs |= kernel::kLandlockTruncate;
  if (version >= 5) ruleset.fs |= kernel::kLandlockIoctlDevice;
  if (version >= 6) ruleset.scoped = kernel::kLandlockScopeAbstractSockets | kernel::kLandlockScopeSignals;
  const int fd = kernel::landlock_create(ruleset, version);
  if (fd < 0) return false;
  bool done = true;
  for (size_t i = 0; done && i < steps.rule_count; ++i) {
    const int path = ::open(steps.rules[i].path, O_PATH | O_CLOEXEC);
    if (path < 0) {
      done = errno == ENOENT || errno == ENOTDIR || errno == EACCES;  // not there: nothing to allow
      continue;
    }
    struct stat about{};
    uint64_t rights = steps.rules[i].rights & ruleset.fs;
    constexpr uint64_t kForFiles = kernel::kLandlockExecute | kernel::kLandlockWriteFile |
                                   kernel::kLandlockReadFile | kernel::kLandlockTruncate |
                                   kernel::kLandlockIoctlDevice;
    if (::fstat(path, &about) == 0 && !S_ISDIR(about.st_mode)) rights &= kForFiles;
    done = kernel::landlock_add_path(fd, {rights, path}) == 0;
  }
  return done && kernel::landlock_restrict(fd) == 0;
}

TTYWARD_NO_SANITIZE bool install_filter(const Steps& steps) {
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &steps.filter) == 0;
}

}  // namespace

const char* layer_name(Layer layer) {
  switch (layer) {
    case Layer::None:
      return "none";
    case Layer::Group:
      return "cgroup";
    case Layer::Namespaces:
      return "namespaces";
    case Layer::Processes:
      return "process namespace";
    case Layer::FileView:
      return "view of files";
    case Layer::Directory:
      return "folder";
    case Layer::Network:
      return "network namespace";
    case Layer::Limits:
      return "limits";
    case Layer::Identity:
      return "user and capabilities";
    case Layer::NoNewPrivileges:
      return "no new privileges";
    case Layer::Landlock:
      return "landlock";
    case Layer::Filter:
      return "seccomp";
  }
  return "unknown";
}

TTYWARD_NO_SANITIZE bool settle_namespaces(const Steps& steps, Failure& failure) {
  if (!join_groups(steps)) return fail(failure, Layer::Group);
  if (steps.user_namespace && !map_identity({steps.user, steps.user}, {steps.group, steps.group}))
    return fail(failure, Layer::Namespaces);
  if (steps.own_network && !raise_loopback()) return fail(failure, Layer::Network);
  return ::unshare(CLONE_NEWPID) == 0 || fail(failure, Layer::Processes);
}

TTYWARD_NO_SANITIZE int namespace_flags(const Steps& steps) {
  int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (steps.user_namespace) flags |= CLONE_NEWUSER;
  if (steps.own_network) flags |= CLONE_NEWNET;
  return flags;
}

TTYWARD_NO_SANITIZE bool enter(const Steps& steps, int init_ready, Failure& failure) {
  if (steps.namespaces) {
    char byte = 0;
    errno = ECHILD;
    if (::read(init_ready, &byte, 1) != 1) return fail(failure, Layer::Processes);
    if (!build_view(steps, failure)) return false;
    if (!enter_directory(steps, failure)) return false;
  } else if (!join_groups(steps)) {
    return fail(failure, Layer::Group);
  }
  if (!steps.user_namespace) {
    if (steps.namespaces) give_stdio(steps);
    if (!become_user(steps)) return fail(failure, Layer::Identity);
  }
  if (!set_limits(steps)) return fail(failure, Layer::Limits);
  if (!drop_capabilities()) return fail(failure, Layer::Identity);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(failure, Layer::NoNewPrivileges);
  if (steps.landlock_version > 0 && !apply_landlock(steps)) return fail(failure, Layer::Landlock);
  if (!install_filter(steps)) return fail(failure, Layer::Filter);
  return true;
}

}  // namespace ttyward::sandbox
