// What a confined command can and cannot do, tried from inside: by root, and by an ordinary user.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "pty/spawn.h"
#include "sandbox/confinement.h"
#include "sandbox/prepare.h"
#include "sandbox/profile.h"

namespace ttyward::pty {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uid_t kOrdinaryUser = 21'977;

// Names of probes (sandbox/probe_main.cc) that must fail whatever the profile.
const std::vector<std::string> kRefused = {"descriptors",
                                           "mount",
                                           "remount",
                                           "umount",
                                           "chroot",
                                           "open_tree",
                                           "fsopen",
                                           "pivot_root",
                                           "move_mount",
                                           "mount_setattr",
                                           "unshare_user",
                                           "unshare_net",
                                           "unshare_any",
                                           "clone_newuser",
                                           "clone3",
                                           "setns",
                                           "call_32_bit",
                                           "call_x32",
                                           "ptrace_init",
                                           "ptrace_seize_init",
                                           "read_init_memory",
                                           "read_init_environment",
                                           "init_root",
                                           "init_descriptors",
                                           "list_init_descriptors",
                                           "init_oom",
                                           "own_oom",
                                           "process_vm_readv",
                                           "pidfd_getfd",
                                           "kcmp",
                                           "signal_outside",
                                           "pidfd_outside",
                                           "ptrace_outside",
                                           "environment_outside",
                                           "keyctl",
                                           "add_key",
                                           "request_key",
                                           "io_uring",
                                           "bpf",
                                           "userfaultfd",
                                           "perf",
                                           "fanotify",
                                           "personality",
                                           "open_by_handle",
                                           "kexec",
                                           "kexec_file",
                                           "module",
                                           "delete_module",
                                           "swapon",
                                           "reboot",
                                           "sethostname",
                                           "clock_settime",
                                           "syslog",
                                           "line_discipline",
                                           "vsock",
                                           "packet",
                                           "raw",
                                           "bluetooth",
                                           "alg",
                                           "any_family",
                                           "sctp",
                                           "dccp",
                                           "udplite",
                                           "tipc_pair",
                                           "netlink_audit",
                                           "netlink_uevent",
                                           "any_netlink",
                                           "host_abstract",
                                           "host_socket",
                                           "capabilities",
                                           "bounding_set",
                                           "new_privileges",
                                           "real_time",
                                           "priority",
                                           "raise_limit",
                                           "write_core_pattern",
                                           "write_kernel_settings",
                                           "sysrq",
                                           "kernel_memory",
                                           "kernel_lists",
                                           "disks",
                                           "kernel_devices",
                                           "consoles",
                                           "make_device",
                                           "become_root",
                                           "chmod_device",
                                           "touch_device",
                                           "chmod_system",
                                           "setuid_file",
                                           "setgid_file",
                                           "setuid_fchmod",
                                           "setuid_fchmodat",
                                           "setuid_fchmodat2",
                                           "setuid_open",
                                           "setuid_openat2",
                                           "setuid_mknod",
                                           "password_file",
                                           "write_cgroup"};

struct Ran {
  std::string output;
  int code = -1;
  std::string error;  // why it was not started
};

std::string read_all(int fd) {
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

std::string name_of(const testing::TestParamInfo<As>& info) {
  return info.param == As::Caller ? "Caller" : "Ordinary";
}
INSTANTIATE_TEST_SUITE_P(As, Sandboxed, testing::Values(As::Caller, As::Ordinary), name_of);

TEST_P(Sandboxed, CommandsRunAndTellHowTheyEnded) {
  const Ran seven = run("workspace", "exit 7");
  EXPECT_EQ(seven.code, 7) << seven.error;
  EXPECT_EQ(run("workspace", "kill -TERM $$").code, 128 + 15);
  const Ran ran = run("workspace", "pwd; echo x > file && cat file");
  EXPECT_EQ(ran.output, root_ + "/work\nx\n");
  EXPECT_EQ(content("work/file"), "x\n");
}

TEST_P(Sandboxed, WorkspaceProfileWritesOnlyTheWorkspace) {
  const Ran ran = run("workspace",
                      "touch inside; touch ../other/x; touch /etc/x; touch /usr/x; touch /x; "
                      "echo y > /tmp/private; touch $HOME/private; ls ..");
  EXPECT_TRUE(fs::exists(root_ + "/work/inside"));
  EXPECT_FALSE(fs::exists(root_ + "/other/x"));
  EXPECT_FALSE(fs::exists("/etc/x"));
  EXPECT_FALSE(fs::exists("/tmp/private"));
  EXPECT_FALSE(fs::exists(root_ + "/home/private"));
  EXPECT_EQ(ran.output, "home\nwork\n");
}

TEST_P(Sandboxed, ReadOnlyProfileWritesNothing) {
  write("work/kept", "as it was\n");
  own();
  const Ran ran =
      run("read-only",
          "cat kept; echo z > kept; touch new; rm kept; mv kept other; echo t > /tmp/t && cat /tmp/t");
  EXPECT_EQ(ran.output, "as it was\nt\n");
  EXPECT_EQ(content("work/kept"), "as it was\n");
  EXPECT_FALSE(fs::exists(root_ + "/work/new"));
}

TEST_P(Sandboxed, KeysAndOtherFoldersAreInvisible) {
  for (const char* profile : {"read-only", "workspace", "workspace+net"}) {
    const Ran ran = run(profile,
                        "cat $HOME/.ssh/id_ed25519; cat ../other/secret; cat /etc/shadow; ls /root /home; "
                        "ls -A $HOME/.ssh; cat ../work/../other/secret; cat /proc/1/root" +
                            root_ + "/other/secret; echo end");
    EXPECT_THAT(ran.output, Not(HasSubstr("private key"))) << profile;
    EXPECT_THAT(ran.output, Not(HasSubstr("somebody's"))) << profile;
    EXPECT_THAT(ran.output, Not(HasSubstr("root:"))) << profile;
    EXPECT_THAT(ran.output, testing::EndsWith("end\n")) << profile;
  }
}

TEST_P(Sandboxed, LinksDoNotLeadOut) {
  const Ran ran =
      run("workspace", "ln -s " + root_ + "/other/secret soft; cat soft; ln " + root_ +
                           "/other/secret hard; cat hard; ln -s /etc folder; echo x > folder/passwd; "
                           "ln -s " +
                           root_ + "/home/.ssh keys; cat keys/id_ed25519");
  EXPECT_EQ(ran.output, "");
  EXPECT_FALSE(fs::exists(root_ + "/work/hard"));
}

TEST_P(Sandboxed, ControlFilesCannotBeMadeOrChanged) {
  make_repository();
  fs::create_directories(root_ + "/work/.vscode");
  write("work/.vscode/settings.json", "{}\n");
  own();
  const std::set<std::string> before = names_in("work");
  const Ran ran =
      run("workspace",
          "echo x > .envrc; mkdir .claude; echo x > .claude/settings.json; echo x > .mcp.json; "
          "echo x > .vscode/settings.json; echo x > .vscode/tasks.json; echo x > .ttyward.toml; "
          "mkdir -p .cursor/rules; echo x > harmless; mv harmless .envrc; mv -T harmless .mcp.json; "
          "ln harmless .gemini; ln -s harmless .codex; echo x > .git/hooks/pre-commit; "
          "echo x >> .git/config; git config core.fsmonitor ./x; mv .git elsewhere; rm -rf .vscode; "
          "rm -rf .git/hooks; mv .git/hooks .git/old; echo ../evil > .git/commondir; "
          "mv .vscode .other; echo x > .git/allowed; rm harmless; exit 0");
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_EQ(names_in("work"), before);
  EXPECT_EQ(content("work/.vscode/settings.json"), "{}\n");
  EXPECT_FALSE(fs::exists(root_ + "/work/.git/hooks/pre-commit"));
  EXPECT_FALSE(fs::exists(root_ + "/work/.git/commondir"));
  EXPECT_THAT(content("work/.git/config"), Not(HasSubstr("fsmonitor")));
  EXPECT_EQ(content("work/.git/allowed"), "x\n");
}

TEST_P(Sandboxed, APlaceholderStaysWhileAnotherSandboxUsesIt) {
  const Ran ran = in_process([&] {
    SpawnSpec first = spec_for({"/bin/sh", "-c", "read line; echo x > .envrc || echo refused"});
    first.stdin_kind = StdinKind::Pipe;
    first.sandbox = sandbox::make_plan(request("workspace")).value();
    auto running = spawn(first);
    if (!running) return Ran{{}, -1, running.error().error.message};
    SpawnSpec second = spec_for({"/bin/true"});
    second.sandbox = first.sandbox;
    const Ran other = finish(spawn(second));
    if (other.code != 0) return other;
    running->stdin_fd.reset();
    return finish(std::move(running));
  });
  EXPECT_EQ(ran.output, "refused\n") << ran.error;
  EXPECT_FALSE(fs::exists(root_ + "/work/.envrc"));
}

TEST_P(Sandboxed, APlaceholderThatWasLeftBehindIsRemoved) {
  const Ran ran = in_process([&] {
    sandbox::Placeholders left;
    if (!left.ensure(root_ + "/work/.envrc")) return Ran{};
    static std::vector<sandbox::Placeholders*> held;  // its holder was killed
    held.push_back(new sandbox::Placeholders(std::move(left)));
    return Ran{{}, 0, {}};
  });
  EXPECT_EQ(ran.code, 0);
  if (GetParam() == As::Ordinary) {
    EXPECT_TRUE(fs::exists(root_ + "/work/.envrc"));
    run("workspace", "true");
    EXPECT_FALSE(fs::exists(root_ + "/work/.envrc"));
  }
}

TEST_P(Sandboxed, KernelSurfaceIsClosed) {
  variables_["PROBE_ABSTRACT"] = "nobody";
  variables_["PROBE_SOCKET"] = "/run/nobody";
  variables_["PROBE_PID"] = std::to_string(::getpid());
  for (const char* profile : {"read-only", "workspace", "workspace+net"}) {
    const auto said = probe(profile, kRefused);
    for (const std::string& name : kRefused) {
      ASSERT_TRUE(said.contains(name)) << profile << " " << name;
      EXPECT_NE(said.at(name), "done") << profile << " " << name;
    }
  }
}

// Landlock does not hide processes, nor does it cover times of files; and the set of capabilities that a
// process could gain needs one of them to be changed, but nothing gains any.
TEST_P(Sandboxed, KernelSurfaceIsClosedByLandlockAndSeccompAlone) {
  give_away();
  variables_["PROBE_ABSTRACT"] = "nobody";
  variables_["PROBE_SOCKET"] = "/run/nobody";
  variables_["PROBE_PID"] = std::to_string(::getpid());
  const std::set<std::string> visible = {"pidfd_outside", "touch_device", "bounding_set"};
  for (const char* profile : {"read-only-landlock", "workspace-landlock", "workspace+net-landlock"}) {
    const auto said = probe(profile, kRefused);
    for (const std::string& name : kRefused) {
      if (visible.contains(name)) continue;
      ASSERT_TRUE(said.contains(name)) << profile << " " << name;
      EXPECT_NE(said.at(name), "done") << profile << " " << name;
    }
  }
}

TEST_P(Sandboxed, LandlockAloneIsNotForRoot) {
  if (GetParam() != As::Caller || ::geteuid() != 0) GTEST_SKIP() << "about root's own folders";
  const Ran ran = run("workspace-landlock", "touch ran");
  EXPECT_THAT(ran.error, HasSubstr("cannot confine root"));
  EXPECT_FALSE(fs::exists(root_ + "/work/ran"));
}

TEST_P(Sandboxed, LimitsHold) {
  const std::vector<std::string> bombs{"memory_bomb", "disk_bomb", "fork_bomb"};
  const auto said = probe("workspace", bombs);
  for (const std::string& name : bombs) {
    ASSERT_TRUE(said.contains(name)) << name;
    EXPECT_NE(said.at(name), "done") << name;
  }
}

TEST_P(Sandboxed, WhatProgramsNeedWorks) {
  const std::vector<std::string> needed = {
      "localhost",    "debugger",      "netlink_route",   "socketpair",
      "new_terminal", "shared_memory", "attach_to_child", "anonymous_memory_file",
      "ipv6",         "udp",           "abstract_pair",   "plain_chmod"};
  const auto said = probe("workspace", needed);
  for (const std::string& name : needed) {
    ASSERT_TRUE(said.contains(name)) << name;
    EXPECT_EQ(said.at(name), "done") << name;
  }
}

// A server outside, on a port, an abstract name and a path.
class Listener {
 public:
  Listener(int family, const sockaddr* address, socklen_t size)
      : fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    good_ = ::bind(fd_.get(), address, size) == 0 && ::listen(fd_.get(), 16) == 0;
  }
  bool good() const { return good_; }
  uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

 private:
  base::UniqueFd fd_;
  bool good_ = false;
};

TEST_P(Sandboxed, SocketsOfTheMachineAreOutOfReach) {
  sockaddr_in local{};
  local.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Listener port(AF_INET, reinterpret_cast<sockaddr*>(&local), sizeof local);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string abstract = "ttyward-test-" + std::to_string(::getpid());
  std::copy(abstract.begin(), abstract.end(), name.sun_path + 1);
  const Listener hidden(AF_UNIX, reinterpret_cast<sockaddr*>(&name),
                        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract.size()));
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  const std::string socket = root_ + "/other/socket";
  std::copy(socket.begin(), socket.end(), path.sun_path);
  const Listener named(AF_UNIX, reinterpret_cast<sockaddr*>(&path), sizeof path);
  ASSERT_TRUE(port.good() && hidden.good() && named.good());
  ::chmod(socket.c_str(), 0777);
  variables_["PROBE_PORT"] = std::to_string(port.port());
  variables_["PROBE_ABSTRACT"] = abstract;
  variables_["PROBE_SOCKET"] = socket;
  const auto closed = probe("workspace", {"host_port", "host_abstract", "host_socket"});
  EXPECT_NE(closed.at("host_port"), "done");
  EXPECT_NE(closed.at("host_abstract"), "done");
  EXPECT_NE(closed.at("host_socket"), "done");
  const auto open = probe("workspace+net", {"host_port", "host_abstract", "host_socket"});
  EXPECT_EQ(open.at("host_port"), "done");
  EXPECT_NE(open.at("host_abstract"), "done");
  EXPECT_NE(open.at("host_socket"), "done");
}

