// What a confined command can and cannot do, tried from inside: by root, and by an ordinary user.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "pty/confined_testing.h"
#include "sandbox/control_group.h"
#include "sandbox/prepare.h"

namespace ttyward::pty {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
                                           "setgid_by_list",
                                           "setuid_fchmod",
                                           "setuid_fchmodat",
                                           "setuid_fchmodat2",
                                           "setuid_open",
                                           "setuid_openat2",
                                           "setuid_mknod",
                                           "password_file",
                                           "write_cgroup"};

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
  const std::vector<std::string> bombs{"disk_bomb", "fork_bomb"};
  const auto said = probe("workspace", bombs);
  for (const std::string& name : bombs) {
    ASSERT_TRUE(said.contains(name)) << name;
    EXPECT_NE(said.at(name), "done") << name;
  }
}

TEST_P(Sandboxed, MemoryIsLimited) {
  const auto bomb = [&](const std::string& name, bool& grouped) {
    const Ran ran = run_argv("workspace", {"./probe", name},
                             [](sandbox::Plan& plan) { plan.limits.memory = uint64_t{256} << 20; });
    grouped = sandbox::make_plan(request("workspace")).value().groups.memory && GetParam() == As::Caller;
    return ran;
  };
  bool grouped = false;
  const Ran alone = bomb("memory_bomb", grouped);
  EXPECT_THAT(alone.output, Not(HasSubstr("done"))) << alone.error;
  if (!grouped) return;
  for (const char* name : {"shared_memory_bomb", "memory_file_bomb", "memory_bomb_together"}) {
    const Ran ran = bomb(name, grouped);
    EXPECT_THAT(ran.output, Not(HasSubstr("done"))) << name << ran.error;
  }
}

// As it happens where memory is short.
TEST_P(Sandboxed, AnInitThatWasKilledTakesNobodyWithIt) {
  const Ran ran = in_process([&] {
    SpawnSpec spec = spec_for({"/bin/sleep", "1000"});
    spec.sandbox = sandbox::make_plan(request("workspace")).value();
    auto spawned = spawn(spec);
    if (!spawned) return Ran{{}, -1, spawned.error().error.message};
    ::signal(SIGPIPE, SIG_DFL);
    ::kill(spawned->confinement->init(), SIGKILL);
    return finish(std::move(spawned));
  });
  EXPECT_EQ(ran.code, 128 + SIGKILL) << ran.error;
}

// Root's processes are not counted by the kernel otherwise.
TEST_P(Sandboxed, ProcessesOfRootAreCountedInAGroup) {
  if (GetParam() != As::Caller || ::geteuid() != 0) GTEST_SKIP() << "about root";
  if (!sandbox::make_plan(request("workspace")).value().groups.processes) GTEST_SKIP() << "no cgroups here";
  const Ran ran =
      run_argv("workspace",
               {"/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do sleep 9 >/dev/null 2>&1 & done; echo all"},
               [](sandbox::Plan& plan) {
                 plan.run_as->stand_in = false;
                 plan.limits.processes = 4;
               });
  EXPECT_EQ(ran.output, "") << ran.error;
}

TEST_P(Sandboxed, GroupsAreRemoved) {
  if (GetParam() != As::Caller) GTEST_SKIP() << "groups are root's here";
  const sandbox::GroupPlaces places = sandbox::find_group_places();
  if (places.memory.empty()) GTEST_SKIP() << "no cgroups here";
  // As one that was killed has left it.
  const std::string left = places.memory + "/ttyward-left-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(left.c_str(), 0755), 0);
  const Ran ran = run("workspace", "grep memory: /proc/self/cgroup");
  EXPECT_THAT(ran.output, HasSubstr("ttyward-" + std::to_string(::getpid()))) << ran.error;
  EXPECT_FALSE(fs::exists(left));
  for (const auto& entry : fs::directory_iterator(places.memory))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("/ttyward-" + std::to_string(::getpid()) + "-")));
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

TEST_P(Sandboxed, LandlockAloneReachesNoUnixSocket) {
  give_away();
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  const std::string socket = root_ + "/work/socket";
  std::copy(socket.begin(), socket.end(), path.sun_path);
  const Listener named(AF_UNIX, reinterpret_cast<sockaddr*>(&path), sizeof path);
  ASSERT_TRUE(named.good());
  ::chmod(socket.c_str(), 0777);
  variables_["PROBE_SOCKET"] = socket;
  for (const char* profile : {"read-only-landlock", "workspace-landlock", "workspace+net-landlock"}) {
    auto said = probe(profile, {"host_socket", "socketpair"});
    EXPECT_NE(said["host_socket"], "done") << profile;
    EXPECT_EQ(said["socketpair"], "done") << profile;
  }
}

