// sandbox_probe NAME...: tries to do what a confined command must not be able to do, or must be able to, and
// prints a line for each: "NAME: done", or "NAME: " and why not. For tests.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <string>
#include <string_view>

namespace {

// 0, or an errno.
using Probe = int (*)();

int result(long rc) {
  return rc < 0 ? errno : 0;
}

int new_socket(int family, int type, int protocol = 0) {
  return result(::socket(family, type, protocol));
}

int connect_to(const char* address, uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, address, &to.sin_addr);
  return result(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to));
}

uint16_t port_given() {
  const char* text = std::getenv("PROBE_PORT");
  return static_cast<uint16_t>(text != nullptr ? std::atoi(text) : 1);
}

int connect_unix(const char* name, bool abstract) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) return errno;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::strncpy(to.sun_path + (abstract ? 1 : 0), name, sizeof to.sun_path - 2);
  const size_t length = offsetof(sockaddr_un, sun_path) + std::strlen(name) + (abstract ? 1 : 0);
  return result(::connect(fd, reinterpret_cast<sockaddr*>(&to), static_cast<socklen_t>(length)));
}

int type_into_terminal(unsigned long number) {
  const int fd = ::open("/dev/tty", O_RDWR | O_NOCTTY);
  char c = 'x';
  return result(::syscall(SYS_ioctl, fd >= 0 ? fd : 0, number, &c));
}

int in_child(int (*what)()) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(what());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

int debug_own_child() {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(errno);
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKDATA, child, reinterpret_cast<void*>(&status), nullptr);
  const int error = word == -1 ? errno : 0;
  ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  ::waitpid(child, &status, 0);
  return error;
}

int listen_on_localhost() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 1) != 0) return errno;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return connect_to("127.0.0.1", ntohs(address.sin_port));
}

int has_capabilities(bool bounding) {
  FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return errno;
  char line[256];
  bool any = false;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, "Cap", 3) == 0 && (std::strncmp(line, "CapBnd", 6) == 0) == bounding)
      any |= std::strtoull(std::strchr(line, ':') + 1, nullptr, 16) != 0;
  std::fclose(file);
  return any ? 0 : EPERM;
}

int has_descriptors() {
  for (int fd = 3; fd < 1024; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) return 0;
  return EBADF;
}

int fork_many() {
  int made = 0;
  int error = 0;
  // More than the usual limit, and far from what a machine has: where nothing limits it, others still run.
  for (; made < 6'000; ++made) {
    const pid_t child = ::fork();
    if (child < 0) {
      error = errno;
      break;
    }
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ::signal(SIGTERM, SIG_IGN);
  ::kill(-1, SIGKILL);
  while (::wait(nullptr) > 0) {
  }
  return error;
}

// Uses one gigabyte.
int use_memory(int flags) {
  constexpr size_t kPiece = size_t{1} << 26;
  constexpr size_t kPage = 4096;
  for (int i = 0; i < 16; ++i) {
    void* const piece = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) return errno;
    for (size_t at = 0; at < kPiece; at += kPage) static_cast<volatile char*>(piece)[at] = 1;
  }
  return 0;
}

int use_memory_file() {
  const int file = ::memfd_create("x", 0);
  static char piece[1 << 20] = {1};
  for (int i = 0; i < 1024; ++i)
    if (::write(file, piece, sizeof piece) < 0) return errno;
  return 0;
}