TEST_P(Sandboxed, OnlyOurOwnProcessesAreVisible) {
  const Ran ran =
      run("workspace", "ls /proc | grep -c '^[0-9]'; kill -9 " + std::to_string(::getpid()) + "; echo $$");
  EXPECT_LE(std::atoi(ran.output.c_str()), 4) << ran.output;
}

TEST_P(Sandboxed, WhatIsLeftBehindEndsWithTheSandbox) {
  const Ran ran = run("workspace", "(setsid sleep 1000 >/dev/null 2>&1 &) ; echo started");
  EXPECT_EQ(ran.output, "started\n");
  // finish() has destroyed the confinement: init is gone, and what it held.
  EXPECT_NE(std::system("pgrep -f '^sleep 1000$' -U 21977 >/dev/null"), 0);
}

TEST_P(Sandboxed, ToolsWork) {
  make_repository();
  const Ran git = run("workspace",
                      "echo a > a.txt && git add a.txt && git commit -qm second && git log --oneline | wc -l "
                      "&& git status --porcelain && git checkout -q -b topic && git stash list");
  EXPECT_EQ(git.code, 0) << git.error;
  EXPECT_THAT(git.output, HasSubstr("2")) << git.error;
  write("work/a.c", "int main(void){return 0;}\n");
  write("work/Makefile", "all: one two\none two: a.c\n\tgcc -o $@ a.c\n");
  own();
  EXPECT_EQ(run("workspace", "make -j2 && ./one && ./two").code, 0);
  EXPECT_EQ(run("workspace",
                "printf 'iHello\\033:wq\\n' | vim -es -u NONE -c 'normal iHello' -c wq text && cat text")
                .output,
            "Hello\n");
  EXPECT_EQ(run("workspace", "mktemp >/dev/null && df . >/dev/null && getent passwd root >/dev/null").code,
            0);
}

