// Terminals in another place: a script stands in for ssh, the rest is real.
#include "engine/places.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/testing.h"
#include "engine/engine.h"
#include "engine/testing.h"

namespace ttyward::engine {
namespace {

constexpr const char* kPlace = "ssh:far";

class Elsewhere : public ::testing::Test, private EngineObserver {
 protected:
  void SetUp() override {
    loop_ = io::Loop::create().value();
    char name[] = "/tmp/ttyward-places-XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* part : {"/state", "/run", "/config", "/bin", "/far"})
      ::mkdir((root_ + part).c_str(), 0700);
    write("/bin/ssh", "#!/bin/sh\ntest -e " + root_ +
                          "/down && { echo no route >&2; exit 255; }\necho $$ > " + root_ +
                          "/stream\nfor last; do :; done\nHOME=" + root_ + "/far exec sh -c \"$last\"\n");
    ::chmod((root_ + "/bin/ssh").c_str(), 0755);
    path_ = ::getenv("PATH");
    ::setenv("PATH", (root_ + "/bin:" + path_).c_str(), 1);
    ::setenv("TTYWARD_LINK_IDLE_MS", "1000", 1);
    settings_.folders = {root_ + "/state", root_ + "/run", root_ + "/config"};
    settings_.hold_program = TTYWARD_HOLD;
    settings_.our_environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_, "LANG=C.UTF-8"};
    settings_.shell = {"/bin/bash"};
    settings_.pool = 0;
    start();
  }
  void TearDown() override {
    bool gone = false;
    std::filesystem::remove(root_ + "/down");
    engine_->kill_all([&] { gone = true; });
    until([&] { return gone; });
    engine_.reset();
    ::setenv("PATH", path_.c_str(), 1);
    until([&] { return std::filesystem::is_empty(root_ + "/run/links"); });
    base::testing::remove_tree(root_);
  }

  void start() { engine_ = Engine::create(*loop_, settings_, *this).value(); }
  void write(const std::string& file, const std::string& text) const { std::ofstream(root_ + file) << text; }
  void until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + testing::kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) {
        ADD_FAILURE() << "waited in vain";
        return;
      }
      loop_->turn(std::chrono::milliseconds(20));
    }
  }
  std::string open() {
    std::optional<base::Result<const relay::FarPlace*>> reached;
    engine_->places().reach(kPlace, [&](const auto& came) { reached = came; });
    until([&] { return reached.has_value(); });
    if (!*reached) {
      ADD_FAILURE() << reached->error().message;
      return "";
    }
    OpenRequest request;
    request.place = kPlace;
    request.shell = {"bash"};
    auto opened = engine_->open(std::move(request));
    EXPECT_TRUE(opened) << opened.error().message;
    if (!opened) return "";
    const std::string id = (*opened)->id();
    until([&] { return find(id).ready(); });
    EXPECT_FALSE(find(id).start_error()) << find(id).start_error()->error.message;
    return id;
  }
  Terminal& find(const std::string& id) { return **engine_->find(id); }
  std::string begin(const std::string& id, const std::string& text) {
    CommandRequest request;
    request.text = text;
    auto submitted = engine_->submit(find(id), std::move(request));
    EXPECT_TRUE(submitted) << submitted.error().message;
    return submitted ? submitted->command->facts.command_id : "";
  }
  terminal::CommandResult end(const std::string& command) {
    until([&] { return engine_->find_command(command)->command->over(); });
    const auto found = engine_->find_command(command);
    return found->terminal->result(*found->command, {});
  }
  terminal::CommandResult exec(const std::string& id, const std::string& text) {
    return end(begin(id, text));
  }
  void cut() const {
    pid_t pid = 0;
    std::ifstream(root_ + "/stream") >> pid;
    ASSERT_GT(pid, 1);
    ::kill(pid, SIGKILL);
  }
  void on_terminal_opened(Terminal&) override {}
  void on_terminal_change(Terminal&, uint32_t) override {}
  void on_record(const Terminal&, const Command&) override {}
  void on_quality(const Terminal&, shell::Quality, shell::Quality, const std::string&) override {}
  void on_terminal_forgotten(const Terminal&) override {}

  std::unique_ptr<io::Loop> loop_;
  std::string root_;
  std::string path_;
  Settings settings_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(Elsewhere, a_shell_there_reports_as_one_here_does) {
  const std::string id = open();
  EXPECT_EQ(find(id).quality(), shell::Quality::Rich);
  EXPECT_EQ(find(id).cwd(), root_ + "/far");
  const auto first = exec(id, "cd /usr && echo hi && (exit 5)");
  EXPECT_EQ(first.exit_code, 5);
  EXPECT_EQ(first.output.text, "hi\n");
  EXPECT_EQ(first.known_by, "shell_mark");
  EXPECT_EQ(first.place, kPlace);
  EXPECT_EQ(find(id).cwd(), "/usr");
  exec(id, "X=kept");
  EXPECT_EQ(exec(id, "pwd; echo $X").output.text, "/usr\nkept\n");
  // One that is too long to be typed goes as a file.
  std::string lines = "echo begin\n";
  for (int i = 0; i < 400; i++) lines += "echo line " + std::to_string(i) + "\n";
  EXPECT_EQ(exec(id, lines + "echo end").total_lines, 402U);
}