// In eight processes at once.
int use_memory_together() {
  for (int i = 0; i < 8; ++i) {
    if (::fork() != 0) continue;
    ::close(STDOUT_FILENO);  // whoever reads waits for the one that started them
    ::close(STDERR_FILENO);
    constexpr size_t kPiece = size_t{1} << 27;
    void* const piece = ::mmap(nullptr, kPiece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) ::_exit(1);
    std::memset(piece, 1, kPiece);
    ::pause();
  }
  // All of them sleep with their memory, or the first has ended.
  for (int i = 0; i < 100; ++i) {
    int status = 0;
    if (::waitpid(-1, &status, WNOHANG) > 0) return ENOMEM;
    ::usleep(20'000);
  }
  return 0;
}

int write_large_file() {
  const int fd = ::open("large-file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::signal(SIGXFSZ, SIG_IGN);
  const int error = result(::pwrite(fd, "x", 1, off_t{1} << 42));
  ::unlink("large-file");
  return error;
}

int open_handle() {
  struct {
    file_handle head;
    char rest[128];
  } handle{};
  handle.head.handle_bytes = sizeof handle.rest;
  int mount = 0;
  if (::name_to_handle_at(AT_FDCWD, "/usr", &handle.head, &mount, 0) != 0) handle.head.handle_bytes = 8;
  const int root = ::open("/", O_RDONLY);
  return result(::open_by_handle_at(root, &handle.head, O_RDONLY));
}

// A program that others run as us, made in one of the ways there are: `mode` is what it got.
int has_mode(const char* path, mode_t wanted, long rc) {
  const int error = rc < 0 ? errno : 0;
  struct stat about{};
  const bool got = ::stat(path, &about) == 0 && (about.st_mode & wanted) == wanted;
  ::unlink(path);
  return got ? 0 : error != 0 ? error : EPERM;
}

int make_by_chmod(mode_t mode) {
  ::close(::open("program", O_WRONLY | O_CREAT, 0755));
  return has_mode("program", mode, ::chmod("program", mode | 0755));
}

// The group's right to execute comes from an access list, after the bit.
int make_by_list() {
  struct [[gnu::packed]] Item {
    uint16_t tag;
    uint16_t rights;
    uint32_t id;
  };
  struct [[gnu::packed]] List {
    uint32_t version = 2;
    Item items[3] = {{1, 7, ~0U}, {4, 7, ~0U}, {0x20, 5, ~0U}};
  } list;
  ::close(::open("program", O_WRONLY | O_CREAT, 0644));
  ::chmod("program", S_ISGID | 0644);
  return has_mode("program", S_ISGID,
                  ::setxattr("program", "system.posix_acl_access", &list, sizeof list, 0));
}

int make_by_fchmod() {
  const int fd = ::open("program", O_WRONLY | O_CREAT, 0755);
  return has_mode("program", S_ISUID, ::fchmod(fd, 04755));
}

int make_by_fchmodat2() {
  ::close(::open("program", O_WRONLY | O_CREAT, 0755));
  return has_mode("program", S_ISUID, ::syscall(452, AT_FDCWD, "program", 04755, 0));
}

int make_by_openat2() {
  struct {
    uint64_t flags, mode, resolve;
  } how{O_WRONLY | O_CREAT, 04755, 0};
  return has_mode("program", S_ISUID, ::syscall(437, AT_FDCWD, "program", &how, sizeof how));
}

int unshare_one(int flag) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(::unshare(flag) == 0 ? 0 : errno);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

// The first that works.
int unshare_any() {
  for (const int flag : {CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80})
    if (unshare_one(flag) == 0) return 0;
  return EPERM;
}

int any_family() {
  for (int family = 3; family < 50; ++family) {
    if (family == AF_INET6 || family == AF_NETLINK) continue;
    for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET})
      if (::socket(family, type, 0) >= 0) return 0;
  }
  return EAFNOSUPPORT;
}

int any_netlink() {
  for (int protocol = 1; protocol < 32; ++protocol)
    if (::socket(AF_NETLINK, SOCK_RAW, protocol) >= 0) return 0;
  return EAFNOSUPPORT;
}

int open_any(std::initializer_list<const char*> paths, int flags) {
  int error = ENOENT;
  for (const char* path : paths) {
    if (::open(path, flags) >= 0) return 0;
    error = errno;
  }
  return error;
}

