#include "sandbox/filter.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
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
// The same, with an answer that programs know from older kernels.
constexpr int kAbsent[] = {SYS_clone3, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register};

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

void judge_sockets(Program& program, Sockets sockets) {
  program.if_equal(SYS_socket);
  program.load(argument(0));
  program.if_equal(AF_UNIX);
  program.allow();
  program.end_if();
  if (sockets == Sockets::Usual) {
    for (const uint32_t family : {AF_INET, AF_INET6}) {
      program.if_equal(family);
      program.allow();
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

}  // namespace

std::vector<sock_filter> system_call_filter(Sockets sockets) {
  Program program;
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
  // TIOCSTI types into a terminal; TIOCLINUX pastes into a console; TIOCSETD loads line disciplines.
  refuse_arguments(program, SYS_ioctl, 1, {TIOCSTI, kTioclinux, TIOCSETD, TIOCCONS}, EPERM);
  // A debugger starts what it debugs, or seizes its own child; it does not attach to strangers.
  refuse_arguments(program, SYS_ptrace, 0, {PTRACE_ATTACH}, EPERM);
  judge_clone(program);
  judge_personality(program);
  judge_sockets(program, sockets);
  program.allow();
  return program.take();
}

}  // namespace ttyward::sandbox
