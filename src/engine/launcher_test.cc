// Holders that are started beside the loop: every request is answered once, on the loop's thread.
#include "engine/launcher.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <set>
#include <string>
#include <thread>

#include "base/ids.h"
#include "base/testing.h"
#include "engine/testing.h"
#include "pty/proc.h"
#include "pty/process_tree.h"

namespace ttyward::engine {
namespace {

class Launching : public ::testing::Test {
 protected:
  Launching() : loop_(io::Loop::create().value()) {
    char name[] = "/tmp/ttyward-launch-XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* part : {"/sockets", "/journals"}) ::mkdir((root_ + part).c_str(), 0700);
  }
  ~Launching() override {
    for (const pid_t holder : holders_) ::kill(holder, SIGKILL);
    base::testing::remove_tree(root_);
  }

  hold::LaunchRequest request(std::vector<std::string> argv) const {
    hold::LaunchRequest made;
    made.journals = root_ + "/journals";
    made.sockets = root_ + "/sockets";
    made.hold.journal.id = base::random_id('t');
    made.hold.spawn.argv = std::move(argv);
    made.hold.spawn.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    made.hold.spawn.cwd = "/";
    return made;
  }
  // Turns the loop until `count` answers are there.
  void until(size_t count) {
    const auto give_up = std::chrono::steady_clock::now() + testing::kPatience;
    while (answers_.size() < count && std::chrono::steady_clock::now() < give_up)
      loop_->turn(std::chrono::milliseconds(100));
    ASSERT_EQ(answers_.size(), count);
  }
  Launcher::Done note() {
    return [this](Launcher::Launched launched) {
      EXPECT_EQ(std::this_thread::get_id(), thread_);
      if (launched && launched->holder > 0) holders_.insert(launched->holder);
      answers_.push_back(std::move(launched));
    };
  }

  std::unique_ptr<io::Loop> loop_;
  std::string root_;
  const std::thread::id thread_ = std::this_thread::get_id();
  std::vector<Launcher::Launched> answers_;
  std::set<pid_t> holders_;
};

TEST_F(Launching, every_request_gets_a_holder_of_its_own) {
  Launcher launcher(*loop_, TTYWARD_HOLD, 2);
  constexpr size_t kCount = 20;  // more than there are idle holders and threads
  for (size_t i = 0; i < kCount; ++i) launcher.start(request({"sleep", "1000"}), note());
  until(kCount);
  std::set<pid_t> children;
  for (const auto& answer : answers_) {
    ASSERT_TRUE(answer) << answer.error().error.message;
    ASSERT_FALSE(answer->error);
    EXPECT_GT(answer->child, 0);
    children.insert(answer->child);
  }
  EXPECT_EQ(holders_.size(), kCount);
  EXPECT_EQ(children.size(), kCount);
}

TEST_F(Launching, a_program_that_is_not_there_is_an_answer_and_no_child) {
  Launcher launcher(*loop_, TTYWARD_HOLD, 1);
  launcher.start(request({"/no/such/program"}), note());
  until(1);
  const pty::SpawnError* error = !answers_[0]         ? &answers_[0].error()
                                 : answers_[0]->error ? &*answers_[0]->error
                                                      : nullptr;
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->failure, pty::SpawnFailure::NotFound);
}

TEST_F(Launching, without_the_holder_program_it_says_so) {
  Launcher launcher(*loop_, "/no/such/ttyward-hold", 1);
  launcher.start(request({"true"}), note());
  until(1);
  ASSERT_FALSE(answers_[0]);
  EXPECT_FALSE(answers_[0].error().error.message.empty());
}

TEST_F(Launching, a_large_request_arrives_whole) {
  Launcher launcher(*loop_, TTYWARD_HOLD, 1);
  hold::LaunchRequest large = request({"sleep", "1000"});
  large.hold.spawn.environment.push_back("LARGE=" + std::string(100'000, 'x'));  // more than a socket holds
  launcher.start(std::move(large), note());
  until(1);
  ASSERT_TRUE(answers_[0] && !answers_[0]->error);
  // The kernel lets the parent go on a moment before the new program's environment can be seen.
  std::string environment;
  for (int i = 0; i < 10'000 && environment.empty(); ++i) {
    const std::string path = "/proc/" + std::to_string(answers_[0]->child) + "/environ";
    environment = pty::read_proc_file(path.c_str(), 200'000).value_or("");
    if (environment.empty()) std::this_thread::yield();
  }
  EXPECT_GE(environment.size(), 100'000U);
}

TEST_F(Launching, a_holder_that_somebody_killed_while_it_was_idle_is_replaced) {
  Launcher launcher(*loop_, TTYWARD_HOLD, 1);
  launcher.start(request({"sleep", "1000"}), note());
  until(1);
  // The fork server and its idle holders are the descendants of this process that are ttyward-hold and keep
  // nothing; ending them all must not be noticed.
  for (const auto& process : pty::list_descendants(::getpid()).value_or(std::vector<pty::ProcessInfo>{})) {
    const bool holds = process.command.find("ttyward-hold") != std::string::npos;
    if (holds && !holders_.contains(process.id.pid)) static_cast<void>(pty::send_signal(process.id, SIGKILL));
  }
  for (int i = 0; i < 3; ++i) launcher.start(request({"sleep", "1000"}), note());
  until(4);
  for (const auto& answer : answers_) EXPECT_TRUE(answer && !answer->error);
}

TEST_F(Launching, who_goes_is_told_nothing_any_more) {
  {
    Launcher launcher(*loop_, TTYWARD_HOLD, 1);
    for (int i = 0; i < 8; ++i)
      launcher.start(request({"true"}),
                     [](const Launcher::Launched&) { ADD_FAILURE() << "told after its end"; });
  }
  for (int i = 0; i < 20; ++i) loop_->turn(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace ttyward::engine
