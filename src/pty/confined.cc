#include "pty/confined.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <new>

#include "pty/child.h"
#include "sandbox/init.h"

// See exec_child.cc.
#define TTYWARD_NO_SANITIZE __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

namespace ttyward::pty {
namespace {

constexpr size_t kStarterStack = 64 * 1024;
constexpr size_t kCommandStack = 256 * 1024;  // paths of four kilobytes and a hook
constexpr size_t kInitStack = 128 * 1024;

// What the starter works on and reports to, in memory it shares with us.
struct Start {
  ExecPlan* plan = nullptr;
  sandbox::InitPlan init_plan;
  ExecReport report;
  int command_flags = 0;
  std::byte* command_stack = nullptr;  // their ends: stacks grow down
  std::byte* init_stack = nullptr;
  volatile pid_t init = 0;
  volatile pid_t command = 0;
};

TTYWARD_NO_SANITIZE void report_failure(Start& start, sandbox::Layer layer, int sys_errno) {
  start.report.failure.layer = layer;
  start.report.failure.sys_errno = sys_errno;
  start.report.step = ExecStep::Sandbox;
  start.report.sys_errno = sys_errno == 0 ? EIO : sys_errno;
}

TTYWARD_NO_SANITIZE int run_starter(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  sandbox::Failure failure;
  if (!sandbox::settle_namespaces(*start.plan->sandbox, failure)) {
    report_failure(start, failure.layer, failure.sys_errno);
    ::_exit(1);
  }
  start.init = ::clone(sandbox::run_init, start.init_stack, CLONE_PARENT | SIGCHLD, &start.init_plan);
  if (start.init < 0) {
    report_failure(start, sandbox::Layer::Processes, errno);
    ::_exit(1);
  }
  // Init alone has this end now: if it dies, the command's process sees that.
  ::close(start.init_plan.ready);
  start.command = ::clone(run_exec_plan, start.command_stack, start.command_flags, start.plan);
  if (start.command < 0) report_failure(start, sandbox::Layer::Processes, errno);
  ::_exit(0);
}

struct Area {
  void* begin = MAP_FAILED;
  size_t size = 0;
  Area(size_t bytes)
      : begin(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        size(bytes) {}
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  ~Area() {
    if (begin != MAP_FAILED) ::munmap(begin, size);
  }
};

struct Pipe {
  base::UniqueFd read;
  base::UniqueFd write;
};

bool make_pipe(Pipe& pipe) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe.read.reset(ends[0]);
  pipe.write.reset(ends[1]);
  return true;
}

void collect(pid_t pid) {
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace

Confined start_confined(ExecPlan& plan, ExecReport& report, Memory memory) {
  Confined confined;
  const Area area(kStarterStack + kCommandStack + kInitStack + sizeof(Start));
  Pipe control;
  Pipe ready;
  if (area.begin == MAP_FAILED || !make_pipe(control) || !make_pipe(ready)) {
    confined.sys_errno = errno;
    return confined;
  }
  auto* const bottom = static_cast<std::byte*>(area.begin);
  std::byte* const starter_stack = bottom + kStarterStack;
  Start& start = *new (bottom + kStarterStack + kCommandStack + kInitStack) Start;
  const int share = memory == Memory::Shared ? CLONE_VM : 0;
  start.plan = &plan;
  start.command_stack = starter_stack + kCommandStack;
  start.init_stack = start.command_stack + kInitStack;
  start.command_flags = share | CLONE_VFORK | CLONE_PARENT | SIGCHLD;
  start.init_plan = {plan.sandbox, control.read.get(), ready.write.get()};
  plan.init_ready = ready.read.get();
  plan.report = &start.report;

  const int flags = sandbox::namespace_flags(*plan.sandbox) | share | CLONE_VFORK | SIGCHLD;
  const pid_t starter = ::clone(run_starter, starter_stack, flags, &start);
  if (starter == -1) {
    report_failure(start, sandbox::Layer::Namespaces, errno);
  } else {
    collect(starter);
  }
  report.step = start.report.step;
  report.sys_errno = start.report.sys_errno;
  report.failure = start.report.failure;
  plan.report = &report;
  confined.pid = start.command > 0 ? start.command : 0;
  confined.init = start.init > 0 ? start.init : 0;
  confined.control = std::move(control.write);
  // It cannot have been given to another process: nobody but us can collect it.
  if (confined.pid > 0) confined.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, confined.pid, 0)));
  return confined;
}

}  // namespace ttyward::pty
