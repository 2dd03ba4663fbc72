// What ttyward needs of the kernel, tried out.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>

#include "base/unique_fd.h"
#include "cli/doctor/check.h"
#include "cli/doctor/probe.h"
#include "pty/pseudo_terminal.h"
#include "pty/run_state.h"
#include "pty/spawn.h"

namespace ttyward::cli::doctor {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

long number_in(const std::string& path, long otherwise) {
  const std::string line = first_line(path);
  char* end = nullptr;
  const long value = std::strtol(line.c_str(), &end, 10);
  return end != line.c_str() ? value : otherwise;
}

bool can_read(const std::string& path) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[256];
  return fd.valid() && ::read(fd.get(), buffer, sizeof buffer) >= 0;
}

}  // namespace

std::vector<Finding> check_terminals(const Context&) {
  const auto opened = pty::open_pseudo_terminal({80, 24, 0, 0});
  if (!opened) {
    return {{Level::Fail, opened.error().message,
             "commands will run on pipes, without a terminal; in a container, check that devpts is mounted "
             "on /dev/pts and that /dev/ptmx points there"}};
  }
  const long most = number_in("/proc/sys/kernel/pty/max", 0);
  const long used = number_in("/proc/sys/kernel/pty/nr", 0);
  if (most > 0 && most - used < 64) {
    return {{Level::Warn,
             fmt::format("{} can be opened, but {} of {} are in use", opened->slave_path, used, most),
             "raise it: sysctl kernel.pty.max=4096"}};
  }
  return {{Level::Ok, fmt::format("{} was opened; {} of {} are in use", opened->slave_path, used, most), ""}};
}

std::vector<Finding> check_pidfd(const Context&) {
  const base::UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (fd) return {{Level::Ok, "pidfd_open works", ""}};
  return {{Level::Fail, fmt::format("pidfd_open does not work: {}", std::strerror(errno)),
           "use Linux 5.3 or later; in a container, let its seccomp profile allow pidfd_open"}};
}

std::vector<Finding> check_subreaper(const Context&) {
  int before = 0;
  if (::prctl(PR_GET_CHILD_SUBREAPER, &before) == 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, before);
    return {{Level::Ok, "processes that a command leaves running are found again", ""}};
  }
  return {{Level::Fail, fmt::format("this process cannot become a subreaper: {}", std::strerror(errno)),
           "processes that commands leave in the background cannot be found again; use Linux 3.4 or later"}};
}

std::vector<Finding> check_proc(const Context&) {
  if (!can_read("/proc/self/stat")) {
    return {{Level::Fail, "/proc cannot be read",
             "mount it: mount -t proc proc /proc. Without it, processes cannot be found and ended"}};
  }
  struct stat st{};
  if (::stat("/proc/1", &st) != 0) {
    return {{Level::Ok,
             "/proc shows our own processes; those of others are hidden (hidepid), which does no harm", ""}};
  }
  return {{Level::Ok, "/proc shows all processes", ""}};
}

// The thing itself: a program that reads its terminal, and what is known about it.
std::vector<Finding> check_waiting(const Context&) {
  pty::SpawnSpec spec;
  spec.argv = {"cat"};
  spec.environment = probe_environment();
  spec.cwd = "/";
  auto spawned = pty::spawn(spec);
  if (!spawned)
    return {{Level::Fail, "no program could be started in a terminal: " + spawned.error().error.message,
             "see the check pty; is there a `cat` in PATH?"}};
  const auto deadline = std::chrono::steady_clock::now() + kProbePatience;
  const pty::RunStateQuery query{spawned->child.pid(), 0, spawned->master.get(), spawned->slave_device,
                                 pty::AlternateScreen::Off};
  pty::RunState state;
  do {
    state = pty::run_state(query);
    if (state.waiting || !state.input_known) break;
    ::poll(nullptr, 0, 5);
  } while (std::chrono::steady_clock::now() < deadline);
  const std::string process = "/proc/" + std::to_string(spawned->child.pid());
  const bool call = can_read(process + "/syscall");
  const bool channel = can_read(process + "/wchan");
  end_probe(spawned->child);
  if (state.waiting) {
    return {{Level::Ok,
             fmt::format("a program that waits was recognised: {} ({}wchan can be read)",
                         state.waiting->evidence, channel ? "" : "no "),
             ""}};
  }
  const long scope = number_in("/proc/sys/kernel/yama/ptrace_scope", -1);
  return {
      {Level::Warn,
       fmt::format(
           "a program that waits for input was not recognised ({}; /proc/PID/syscall {}, ptrace_scope {})",
           state.evidence, call ? "can be read" : "cannot be read",
           scope < 0 ? "not there" : std::to_string(scope)),
       scope >= 2 ? "set sysctl kernel.yama.ptrace_scope to 0 or 1"
                  : "in a container, add the capability SYS_PTRACE; otherwise a command that waits ends only "
                    "at its time limit"}};
}

std::vector<Finding> check_descriptors(const Context& context) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  // A terminal takes a socket, a journal and a few mappings of it.
  const auto wanted = static_cast<rlim_t>(64 + 6 * context.config.settings.limits.terminals);
  if (files.rlim_cur != RLIM_INFINITY && files.rlim_cur < wanted) {
    return {{Level::Warn,
             fmt::format("{} open files are allowed; {} terminals need about {}", files.rlim_cur,
                         context.config.settings.limits.terminals, wanted),
             fmt::format("raise it (ulimit -n {}), or lower limits.terminals", wanted)}};
  }
  return {{Level::Ok, "the limit of open files is enough for all terminals", ""}};
}

}  // namespace ttyward::cli::doctor
