#include "sandbox/filter.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>

namespace ttyward::sandbox {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system call filter knows x86-64 and arm64"
#endif

constexpr uint32_t kFirstX32Call = 0x40000000;
constexpr uint32_t kTioclinux = 0x541C;
constexpr uint32_t kQueryPersonality = 0xffffffff;

constexpr unsigned long kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                                         0x80 /* CLONE_NEWTIME */;

// Refused whatever the arguments are. Numbers that older headers do not have are the same on all machines.
constexpr int kRefused[] = {
    // the view of files
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    467 /* open_tree_attr */,
    SYS_open_by_handle_at,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_acct,
    SYS_fanotify_init,
    // namespaces
    SYS_unshare,
    SYS_setns,
    // other processes' memory and descriptors
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_process_madvise,
    // the kernel itself
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    SYS_vhangup,
    SYS_move_pages,
    SYS_migrate_pages,
#if defined(__x86_64__)
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS__sysctl,
    SYS_create_module,
    SYS_get_kernel_syms,
    SYS_query_module,
#endif
};
// The same, with an answer that programs know from older kernels. The first two take their arguments by
// pointer, which a filter cannot look at.
constexpr int kAbsent[] = {SYS_clone3, SYS_openat2, SYS_io_uring_setup, SYS_io_uring_enter,
                           SYS_io_uring_register};
constexpr int kFchmodat2 = 452;  // newer than some headers

// What makes sockets of the internet families: others load protocols into the kernel that nobody else uses.
constexpr uint32_t kProtocols[] = {0,           IPPROTO_ICMP,   IPPROTO_TCP,
                                   IPPROTO_UDP, IPPROTO_ICMPV6, 262 /* multipath TCP */};

constexpr size_t kNumber = offsetof(seccomp_data, nr);
constexpr size_t kMachine = offsetof(seccomp_data, arch);

// The low half of an argument. The kernel takes ioctl numbers, flags and families as 32 bits; a comparison of
// all 64 would let a number with a high bit slip through.
constexpr size_t argument(unsigned index) {
  return offsetof(seccomp_data, args) + index * sizeof(uint64_t);
}

class Program {
 public:
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void answer(uint32_t value) { add(BPF_RET | BPF_K, value); }
  void refuse(int error) { answer(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)); }
  void allow() { answer(SECCOMP_RET_ALLOW); }

