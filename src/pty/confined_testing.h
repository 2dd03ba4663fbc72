// A folder with a workspace, a home with a key and a probe, in which tests run confined commands: as the
// caller, who may be root, and as an ordinary user.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pty/spawn.h"
#include "sandbox/confinement.h"
#include "sandbox/profile.h"

namespace ttyward::pty {

namespace fs = std::filesystem;

inline constexpr uid_t kOrdinaryUser = 21'977;

struct Ran {
  std::string output;
  int code = -1;
  std::string error;  // why it was not started
};

inline std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    ::poll(&wait, 1, -1);
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return text;
  }
}

// As whom the process runs that starts the command.
enum class As : uint8_t { Caller, Ordinary };

class Sandboxed : public testing::TestWithParam<As> {
 protected:
  void SetUp() override {
    if (GetParam() == As::Ordinary && ::geteuid() != 0)
      GTEST_SKIP() << "only root can become an ordinary user";
    char path[] = "/var/tmp/ttyward-sandbox-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    root_ = fs::canonical(path);
    ::chmod(root_.c_str(), 0755);
    for (const char* folder : {"home", "home/.ssh", "work", "other"})
      fs::create_directories(root_ + "/" + folder);
    write("home/.ssh/id_ed25519", "the private key\n");
    write("home/.gitconfig", "[user]\n\tname = A\n\temail = a@b\n");
    write("other/secret", "somebody's\n");
    fs::copy_file(TTYWARD_SANDBOX_PROBE, root_ + "/work/probe");
    own();
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void write(const std::string& path, const std::string& text) { std::ofstream(root_ + "/" + path) << text; }
  std::string content(const std::string& path) const {
    std::ifstream file(root_ + "/" + path);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void own() const {
    if (GetParam() != As::Ordinary) return;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      (void)!::lchown(entry.path().c_str(), kOrdinaryUser, kOrdinaryUser);
  }

  // Everything becomes the ordinary user's, also where root starts the commands.
  void give_away() const {
    if (::geteuid() != 0) return;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      (void)!::lchown(entry.path().c_str(), kOrdinaryUser, kOrdinaryUser);
  }

  sandbox::PlanRequest request(const std::string& profile) const {
    sandbox::PlanRequest made;
    made.profile = sandbox::profile_named(profile).value();
    made.directory = root_ + "/work";
    made.home = root_ + "/home";
    made.path = "/usr/bin:/bin";
    return made;
  }

  SpawnSpec spec_for(const std::vector<std::string>& argv) const {
    SpawnSpec spec;
    spec.provider = Provider::Pipe;
    spec.argv = argv;
    spec.cwd = root_ + "/work";
    spec.environment = {"HOME=" + root_ + "/home", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
    for (const auto& [name, value] : variables_) spec.environment.push_back(name + "=" + value);
    return spec;
  }

  static Ran finish(SpawnResult spawned) {
    Ran ran;
    if (!spawned) {
      ran.error = spawned.error().error.message;
      return ran;
    }
    std::thread errors([&] { ran.error = read_all(spawned->stderr_fd.get()); });
    ran.output = read_all(spawned->stdout_fd.get());
    errors.join();
    pollfd ended{spawned->child.pidfd(), POLLIN, 0};
    ::poll(&ended, 1, -1);
    const auto exit = spawned->child.try_reap();
    if (exit && *exit)
      ran.code = (*exit)->status.signal != 0 ? 128 + (*exit)->status.signal : (*exit)->status.code;
    if (spawned->confinement) spawned->confinement->command_ended();
    return ran;
  }

  // In another process, which is an ordinary user's if the parameter says so.
  Ran in_process(const std::function<Ran()>& what) const {
    if (GetParam() == As::Caller) return what();
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      if (::setgid(kOrdinaryUser) != 0 || ::setuid(kOrdinaryUser) != 0) ::_exit(99);
      ::prctl(PR_SET_DUMPABLE, 1);  // as every process is that was not root before
      const Ran ran = what();
      const std::string text = std::to_string(ran.code) + "\n" + ran.error + '\0' + ran.output;
      for (size_t at = 0; at < text.size();) {
        const ssize_t n = ::write(ends[1], text.data() + at, text.size() - at);
        if (n <= 0) break;
        at += static_cast<size_t>(n);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    const std::string text = read_all(ends[0]);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    Ran ran;
    const size_t line = text.find('\n');
    const size_t nul = text.find('\0');
    if (line == std::string::npos || nul == std::string::npos) return ran;
    ran.code = std::atoi(text.c_str());
    ran.error = text.substr(line + 1, nul - line - 1);
    ran.output = text.substr(nul + 1);
    return ran;
  }

  Ran run_argv(const std::string& profile, const std::vector<std::string>& argv,
               const std::function<void(sandbox::Plan&)>& change = {}) const {
    return in_process([&] {
      SpawnSpec spec = spec_for(argv);
      auto plan = sandbox::make_plan(request(profile));
      if (!plan) return Ran{{}, -1, plan.error().message};
      if (change) change(*plan);
      spec.sandbox = std::move(*plan);
      return finish(spawn(spec));
    });
  }
  Ran run(const std::string& profile, const std::string& line) const {
    return run_argv(profile, {"/bin/sh", "-c", line});
  }
  // What each probe said, by its name.
  std::map<std::string, std::string> probe(const std::string& profile, std::vector<std::string> names) const {
    names.insert(names.begin(), "./probe");
    const Ran ran = run_argv(profile, names);
    EXPECT_EQ(ran.error, "");
    std::map<std::string, std::string> said;
    std::istringstream lines(ran.output);
    for (std::string line; std::getline(lines, line);) {
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) said[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return said;
  }
  std::set<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ + "/" + folder))
      names.insert(entry.path().filename());
    return names;
  }
  void make_repository() {
    ASSERT_EQ(
        std::system(("cd " + root_ +
                     "/work && git init -q . && git -c 'safe.directory=*' -c user.name=a -c user.email=a@b "
                     "commit -q --allow-empty -m first")
                        .c_str()),
        0);
    own();
  }

  std::string root_;
  std::map<std::string, std::string> variables_;
};

inline std::string name_of(const testing::TestParamInfo<As>& info) {
  return info.param == As::Caller ? "Caller" : "Ordinary";
}
}  // namespace ttyward::pty