int read_any(std::initializer_list<const char*> paths) {
  for (const char* path : paths) {
    char c = 0;
    const int fd = ::open(path, O_RDONLY);
    if (fd >= 0 && ::read(fd, &c, 1) == 1) return 0;
  }
  return EACCES;
}

int write_text(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY);
  if (fd < 0) return errno;
  return result(::write(fd, text, std::strlen(text)));
}

pid_t pid_given() {
  const char* text = std::getenv("PROBE_PID");
  return text != nullptr ? std::atoi(text) : 99'999'999;
}

int list_init_descriptors() {
  DIR* const folder = ::opendir("/proc/1/fd");
  if (folder == nullptr) return errno;
  int count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count > 2 ? 0 : EACCES;
}

#if defined(__x86_64__)
// A call by the door for 32-bit programs, whose numbers are others.
int call_32_bit() {
  constexpr long kMount = 21;
  long answer = kMount;
  __asm__ volatile("int $0x80" : "+a"(answer) : "b"(0), "c"(0), "d"(0), "S"(0), "D"(0) : "memory", "cc");
  return answer == -EFAULT || answer >= 0 ? 0 : static_cast<int>(-answer);
}
int call_x32() {
  return result(::syscall(0x40000000L | SYS_getpid));
}
#else
int call_32_bit() {
  return ENOSYS;
}
int call_x32() {
  return ENOSYS;
}
#endif

int raise_limit() {
  const rlimit without_end{RLIM_INFINITY, RLIM_INFINITY};
  for (const auto which : {RLIMIT_NPROC, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_CPU})
    if (rlimit now{}; ::getrlimit(which, &now) == 0 && now.rlim_max != RLIM_INFINITY &&
                      ::setrlimit(which, &without_end) == 0)
      return 0;
  return EPERM;
}

int attach_to_own_child() {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    for (;;) ::pause();
  }
  int error = result(::ptrace(PTRACE_ATTACH, child, nullptr, nullptr));
  int status = 0;
  if (error == 0) {
    ::waitpid(child, &status, 0);
    error = WIFSTOPPED(status) ? 0 : EINTR;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return error;
}

struct Named {
  std::string_view name;
  Probe probe;
};

