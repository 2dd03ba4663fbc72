// A link and a relay, both real processes, with a script in the place of ssh: what is launched there is found
// here, byte for byte, whatever becomes of the stream.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hold/launch.h"
#include "hold/testing_client.h"
#include "io/poller.h"
#include "journal/reader.h"
#include "relay/far_place.h"

namespace ttyward::relay {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
constexpr milliseconds kPatience{60'000};

class There : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/ttyward-relay-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ + "/bin");
    std::filesystem::create_directories(root_ + "/home");
    // Its process is told by a file, so that it can be killed.
    write("/bin/ssh", "#!/bin/sh\ntest -e " + root_ +
                          "/down && { echo no route >&2; exit 255; }\necho $$ > " + root_ +
                          "/stream\nfor last; do :; done\nHOME=" + root_ + "/home exec sh -c \"$last\"\n");
    ::chmod((root_ + "/bin/ssh").c_str(), 0755);
    path_ = ::getenv("PATH");
    ::setenv("PATH", (root_ + "/bin:" + path_).c_str(), 1);
    ::setenv("TTYWARD_LINK_IDLE_MS", "1000", 1);
    folders_ = {TTYWARD_HOLD, root_ + "/run", root_ + "/state"};
    auto poller = io::Poller::create();
    ASSERT_TRUE(poller);
    poller_ = std::make_unique<io::Poller>(std::move(*poller));
  }
  void TearDown() override {
    place_.reset();
    ::setenv("PATH", path_.c_str(), 1);
    std::error_code ignored;
    // The link ends by itself when nobody needs it.
    for (int i = 0; i < 2000 && std::filesystem::exists(root_ + "/run/" + ask_socket(name_), ignored); i++)
      std::this_thread::sleep_for(milliseconds(5));
    std::filesystem::remove_all(root_, ignored);
  }

  void write(const std::string& file, const std::string& text) const { std::ofstream(root_ + file) << text; }
  void reach() {
    auto place = FarPlace::open(*poller_, folders_, name_);
    ASSERT_TRUE(place) << place.error().message;
    place_ = std::move(*place);
    const auto reached = reach_now(*poller_, *place_, kPatience);
    ASSERT_TRUE(reached) << reached.error().message;
  }
  tl::expected<hold::LaunchReply, pty::SpawnError> launch(const std::string& id,
                                                          const std::string& line) const {
    hold::LaunchRequest request;
    request.journals = root_ + "/journals";
    request.sockets = root_ + "/holders";
    request.hold.journal.id = id;
    request.hold.spawn.argv = {"/bin/sh", "-c", line};
    request.hold.spawn.environment = {"PATH=/usr/bin:/bin"};
    auto control = place_->connect_launch();
    if (!control) return tl::unexpected(pty::SpawnError{pty::SpawnFailure::Setup, control.error()});
    return hold::IdleHolder::behind(std::move(*control)).launch(request);
  }
  // Until the copy says that nothing more will come.
  journal::Reader whole(const std::string& id) const {
    auto reader = journal::Reader::open(root_ + "/journals", id);
    EXPECT_TRUE(reader) << reader.error().message;
    const auto until = Clock::now() + kPatience;
    while (reader->status()->state != journal::State::Closed && Clock::now() < until)
      std::this_thread::sleep_for(milliseconds(2));
    EXPECT_EQ(reader->status()->state, journal::State::Closed);
    return std::move(*reader);
  }
  void cut() const {
    pid_t pid = 0;
    std::ifstream(root_ + "/stream") >> pid;
    ASSERT_GT(pid, 1);
    ::kill(pid, SIGKILL);
  }
  static std::string lines(int count) {
    std::string out;
    for (int i = 1; i <= count; i++) out += std::to_string(i) + "\r\n";
    return out;
  }

  std::string root_;
  std::string path_;
  PlaceName name_ = *PlaceName::parse("ssh:far");
  LinkFolders folders_;
  std::unique_ptr<io::Poller> poller_;
  std::unique_ptr<FarPlace> place_;
};

TEST_F(There, a_command_runs_there_and_its_journal_is_here) {
  reach();
  ASSERT_TRUE(place_->state().welcome);
  EXPECT_EQ(place_->state().welcome->home, root_ + "/home");
  const auto reply = launch("c1", "pwd; seq 1 3000; exit 7");
  ASSERT_TRUE(reply) << reply.error().error.message;
  EXPECT_GT(reply->child, 1);
  journal::Reader reader = whole("c1");
  const auto status = reader.status();
  ASSERT_TRUE(status->exit);
  EXPECT_EQ(status->exit->kind, journal::EndKind::Exited);
  EXPECT_EQ(status->exit->code, 7);
  EXPECT_TRUE(reader.read_all({0, ~0ULL}, 1 << 20).value() == root_ + "/home\r\n" + lines(3000));
  EXPECT_TRUE(reader.complete().value());
  // Nothing of it stays there.
  const std::string there = place_->state().welcome->folder + "/journals/c1.main";
  for (int i = 0; i < 2000 && std::filesystem::exists(there); i++)
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(std::filesystem::exists(there));
}

TEST_F(There, what_cannot_be_started_says_why) {
  reach();
  const auto reply = launch("c1", "true");
  ASSERT_TRUE(reply);
  whole("c1");
  const auto again = launch("c1", "true");
  ASSERT_FALSE(again);  // the copy's name is taken
}