TEST_F(Elsewhere, a_lost_link_is_said_and_its_command_goes_on) {
  const std::string id = open();
  const std::string command =
      begin(id, "echo begun; until test -e " + root_ + "/go; do sleep 0.02; done; echo ended; (exit 9)");
  until([&] { return find(id).commands().back()->started_seen; });
  write("/down", "");
  cut();
  until([&] { return !find(id).link_lost().empty(); });
  EXPECT_NE(find(id).link_lost().find("was lost"), std::string::npos) << find(id).link_lost();
  EXPECT_TRUE(find(id).live());
  std::optional<base::Result<void>> typed;
  find(id).input("x", Owner::User, [&](const auto& done) { typed = done; });
  until([&] { return typed.has_value(); });
  EXPECT_FALSE(*typed);
  write("/go", "");
  std::filesystem::remove(root_ + "/down");
  const auto result = end(command);
  EXPECT_EQ(result.exit_code, 9);
  EXPECT_EQ(result.output.text, "begun\nended\n");
  EXPECT_TRUE(find(id).link_lost().empty());
}

TEST_F(Elsewhere, another_engine_finds_it_again_with_its_link_or_without) {
  const std::string id = open();
  exec(id, "X=kept; cd /usr");
  for (const bool kill_link : {false, true}) {
    SCOPED_TRACE(kill_link);
    engine_.reset();
    if (kill_link) {
      std::ostringstream killed;
      for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline");
        std::string line((std::istreambuf_iterator<char>(file)), {});
        if (line.find(root_ + "/state/links") != std::string::npos && line.find("link") != std::string::npos)
          ::kill(std::stoi(entry.path().filename().string()), SIGKILL);
      }
    }
    start();
    EXPECT_EQ(engine_->recover().terminals, 1U);
    until([&] { return find(id).holder_alive() && find(id).link_lost().empty() && !find(id).busy(); });
    const auto result = exec(id, "echo $X; pwd; (exit 3)");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.output.text, "kept\n/usr\n");
  }
}

TEST_F(Elsewhere, one_command_there_and_one_that_cannot_be_started) {
  ASSERT_FALSE(open().empty());
  RunRequest request;
  request.place = kPlace;
  request.command = "cat; exit 3";
  request.stdin_text = "some text\n";
  auto ran = engine_->run(std::move(request));
  ASSERT_TRUE(ran) << ran.error().message;
  const std::string id = (*ran)->commands().back()->facts.command_id;
  const auto result = end(id);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output.text, "some text\n");
  RunRequest missing;
  missing.place = kPlace;
  missing.argv = {"/no/such/program"};
  auto failed = engine_->run(std::move(missing));
  ASSERT_TRUE(failed);
  EXPECT_EQ(end((*failed)->commands().back()->facts.command_id).state, terminal::CommandState::FailedToStart);
}

TEST_F(Elsewhere, a_place_that_cannot_be_reached_says_why) {
  write("/down", "");
  std::optional<base::Result<const relay::FarPlace*>> reached;
  engine_->places().reach(kPlace, [&](const auto& came) { reached = came; });
  until([&] { return reached.has_value(); });
  ASSERT_FALSE(*reached);
  EXPECT_EQ(reached->error().message, "cannot reach ssh:far: no route");
  OpenRequest request;
  request.place = kPlace;
  EXPECT_FALSE(engine_->open(std::move(request)));
}

}  // namespace
}  // namespace ttyward::engine
