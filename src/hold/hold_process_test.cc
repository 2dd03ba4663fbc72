// The real ttyward-hold: started, asked, abandoned, killed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "hold/launch.h"
#include "hold/server.h"
#include "hold/testing_client.h"
#include "io/local_socket.h"
#include "journal/reader.h"
#include "journal/scratch_folder.h"
#include "pty/process_tree.h"
#include "pty/testing.h"

namespace ttyward::hold {
namespace {

using journal::EndKind;
using pty::Provider;
using std::chrono::milliseconds;
constexpr milliseconds kPatience{60'000};

// What `seq` prints from 1 on, to any length.
class Counting {
 public:
  explicit Counting(Provider provider) : newline_(provider == Provider::Pty ? "\r\n" : "\n") {}
  bool is_prefix(const std::string& text) {
    while (expected_.size() < text.size()) expected_ += std::to_string(next_++) + newline_;
    return expected_.compare(0, text.size(), text) == 0;
  }
  std::string up_to(uint64_t last) {
    std::string all;
    for (uint64_t i = 1; i <= last; ++i) all += std::to_string(i) + newline_;
    return all;
  }

 private:
  std::string newline_;
  std::string expected_;
  uint64_t next_ = 1;
};

class HoldProcess : public ::testing::Test {
 protected:
  // Holders that lose their parents become our children, so that their end is an event here.
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override { wait_for_all(); }

  static void wait_for_all() {
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
  }

  LaunchRequest request(const std::string& id, const std::string& line, Provider provider = Provider::Pty) {
    LaunchRequest request;
    request.journals = scratch_.journals();
    request.sockets = scratch_.path() + "/holders";
    request.hold.spawn = pty::testing::shell_spec(line, provider, "/bin/sh");
    request.hold.journal.id = id;
    return request;
  }
  LaunchReply must_launch(const LaunchRequest& request) {
    auto reply = launch(TTYWARD_HOLD, request);
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().error.message);
    return reply ? *reply : LaunchReply{};
  }
  Client connect(const std::string& id) {
    auto client = Client::connect(scratch_.path() + "/holders", id, kPatience);
    EXPECT_TRUE(client) << (client ? "" : client.error().message);
    return std::move(*client);
  }
  journal::Reader reader(const std::string& id) {
    auto opened = journal::Reader::open(scratch_.journals(), id);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  std::string output(const std::string& id) { return reader(id).read_all({0, ~0ULL}, 256 << 20).value(); }
  // Waits by the holder's own notices until the text is there.
  bool wait_for_output(Client& client, const std::string& id, const std::string& text) {
    for (;;) {
      auto r = reader(id);
      const uint64_t end = r.end();
      if (output(id).find(text) != std::string::npos) return true;
      if (!client.watch(end)) return false;
      if (auto event = client.next_event(kPatience); !event || event->type != MessageType::Output)
        return false;
    }
  }
  static std::optional<Frame> wait_for(Client& client, MessageType type) {
    for (;;) {
      auto event = client.next_event(kPatience);
      if (!event) return std::nullopt;
      if (event->type == type) return std::move(*event);
    }
  }

  journal::ScratchFolder scratch_;
};

TEST_F(HoldProcess, runs_a_command_records_its_end_and_goes_away) {
  const auto reply = must_launch(request("t1", "echo hello; exit 5"));
  EXPECT_GT(reply.child, 0);
  wait_for_all();
  EXPECT_EQ(output("t1"), "hello\r\n");
  auto r = reader("t1");
  EXPECT_TRUE(r.complete().value());
  EXPECT_EQ(r.status()->exit->code, 5);
  EXPECT_EQ(r.status()->child_pid, static_cast<uint32_t>(reply.child));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() + "/holders/t1.sock"));
}

TEST_F(HoldProcess, one_that_was_prepared_does_the_same) {
  auto idle = IdleHolder::start(TTYWARD_HOLD);
  ASSERT_TRUE(idle);
  LaunchRequest wanted = request("t1", "stty size; exit 5");
  wanted.hold.spawn.size = {132, 43, 0, 0};
  idle->prepare({wanted.journals, wanted.total_quota, wanted.sockets});
  const auto reply = std::move(*idle).launch(wanted);
  ASSERT_TRUE(reply) << reply.error().error.message;
  wait_for_all();
  EXPECT_EQ(output("t1"), "43 132\r\n");
  EXPECT_EQ(reader("t1").status()->exit->code, 5);
  EXPECT_TRUE(std::filesystem::is_empty(wanted.sockets));
}

TEST_F(HoldProcess, one_that_was_prepared_may_be_asked_for_something_else) {
  LaunchRequest wanted = request("t1", "cat; tty", Provider::Pipe);
  for (const std::string& folder : {scratch_.path() + "/elsewhere", wanted.sockets}) {
    auto idle = IdleHolder::start(TTYWARD_HOLD);
    ASSERT_TRUE(idle);
    idle->prepare({wanted.journals, wanted.total_quota, scratch_.path() + "/elsewhere"});
    idle->prepare({wanted.journals, wanted.total_quota, folder});
    ASSERT_TRUE(std::move(*idle).launch(wanted));
    wait_for_all();
    EXPECT_EQ(output(wanted.hold.journal.id), "not a tty\n");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    wanted.hold.journal.id = "t2";
  }
}

TEST_F(HoldProcess, one_that_was_prepared_runs_nothing_under_an_id_that_is_used_up) {
  LaunchRequest wanted = request("t1", "true");
  ASSERT_TRUE(journal::use_up(journal::Folder::open(wanted.journals).value()->fd(), "t1", wanted.journals));
  auto idle = IdleHolder::start(TTYWARD_HOLD);
  ASSERT_TRUE(idle);
  idle->prepare({wanted.journals, wanted.total_quota, wanted.sockets});
  EXPECT_FALSE(std::move(*idle).launch(wanted));
  wait_for_all();
  EXPECT_TRUE(std::filesystem::is_empty(wanted.sockets));
}

TEST_F(HoldProcess, one_that_was_prepared_misses_its_socket_and_makes_another) {
  LaunchRequest wanted = request("t1", "read line; echo got $line");
  auto idle = IdleHolder::start(TTYWARD_HOLD);
  ASSERT_TRUE(idle);
  idle->prepare({wanted.journals, wanted.total_quota, wanted.sockets});
  const auto socket_is_there = [&] {
    return std::filesystem::exists(wanted.sockets) && !std::filesystem::is_empty(wanted.sockets);
  };
  while (!socket_is_there()) std::this_thread::yield();
  remove_prepared_sockets(wanted.sockets);
  EXPECT_FALSE(socket_is_there());
  ASSERT_TRUE(std::move(*idle).launch(wanted));
  Client client = connect("t1");
  ASSERT_TRUE(client.send_input("x\n", kPatience));
  wait_for_all();
  EXPECT_NE(output("t1").find("got x"), std::string::npos);
}

TEST_F(HoldProcess, one_that_was_prepared_leaves_nothing_when_its_owner_goes) {
  const LaunchRequest wanted = request("t1", "true");
  {
    auto idle = IdleHolder::start(TTYWARD_HOLD);
    ASSERT_TRUE(idle);
    idle->prepare({wanted.journals, wanted.total_quota, wanted.sockets});
  }
  wait_for_all();
  EXPECT_TRUE(!std::filesystem::exists(wanted.sockets) || std::filesystem::is_empty(wanted.sockets));
}

TEST_F(HoldProcess, exec_errors_come_back_to_the_starter) {
  auto bad = request("t1", "");
  bad.hold.spawn.argv = {"no-such-program"};
  auto reply = launch(TTYWARD_HOLD, bad);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().failure, pty::SpawnFailure::NotFound);
  EXPECT_EQ(reply.error().shell_code(), 127);
  bad.hold.spawn.argv = {"/etc/passwd"};
  EXPECT_EQ(launch(TTYWARD_HOLD, bad).error().shell_code(), 126);
  bad.hold.spawn.argv = {"true"};
  bad.hold.spawn.cwd = "/no/such/folder";
  EXPECT_EQ(launch(TTYWARD_HOLD, bad).error().failure, pty::SpawnFailure::BadDirectory);
  bad = request("t1", "true");
  bad.journals = "/proc/nowhere/journals";
  EXPECT_FALSE(launch(TTYWARD_HOLD, bad));
  EXPECT_FALSE(launch("/no/such/holder", request("t1", "true")));
  wait_for_all();
  EXPECT_FALSE(std::filesystem::exists(scratch_.journals() + "/t1.main"));
}