TEST_P(Sandboxed, AnOverlayTakesTheChanges) {
  fs::create_directories(root_ + "/other/upper");
  fs::create_directories(root_ + "/other/work");
  write("work/old", "old\n");
  own();
  const Ran ran =
      run_argv("workspace", {"/bin/sh", "-c", "echo new > old; echo more > added; rm probe; cat old"},
               [&](sandbox::Plan& plan) {
                 for (sandbox::Entry& entry : plan.entries) {
                   if (entry.path != plan.workspace) continue;
                   entry.access = sandbox::Entry::Access::Overlay;
                   entry.upper = root_ + "/other/upper";
                   entry.work = root_ + "/other/work";
                 }
               });
  EXPECT_EQ(ran.output, "new\n") << ran.error;
  EXPECT_EQ(content("work/old"), "old\n");
  EXPECT_TRUE(fs::exists(root_ + "/work/probe"));
  EXPECT_EQ(content("other/upper/old"), "new\n");
  EXPECT_EQ(content("other/upper/added"), "more\n");
}

TEST_P(Sandboxed, TheProxySocketIsTheOnlyWayOut) {
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  const std::string socket = root_ + "/other/proxy";
  std::copy(socket.begin(), socket.end(), path.sun_path);
  const base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&path), sizeof path), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ::chmod(socket.c_str(), 0777);
  std::thread server([&] {
    const base::UniqueFd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    char buffer[16] = {};
    const ssize_t got = ::read(client.get(), buffer, sizeof buffer);
    if (got > 0) (void)!::write(client.get(), "pong\n", 5);
  });
  const Ran ran =
      run_argv("workspace",
               {"/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/3128; echo ping >&3; read -r a <&3; echo $a"},
               [&](sandbox::Plan& plan) {
                 plan.network = sandbox::Network::Proxy;
                 plan.proxy_socket = socket;
               });
  EXPECT_EQ(ran.output, "pong\n") << ran.error;
  ::shutdown(listener.get(), SHUT_RDWR);
  server.join();
}

