#include "client/start_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "base/unique_fd.h"
#include "io/daemon_place.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ttyward::client {

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMostComplaint = 4096;

// The program file, or a way to it that works even after it was replaced on disk.
std::string this_program() {
  std::array<char, 4096> path;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string found(path.data(), length > 0 ? static_cast<size_t>(length) : 0);
  return found.empty() || ::access(found.c_str(), X_OK) != 0 ? "/proc/self/exe" : found;
}

class SpawnSettings {
 public:
  explicit SpawnSettings(int complaints) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, complaints, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_,
                               POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

// What it complains about, until it closes its end.
std::string read_complaint(int fd, Clock::time_point until) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return text;
    std::array<char, 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (text.size() < kMostComplaint) text.append(buffer.data(), static_cast<size_t>(got));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The daemon has the folders this client has, whatever its environment says.
std::vector<std::string> arguments(const std::string& program, const base::Folders& folders) {
  return {program,     "daemon",          "run",      "--detach",    "--state", folders.state,
          "--runtime", folders.sockets(), "--config", folders.config};
}

}  // namespace

base::Result<void> start_daemon(const std::string& program, const base::Folders& folders,
                                Clock::time_point until) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot start the daemon");
  const base::UniqueFd ours(ends[0]);
  base::UniqueFd theirs(ends[1]);
  std::vector<std::string> words = arguments(program.empty() ? this_program() : program, folders);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const SpawnSettings settings(theirs.get());
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, argv[0], settings.files(), settings.attributes(), argv.data(), environ);
  if (error != 0) return base::fail_errno(error, "cannot start " + words[0]);
  theirs.reset();
  const std::string complaint = read_complaint(ours.get(), until);
  // The end of the pipe is the end of the process, or nearly; if it hangs, it is not waited for.
  int status = 0;
  pid_t reaped = 0;
  if (Clock::now() < until) {
    while ((reaped = ::waitpid(pid, &status, 0)) < 0 && errno == EINTR) {
    }
  } else {
    reaped = ::waitpid(pid, &status, WNOHANG);
  }
  if (reaped == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const bool killed = reaped == pid && (WIFSIGNALED(status) ||
                                        (WIFEXITED(status) && WEXITSTATUS(status) == io::kExitKilledAtStart));
  if (killed) {
    return base::fail_errno(EINTR,
                            "the daemon was killed while it started; see " + folders.state + "/daemon.log");
  }
  return base::fail(base::ErrorCode::Unavailable,
                    complaint.empty()
                        ? "the daemon could not be started; see " + folders.state + "/daemon.log"
                        : complaint);
}

}  // namespace ttyward::client