TEST_P(Sandboxed, LandlockAloneDoesNotPretendToHide) {
  fs::create_directories(root_ + "/work/hidden");
  fs::create_directories(root_ + "/home/.gem");
  write("home/.gem/credentials", "the key\n");
  fs::create_directories(root_ + "/home/.npm");
  give_away();
  const Ran ran = in_process([&] {
    sandbox::PlanRequest hiding = request("workspace-landlock");
    hiding.settings.hidden = {root_ + "/work/hidden"};
    const auto plan = sandbox::make_plan(hiding);
    return Ran{{}, plan ? 0 : 1, plan ? "" : plan.error().message};
  });
  EXPECT_THAT(ran.error, HasSubstr("cannot hide a part"));
  const Ran gem = run("workspace-landlock", "cat $HOME/.gem/credentials; echo x > $HOME/.npm/made; echo end");
  EXPECT_EQ(gem.output, "end\n") << gem.error;
  EXPECT_FALSE(fs::exists(root_ + "/home/.npm/made"));
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

// What is left running inside could lock a folder for good.
TEST_P(Sandboxed, ALockHoldsNobodyUp) {
  for (const char* folder : {"work/sub/.claude", "work/sub/.vscode"})
    fs::create_directories(root_ + "/" + folder);
  fs::permissions(root_ + "/work/sub/.vscode", fs::perms::sticky_bit | fs::perms::owner_all);
  own();
  const base::UniqueFd one(::open((root_ + "/work/sub/.claude").c_str(), O_RDONLY | O_CLOEXEC));
  const base::UniqueFd two(::open((root_ + "/work/sub/.vscode").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(one.get(), LOCK_EX), 0);
  ASSERT_EQ(::flock(two.get(), LOCK_EX), 0);
  const Ran ran = run("workspace", "echo x > sub/.claude/s; echo x > sub/.vscode/s; echo ran");
  EXPECT_EQ(ran.output, "ran\n") << ran.error;
  EXPECT_TRUE(fs::is_empty(root_ + "/work/sub/.claude"));
  EXPECT_TRUE(fs::is_empty(root_ + "/work/sub/.vscode"));
}

// A command can make pipes under names that are read before the next one starts.
TEST_P(Sandboxed, APipeInsteadOfAFileHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo((root_ + "/work/.git").c_str(), 0600), 0);
  own();
  EXPECT_EQ(run("workspace", "true").code, 0);
  fs::remove(root_ + "/work/.git");
  make_repository();
  fs::remove(root_ + "/work/.git/config");
  ASSERT_EQ(::mkfifo((root_ + "/work/.git/config").c_str(), 0600), 0);
  own();
  EXPECT_EQ(run("workspace", "true").code, 0);
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

TEST_P(Sandboxed, TheHomeFolderIsNoWorkspaceWhateverHomeSays) {
  const std::string home = [] {
    const passwd* const entry = ::getpwuid(::geteuid());
    return entry != nullptr && entry->pw_dir != nullptr ? std::string(entry->pw_dir) : std::string();
  }();
  if (home.size() < 2 || !fs::is_directory(home)) GTEST_SKIP() << "this user has no home";
  sandbox::PlanRequest wrong = request("workspace");
  wrong.directory = home;
  for (const std::string& said : {std::string(), root_ + "/home", std::string("/nonexistent")}) {
    wrong.home = said;
    const auto plan = sandbox::make_plan(wrong);
    ASSERT_FALSE(plan) << said;
    EXPECT_THAT(plan.error().message, HasSubstr("home folder"));
  }
}

TEST_P(Sandboxed, SocketsOfServicesAreNotShown) {
  for (const char* profile : {"read-only", "workspace", "workspace+net"}) {
    const sandbox::Plan plan = sandbox::make_plan(request(profile)).value();
    for (const char* path :
         {"/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/resolve", "/run/nscd/socket",
          "/run/dbus/system_bus_socket", "/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private",
          "/run/user/1000/bus", "/run/snapd.socket", "/nix/var/nix/daemon-socket/socket",
          "/run/avahi-daemon/socket"})
      EXPECT_FALSE(plan.shows(path)) << profile << " " << path;
    EXPECT_TRUE(plan.shows("/run/systemd/resolve/stub-resolv.conf"));
  }
  // Nothing that listens outside is visible, in what is shown of the system.
  const Ran ran = run("workspace",
                      "find / -xdev -type s 2>/dev/null; find /run /var /etc /opt -type s 2>/dev/null; true");
  EXPECT_EQ(ran.output, "");
}

TEST_P(Sandboxed, EveryControlFileIsProtectedAlsoWhenAbsent) {
  const std::set<std::string> before = names_in("work");
  std::string line = "echo x > plain; ";
  for (const std::string& name : sandbox::control_files()) {
    line += "echo x > " + name + " && echo made " + name + "; mkdir " + name + " && echo made " + name +
            "; mv -T plain " + name + " && echo moved " + name + "; ln -s plain " + name + "; ";
  }
  const Ran ran = run("workspace", line + "rm -f plain; exit 0");
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(names_in("work"), before);
  for (const char* name : {".agents", ".zed", ".roo", ".kiro", ".cursorrules", ".windsurfrules"})
    EXPECT_THAT(sandbox::control_files(), testing::Contains(name));
}

TEST_P(Sandboxed, RarerControlFilesAreProtectedWhereTheyExist) {
  const std::vector<std::string> names = {".gitmodules", ".bashrc", ".profile", ".zshrc",
                                          ".ripgreprc",  ".husky",  ".gdbinit", ".exrc"};
  for (const std::string& name : names) write("work/" + name, "as it was\n");
  own();
  std::string line;
  for (const std::string& name : names) line += "echo x > " + name + "; rm " + name + "; mv " + name + " y; ";
  run("workspace", line);
  for (const std::string& name : names) EXPECT_EQ(content("work/" + name), "as it was\n") << name;
}

TEST_P(Sandboxed, ARepositoryWithManySubmodulesWorks) {
  make_repository();
  for (int i = 0; i < 200; ++i) {
    const std::string module = "work/.git/modules/m" + std::to_string(i);
    fs::create_directories(root_ + "/" + module + "/hooks");
    write(module + "/HEAD", "ref: refs/heads/main\n");
    write(module + "/config", "[core]\n");
  }
  own();
  const Ran ran =
      run("workspace",
          "for m in .git/modules/*; do echo x > $m/hooks/post-checkout; echo x >> $m/config; done; "
          "mv .git/modules .git/old; git status --porcelain >/dev/null && echo works");
  EXPECT_EQ(ran.output, "works\n") << ran.error;
  for (int i = 0; i < 200; ++i) {
    const std::string module = "work/.git/modules/m" + std::to_string(i);
    EXPECT_TRUE(fs::is_empty(root_ + "/" + module + "/hooks")) << i;
    EXPECT_EQ(content(module + "/config"), "[core]\n") << i;
  }
}

TEST_P(Sandboxed, ManyControlFilesBelowAreProtected) {
  for (int i = 0; i < 100; ++i) {
    fs::create_directories(root_ + "/work/p" + std::to_string(i));
    write("work/p" + std::to_string(i) + "/.envrc", "as it was\n");
  }
  own();
  const Ran ran = run("workspace", "for f in p*/.envrc; do echo x > $f; done; echo ran");
  EXPECT_EQ(ran.output, "ran\n") << ran.error;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(content("work/p" + std::to_string(i) + "/.envrc"), "as it was\n") << i;
}

TEST_P(Sandboxed, ToolsThatVariablesNameAreShown) {
  fs::create_directories(root_ + "/tools/bin");
  fs::create_directories(root_ + "/tools/lib");
  fs::create_directories(root_ + "/cargo/registry");
  fs::copy_file("/bin/true", root_ + "/tools/bin/own-tool");
  write("tools/lib/data", "library\n");
  write("cargo/registry/crate", "crate\n");
  write("cargo/credentials.toml", "the token\n");
  own();
  const Ran ran = in_process([&] {
    sandbox::PlanRequest named = request("workspace");
    named.path = root_ + "/tools/bin:/usr/bin:/bin:" + root_;
    named.variables = {"CARGO_HOME=" + root_ + "/cargo", "GOPATH=/", "JAVA_HOME=" + root_ + "/home/.ssh",
                       "NVM_DIR=" + root_};
    SpawnSpec spec = spec_for({"/bin/sh", "-c",
                               "own-tool && cat $T/tools/lib/data $T/cargo/registry/crate; "
                               "echo y > $T/cargo/registry/crate; cat $T/cargo/credentials.toml "
                               "$T/other/secret $HOME/.ssh/id_ed25519; echo end"});
    spec.environment = {"T=" + root_, "HOME=" + root_ + "/home", "PATH=" + named.path};
    spec.sandbox = sandbox::make_plan(named).value();
    return finish(spawn(spec));
  });
  EXPECT_EQ(ran.output, "library\ncrate\nend\n") << ran.error;
  EXPECT_EQ(content("cargo/registry/crate"), "crate\n");
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
