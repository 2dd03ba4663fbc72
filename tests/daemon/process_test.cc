// Real daemon processes: started by clients, raced for, killed, stopped, replaced.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "client/connection.h"
#include "client/session.h"
#include "daemon/testing.h"
#include "raw_client.h"
#include "wire/repeatable.h"

namespace ttyward {
namespace {

using client::CallFailure;
using client::Connection;
using client::Session;
using daemon::testing::ScratchFolder;
using std::chrono::milliseconds;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr milliseconds kForEver{-1};

class DaemonProcess : public ::testing::Test {
 protected:
  // Daemons lose their parents and become our children, so that their end is an event here.
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    auto options = options_for(TOY_DAEMON);
    options.start_daemon = false;
    if (auto last = Connection::open(options)) end(last->welcome().pid, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

  client::Options options_for(const std::string& program) const {
    client::Options options;
    options.folders = scratch_.folders();
    options.program = program;
    options.client = "test";
    options.patience = milliseconds(60'000);
    return options;
  }
  Connection must_open(const std::string& program = TOY_DAEMON) const {
    auto opened = Connection::open(options_for(program));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  // Sends a signal to a daemon (a child of ours, so the number is its own) and collects it.
  static int end(pid_t daemon, int signal) {
    EXPECT_GT(daemon, 1);
    EXPECT_NE(daemon, ::getpid());
    if (signal != 0) {
      EXPECT_EQ(::kill(daemon, signal), 0);
    }
    int status = -1;
    while (::waitpid(daemon, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }
  std::string text(const std::string& path) const {
    std::ifstream file(path);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
  std::string log() const { return text(scratch_.folders().state + "/daemon.log"); }
  std::string socket() const { return scratch_.folders().runtime + "/daemon.sock"; }
  static size_t count(const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  }

  ScratchFolder scratch_;
};

TEST_F(DaemonProcess, TheFirstClientStartsItAndItLivesOn) {
  pid_t pid = 0;
  std::string id;
  {
    auto first = must_open(TTYWARD);
    pid = first.welcome().pid;
    id = first.welcome().daemon;
    auto status = first.call("status", {});
    ASSERT_TRUE(status);
    EXPECT_EQ(status->at("pid").as_int64(), pid);
    EXPECT_EQ(status->at("version").as_string(), TTYWARD_VERSION);
    EXPECT_EQ(status->at("connections").to_number<int>(), 1);
  }
  EXPECT_EQ(must_open(TTYWARD).welcome().daemon, id);
  EXPECT_EQ(end(pid, SIGTERM), 0);
  EXPECT_FALSE(fs::exists(socket()));
  EXPECT_THAT(log(), HasSubstr("ended"));
}

TEST_F(DaemonProcess, ItBelongsToNobodyAndInheritsNothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // without CLOEXEC, on purpose
  const pid_t pid = must_open().welcome().pid;
  ::close(ends[0]);
  ::close(ends[1]);
  const std::string proc = "/proc/" + std::to_string(pid);
  EXPECT_NE(::getsid(pid), ::getsid(0));
  EXPECT_NE(::getsid(pid), pid);
  EXPECT_EQ(fs::read_symlink(proc + "/cwd"), "/");
  for (const auto& entry : fs::directory_iterator(proc + "/fd")) {
    std::error_code gone;
    EXPECT_THAT(fs::read_symlink(entry.path(), gone).string(), ::testing::Not(HasSubstr("pipe:")));
  }
  for (int fd = 0; fd <= 2; ++fd) {
    EXPECT_EQ(fs::read_symlink(proc + "/fd/" + std::to_string(fd)), "/dev/null");
  }
}

TEST_F(DaemonProcess, TwentyClientsRaceAndOneDaemonWins) {
  for (int round = 0; round < 5; ++round) {
    std::mutex mutex;
    std::set<std::string> daemons;
    std::set<pid_t> pids;
    int connected = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([&] {
        auto opened = Connection::open(options_for(TOY_DAEMON));
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
        if (!opened) return;
        ++connected;
        daemons.insert(opened->welcome().daemon);
        pids.insert(opened->welcome().pid);
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(connected, 20);
    ASSERT_EQ(daemons.size(), 1U);
    EXPECT_EQ(count(log(), "listens at"), static_cast<size_t>(round + 1));
    // The next round finds a stale socket, or none.
    end(*pids.begin(), round % 2 == 0 ? SIGKILL : SIGTERM);
  }
}

TEST_F(DaemonProcess, TheSocketOfADeadDaemonIsReplaced) {
  auto first = must_open();
  EXPECT_TRUE(WIFSIGNALED(end(first.welcome().pid, SIGKILL)));
  EXPECT_TRUE(fs::exists(socket()));
  EXPECT_FALSE(client::probe(scratch_.folders()).reachable);
  EXPECT_THAT(client::probe(scratch_.folders()).why_not, HasSubstr("no daemon is running"));
  auto second = must_open();
  EXPECT_NE(second.welcome().daemon, first.welcome().daemon);
  const auto probe = client::probe(scratch_.folders(), milliseconds(60'000));
  EXPECT_TRUE(probe.reachable);
  EXPECT_EQ(probe.pid, second.welcome().pid);
  EXPECT_EQ(probe.version, TTYWARD_VERSION);
  EXPECT_EQ(probe.socket, socket());
}

TEST_F(DaemonProcess, AClientWithAnotherRuntimeFolderFindsIt) {
  auto first = must_open();
  auto options = options_for(TOY_DAEMON);
  options.folders.runtime = "";
  auto other = Connection::open(options);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->welcome().daemon, first.welcome().daemon);
}

TEST_F(DaemonProcess, ASocketThatIsRemovedIsMadeAnew) {
  auto first = must_open();
  const std::string id = first.welcome().daemon;
  fs::remove(socket());
  EXPECT_EQ(must_open().welcome().daemon, id);
  fs::rename(scratch_.folders().runtime, scratch_.path() + "/elsewhere");
  EXPECT_EQ(must_open().welcome().daemon, id);
  EXPECT_TRUE(first.call("echo", {})) << "connections stay";
}

TEST_F(DaemonProcess, ARuntimeFolderThatIsGoneForGoodMeansTheStateFolder) {
  const std::string id = must_open().welcome().daemon;
  // In one step, or the daemon would make the folder anew in between.
  const std::string file = scratch_.path() + "/a-file";
  std::ofstream(file) << "in the way";
  ASSERT_EQ(
      ::renameat2(AT_FDCWD, scratch_.folders().runtime.c_str(), AT_FDCWD, file.c_str(), RENAME_EXCHANGE), 0);
  EXPECT_EQ(must_open().welcome().daemon, id);
  EXPECT_TRUE(fs::exists(scratch_.folders().state + "/run/daemon.sock"));
}

TEST_F(DaemonProcess, WhyItCannotStartReachesTheClient) {
  const std::string state = scratch_.folders().state;
  fs::create_directory(state);
  fs::permissions(state, fs::perms::all);
  auto opened = Connection::open(options_for(TTYWARD));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("chmod go="));

  fs::permissions(state, fs::perms::owner_all);
  std::ofstream(state + "/refuse") << "";
  opened = Connection::open(options_for(TOY_DAEMON));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("the history cannot be read"));
  fs::remove(state + "/refuse");
  EXPECT_TRUE(Connection::open(options_for(TOY_DAEMON))) << "and nothing is left of the attempt";

  auto missing = options_for(scratch_.path() + "/no-such-program");
  missing.folders.state += "2";
  missing.folders.runtime += "2";
  opened = Connection::open(missing);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("no-such-program"));
}

TEST_F(DaemonProcess, OnlyAPersonStopsOrReloads) {
  auto options = options_for(TOY_DAEMON);
  options.role = "agent";
  auto agent = Connection::open(options).value();
  EXPECT_EQ(agent.call("stop", {}).error().code, wire::Code::PermissionDenied);
  EXPECT_EQ(agent.call("reload", {}).error().code, wire::Code::PermissionDenied);
  auto person = must_open();
  EXPECT_EQ(person.call("stop", {{"kill_terminals", "yes"}}).error().code, wire::Code::InvalidArgument);
  EXPECT_EQ(person.call("stop", {{"now", true}}).error().code, wire::Code::InvalidArgument);
  auto reloaded = person.call("reload", {});
  ASSERT_TRUE(reloaded);
  EXPECT_EQ(reloaded->at("errors").as_array().size(), 1U);
  const pid_t pid = person.welcome().pid;
  ASSERT_TRUE(person.call("stop", {{"kill_terminals", true}}));
  EXPECT_EQ(end(pid, 0), 0);
  EXPECT_THAT(log(), HasSubstr("toy stops, terminals too"));
  EXPECT_FALSE(fs::exists(socket()));
}

TEST_F(DaemonProcess, SighupReloadsAndSigintEnds) {
  auto connection = must_open();
  const pid_t pid = connection.welcome().pid;
  ASSERT_EQ(::kill(pid, SIGHUP), 0);
  while (log().find("line 1 is wrong") == std::string::npos) ASSERT_TRUE(connection.call("echo", {}));
  EXPECT_EQ(end(pid, SIGINT), 0);
  EXPECT_THAT(log(), HasSubstr("toy stops"));
}

TEST_F(DaemonProcess, ASecondDaemonInTheForegroundIsRefused) {
  auto first = must_open();
  const base::Folders folders = scratch_.folders();
  std::string words[] = {TOY_DAEMON, "daemon", "run", "--state", folders.state, "--runtime", folders.runtime};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  const int status = end(pid, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(first.call("echo", {}));
}

TEST_F(DaemonProcess, AServiceManagerHandsTheSocketOver) {
  const base::Folders folders = scratch_.folders();
  auto listener = daemon::bind_listener(folders.runtime, "daemon.sock").value();
  // A path as systemd has it, not by way of /proc.
  fs::remove(socket());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(socket().size(), sizeof address.sun_path);
  socket().copy(address.sun_path, socket().size());
  const base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd.get(), 16), 0);
  // And the manager's other ear.
  const base::UniqueFd notify(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string ear = scratch_.path() + "/notify";
  sockaddr_un ear_address{};
  ear_address.sun_family = AF_UNIX;
  ear.copy(ear_address.sun_path, ear.size());
  ASSERT_EQ(::bind(notify.get(), reinterpret_cast<const sockaddr*>(&ear_address), sizeof ear_address), 0);

  const std::string line = "NOTIFY_SOCKET=" + ear +
                           " LISTEN_FDS=1 LISTEN_PID=$$ exec " TOY_DAEMON " daemon run --state " +
                           folders.state + " --runtime " + folders.runtime + "-unused 3<&" +
                           std::to_string(fd.get()) + " 2>/dev/null";
  std::string words[] = {"/bin/sh", "-c", line};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv, environ), 0);
  auto options = options_for("/nonexistent");  // connects at once: the socket is there before the daemon
  auto connection = Connection::open(options);
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->welcome().pid, pid);
  char said[64] = {};
  ASSERT_GT(::recv(notify.get(), said, sizeof said - 1, 0), 0);
  EXPECT_STREQ(said, "READY=1");
  const auto place = io::read_daemon_place(folders.state);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->sockets, folders.runtime);
  EXPECT_EQ(end(pid, SIGTERM), 0);
  EXPECT_TRUE(fs::exists(socket())) << "it is the manager's";
}

TEST_F(DaemonProcess, WhatIsHandedOverMustBeASocketThatListens) {
  const base::Folders folders = scratch_.folders();
  const std::string line = "LISTEN_FDS=1 LISTEN_PID=$$ exec " TOY_DAEMON " daemon run --state " +
                           folders.state + " --runtime " + folders.runtime + " 3</dev/null 2>" +
                           scratch_.path() + "/said";
  std::string words[] = {"/bin/sh", "-c", line};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv, environ), 0);
  EXPECT_EQ(WEXITSTATUS(end(pid, 0)), 125);
  EXPECT_THAT(text(scratch_.path() + "/said"), HasSubstr("LISTEN_FDS"));
}

TEST_F(DaemonProcess, ASessionComesBackAfterAKill) {
  auto session = Session::open(options_for(TOY_DAEMON)).value();
  const auto first = session.welcome();
  ASSERT_TRUE(session.call("echo", {{"n", 1}}));
  end(first.pid, SIGKILL);
  // The daemon was gone before the call: it is sent to the new one, whatever it is.
  auto answer = session.call("echo", {{"n", 2}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("n").as_int64(), 2);
  EXPECT_NE(session.welcome().daemon, first.daemon);
  auto told = session.next(milliseconds(0));
  ASSERT_TRUE(told && *told);
  EXPECT_EQ(std::get<client::Reconnected>(**told).welcome, session.welcome());
}

TEST_F(DaemonProcess, OpenCallsOfAKilledDaemonAreSentAgainOrToldApart) {
  auto session = Session::open(options_for(TOY_DAEMON)).value();
  const auto first = session.welcome();
  const uint64_t typed = *session.start("input", {{"terminal", "t1"}, {"text", "y"}});
  const uint64_t wait = *session.start("wait", {{"command", "c1"}, {"not_on", first.daemon}});
  const uint64_t other =
      *session.start("wait", {{"terminal", "t1"}, {"pattern", "x"}, {"not_on", first.daemon}});
  const uint64_t known = *session.start("echo", {});  // its answer says that the others have arrived
  auto echoed = session.next(kForEver);
  ASSERT_TRUE(echoed && *echoed);
  ASSERT_EQ(std::get<client::Reply>(**echoed).id, known);
  end(first.pid, SIGKILL);

  bool reconnected = false;
  std::map<uint64_t, client::CallResult> replies;
  while (replies.size() < 3) {
    auto message = session.next(kForEver);
    ASSERT_TRUE(message && *message) << message.error().message;
    if (std::holds_alternative<client::Reconnected>(**message)) {
      EXPECT_FALSE(std::exchange(reconnected, true));
      continue;
    }
    auto& reply = std::get<client::Reply>(**message);
    EXPECT_TRUE(reconnected || reply.id != wait) << "told before anything that comes from the new daemon";
    replies.emplace(reply.id, std::move(reply.result));
  }
  ASSERT_TRUE(replies.at(wait));
  EXPECT_EQ(replies.at(wait)->at("condition").as_string(), "exit");
  for (const uint64_t id : {typed, other}) {
    ASSERT_FALSE(replies.at(id));
    EXPECT_EQ(replies.at(id).error().code, wire::Code::Unavailable);
    EXPECT_EQ(replies.at(id).error().fate, CallFailure::Fate::Unknown);
  }
  EXPECT_THAT(replies.at(typed).error().message, HasSubstr("'input'"));
}

TEST_F(DaemonProcess, ABlockingCallSurvivesAKill) {
  auto session = Session::open(options_for(TOY_DAEMON)).value();
  const auto first = session.welcome();
  const uint64_t marker = *session.start("echo", {});
  auto seen = session.next(kForEver);
  ASSERT_TRUE(seen && *seen);
  ASSERT_EQ(std::get<client::Reply>(**seen).id, marker);
  std::thread killer([&] {
    auto watcher = must_open();
    EXPECT_EQ(watcher.welcome().daemon, first.daemon);
    end(first.pid, SIGKILL);
  });
  auto answer = session.call("wait", {{"command", "c1"}, {"not_on", first.daemon}});
  killer.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("condition").as_string(), "exit");
}

TEST_F(DaemonProcess, ACallThatKillsEveryDaemonIsGivenUp) {
  auto session = Session::open(options_for(TOY_DAEMON)).value();
  auto answer = session.call("check", {{"command", "x"}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fate, CallFailure::Fate::Unknown);
  EXPECT_TRUE(session.call("echo", {}));
  EXPECT_EQ(count(log(), "listens at"), 13U);
}

TEST_F(DaemonProcess, ASessionWithoutADaemonSaysSoAndTriesAgain) {
  auto options = options_for(TOY_DAEMON);
  options.start_daemon = false;
  auto first = must_open();
  auto session = Session::open(options).value();
  end(first.welcome().pid, SIGKILL);
  auto answer = session.call("status", {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().fate, CallFailure::Fate::NotSent);
  EXPECT_EQ(answer.error().code, wire::Code::NotFound);
  must_open();
  EXPECT_TRUE(session.call("status", {}));
}

TEST(Repeatable, ReadsAndWaitsByIdAreAndActionsAreNot) {
  using wire::repeatable;
  for (const char* name : {"list", "show", "status", "screen", "result", "history", "check", "resize"}) {
    EXPECT_TRUE(repeatable(name, {})) << name;
  }
  for (const char* name : {"run", "batch", "exec", "open", "acquire", "input", "interrupt", "signal", "kill",
                           "attach", "subscribe", "answer", "withdraw", "environment", "stop", "release"}) {
    EXPECT_FALSE(repeatable(name, {})) << name;
  }
  EXPECT_TRUE(repeatable("read", {{"tail", 5}}));
  EXPECT_FALSE(repeatable("read", {{"new", true}}));
  EXPECT_TRUE(repeatable("wait", {{"command", "c1"}, {"exit", true}}));
  EXPECT_FALSE(repeatable("wait", {{"terminal", "t1"}, {"pattern", "x"}}));
  EXPECT_TRUE(repeatable("wait", {{"terminal", "t1"}, {"pattern", "x"}, {"from", "start"}}));
  EXPECT_TRUE(repeatable("wait", {{"terminal", "t1"}, {"prompt", true}}));
  EXPECT_FALSE(repeatable("wait", {{"terminal", "t1"}, {"prompt", true}, {"exit", true}}));
  boost::json::object exec{{"command", "make"}};
  wire::make_repeatable("exec", exec);
  EXPECT_TRUE(repeatable("exec", exec));
}

}  // namespace
}  // namespace ttyward
