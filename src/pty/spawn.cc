#include "pty/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <new>
#include <utility>

#include "pty/confined.h"
#include "pty/executable.h"
#include "pty/stdio.h"
#include "sandbox/confinement.h"
#include "sandbox/container.h"
#include "sandbox/prepare.h"

namespace ttyward::pty {
namespace {

// What the child needs: our few frames and the dynamic linker's, which saves the
// vector registers when a libc function is called for the first time.
constexpr size_t kChildStack = 32 * 1024;
constexpr size_t kHookStack = 512 * 1024;  // a hook is other people's code

// ThreadSanitizer tells itself in every child that it is alone now. In a child with our
// memory it tells our thread: what that thread does and waits for is not seen any more,
// and those who join it are told of races. A child with a copy leaves us alone.
#ifdef __SANITIZE_THREAD__
constexpr bool kShareMemory = false;
#else
constexpr bool kShareMemory = true;
#endif

tl::unexpected<SpawnError> fail(SpawnFailure failure, base::Error error) {
  return tl::unexpected(SpawnError{failure, std::move(error)});
}

tl::unexpected<SpawnError> fail_errno(SpawnFailure failure, int sys_errno, const std::string& context) {
  return fail(failure, base::fail_errno(sys_errno, context).value());
}

tl::unexpected<SpawnError> bad_request(std::string message) {
  return fail(SpawnFailure::BadRequest, {base::ErrorCode::InvalidArgument, 0, std::move(message)});
}

bool means_exhausted(int sys_errno) {
  return sys_errno == EMFILE || sys_errno == ENFILE || sys_errno == ENOMEM || sys_errno == EAGAIN;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

bool has_nul(const std::vector<std::string>& strings) {
  return std::any_of(strings.begin(), strings.end(),
                     [](const std::string& s) { return s.find('\0') != s.npos; });
}

std::optional<std::string> complaint_about(const SpawnSpec& spec) {
  const auto& first = spec.argv_prefix.empty() ? spec.argv : spec.argv_prefix;
  if (spec.argv.empty() || first.front().empty()) return "the command is empty";
  if (has_nul(spec.argv) || has_nul(spec.argv_prefix)) return "the command contains a NUL character";
  if (spec.cwd.find('\0') != std::string::npos) return "the directory's name contains a NUL character";
  if (has_nul(spec.environment)) return "an environment variable contains a NUL character";
  for (const int fd : spec.keep_fds)
    if (fd < 3) return "only descriptors above 2 can be passed on";
  return std::nullopt;
}

// Holds every signal back from this thread: the child must not run our handlers
// while it uses our memory.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

struct Cloned {
  pid_t pid = -1;
  base::UniqueFd pidfd;
  int sys_errno = 0;
};

// CLONE_VFORK holds us until the child has called exec or ended, so its report
// is complete when this returns.
Cloned clone_child(ExecPlan& plan, int flags, std::byte* stack, size_t stack_size) {
  int pidfd = -1;
  const SignalsBlocked blocked;
  const pid_t pid =
      ::clone(run_exec_plan, stack + stack_size, flags | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, &plan, &pidfd);
  if (pid == -1) return {-1, base::UniqueFd(), errno};
  return {pid, base::UniqueFd(pidfd), 0};
}

Cloned clone_sharing_memory(ExecPlan& plan, ExecReport& report) {
  // Part of our own frame: we are held while the child runs on it.
  alignas(16) std::byte stack[kChildStack];
  plan.report = &report;
  return clone_child(plan, CLONE_VM, stack, sizeof stack);
}

Cloned clone_copying_memory(ExecPlan& plan, ExecReport& report) {
  constexpr size_t kArea = kHookStack + sizeof(ExecReport);  // the stack grows down from the report
  void* const area = ::mmap(nullptr, kArea, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return {-1, base::UniqueFd(), errno};
  auto* const stack = static_cast<std::byte*>(area);
  plan.report = new (stack + kHookStack) ExecReport;
  Cloned cloned = clone_child(plan, 0, stack, kHookStack);
  report.step = plan.report->step;
  report.sys_errno = plan.report->sys_errno;
  ::munmap(area, kArea);
  return cloned;
}

void collect_failed_child(Cloned& cloned) {
  siginfo_t info{};
  ResourceUse use;
  wait_with_usage(P_PID, static_cast<id_t>(cloned.pid), WEXITED, info, use);
}

SpawnError exec_error(int sys_errno, const std::string& path) {
  const std::string quoted = "cannot execute " + path;
  switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
      return {SpawnFailure::NotExecutable,
              {base::ErrorCode::NotFound, sys_errno,
               quoted + ": the interpreter named in its first line, or its loader, does not exist"}};
    case ENOEXEC:
      return {SpawnFailure::NotExecutable,
              {base::ErrorCode::Unsupported, sys_errno,
               quoted + ": not a program for this machine, nor a script with a #! line"}};
    case E2BIG:
      return {
          SpawnFailure::BadRequest,
          {base::ErrorCode::InvalidArgument, sys_errno, quoted + ": arguments and environment are too long"}};
    default:
      return {means_exhausted(sys_errno) ? SpawnFailure::Exhausted : SpawnFailure::NotExecutable,
              base::fail_errno(sys_errno, quoted).value()};
  }
}

SpawnError child_error(const ExecReport& report, const SpawnSpec& spec, const sandbox::Prepared* confined,
                       const std::string& path) {
  const int error = report.sys_errno;
  switch (report.step) {
    case ExecStep::Exec:
      if (confined != nullptr && error == ENOENT) {
        return {SpawnFailure::NotExecutable,
                {base::ErrorCode::NotFound, error,
                 path + " is not visible in the sandbox. List its folder under sandbox.readable in your "
                        "configuration"}};
      }
      return exec_error(error, path);
    case ExecStep::Directory:
      return fail_errno(SpawnFailure::BadDirectory, error, "cannot enter directory " + spec.cwd).value();
    case ExecStep::Hook:
      return fail_errno(SpawnFailure::Setup, error, "preparing the command's sandbox").value();
    case ExecStep::Sandbox:
      return {SpawnFailure::Setup, {base::ErrorCode::Unsupported, error, confined->explain(report.failure)}};
    case ExecStep::Limits:
      return fail_errno(SpawnFailure::Setup, error, "setting the command's limits").value();
    case ExecStep::Terminal:
      return fail_errno(SpawnFailure::NoPty, error, "making the pseudo terminal the command's own").value();
    default:
      return fail_errno(SpawnFailure::Setup, error, "preparing the command's process").value();
  }
}

// The directory as a descriptor: what was checked is what the child enters.
tl::expected<base::UniqueFd, SpawnError> open_directory(const std::string& cwd) {
  if (cwd.empty()) return base::UniqueFd();
  base::UniqueFd fd(::open(cwd.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int error = errno;
  if (!fd)
    return fail_errno(means_exhausted(error) ? SpawnFailure::Exhausted : SpawnFailure::BadDirectory, error,
                      "cannot enter directory " + cwd);
  auto high = above_stdio(std::move(fd));
  if (!high) return fail(SpawnFailure::Exhausted, high.error());
  return std::move(*high);
}

tl::expected<std::string, SpawnError> find_program(const SpawnSpec& spec, int directory) {
  const std::string& name = (spec.argv_prefix.empty() ? spec.argv : spec.argv_prefix).front();
  Executable found = find_executable(directory, name, find_variable(spec.environment, "PATH"));
  if (found.sys_errno == 0) return std::move(found.path);
  if (found.exists)
    return fail_errno(SpawnFailure::NotExecutable, found.sys_errno, "cannot execute " + found.path);
  if (found.sys_errno == EACCES)
    return fail_errno(SpawnFailure::NotExecutable, EACCES, "cannot reach " + found.path);
  return fail(SpawnFailure::NotFound, {base::ErrorCode::NotFound, ENOENT, name + ": command not found"});
}

Cloned clone_confined(ExecPlan& plan, ExecReport& report, const SpawnSpec& spec, sandbox::Prepared& prepared,
                      Spawned& spawned) {
  const SignalsBlocked blocked;
  const bool share = kShareMemory && spec.pre_exec == nullptr;
  Confined confined = start_confined(plan, report, share ? Memory::Shared : Memory::Copied);
  spawned.confinement = std::make_shared<sandbox::Confinement>(
      confined.init, std::move(confined.control), prepared.take_placeholders(), sandbox::TemporaryFolder(),
      prepared.take_group());
  return {confined.pid, std::move(confined.pidfd), confined.sys_errno};
}

SpawnResult run_plan(const SpawnSpec& spec, ExecPlan& plan, sandbox::Prepared* confined, Spawned spawned,
                     const std::string& path) {
  ExecReport report;
  Cloned cloned;
  if (confined != nullptr && confined->steps().namespaces) {
    cloned = clone_confined(plan, report, spec, *confined, spawned);
  } else {
    cloned = kShareMemory && spec.pre_exec == nullptr ? clone_sharing_memory(plan, report)
                                                      : clone_copying_memory(plan, report);
  }
  if (cloned.pid == -1) return fail_errno(SpawnFailure::Exhausted, cloned.sys_errno, "starting a process");
  if (report.sys_errno != 0) {
    if (cloned.pid > 0) collect_failed_child(cloned);
    return tl::unexpected(child_error(report, spec, confined, path));
  }
  if (report.step != ExecStep::Exec) {  // killed on the way, by the system or by somebody
    if (cloned.pid > 0) collect_failed_child(cloned);
    return fail(SpawnFailure::Setup,
                {base::ErrorCode::Unavailable, 0, "the process was killed before it became " + path});
  }
  spawned.child = Child(cloned.pid, std::move(cloned.pidfd));
  if (confined != nullptr && !spawned.confinement) {
    spawned.confinement =
        std::make_shared<sandbox::Confinement>(0, base::UniqueFd(), sandbox::Placeholders(),
                                               std::move(confined->temporary()), confined->take_group());
  }
  return spawned;
}

// Where the directory really is: a sandbox shows no links on the way to it.
std::string start_directory(int directory) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(directory);
  const ssize_t length = directory >= 0 ? ::readlink(link.c_str(), path, sizeof path) : -1;
  if (length > 0 && static_cast<size_t>(length) < sizeof path) return {path, static_cast<size_t>(length)};
  return ::getcwd(path, sizeof path) != nullptr ? std::string(path) : std::string("/");
}

base::Result<std::optional<sandbox::Prepared>> prepare_sandbox(const SpawnSpec& spec, const Spawned& spawned,
                                                               int directory) {
  if (!spec.sandbox) return std::optional<sandbox::Prepared>();
  sandbox::Start start;
  start.directory = start_directory(directory);
  start.directory_fd = directory;
  start.terminal = spawned.slave_path;
  auto prepared = sandbox::Prepared::make(*spec.sandbox, start);
  if (!prepared) return tl::unexpected(prepared.error());
  return std::optional<sandbox::Prepared>(std::move(*prepared));
}

// git writes which branch a new one follows into the repository's configuration, which is protected, and
// complains. In a sandbox it does not try.
void add_git_settings(const sandbox::Plan& plan, std::vector<std::string>& environment) {
  const bool is_protected =
      std::any_of(plan.read_only.begin(), plan.read_only.end(),
                  [](const std::string& path) { return path.ends_with("/.git/config"); });
  if (!is_protected) return;
  constexpr std::string_view kCount = "GIT_CONFIG_COUNT";
  const int count =
      std::atoi(std::string(find_variable(environment, std::string(kCount)).value_or("0")).c_str());
  std::erase_if(environment,
                [&](const std::string& each) { return each.starts_with(std::string(kCount) + "="); });
  const std::string number = std::to_string(std::max(count, 0));
  environment.push_back(std::string(kCount) + "=" + std::to_string(std::max(count, 0) + 1));
  environment.push_back("GIT_CONFIG_KEY_" + number + "=branch.autoSetupMerge");
  environment.push_back("GIT_CONFIG_VALUE_" + number + "=false");
}

SpawnResult spawn_connected(const SpawnSpec& spec, Spawned spawned, const Stdio& stdio, int directory,
                            const std::string& path) {
  auto confined = prepare_sandbox(spec, spawned, directory);
  if (!confined) return fail(SpawnFailure::Setup, confined.error());
  std::vector<char*> argv = pointers(spec.argv_prefix);
  argv.pop_back();
  const std::vector<char*> rest = pointers(spec.argv);
  argv.insert(argv.end(), rest.begin(), rest.end());
  std::vector<std::string> environment = spec.environment;
  if (*confined && !(*confined)->temporary().path().empty())
    environment.push_back("TMPDIR=" + (*confined)->temporary().path());
  if (*confined) add_git_settings(*spec.sandbox, environment);
  const std::vector<char*> envp = pointers(environment);
  std::vector<int> keep = spec.keep_fds;
  std::sort(keep.begin(), keep.end());
  keep.erase(std::unique(keep.begin(), keep.end()), keep.end());

  ExecPlan plan;
  plan.path = path.c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();
  std::copy(std::begin(stdio.child), std::end(stdio.child), std::begin(plan.stdio));
  plan.take_terminal = spawned.provider == Provider::Pty;
  plan.directory = directory;
  plan.umask = spec.umask ? static_cast<int>(*spec.umask & 0777) : -1;
  plan.new_session = !(plan.take_terminal && spec.session == Session::Ours);
  plan.death_signal = spec.parent_death_signal;
  plan.parent = ::getpid();
  plan.limits = spec.limits.data();
  plan.limit_count = spec.limits.size();
  plan.keep = keep.data();
  plan.keep_count = keep.size();
  plan.hook = spec.pre_exec;
  plan.hook_context = spec.pre_exec_context;
  sandbox::Prepared* const prepared = *confined ? &**confined : nullptr;
  if (prepared != nullptr) plan.sandbox = &prepared->steps();
  return run_plan(spec, plan, prepared, std::move(spawned), path);
}

}  // namespace

std::vector<std::string> shell_argv(std::string shell, std::string line) {
  return {std::move(shell), "-c", std::move(line)};
}

std::optional<int> SpawnError::shell_code() const {
  if (failure == SpawnFailure::NotFound) return 127;
  if (failure == SpawnFailure::NotExecutable) return 126;
  return std::nullopt;
}

namespace {

// Its engine is what we start; what is in the container is started by that.
SpawnResult spawn_in_container(const SpawnSpec& spec, const PtyOpener& open_pty) {
  if (spec.argv.empty()) return bad_request("there is no command");
  const sandbox::Plan& plan = *spec.sandbox;
  sandbox::Placeholders placeholders;
  for (const std::string& path : plan.read_only) {
    if (auto there = placeholders.ensure(path); !there && there.error().code != base::ErrorCode::NotFound)
      return fail(SpawnFailure::Setup, there.error());
  }
  sandbox::ContainerStart start;
  start.directory = spec.cwd.empty() ? start_directory(-1) : spec.cwd;
  start.terminal = spec.provider == Provider::Pty;
  start.variables = spec.environment;
  start.argv = spec.argv;
  SpawnSpec outer = spec;
  outer.sandbox.reset();
  outer.argv = sandbox::container_argv(plan, start);
  for (std::string& variable : sandbox::engine_variables()) outer.environment.push_back(std::move(variable));
  auto spawned = spawn(outer, open_pty);
  if (spawned) {
    spawned->confinement = std::make_shared<sandbox::Confinement>(
        0, base::UniqueFd(), std::move(placeholders), sandbox::TemporaryFolder());
  }
  return spawned;
}

}  // namespace

SpawnResult spawn(const SpawnSpec& spec, const PtyOpener& open_pty) {
  if (spec.sandbox && spec.sandbox->walls == sandbox::Walls::Container)
    return spawn_in_container(spec, open_pty);
  if (auto complaint = complaint_about(spec)) return bad_request(std::move(*complaint));
  auto directory = open_directory(spec.cwd);
  if (!directory) return tl::unexpected(directory.error());
  const int at = directory->valid() ? directory->get() : AT_FDCWD;
  const auto path = find_program(spec, at);
  if (!path) return tl::unexpected(path.error());

  Spawned spawned{Child(-1, base::UniqueFd()), spec.provider, {}, {}, {}, {}, 0, {}, {}, {}};
  if (spec.provider == Provider::Pty) {
    auto terminal = open_pty(spec.size);
    if (!terminal) {
      const bool exhausted = means_exhausted(terminal.error().sys_errno);
      return fail(exhausted ? SpawnFailure::Exhausted : SpawnFailure::NoPty, terminal.error());
    }
    const Stdio stdio = connect_terminal(spec, std::move(*terminal), spawned);
    if (spec.session == Session::Ours && ::ioctl(stdio.child[1], TIOCSCTTY, 0) == -1)
      return fail_errno(SpawnFailure::NoPty, errno, "making the pseudo terminal the session's own");
    return spawn_connected(spec, std::move(spawned), stdio, directory->get(), *path);
  }
  const auto stdio = connect_pipes(spec, spawned);
  if (!stdio) return fail(SpawnFailure::Exhausted, stdio.error());
  return spawn_connected(spec, std::move(spawned), *stdio, directory->get(), *path);
}

}  // namespace ttyward::pty