TEST_P(Sandboxed, LandlockAloneIsAProfileOfItsOwn) {
  give_away();
  const Ran ran = run("workspace-landlock",
                      "echo x > inside; echo x > ../other/x; cat $HOME/.ssh/id_ed25519; echo t > $TMPDIR/t; "
                      "cat $TMPDIR/t inside");
  EXPECT_EQ(ran.output, "t\nx\n") << ran.error;
  EXPECT_FALSE(fs::exists(root_ + "/other/x"));
  variables_["PROBE_PORT"] = "1";
  EXPECT_THAT(probe("workspace-landlock", {"host_port"})["host_port"], HasSubstr("not supported"));
}

TEST_P(Sandboxed, AMissingLayerMeansNotRun) {
  const Ran ran = run_argv("workspace", {"/bin/sh", "-c", "touch ran"}, [&](sandbox::Plan& plan) {
    sandbox::Entry missing;
    missing.path = root_ + "/nothing-there";
    missing.optional = false;
    plan.entries.push_back(missing);
  });
  EXPECT_THAT(ran.error, HasSubstr("nothing-there"));
  EXPECT_FALSE(fs::exists(root_ + "/work/ran"));
}

TEST_P(Sandboxed, TheHomeFolderIsNoWorkspace) {
  sandbox::PlanRequest wrong = request("workspace");
  wrong.directory = root_ + "/home";
  EXPECT_THAT(sandbox::make_plan(wrong).error().message, HasSubstr("home folder"));
  wrong.directory = "/";
  EXPECT_FALSE(sandbox::make_plan(wrong));
  wrong.directory = "/usr";
  EXPECT_FALSE(sandbox::make_plan(wrong));
}