TEST_F(HoldProcess, an_idle_holder_waits_for_its_command_and_ends_with_its_owner) {
  auto idle = IdleHolder::start(TTYWARD_HOLD);
  ASSERT_TRUE(idle);
  ASSERT_TRUE(std::move(*idle).launch(request("t1", "echo pooled")));
  {
    auto unused = IdleHolder::start(TTYWARD_HOLD);
    ASSERT_TRUE(unused);
  }
  wait_for_all();
  EXPECT_EQ(output("t1"), "pooled\r\n");
}

TEST_F(HoldProcess, holders_of_a_fork_server_outlive_it) {
  {
    auto server = ForkServer::start(TTYWARD_HOLD);
    ASSERT_TRUE(server);
    auto first = server->next();
    auto second = server->next();
    auto unused = server->next();
    ASSERT_TRUE(first && second && unused);
    const auto one = std::move(*first).launch(request("t1", "read line; echo first"));
    const auto two = std::move(*second).launch(request("t2", "echo second; exit 3"));
    ASSERT_TRUE(one && two);
    EXPECT_NE(one->holder, two->holder);
  }
  ASSERT_TRUE(connect("t1").send_input("\n", kPatience));
  wait_for_all();
  EXPECT_NE(output("t1").find("first"), std::string::npos);
  EXPECT_EQ(output("t2"), "second\r\n");
}