  // What follows, up to end_if(), runs only if the loaded word is `value`.
  void if_equal(uint32_t value) { open(BPF_JMP | BPF_JEQ | BPF_K, value, true); }
  void if_not_equal(uint32_t value) { open(BPF_JMP | BPF_JEQ | BPF_K, value, false); }
  // Keeps only these bits of the loaded word.
  void mask(uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void if_any_bit(uint32_t bits) { open(BPF_JMP | BPF_JSET | BPF_K, bits, true); }
  void if_at_least(uint32_t value) { open(BPF_JMP | BPF_JGE | BPF_K, value, true); }
  void end_if() {
    sock_filter& jump = code_[open_.back()];
    const auto over = static_cast<uint8_t>(code_.size() - open_.back() - 1);
    (runs_if_true_.back() ? jump.jf : jump.jt) = over;
    open_.pop_back();
    runs_if_true_.pop_back();
  }
  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(int code, uint32_t value) { code_.push_back({static_cast<uint16_t>(code), 0, 0, value}); }
  void open(int code, uint32_t value, bool runs_if_true) {
    open_.push_back(code_.size());
    runs_if_true_.push_back(runs_if_true);
    add(code, value);
  }

  std::vector<sock_filter> code_;
  std::vector<size_t> open_;
  std::vector<bool> runs_if_true_;
};

void refuse_arguments(Program& program, int call, unsigned index, std::initializer_list<uint32_t> values,
                      int error) {
  program.if_equal(static_cast<uint32_t>(call));
  program.load(argument(index));
  for (const uint32_t value : values) {
    program.if_equal(value);
    program.refuse(error);
    program.end_if();
  }
  program.allow();
  program.end_if();
}

// Allows the usual protocols of streams and datagrams. Raw ones fail for want of capabilities.
void judge_protocol(Program& program) {
  constexpr uint32_t kTypeMask = 0xf;
  program.load(argument(1));
  program.mask(kTypeMask);
  program.if_at_least(uint32_t{SOCK_RAW} + 1);
  program.refuse(ESOCKTNOSUPPORT);
  program.end_if();
  program.load(argument(2));
  for (const uint32_t protocol : kProtocols) {
    program.if_equal(protocol);
    program.allow();
    program.end_if();
  }
  program.refuse(EPROTONOSUPPORT);
}

void judge_sockets(Program& program, Sockets sockets) {
  program.if_equal(SYS_socket);
  program.load(argument(0));
  if (sockets == Sockets::Usual) {
    program.if_equal(AF_UNIX);
    program.allow();
    program.end_if();
  }
  if (sockets != Sockets::None) {
    for (const uint32_t family : {AF_INET, AF_INET6}) {
      program.if_equal(family);
      judge_protocol(program);
      program.end_if();
    }
    program.if_equal(AF_NETLINK);
    program.load(argument(2));
    program.if_equal(NETLINK_ROUTE);
    program.allow();
    program.end_if();
    program.end_if();
  }
  program.refuse(EAFNOSUPPORT);
  program.end_if();
  program.if_equal(SYS_socketpair);
  program.load(argument(0));
  program.if_not_equal(AF_UNIX);
  program.refuse(EAFNOSUPPORT);
  program.end_if();
  program.allow();
  program.end_if();
}

// Refuses a mode in the loaded word with which others would run a program as this user or group: the
// workspace is not mounted as it is inside when they look at it. Also where nobody may execute it yet: an
// access list can change that without another mode. On folders the group's bit is about new files only, but a
// mode does not say what it is for.
void refuse_mode(Program& program) {
  program.if_any_bit(S_ISUID | S_ISGID);
  program.refuse(EPERM);
  program.end_if();
}

void judge_modes(Program& program) {
  struct Call {
    int number;
    unsigned mode;
  };
  constexpr Call kCalls[] = {{SYS_fchmod, 1}, {SYS_fchmodat, 2}, {kFchmodat2, 2}, {SYS_mknodat, 2},
#if defined(__x86_64__)
                             {SYS_chmod, 1},  {SYS_creat, 1},    {SYS_mknod, 1}
#endif
  };
  for (const Call& call : kCalls) {
    program.if_equal(static_cast<uint32_t>(call.number));
    program.load(argument(call.mode));
    refuse_mode(program);
    program.allow();
    program.end_if();
  }
  struct Opening {
    int number;
    unsigned flags;
  };
  constexpr Opening kOpenings[] = {{SYS_openat, 2},
#if defined(__x86_64__)
                                   {SYS_open, 1}
#endif
  };
  constexpr uint32_t kMakes = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  for (const Opening& call : kOpenings) {
    program.if_equal(static_cast<uint32_t>(call.number));
    program.load(argument(call.flags));
    program.if_any_bit(kMakes);
    program.load(argument(call.flags + 1));
    refuse_mode(program);
    program.end_if();
    program.allow();
    program.end_if();
  }
}

void judge_clone(Program& program) {
  program.if_equal(SYS_clone);
  program.load(argument(0));
  program.if_any_bit(static_cast<uint32_t>(kNewNamespaces));
  program.refuse(EPERM);
  program.end_if();
  program.allow();
  program.end_if();
}

void judge_personality(Program& program) {
  program.if_equal(SYS_personality);
  program.load(argument(0));
  for (const uint32_t harmless : {uint32_t{0}, kQueryPersonality}) {
    program.if_equal(harmless);
    program.allow();
    program.end_if();
  }
  program.refuse(EPERM);
  program.end_if();
}

// What a process that only serves cannot do besides. Names of files lead nowhere, and nothing new is made.
constexpr int kNotForServing[] = {
    // programs and processes
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_kill,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
    // files by name
    SYS_openat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_unlinkat,
    SYS_symlinkat,
    SYS_linkat,
    SYS_renameat2,
    SYS_fchmodat,
    kFchmodat2,
    SYS_fchownat,
    SYS_utimensat,
    SYS_truncate,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_chdir,
    SYS_fchdir,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_name_to_handle_at,
    SYS_inotify_add_watch,
    SYS_memfd_create,
    // sockets
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
    SYS_open,
    SYS_creat,
    SYS_mkdir,
    SYS_rmdir,
    SYS_mknod,
    SYS_unlink,
    SYS_symlink,
    SYS_link,
    SYS_rename,
    SYS_renameat,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_readlink,
    SYS_access,
#endif
};

// Up to the number of the call, which is loaded.
void begin(Program& program) {
  program.load(kMachine);
  program.if_not_equal(kArchitecture);
  program.refuse(EPERM);
  program.end_if();
  program.load(kNumber);
#if defined(__x86_64__)
  program.if_at_least(kFirstX32Call);
  program.refuse(ENOSYS);
  program.end_if();
#endif
}

void refuse_calls(Program& program) {
  for (const int call : kAbsent) {
    program.if_equal(static_cast<uint32_t>(call));
    program.refuse(ENOSYS);
    program.end_if();
  }
  for (const int call : kRefused) {
    program.if_equal(static_cast<uint32_t>(call));
    program.refuse(EPERM);
    program.end_if();
  }
}

}  // namespace

std::vector<sock_filter> system_call_filter(Sockets sockets) {
  Program program;
  begin(program);
  refuse_calls(program);
  // TIOCSTI types into a terminal; TIOCLINUX pastes into a console; TIOCSETD loads line disciplines.
  refuse_arguments(program, SYS_ioctl, 1, {TIOCSTI, kTioclinux, TIOCSETD, TIOCCONS}, EPERM);
  judge_clone(program);
  judge_personality(program);
  judge_sockets(program, sockets);
  judge_modes(program);
  program.allow();
  return program.take();
}

std::vector<sock_filter> serving_filter(uint32_t self) {
  Program program;
  begin(program);
  refuse_calls(program);
  for (const int call : kNotForServing) {
    program.if_equal(static_cast<uint32_t>(call));
    program.refuse(EPERM);
    program.end_if();
  }
  refuse_arguments(program, SYS_ioctl, 1, {TIOCSTI, kTioclinux, TIOCSETD, TIOCCONS}, EPERM);
  // Threads, and no processes.
  program.if_equal(SYS_clone);
  program.load(argument(0));
  program.if_any_bit(CLONE_THREAD);
  program.allow();
  program.end_if();
  program.refuse(EPERM);
  program.end_if();
  // abort() signals its own thread.
  program.if_equal(SYS_tgkill);
  program.load(argument(0));
  program.if_equal(self);
  program.allow();
  program.end_if();
  program.refuse(EPERM);
  program.end_if();
  judge_personality(program);
  program.allow();
  return program.take();
}

}  // namespace ttyward::sandbox