TEST_P(Sandboxed, AControlFileThatIsALinkIsRefused) {
  fs::create_symlink("../other/secret", root_ + "/work/.envrc");
  const Ran ran = run("workspace", "echo ran");
  EXPECT_EQ(ran.output, "");
  EXPECT_THAT(ran.error, HasSubstr("symbolic link"));
}

TEST_P(Sandboxed, ControlFilesInSubfoldersKeepTheirContent) {
  make_repository();
  for (const char* folder : {"work/sub/.vscode", "work/sub/deep/.claude", "work/lib/.git/hooks",
                             "work/lib/.git/objects", "work/node_modules/x"})
    fs::create_directories(root_ + "/" + folder);
  write("work/sub/.vscode/settings.json", "{}\n");
  write("work/sub/.envrc", "as it was\n");
  write("work/lib/.git/config", "[core]\n");
  own();
  const Ran ran = run("workspace",
                      "echo x > sub/.vscode/settings.json; echo x > sub/.vscode/new; echo x > sub/.envrc; "
                      "mv sub/.envrc sub/other; rm -rf sub/deep/.claude; echo x > sub/deep/.claude/s; "
                      "echo x > lib/.git/hooks/pre-commit; echo x >> lib/.git/config; mv lib/.git lib/old; "
                      "echo x > sub/deep/harmless; exit 0");
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_EQ(content("work/sub/.vscode/settings.json"), "{}\n");
  EXPECT_EQ(content("work/sub/.envrc"), "as it was\n");
  EXPECT_EQ(content("work/lib/.git/config"), "[core]\n");
  EXPECT_FALSE(fs::exists(root_ + "/work/sub/.vscode/new"));
  EXPECT_FALSE(fs::exists(root_ + "/work/lib/.git/hooks/pre-commit"));
  EXPECT_TRUE(fs::is_empty(root_ + "/work/sub/deep/.claude"));
  EXPECT_TRUE(fs::exists(root_ + "/work/sub/deep/harmless"));
}