TEST_F(There, questions_are_answered_there) {
  reach();
  std::optional<base::Result<place::FileKind>> kind;
  place_->file(root_ + "/home", [&](const auto& found) { kind = found; });
  std::optional<std::optional<place::ProcessFacts>> facts;
  place_->process(::getpid(), place::kStat | place::kFolder, [&](const auto& found) { facts = found; });
  const auto until = Clock::now() + kPatience;
  while ((!kind || !facts) && Clock::now() < until) poller_->wait(100);
  ASSERT_TRUE(kind && *kind);
  EXPECT_EQ(**kind, place::FileKind::Folder);
  ASSERT_TRUE(facts && *facts);
  EXPECT_EQ((*facts)->stat.pid, ::getpid());
}

TEST_F(There, the_holders_socket_is_here_as_well) {
  reach();
  ASSERT_TRUE(launch("t1", "read line; echo got $line; sleep 1000"));
  auto client = hold::Client::connect(root_ + "/holders", "t1", kPatience);
  ASSERT_TRUE(client) << client.error().message;
  ASSERT_TRUE(client->send_input("abc\r", kPatience));
  auto reader = journal::Reader::open(root_ + "/journals", "t1");
  ASSERT_TRUE(reader);
  const auto until = Clock::now() + kPatience;
  while (reader->read_all({0, ~0ULL}, 1 << 20).value().find("got abc") == std::string::npos &&
         Clock::now() < until)
    std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(reader->status()->input_bytes, 4U);
  EXPECT_EQ(client->processes(kPatience)->size(), 2U);
  ASSERT_TRUE(client->terminate({}, kPatience));
  EXPECT_EQ(whole("t1").status()->exit->kind, journal::EndKind::Signaled);
}

TEST_F(There, the_stream_is_cut_again_and_again_and_no_byte_is_missing) {
  reach();
  ASSERT_TRUE(launch("c1", "i=0; while test $i -lt 60; do i=$((i+1)); seq 1 500; sleep 0.05; done; exit 3"));
  for (int i = 0; i < 5; i++) {
    std::this_thread::sleep_for(milliseconds(300));
    cut();
  }
  journal::Reader reader = whole("c1");
  EXPECT_EQ(reader.status()->exit->code, 3);
  std::string wanted;
  for (int i = 0; i < 60; i++) wanted += lines(500);
  EXPECT_TRUE(reader.read_all({0, ~0ULL}, 1 << 22).value() == wanted);
}

TEST_F(There, a_link_that_is_killed_is_followed_by_one_that_goes_on) {
  reach();
  ASSERT_TRUE(
      launch("c1", "echo begun; until test -e " + root_ + "/go; do sleep 0.02; done; echo ended; exit 4"));
  auto client = hold::Client::connect(root_ + "/holders", "c1", kPatience);
  ASSERT_TRUE(client);
  place_.reset();
  // The one that listens.
  ucred peer{};
  socklen_t size = sizeof peer;
  ASSERT_EQ(::getsockopt(client->fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size), 0);
  ASSERT_EQ(::kill(peer.pid, SIGKILL), 0);
  EXPECT_FALSE(client->next_event(kPatience));
  write("/go", "");
  reach();
  journal::Reader reader = whole("c1");
  EXPECT_EQ(reader.status()->exit->code, 4);
  EXPECT_EQ(reader.read_all({0, ~0ULL}, 1 << 20).value(), "begun\r\nended\r\n");
}

TEST_F(There, a_host_that_is_down_is_said_with_its_reason) {
  write("/down", "");
  auto place = FarPlace::open(*poller_, folders_, name_);
  ASSERT_TRUE(place);
  const auto reached = reach_now(*poller_, **place, kPatience);
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().message, "cannot reach ssh:far: no route");
  std::filesystem::remove(root_ + "/down");
  EXPECT_TRUE(reach_now(*poller_, **place, kPatience));
}

TEST_F(There, a_loop_does_not_wait_for_a_link_that_starts_slowly) {
  // It ends when somebody reads the pipe, and says why it has no link.
  ASSERT_EQ(::mkfifo((root_ + "/gate").c_str(), 0600), 0);
  write("/bin/slow", "#!/bin/sh\necho open > " + root_ + "/gate\necho it is broken >&2\nexit 1\n");
  ::chmod((root_ + "/bin/slow").c_str(), 0755);
  folders_.program = root_ + "/bin/slow";
  FarPlace place(*poller_, folders_, name_);
  ASSERT_TRUE(place.begin());
  std::optional<LinkState> told;
  place.reach([&told](const LinkState& state) { told = state; });
  EXPECT_FALSE(told);  // it was asked, and nobody has waited
  std::string line;
  std::getline(std::ifstream(root_ + "/gate") >> std::ws, line);
  EXPECT_EQ(line, "open");
  const auto until = Clock::now() + kPatience;
  while (!told && Clock::now() < until) poller_->wait(100);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, LinkState::Kind::Failed);
  EXPECT_EQ(told->why, "the link to ssh:far could not be started: it is broken");
  // The next one is a link.
  folders_.program = TTYWARD_HOLD;
  FarPlace other(*poller_, folders_, name_);
  ASSERT_TRUE(other.begin());
  EXPECT_TRUE(reach_now(*poller_, other, kPatience));
}

}  // namespace
}  // namespace ttyward::relay
