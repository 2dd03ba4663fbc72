// For tests that drive real programs: bounded waits on what really happens
// (bytes, exits, states), never on the clock.
#pragma once

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pty/child.h"
#include "pty/spawn.h"

namespace ttyward::pty::testing {

using Clock = std::chrono::steady_clock;

// Far beyond what any of it takes on a loaded machine: reaching it is a failure.
constexpr auto kPatience = std::chrono::seconds(60);

inline int until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

inline bool wait_readable(int fd, Clock::time_point deadline) {
  pollfd entry{fd, POLLIN, 0};
  int rc = 0;
  do {
    rc = ::poll(&entry, 1, until(deadline));
  } while (rc == -1 && errno == EINTR);
  return rc == 1;
}

// Asks again and again until the answer is yes. The pause between questions
// only spares the processor; nothing depends on its length.
inline bool eventually(const std::function<bool()>& holds) {
  const auto deadline = Clock::now() + kPatience;
  while (!holds()) {
    if (Clock::now() >= deadline) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

// Reads until `needle` was seen or the stream ended; returns all of it.
inline std::string read_until(int fd, const std::string& needle) {
  const auto deadline = Clock::now() + kPatience;
  std::string seen;
  char buffer[16384];
  while (needle.empty() || seen.find(needle) == std::string::npos) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      seen.append(buffer, static_cast<size_t>(n));
    } else if (n == -1 && errno == EAGAIN) {
      if (!wait_readable(fd, deadline)) return seen + "\n[nothing more within the test's patience]";
    } else if (n == 0 || errno != EINTR) {
      return seen;  // EIO: the last process closed the terminal
    }
  }
  return seen;
}

inline std::string read_all(int fd) {
  return read_until(fd, "");
}

inline std::optional<Exit> wait_for_exit(Child& child) {
  if (!wait_readable(child.pidfd(), Clock::now() + kPatience)) return std::nullopt;
  const auto exit = child.try_reap();
  return exit ? *exit : std::nullopt;
}

inline std::vector<std::string> plain_environment() {
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/proc/nonexistent", "TERM=xterm-256color",
          "LANG=C.UTF-8"};
}

inline SpawnSpec shell_spec(std::string line, Provider provider = Provider::Pty,
                            std::string shell = "/bin/bash") {
  SpawnSpec spec;
  spec.argv = shell_argv(std::move(shell), std::move(line));
  spec.environment = plain_environment();
  spec.provider = provider;
  return spec;
}

// Kills what is left of a test's command when the test ends, however it ends.
class Running {
 public:
  explicit Running(Spawned spawned) : spawned_(std::move(spawned)) {}
  ~Running() {
    spawned_.master.reset();
    if (spawned_.child.exit()) return;
    ::kill(-spawned_.child.pid(), SIGKILL);
    static_cast<void>(spawned_.child.signal(SIGKILL));
    wait_for_exit(spawned_.child);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  Spawned* operator->() { return &spawned_; }
  Spawned& operator*() { return spawned_; }
  void type(const std::string& text) {
    if (::write(spawned_.master.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      std::abort();
  }

 private:
  Spawned spawned_;
};

// A folder of the test's own, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ttyward-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ttyward::pty::testing