TEST_P(Sandboxed, TheFolderOfTheCommandIsProtectedLikeTheTop) {
  make_repository();
  fs::create_directories(root_ + "/work/package");
  own();
  const Ran ran = in_process([&] {
    sandbox::PlanRequest inner = request("workspace");
    inner.directory = root_ + "/work/package";
    SpawnSpec spec =
        spec_for({"/bin/sh", "-c", "mkdir -p .claude/x; echo x > .envrc; echo x > file; exit 0"});
    spec.cwd = inner.directory;
    spec.sandbox = sandbox::make_plan(inner).value();
    return finish(spawn(spec));
  });
  EXPECT_EQ(ran.code, 0) << ran.error;
  EXPECT_EQ(names_in("work/package"), std::set<std::string>{"file"});
}

TEST_P(Sandboxed, WhereGitLooksForProgramsIsProtected) {
  make_repository();
  const std::string git = root_ + "/work/.git";
  for (const char* folder : {"/modules/m/hooks", "/worktrees/w"}) fs::create_directories(git + folder);
  write("work/.git/modules/m/HEAD", "ref: refs/heads/main\n");
  write("work/.git/modules/m/config", "[core]\n");
  write("work/.git/worktrees/w/commondir", "../..\n");
  write("work/.git/worktrees/w/gitdir", "/elsewhere/.git\n");
  write("work/.git/config",
        "[core]\n\trepositoryformatversion = 0\n\thooksPath = tools/hooks\n"
        "[include]\n\tpath = ../shared.config\n");
  write("work/shared.config", "[user]\n");
  fs::create_directories(root_ + "/work/tools");
  own();
  const Ran ran =
      run("workspace",
          "echo x > .git/modules/m/hooks/post-checkout; echo x >> .git/modules/m/config; "
          "mv .git/modules .git/old; mv .git/modules/m .git/modules/n; "
          "echo /evil > .git/worktrees/w/commondir; mv .git/worktrees/w .git/worktrees/v; "
          "mv .git/worktrees .git/old; echo x >> shared.config; mv shared.config other; "
          "mkdir tools/hooks; echo x > tools/hooks/pre-commit; git status >/dev/null || echo broken; "
          "exit 0");
  EXPECT_EQ(ran.output, "") << ran.error;
  EXPECT_TRUE(fs::is_empty(git + "/modules/m/hooks"));
  EXPECT_EQ(content("work/.git/modules/m/config"), "[core]\n");
  EXPECT_EQ(content("work/.git/worktrees/w/commondir"), "../..\n");
  EXPECT_EQ(content("work/shared.config"), "[user]\n");
  EXPECT_FALSE(fs::exists(root_ + "/work/tools/hooks"));
}