TEST_F(HoldProcess, the_socket_is_private) {
  must_launch(request("t1", "read line"));
  struct stat st{};
  ASSERT_EQ(::stat((scratch_.path() + "/holders").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((scratch_.path() + "/holders/t1.sock").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777U, 0600U);
  ASSERT_TRUE(connect("t1").terminate({{SIGKILL, milliseconds(5000)}}, kPatience));
}

TEST_F(HoldProcess, several_clients_type_watch_resize_and_hear_the_end) {
  must_launch(request("t1", "stty -echo; echo ready; read a; stty size; echo got $a; exit 9"));
  Client one = connect("t1");
  Client two = connect("t1");
  EXPECT_EQ(one.welcome().journal_id, "t1");
  ASSERT_TRUE(wait_for_output(one, "t1", "ready"));
  ASSERT_TRUE(two.resize({99, 33, 0, 0}, kPatience));
  ASSERT_TRUE(one.send_input("it\n", kPatience));
  for (Client* client : {&one, &two}) {
    const auto exited = wait_for(*client, MessageType::Exited);
    ASSERT_TRUE(exited);
    journal::ExitRecord record;
    ASSERT_EQ(exited->payload.size(), sizeof record);
    std::memcpy(&record, exited->payload.data(), sizeof record);
    EXPECT_EQ(record.code, 9);
    EXPECT_TRUE(wait_for(*client, MessageType::Closed));
  }
  EXPECT_EQ(output("t1"), "ready\r\n33 99\r\ngot it\r\n");
}

TEST_F(HoldProcess, run_state_and_processes_are_told_over_the_socket) {
  must_launch(request("t1", "stty -echo; echo ready; read secret; exit 1"));
  Client client = connect("t1");
  ASSERT_TRUE(wait_for_output(client, "t1", "ready"));
  ASSERT_TRUE(pty::testing::eventually([&] {
    const auto state = client.run_state(pty::AlternateScreen::Off, kPatience);
    return state && state->waiting && state->waiting->kind == pty::WaitKind::Password;
  }));
  ASSERT_TRUE(client.send_input("hush\n", kPatience));
  ASSERT_TRUE(wait_for(client, MessageType::Closed));
}

TEST_F(HoldProcess, a_watch_is_answered_once_and_a_slow_client_stalls_nobody) {
  must_launch(request("t1", "seq 1 300000"));
  Client lazy = connect("t1");  // watches, and never reads
  ASSERT_TRUE(lazy.watch(0));
  wait_for_all();
  EXPECT_TRUE(output("t1") == Counting(Provider::Pty).up_to(300000));
  EXPECT_TRUE(reader("t1").complete().value());
}

TEST_F(HoldProcess, terminate_ends_everything_even_what_escaped) {
  must_launch(
      request("t1",
              "trap '' INT TERM; setsid sh -c 'trap \"\" HUP INT TERM; echo escaped; exec sleep 1000' & "
              "echo main; while :; do sleep 1000; done"));
  Client client = connect("t1");
  ASSERT_TRUE(wait_for_output(client, "t1", "escaped"));
  ASSERT_TRUE(client.terminate({{SIGTERM, milliseconds(50)}, {SIGKILL, milliseconds(10'000)}}, kPatience));
  ASSERT_TRUE(wait_for(client, MessageType::Closed));
  wait_for_all();  // hangs if anybody of them were alive: orphans are ours
  EXPECT_EQ(reader("t1").status()->exit->reason, journal::EndReason::Requested);
}

TEST_F(HoldProcess, survivors_are_kept_and_heard_or_killed_as_asked) {
  // Both wait for a word: who connects late is not told of an exit that was before.
  const std::string go = scratch_.path() + "/go";
  const std::string later = scratch_.path() + "/later";
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(later.c_str(), 0600), 0);
  auto keep =
      request("keep", "(read x <" + later + "; echo late) & read x <" + go + "; echo first", Provider::Pipe);
  keep.hold.drain_time = milliseconds(10);
  must_launch(keep);
  Client client = connect("keep");
  std::ofstream(go) << "x\n";
  ASSERT_TRUE(wait_for(client, MessageType::Exited));
  EXPECT_EQ(reader("keep").status()->state, journal::State::Exited);
  EXPECT_EQ(reader("keep").status()->exit->survivors, 1U);
  std::ofstream(later) << "x\n";
  ASSERT_TRUE(wait_for(client, MessageType::Closed));
  EXPECT_EQ(output("keep"), "first\nlate\n");
  EXPECT_TRUE(reader("keep").complete().value());

  auto kill = request("kill", "sleep 1000 & echo first", Provider::Pipe);
  kill.hold.drain_time = milliseconds(10);
  kill.hold.survivors = Survivors::Kill;
  must_launch(kill);
  wait_for_all();
  EXPECT_EQ(output("kill"), "first\n");
  EXPECT_EQ(reader("kill").status()->exit->code, 0);
  EXPECT_EQ(reader("kill").status()->exit->survivors, 1U);
}

TEST_F(HoldProcess, sigterm_to_the_holder_ends_the_command_in_good_order) {
  const auto reply =
      must_launch(request("t1", "trap 'echo bye; exit 0' INT; echo ready; while :; do sleep 0.01; done"));
  Client client = connect("t1");
  ASSERT_TRUE(wait_for_output(client, "t1", "ready"));
  ASSERT_GT(reply.holder, 1);
  ASSERT_EQ(::kill(reply.holder, SIGTERM), 0);
  ASSERT_TRUE(wait_for(client, MessageType::Closed));
  EXPECT_NE(output("t1").find("bye"), std::string::npos);
  EXPECT_EQ(reader("t1").status()->exit->reason, journal::EndReason::HolderStopped);
}

// Kills the starter, and a process that reads and follows, whenever. The command
// does not notice, and every byte and its exit are there.
TEST_F(HoldProcess, kills_of_starter_and_reader_at_random_points_lose_nothing) {
  constexpr int kRounds = 300;
  constexpr uint64_t kLast = 30'000;
  std::mt19937 random(11);
  const std::string in_pty = Counting(Provider::Pty).up_to(kLast);
  const std::string in_pipe = Counting(Provider::Pipe).up_to(kLast);
  int late_rounds = 0;
  int started = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Provider provider = round % 2 == 0 ? Provider::Pty : Provider::Pipe;
    // Late: somewhere in the flood. Early: at any moment since the start, so perhaps before there is a
    // command.
    const bool late = round / 2 % 2 == 0;
    late_rounds += late ? 1 : 0;
    const std::string id = "t" + std::to_string(round);
    int launched[2];
    ASSERT_EQ(::pipe2(launched, O_CLOEXEC), 0);
    const auto wanted = request(id, "seq 1 " + std::to_string(kLast) + "; exit 42", provider);
    const pid_t starter = ::fork();
    ASSERT_GE(starter, 0) << "fork failed";  // and never reaches kill(): -1 there means everybody
    if (starter == 0) {
      launch(TTYWARD_HOLD, wanted);
      if (::write(launched[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    const pid_t follower = ::fork();
    if (follower < 0) ::kill(starter, SIGKILL);
    ASSERT_GE(follower, 0) << "fork failed";
    if (follower == 0) {
      // Reads whatever is there, from the first moment there is something.
      for (;;) {
        auto r = journal::Reader::open(scratch_.journals(), id);
        auto client = Client::connect(scratch_.path() + "/holders", id, kPatience);
        std::vector<std::byte> buffer(8192);
        for (uint64_t at = 0; r && client;) {
          auto chunk = r->read(at, buffer);
          if (!chunk) break;
          at += chunk->bytes;
          if (chunk->bytes == 0 && (!client->watch(at) || !client->next_event(kPatience))) break;
        }
        ::sched_yield();
      }
    }
    ::close(launched[1]);
    // When to kill is the random part of the test, not a wait for anything.
    timespec moment{0, static_cast<long>(random() % 12'000'000)};
    if (late) {
      const uint64_t enough = random() % in_pipe.size();
      char byte = 0;
      EXPECT_EQ(::read(launched[0], &byte, 1), 1);
      auto live = reader(id);
      while (live.end() < enough) ::sched_yield();
      moment.tv_nsec /= 100;
    } else {
      ::nanosleep(&moment, nullptr);
    }
    ::close(launched[0]);
    ::kill(round % 3 == 0 ? follower : starter, SIGKILL);
    ::nanosleep(&moment, nullptr);
    ::kill(round % 3 == 0 ? starter : follower, SIGKILL);
    wait_for_all();

    auto r = journal::Reader::open(scratch_.journals(), id);
    if (!r) {
      // The starter died before its request was out: nothing was run, and nothing claims so.
      EXPECT_EQ(r.error().code, base::ErrorCode::NotFound) << r.error().message;
      continue;
    }
    ++started;
    const auto status = r->status();
    ASSERT_TRUE(status && status->exit) << id;
    EXPECT_EQ(status->exit->kind, EndKind::Exited);
    EXPECT_EQ(status->exit->code, 42);
    EXPECT_TRUE(r->complete().value());
    ASSERT_TRUE(output(id) == (provider == Provider::Pty ? in_pty : in_pipe)) << id;
    std::filesystem::remove_all(scratch_.journals() + "/" + id);
  }
  EXPECT_GE(started, late_rounds);
}

TEST_F(HoldProcess, a_killed_holder_leaves_a_whole_prefix_and_no_process) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    const Provider provider = round % 2 == 0 ? Provider::Pty : Provider::Pipe;
    const std::string id = "t" + std::to_string(round);
    const auto reply = must_launch(request(id, "exec seq 1 1000000000", provider));
    ASSERT_GT(reply.holder, 1);
    auto live = reader(id);
    const uint64_t enough = random() % 500'000;
    while (live.end() < enough) ::sched_yield();
    ASSERT_EQ(::kill(reply.holder, SIGKILL), 0);
    wait_for_all();  // the command too: its terminal or pipe is gone
    auto r = reader(id);
    EXPECT_EQ(r.writer().value(), journal::WriterLife::Gone);
    EXPECT_EQ(r.status()->state, journal::State::Running);
    EXPECT_FALSE(r.complete().value());
    const std::string text = output(id);
    EXPECT_GE(text.size(), enough);
    EXPECT_TRUE(Counting(provider).is_prefix(text));
    std::filesystem::remove_all(scratch_.journals() + "/" + id);
  }
}

// Bytes that are no protocol close that connection and touch nothing else.
TEST_F(HoldProcess, garbage_on_the_socket_is_survived) {
  must_launch(request("t1", "read line; exit 3"));
  std::mt19937 random(99);
  auto folder = journal::open_private_folder(scratch_.path() + "/holders", journal::IfMissing::Fail);
  ASSERT_TRUE(folder);
  const sockaddr_un address = io::socket_address(folder->get(), "t1.sock");
  const std::string hello =
      encode(MessageType::Hello, 1, Encoder().number(kHelloMagic).number(kProtocolVersion).take());
  for (int round = 0; round < 500; ++round) {
    base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    std::string bytes = round % 2 == 0 ? hello : "";
    if (round % 4 < 2) {
      for (size_t i = random() % 3000; i > 0; --i) bytes += static_cast<char>(random());
    } else {
      // Well-formed frames around nonsense; not Terminate, Signal, Interrupt or Input, which would be obeyed.
      constexpr MessageType kTypes[] = {MessageType::Resize, MessageType::GetStatus,    MessageType::Watch,
                                        MessageType::Grant,  MessageType::GetProcesses, MessageType::Welcome};
      for (size_t i = random() % 20; i > 0; --i) {
        bytes += encode(kTypes[random() % 6], static_cast<uint32_t>(random()),
                        std::string(random() % 40, static_cast<char>(random())));
      }
    }
    if (::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) continue;
    if (round % 3 == 0) continue;  // and gone, without reading
    ::shutdown(fd.get(), SHUT_WR);
    char answer[4096];
    while (::recv(fd.get(), answer, sizeof answer, 0) > 0) {
    }
  }
  Client client = connect("t1");
  ASSERT_TRUE(client.send_input("x\n", kPatience));
  ASSERT_TRUE(wait_for(client, MessageType::Closed));
  EXPECT_EQ(reader("t1").status()->exit->code, 3);
}

TEST_F(HoldProcess, a_client_that_asks_and_never_reads_is_dropped) {
  must_launch(request("t1", "read line"));
  auto folder = journal::open_private_folder(scratch_.path() + "/holders", journal::IfMissing::Fail);
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = io::socket_address(folder->get(), "t1.sock");
  ASSERT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  std::string asks =
      encode(MessageType::Hello, 1, Encoder().number(kHelloMagic).number(kProtocolVersion).take());
  bool dropped = false;
  for (int i = 0; i < 1000 && !dropped; ++i) {
    for (int k = 0; k < 1000; ++k) asks += encode(MessageType::GetStatus, 1);
    dropped = ::send(fd.get(), asks.data(), asks.size(), MSG_NOSIGNAL) < 0;
    asks.clear();
  }
  EXPECT_TRUE(dropped);
  ASSERT_TRUE(connect("t1").terminate({{SIGKILL, milliseconds(5000)}}, kPatience));
}

}  // namespace
}  // namespace ttyward::hold