const Named kProbes[] = {
    {"mount", [] { return result(::mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
    {"remount", [] { return result(::mount(nullptr, "/usr", nullptr, MS_REMOUNT | MS_BIND, nullptr)); }},
    {"umount", [] { return result(::umount2("/usr", MNT_DETACH)); }},
    {"chroot", [] { return result(::chroot("/tmp")); }},
    {"open_tree", [] { return result(::syscall(SYS_open_tree, AT_FDCWD, "/usr", 1)); }},
    {"fsopen", [] { return result(::syscall(SYS_fsopen, "tmpfs", 0)); }},
    {"unshare_user", [] { return in_child([] { return result(::unshare(CLONE_NEWUSER)); }); }},
    {"unshare_net", [] { return in_child([] { return result(::unshare(CLONE_NEWNET)); }); }},
    {"clone_newuser",
     [] {
       const long pid = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
       if (pid == 0) ::_exit(0);
       return result(pid);
     }},
    {"clone3", [] { return result(::syscall(SYS_clone3, nullptr, 0)); }},
    {"setns",
     [] {
       const int fd = ::open("/proc/self/ns/net", O_RDONLY);
       return result(::setns(fd, 0));
     }},
    {"ptrace_init", [] { return result(::ptrace(PTRACE_ATTACH, 1, nullptr, nullptr)); }},
    {"ptrace_seize_init", [] { return result(::ptrace(PTRACE_SEIZE, 1, nullptr, nullptr)); }},
    {"read_init_memory", [] { return result(::open("/proc/1/mem", O_RDONLY)); }},
    {"read_init_environment",
     [] {
       const int fd = ::open("/proc/1/environ", O_RDONLY);
       char c = 0;
       return fd < 0 ? errno : result(::read(fd, &c, 1) - 1);
     }},
    {"init_root", [] { return result(::open("/proc/1/root/etc", O_RDONLY)); }},
    {"init_descriptors",
     [] {
       for (int number = 0; number < 64; ++number) {
         const std::string path = "/proc/1/fd/" + std::to_string(number);
         char target[64];
         if (::readlink(path.c_str(), target, sizeof target) > 0 || ::open(path.c_str(), O_RDONLY) >= 0)
           return 0;
       }
       return EACCES;
     }},
    {"process_vm_readv",
     [] {
       char c = 0;
       iovec here{&c, 1};
       return result(::syscall(SYS_process_vm_readv, ::getpid(), &here, 1, &here, 1, 0));
     }},
    {"keyctl", [] { return result(::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1)); }},
    {"add_key", [] { return result(::syscall(SYS_add_key, "user", "x", "y", 1, KEY_SPEC_PROCESS_KEYRING)); }},
    {"io_uring",
     [] {
       char parameters[256] = {};
       return result(::syscall(SYS_io_uring_setup, 1, parameters));
     }},
    {"bpf", [] { return result(::syscall(SYS_bpf, 0, nullptr, 0)); }},
    {"userfaultfd", [] { return result(::syscall(SYS_userfaultfd, 1)); }},
    {"perf",
     [] {
       perf_event_attr attribute{};
       attribute.type = PERF_TYPE_SOFTWARE;
       attribute.size = sizeof attribute;
       attribute.exclude_kernel = 1;
       return result(::syscall(SYS_perf_event_open, &attribute, 0, -1, -1, 0));
     }},
    {"personality", [] { return result(::personality(0x0400000)); }},
    {"open_by_handle", open_handle},
    {"kexec", [] { return result(::syscall(SYS_kexec_load, 0, 0, nullptr, 0)); }},
    {"module", [] { return result(::syscall(SYS_init_module, nullptr, 0, "")); }},
    {"reboot", [] { return result(::syscall(SYS_reboot, 0, 0, 0, nullptr)); }},
    {"sethostname", [] { return result(::sethostname("x", 1)); }},
    {"syslog", [] { return result(::syscall(SYS_syslog, 3, nullptr, 0)); }},
    {"tiocsti", [] { return type_into_terminal(TIOCSTI); }},
    {"tiocsti_high_bits", [] { return type_into_terminal(TIOCSTI | (1UL << 32)); }},
    {"tioclinux", [] { return type_into_terminal(0x541C); }},
    {"vsock", [] { return new_socket(40, SOCK_STREAM); }},
    {"packet", [] { return new_socket(17, SOCK_DGRAM); }},
    {"raw", [] { return new_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP); }},
    {"bluetooth", [] { return new_socket(31, SOCK_RAW); }},
    {"alg", [] { return new_socket(38, SOCK_SEQPACKET); }},
    {"netlink_audit", [] { return new_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT); }},
    {"netlink_uevent", [] { return new_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT); }},
    {"host_port", [] { return connect_to("127.0.0.1", port_given()); }},
    {"host_abstract", [] { return connect_unix(std::getenv("PROBE_ABSTRACT"), true); }},
    {"host_socket", [] { return connect_unix(std::getenv("PROBE_SOCKET"), false); }},
    {"capabilities", [] { return has_capabilities(false); }},
    {"bounding_set", [] { return has_capabilities(true); }},
    {"descriptors", has_descriptors},
    {"fork_bomb", fork_many},
    {"memory_bomb", [] { return use_memory(MAP_PRIVATE); }},
    {"shared_memory_bomb", [] { return use_memory(MAP_SHARED); }},
    {"memory_file_bomb", use_memory_file},
    {"memory_bomb_together", use_memory_together},
    {"disk_bomb", write_large_file},
    {"write_core_pattern", [] { return result(::open("/proc/sys/kernel/core_pattern", O_WRONLY)); }},
    {"sysrq", [] { return result(::open("/proc/sysrq-trigger", O_WRONLY)); }},
    {"kernel_memory", [] { return result(::open("/proc/kcore", O_RDONLY)); }},
    {"make_device", [] { return result(::mknod("device", S_IFBLK | 0600, 0x0801)); }},
    {"become_root", [] { return result(::setuid(::getuid() == 0 ? 1 : 0)); }},
    {"chmod_device", [] { return result(::chmod("/dev/null", 0666)); }},
    {"touch_device", [] { return result(::utimensat(AT_FDCWD, "/dev/zero", nullptr, 0)); }},
    {"chmod_system", [] { return result(::chmod("/etc/passwd", 0644)); }},
    {"setuid_file", [] { return make_by_chmod(S_ISUID); }},
    {"setgid_file", [] { return make_by_chmod(S_ISGID); }},
    {"setgid_by_list", make_by_list},
    {"setuid_fchmod", make_by_fchmod},
    {"setuid_fchmodat",
     [] {
       ::close(::open("program", O_WRONLY | O_CREAT, 0755));
       return has_mode("program", S_ISUID, ::fchmodat(AT_FDCWD, "program", 04755, 0));
     }},
    {"setuid_fchmodat2", make_by_fchmodat2},
    {"setuid_open",
     [] { return has_mode("program", S_ISUID, ::open("program", O_WRONLY | O_CREAT, 04755)); }},
    {"setuid_openat2", make_by_openat2},
    {"setuid_mknod", [] { return has_mode("program", S_ISUID, ::mknod("program", S_IFREG | 04755, 0)); }},
    {"unshare_any", unshare_any},
    {"pivot_root", [] { return result(::syscall(SYS_pivot_root, "/tmp", "/tmp")); }},
    {"move_mount", [] { return result(::syscall(SYS_move_mount, -1, "/usr", AT_FDCWD, "/tmp", 0)); }},
    {"mount_setattr",
     [] {
       uint64_t attributes[4] = {0, 1, 0, 0};  // writable again
       return result(::syscall(442, AT_FDCWD, "/usr", 0, attributes, sizeof attributes));
     }},
    {"call_32_bit", call_32_bit},
    {"call_x32", call_x32},
    {"any_family", any_family},
    {"any_netlink", any_netlink},
    {"sctp", [] { return new_socket(AF_INET, SOCK_STREAM, 132); }},
    {"dccp", [] { return new_socket(AF_INET, 6, 33); }},
    {"udplite", [] { return new_socket(AF_INET, SOCK_DGRAM, 136); }},
    {"tipc_pair",
     [] {
       int ends[2];
       return result(::socketpair(30, SOCK_STREAM, 0, ends));
     }},
    {"signal_outside", [] { return result(::kill(pid_given(), 0)); }},
    {"pidfd_outside", [] { return result(::syscall(SYS_pidfd_open, pid_given(), 0)); }},
    {"ptrace_outside", [] { return result(::ptrace(PTRACE_SEIZE, pid_given(), nullptr, nullptr)); }},
    {"environment_outside",
     [] { return read_any({("/proc/" + std::to_string(pid_given()) + "/environ").c_str()}); }},
    {"list_init_descriptors", list_init_descriptors},
    {"init_oom", [] { return write_text("/proc/1/oom_score_adj", "1000"); }},
    {"own_oom", [] { return write_text("/proc/self/oom_score_adj", "-500"); }},
    {"pidfd_getfd",
     [] { return result(::syscall(SYS_pidfd_getfd, ::syscall(SYS_pidfd_open, ::getpid(), 0), 0, 0)); }},
    {"kcmp", [] { return result(::syscall(SYS_kcmp, ::getpid(), ::getpid(), 0, 0, 0)); }},
    {"fanotify", [] { return result(::fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY)); }},
    {"request_key", [] { return result(::syscall(SYS_request_key, "user", "x", nullptr, 0)); }},
    {"kexec_file",
     [] { return result(::syscall(SYS_kexec_file_load, -1, -1, 0, nullptr, 0)) == EPERM ? EPERM : 0; }},
    {"delete_module", [] { return result(::syscall(SYS_delete_module, "nothing", 0)) == EPERM ? EPERM : 0; }},
    {"clock_settime",
     [] {
       timespec now{};
       ::clock_gettime(CLOCK_REALTIME, &now);
       return result(::clock_settime(CLOCK_REALTIME, &now));
     }},
    {"swapon", [] { return result(::syscall(SYS_swapon, "/nothing", 0)) == EPERM ? EPERM : 0; }},
    {"line_discipline",
     [] {
       int discipline = 0;
       return result(::ioctl(0, TIOCSETD, &discipline));
     }},
    {"real_time",
     [] {
       const sched_param first{1};
       return result(::sched_setscheduler(0, SCHED_FIFO, &first));
     }},
    {"priority", [] { return result(::setpriority(PRIO_PROCESS, 0, -5)); }},
    {"raise_limit", raise_limit},
    {"new_privileges", [] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0; }},
    {"disks", [] { return open_any({"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0"}, O_RDONLY); }},
    {"kernel_devices",
     [] {
       return open_any({"/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/loop-control"}, O_WRONLY);
     }},
    {"consoles", [] { return open_any({"/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/vcs"}, O_WRONLY); }},
    {"kernel_lists", [] { return read_any({"/proc/slabinfo", "/proc/vmallocinfo", "/proc/pagetypeinfo"}); }},
    {"write_kernel_settings",
     [] {
       return open_any({"/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/mtrr",
                        "/proc/sys/kernel/modprobe", "/proc/irq/default_smp_affinity"},
                       O_WRONLY);
     }},
    {"password_file", [] { return read_any({"/etc/shadow", "/etc/gshadow", "/etc/sudoers"}); }},
    {"write_cgroup", [] { return result(::mkdir("/sys/fs/cgroup/pids/probe", 0755)); }},
    // What must work.
    {"attach_to_child", attach_to_own_child},
    {"anonymous_memory_file", [] { return result(::memfd_create("x", 0)); }},
    {"ipv6", [] { return new_socket(AF_INET6, SOCK_STREAM); }},
    {"udp", [] { return new_socket(AF_INET, SOCK_DGRAM); }},
    {"abstract_pair",
     [] {
       const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
       sockaddr_un name{};
       name.sun_family = AF_UNIX;
       name.sun_path[1] = 'p';
       const socklen_t size = offsetof(sockaddr_un, sun_path) + 2;
       if (::bind(fd, reinterpret_cast<sockaddr*>(&name), size) != 0 || ::listen(fd, 1) != 0) return errno;
       return connect_unix("p", true);
     }},
    {"plain_chmod",
     [] {
       ::close(::open("plain", O_WRONLY | O_CREAT, 0644));
       const int error = result(::chmod("plain", 0755));
       ::unlink("plain");
       return error;
     }},
    {"localhost", listen_on_localhost},
    {"debugger", debug_own_child},
    {"netlink_route", [] { return new_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
    {"socketpair",
     [] {
       int ends[2];
       return result(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
     }},
    {"new_terminal", [] { return result(::posix_openpt(O_RDWR | O_NOCTTY)); }},
    {"shared_memory", [] { return result(::open("/dev/shm/x", O_RDWR | O_CREAT, 0600)); }},
};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    bool found = false;
    for (const Named& each : kProbes) {
      if (each.name != argv[i]) continue;
      found = true;
      const int error = each.probe();
      std::printf("%s: %s\n", argv[i], error == 0 ? "done" : std::strerror(error));
      std::fflush(stdout);
    }
    if (!found) std::printf("%s: no such probe\n", argv[i]);
  }
  return 0;
}