TEST_P(Sandboxed, AHomeFolderBehindALinkIsFound) {
  fs::create_directories(root_ + "/home/bin");
  fs::copy_file("/bin/true", root_ + "/home/bin/own-tool");
  own();
  fs::create_directories(root_ + "/people");
  fs::create_directory_symlink("../home", root_ + "/people/me");
  const std::string link = root_ + "/people/me";
  const Ran ran = in_process([&] {
    sandbox::PlanRequest linked = request("workspace");
    linked.home = link;
    linked.path = link + "/bin:/usr/bin:/bin";
    SpawnSpec spec = spec_for({"/bin/sh", "-c",
                               "own-tool && cd $HOME && echo x > file && cat file; cat .ssh/id_ed25519; "
                               "cat .gitconfig >/dev/null && echo shown"});
    spec.environment = {"HOME=" + link, "PATH=" + link + "/bin:/usr/bin:/bin"};
    spec.sandbox = sandbox::make_plan(linked).value();
    return finish(spawn(spec));
  });
  EXPECT_EQ(ran.output, "x\nshown\n") << ran.error;
  EXPECT_FALSE(fs::exists(root_ + "/home/file"));
}

TEST_P(Sandboxed, RootIsNobodyOutside) {
  if (GetParam() != As::Caller || ::geteuid() != 0) GTEST_SKIP() << "about root's own folders";
  write("work/private", "root's\n");
  fs::permissions(root_ + "/work/private", fs::perms::owner_read | fs::perms::owner_write);
  const Ran ran = run("workspace",
                      "id -u; cat private; echo y > made; ls -n made | cut -d' ' -f3; "
                      "stat -c %u /etc/passwd; echo x > /dev/stderr; cat $HOME/.gitconfig | wc -l");
  EXPECT_EQ(ran.output, "0\nroot's\n0\n65534\n3\n") << ran.error;
  EXPECT_EQ(ran.error, "x\n");
  struct stat about{};
  ASSERT_EQ(::stat((root_ + "/work/made").c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, 0U);
}

TEST(SandboxEnvironment, SecretsAreLeftOut) {
  const std::vector<std::string> kept = {
      "PATH=/bin",   "HOME=/h",           "PWD=/w",   "OLDPWD=/o", "LANG=C", "SSL_CERT_FILE=/etc/ssl/ca.pem",
      "KEYBOARD=us", "GIT_AUTHOR_NAME=A", "EDITOR=vi"};
  std::vector<std::string> all = kept;
  for (const char* secret : {"OPENAI_KEY=x",
                             "STRIPE_KEY=x",
                             "NPM_AUTH=x",
                             "CLIENT_CERT=x",
                             "DB_PASS=x",
                             "GH_PAT=x",
                             "SENTRY_DSN=x",
                             "GOOGLE_CLOUD_PROJECT=x",
                             "TWILIO_ACCOUNT_SID=x",
                             "GIT_CONFIG_KEY_0=x",
                             "GIT_CONFIG_VALUE_0=x",
                             "SSH_AUTH_SOCK=/x",
                             "DOCKER_HOST=x",
                             "KUBECONFIG=x",
                             "DBUS_SESSION_BUS_ADDRESS=x",
                             "PASSPHRASE=x",
                             "AWS_DEFAULT_REGION=x",
                             "AZURE_TENANT_ID=x",
                             "URL=https://me:word@example.org/",
                             "MYSQL_PWD=x",
                             "SESSION_COOKIE=x"})
    all.emplace_back(secret);
  EXPECT_EQ(sandbox::without_secrets(all), kept);
}

// --- races: a thousand tries each

constexpr int kTries = 1000;

TEST_P(Sandboxed, AWorkspaceThatIsSwappedForALinkIsNeverWritten) {
  fs::create_directories(root_ + "/target");
  own();
  const std::string work = root_ + "/work";
  const std::string aside = root_ + "/aside";
  std::atomic<bool> over = false;
  std::thread swapper([&] {
    // Long enough in place for some tries to succeed; exchanged at any moment of the others.
    for (unsigned turn = 0; !over; ++turn) {
      std::error_code ignored;
      std::this_thread::sleep_for(std::chrono::microseconds(turn * 7919 % 20'000));
      fs::rename(work, aside, ignored);
      fs::create_directory_symlink(root_ + "/target", work, ignored);
      std::this_thread::sleep_for(std::chrono::microseconds(turn * 104'729 % 1000));
      fs::remove(work, ignored);
      fs::rename(aside, work, ignored);
    }
  });
  // One process makes all the tries: what is tested is the moment between the look and the mount.
  const Ran ran = in_process([&] {
    int started = 0;
    for (int i = 0; i < kTries; ++i) {
      auto plan = sandbox::make_plan(request("workspace"));
      if (!plan || plan->workspace != work) continue;
      SpawnSpec spec = spec_for({"/bin/sh", "-c", "echo x > escaped"});
      spec.sandbox = std::move(*plan);
      spec.sandbox->read_only.clear();
      if (finish(spawn(spec)).code == 0) ++started;
    }
    return Ran{std::to_string(started), 0, {}};
  });
  over = true;
  swapper.join();
  EXPECT_GT(std::atoi(ran.output.c_str()), 0);
  EXPECT_FALSE(fs::exists(root_ + "/target/escaped"));
}

TEST_P(Sandboxed, AProtectedFileIsNeverMadeByRename) {
  // The command tries all the time while sandboxes come and go beside it in the same workspace.
  const Ran ran = in_process([&] {
    SpawnSpec attacker =
        spec_for({"/bin/sh", "-c",
                  "i=0; while [ $i -lt 1000 ]; do echo evil > x; mv -fT x .envrc 2>/dev/null; "
                  "mkdir y 2>/dev/null; mv -T y .claude 2>/dev/null; i=$((i+1)); done; cat .envrc; "
                  "ls -A .claude; rm -rf x y"});
    attacker.sandbox = sandbox::make_plan(request("workspace")).value();
    auto running = spawn(attacker);
    if (!running) return Ran{{}, -1, running.error().error.message};
    for (int i = 0; i < 50; ++i) {
      SpawnSpec beside = spec_for({"/bin/true"});
      beside.sandbox = attacker.sandbox;
      if (const Ran other = finish(spawn(beside)); other.code != 0) return other;
    }
    return finish(std::move(running));
  });
  EXPECT_EQ(ran.output, "") << ran.error;
  EXPECT_FALSE(fs::exists(root_ + "/work/.envrc"));
  EXPECT_FALSE(fs::exists(root_ + "/work/.claude"));
}

}  // namespace
}  // namespace ttyward::pty
