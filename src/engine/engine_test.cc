#include "engine/engine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "base/ids.h"
#include "base/testing.h"
#include "engine/testing.h"
#include "engine/wait.h"

namespace ttyward::engine {
namespace {

// An engine in folders of its own, and what it told.
class EngineBench final : private EngineObserver {
 public:
  EngineBench() : loop_(io::Loop::create().value()) {
    char name[] = "/tmp/ttyward-engine-XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* part : {"/state", "/run", "/config", "/project", "/project/src", "/other"}) {
      ::mkdir((root_ + part).c_str(), 0700);
    }
    settings_.folders = {root_ + "/state", root_ + "/run", root_ + "/config"};
    settings_.hold_program = TTYWARD_HOLD;
    settings_.our_environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_, "LANG=C.UTF-8"};
    settings_.shell = {"/bin/bash"};
    settings_.pool = 0;
    settings_.interrupt_grace = std::chrono::milliseconds(100);
    start();
  }
  EngineBench(const EngineBench&) = delete;
  EngineBench& operator=(const EngineBench&) = delete;
  ~EngineBench() {
    bool gone = false;
    engine_->kill_all([&] { gone = true; });
    until([&] { return gone; });
    engine_.reset();
    base::testing::remove_tree(root_);
  }

  void start() { engine_ = Engine::create(*loop_, settings_, *this).value(); }
  void stop() { engine_.reset(); }
  Engine& engine() { return *engine_; }
  Settings& settings() { return settings_; }
  std::string path(const std::string& below) const { return root_ + below; }
  io::Loop& loop() { return *loop_; }
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
  Terminal& acquire(const std::string& cwd, const std::string& task, bool* created = nullptr) {
    auto acquired = engine_->acquire(cwd, task, Owner::Agent);
    EXPECT_TRUE(acquired) << acquired.error().message;
    Terminal* terminal = acquired->terminal;
    if (created != nullptr) *created = acquired->created;
    until([&] { return terminal->ready(); });
    return *terminal;
  }
  Command& submit(Terminal& terminal, const std::string& text) {
    CommandRequest request;
    request.text = text;
    auto submitted = engine_->submit(terminal, std::move(request));
    EXPECT_TRUE(submitted) << submitted.error().message;
    return *submitted->command;
  }
  void exec(Terminal& terminal, const std::string& text) {
    const std::string id = submit(terminal, text).facts.command_id;
    until([&] { return engine_->find_command(id)->command->over(); });
  }

  std::vector<std::string> recorded;
  std::vector<std::string> forgotten;

 private:
  void on_terminal_opened(Terminal&) override {}
  void on_terminal_change(Terminal&, uint32_t) override {}
  void on_record(const Terminal&, const Command& command) override {
    recorded.push_back(command.facts.command_id);
  }
  void on_quality(const Terminal&, shell::Quality, shell::Quality, const std::string&) override {}
  void on_terminal_forgotten(const Terminal& terminal) override { forgotten.push_back(terminal.id()); }

  std::unique_ptr<io::Loop> loop_;
  std::string root_;
  Settings settings_;
  std::unique_ptr<Engine> engine_;
};

TEST(Engine, ItsEndWaitsForWhatIsJustBeingLaunched) {
  EngineBench bench;
  std::vector<Terminal*> launching;
  for (int i = 0; i < 6; i++) {
    auto acquired = bench.engine().acquire(bench.path("/project"), "task" + std::to_string(i), Owner::Agent);
    ASSERT_TRUE(acquired);
    launching.push_back(acquired->terminal);
  }
  EXPECT_TRUE(launching.back()->launching());
  bool gone = false;
  bench.engine().kill_all([&] { gone = true; });
  bench.until([&] { return gone; });
  for (const Terminal* terminal : launching) EXPECT_FALSE(terminal->live());
}

TEST(Engine, TheSameTaskInTheSameDirectoryGetsItsTerminalBack) {
  EngineBench bench;
  bool created = false;
  Terminal& first = bench.acquire(bench.path("/project"), "task-1", &created);
  EXPECT_TRUE(created);
  bench.exec(first, "echo one");
  EXPECT_EQ(&bench.acquire(bench.path("/project"), "task-1", &created), &first);
  EXPECT_FALSE(created);
}

TEST(Engine, TheLiveDirectoryCountsNotTheOneItBeganIn) {
  EngineBench bench;
  bool created = false;
  Terminal& first = bench.acquire(bench.path("/project"), "task-1");
  bench.exec(first, "cd src");
  EXPECT_EQ(&bench.acquire(bench.path("/project/src"), "task-1", &created), &first);
  EXPECT_FALSE(created);
  Terminal& second = bench.acquire(bench.path("/project"), "task-1", &created);
  EXPECT_TRUE(created);
  EXPECT_NE(&second, &first);
}

TEST(Engine, ABusyTerminalIsNeverShared) {
  EngineBench bench;
  bool created = false;
  Terminal& first = bench.acquire(bench.path("/project"), "task-1");
  bench.submit(first, "read wait");
  Terminal& second = bench.acquire(bench.path("/project"), "task-2", &created);
  EXPECT_TRUE(created);
  EXPECT_NE(&second, &first);
  EXPECT_EQ(first.spec().task, "task-1");
}

TEST(Engine, TwoWhoAskAtOnceGetTwoTerminals) {
  EngineBench bench;
  Terminal& used = bench.acquire(bench.path("/project"), "task-1");
  bench.exec(used, "echo used");
  Terminal& first = bench.acquire(bench.path("/project"), "task-2");
  EXPECT_EQ(&first, &used);  // free, and the right place
  Terminal& second = bench.acquire(bench.path("/project"), "task-3");
  EXPECT_NE(&second, &first);  // task-2 is about to use the other
  EXPECT_EQ(first.spec().task, "task-2");
  EXPECT_NE(&bench.acquire(bench.path("/project"), ""), &second);
  EXPECT_EQ(&bench.acquire(bench.path("/project"), "task-2"), &first);
  bench.exec(first, "echo done");
  EXPECT_EQ(&bench.acquire(bench.path("/project"), "task-4"), &first);
}

TEST(Engine, WhoAsksForATerminalAgainGetsTheSame) {
  EngineBench bench;
  OpenRequest request;
  request.request = "once";
  request.name = "mine";
  auto first = bench.engine().open(request);
  ASSERT_TRUE(first) << first.error().message;
  auto again = bench.engine().open(request);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*first, *again);
  request.request = "another";
  EXPECT_FALSE(bench.engine().open(request));  // the name is taken
}

TEST(Engine, ANameIsGivenOnce) {
  EngineBench bench;
  Terminal& one = bench.acquire(bench.path("/project"), "task-1");
  Terminal& two = bench.acquire(bench.path("/project"), "task-2");
  ASSERT_TRUE(bench.engine().rename(one, "work"));
  EXPECT_TRUE(bench.engine().rename(one, "work"));  // as good twice
  const auto refused = bench.engine().rename(two, "work");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::AlreadyExists);
  EXPECT_NE(refused.error().message.find(one.id()), std::string::npos);
  EXPECT_FALSE(bench.engine().rename(two, "two words"));
  EXPECT_EQ(*bench.engine().find("work"), &one);
  two.set_name("work");  // as an engine before us allowed
  EXPECT_FALSE(bench.engine().find("work"));
  EXPECT_EQ(*bench.engine().find(two.id()), &two);
  ASSERT_TRUE(bench.engine().rename(two, ""));
  EXPECT_EQ(*bench.engine().find("work"), &one);
}

TEST(Engine, AReleasedTerminalServesTheNextTaskAndKeepsItsOutput) {
  EngineBench bench;
  Terminal& first = bench.acquire(bench.path("/project"), "task-1");
  bench.exec(first, "echo kept");
  ASSERT_EQ(bench.engine().release("task-1", [](const Terminal&) { return true; }).size(), 1U);
  EXPECT_EQ(first.spec().task, "");
  bool created = false;
  EXPECT_EQ(&bench.acquire(bench.path("/project"), "task-2", &created), &first);
  EXPECT_FALSE(created);
  EXPECT_EQ(first.spec().task, "task-2");
  EXPECT_EQ(first.result(*first.commands().front(), {}).output.text, "kept\n");
}

TEST(Engine, OnesOwnTerminalComesBeforeAnybodys) {
  EngineBench bench;
  Terminal& others = bench.acquire(bench.path("/project"), "task-1");
  bench.submit(others, "read wait");
  Terminal& own = bench.acquire(bench.path("/project"), "task-2");
  others.interrupt([](auto) {});
  bench.until([&] { return !others.busy(); });
  EXPECT_EQ(&bench.acquire(bench.path("/project"), "task-2"), &own);
}

TEST(Engine, AnUnknownTerminalIsAClearError) {
  EngineBench bench;
  const auto found = bench.engine().find("tnobody");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("Terminal with ID tnobody not found"), std::string::npos);
}

TEST(Engine, NamesAndBeginningsOfIdsAreUnderstood) {
  EngineBench bench;
  OpenRequest request;
  request.name = "build";
  Terminal* terminal = bench.engine().open(request).value();
  EXPECT_EQ(bench.engine().find("build").value(), terminal);
  EXPECT_EQ(bench.engine().find(terminal->id().substr(0, 8)).value(), terminal);
  const auto again = bench.engine().open(request);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, base::ErrorCode::AlreadyExists);
}

TEST(Engine, AtTheLimitNobodysTerminalIsTakenAway) {
  EngineBench bench;
  Settings settings = bench.settings();
  settings.max_terminals = 2;
  bench.engine().set_settings(settings);
  ASSERT_TRUE(bench.engine().open({}));
  ASSERT_TRUE(bench.engine().open({}));
  const auto third = bench.engine().open({});
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, base::ErrorCode::Exhausted);
  EXPECT_EQ(bench.engine().live_terminals(), 2U);
}

TEST(Engine, ThoseThatEndedAreKeptForAWhileAndThenForgotten) {
  EngineBench bench;
  Settings settings = bench.settings();
  settings.finished_kept = 3;
  settings.finished_moment = Settings::Ms(0);
  bench.engine().set_settings(settings);
  std::vector<std::string> ids;
  for (int i = 0; i < 6; i++) {
    RunRequest request;
    request.command = "exit " + std::to_string(i);
    Terminal* terminal = bench.engine().run(std::move(request)).value();
    ids.push_back(terminal->spec().command_id);
    bench.until([&] { return !terminal->live(); });
  }
  bench.until([&] { return bench.forgotten.size() == 3; });
  EXPECT_FALSE(bench.engine().find_command(ids.front()));
  EXPECT_EQ(bench.engine().find_command(ids.back())->command->facts.exit_code, 5);
  EXPECT_EQ(bench.recorded, ids);
}

TEST(Engine, OfManyThatEndAtOnceNoneIsForgottenForAMoment) {
  EngineBench bench;
  Settings settings = bench.settings();
  settings.finished_kept = 1;
  settings.finished_most = 8;
  bench.engine().set_settings(settings);
  std::vector<std::string> ids;
  for (int i = 0; i < 12; i++) {
    RunRequest request;
    request.command = "exit " + std::to_string(i);
    Terminal* terminal = bench.engine().run(std::move(request)).value();
    ids.push_back(terminal->spec().command_id);
    bench.until([&] { return !terminal->live(); });
  }
  bench.until([&] { return bench.forgotten.size() == 4; });
  for (size_t i = 4; i < ids.size(); i++) EXPECT_TRUE(bench.engine().find_command(ids[i])) << i;
  settings.finished_moment = Settings::Ms(1);
  bench.engine().set_settings(settings);
  RunRequest last;
  last.command = "true";
  ASSERT_TRUE(bench.engine().run(std::move(last)));
  bench.until([&] { return bench.forgotten.size() == 12; });
}

TEST(Engine, NoneIsForgottenBeforeItsEndWasTold) {
  EngineBench bench;
  Settings settings = bench.settings();
  settings.finished_kept = 1;
  settings.finished_moment = Settings::Ms(0);
  bench.engine().set_settings(settings);
  constexpr int kRuns = 12;
  std::vector<std::unique_ptr<Wait>> waits;
  std::map<int, std::optional<int>> told;
  for (int i = 0; i < kRuns; i++) {
    RunRequest request;
    request.command = "exit " + std::to_string(i);
    Terminal* terminal = bench.engine().run(std::move(request)).value();
    WaitSpec spec;
    spec.exit = true;
    spec.command_id = terminal->spec().command_id;
    const auto note = [&, i, id = spec.command_id](const WaitOutcome&) {
      const auto found = bench.engine().find_command(id);
      told[i] = found ? found->command->facts.exit_code : std::nullopt;
    };
    waits.push_back(Wait::start(bench.loop(), *terminal, spec, note).value());
  }
  bench.until([&] { return told.size() == kRuns; });
  for (const auto& [i, code] : told) EXPECT_EQ(code, i);
  bench.until([&] { return bench.forgotten.size() == kRuns - 1; });
}

TEST(Engine, WhatTerminalsForgetIsKnownAfterTheyWereReadBackTogether) {
  EngineBench bench;
  bench.settings().records = 2;
  bench.engine().set_settings(bench.settings());
  std::vector<std::string> first;
  for (int terminals = 0; terminals < 4; terminals++) {
    Terminal* terminal = bench.engine().open({}).value();
    bench.until([&] { return terminal->ready(); });
    for (int i = 0; i < 8; i++) bench.exec(*terminal, "true");
  }
  for (const std::string& id : bench.recorded) {
    if (bench.engine().forgot_command(id)) first.push_back(id);
  }
  EXPECT_EQ(first.size(), 24U);
  bench.stop();
  bench.start();
  EXPECT_EQ(bench.engine().recover().terminals, 4U);
  for (const std::string& id : first) EXPECT_TRUE(bench.engine().forgot_command(id)) << id;
}

TEST(Engine, TheSecondTerminalComesFromThePool) {
  EngineBench bench;
  Settings settings = bench.settings();
  settings.pool = 1;
  bench.engine().set_settings(settings);
  OpenRequest request;
  request.cwd = bench.path("/project");
  Terminal* first = bench.engine().open(request).value();
  bench.until([&] { return first->ready(); });
  bench.until([&] { return bench.engine().pooled() == 1; });
  Terminal* second = bench.engine().open(request).value();
  EXPECT_TRUE(second->ready());
  EXPECT_FALSE(second->spec().pooled);
  bench.exec(*second, "true");
  EXPECT_EQ(second->last()->facts.exit_code, 0);
}

TEST(Engine, AShellWithoutIntegrationRunsCommandsOnTheFallback) {
  EngineBench bench;
  OpenRequest request;
  request.shell = {"/bin/cat"};
  request.cwd = bench.path("/project");
  Terminal* terminal = bench.engine().open(request).value();
  bench.until([&] { return terminal->ready(); });
  CommandRequest command;
  command.text = "pwd; exit 4";
  const auto submitted = bench.engine().submit(*terminal, command);
  ASSERT_TRUE(submitted) << submitted.error().message;
  const std::string id = submitted->command->facts.command_id;
  bench.until([&] { return bench.engine().find_command(id)->command->over(); });
  const auto ran = bench.engine().find_command(id).value();
  const auto result = ran.terminal->result(*ran.command, {});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.provider, "pipe");
  EXPECT_EQ(result.output.text, bench.path("/project") + "\n");
  EXPECT_NE(result.reason.find("no shell integration"), std::string::npos) << result.reason;
}

TEST(Engine, PathsThatWereContributedAreInNewTerminals) {
  EngineBench bench;
  bench.engine().contribute_path({"tool", bench.path("/project/src"), "", true});
  std::ofstream(bench.path("/project/src/my-tool")) << "#!/bin/sh\necho mine\n";
  ::chmod(bench.path("/project/src/my-tool").c_str(), 0755);
  RunRequest request;
  request.command = "my-tool";
  Terminal* terminal = bench.engine().run(request).value();
  bench.until([&] { return !terminal->live(); });
  EXPECT_EQ(terminal->result(*terminal->commands().back(), {}).output.text, "mine\n");
  EXPECT_TRUE(bench.engine().remove_path("tool"));
}

TEST(Engine, VariablesThatLoadCodeAreRefused) {
  EngineBench bench;
  RunRequest request;
  request.command = "true";
  request.environment = {"LD_PRELOAD=/tmp/x.so"};
  const auto ran = bench.engine().run(request);
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message.find("LD_PRELOAD"), std::string::npos);
}

TEST(Engine, EverythingIsFoundAgainWithItsTaskAndName) {
  EngineBench bench;
  OpenRequest request;
  request.name = "build";
  request.task = "task-1";
  request.cwd = bench.path("/project");
  Terminal* terminal = bench.engine().open(request).value();
  const std::string id = terminal->id();
  bench.until([&] { return terminal->ready(); });
  bench.exec(*terminal, "cd src");
  bench.engine().contribute_path({"tool", "/opt/tool/bin", "for tests", true});
  ASSERT_TRUE(bench.engine().associate(*terminal, "session-1", "rich"));
  bench.stop();
  bench.start();
  const Recovered recovered = bench.engine().recover();
  EXPECT_EQ(recovered.terminals, 1U);
  EXPECT_TRUE(recovered.problems.empty());
  bool created = true;
  EXPECT_EQ(bench.acquire(bench.path("/project/src"), "task-1", &created).id(), id);
  EXPECT_FALSE(created);
  EXPECT_EQ(bench.engine().find("build").value()->id(), id);
  ASSERT_EQ(bench.engine().of_session("session-1").size(), 1U);
  EXPECT_EQ(bench.engine().sessions_of(*bench.engine().find("build").value()).front().quality, "rich");
  ASSERT_EQ(bench.engine().paths().size(), 1U);
  EXPECT_EQ(bench.engine().paths().front().path, "/opt/tool/bin");
  EXPECT_TRUE(bench.engine().remove_path("tool"));
}

TEST(Engine, ShellsStartedAheadEndWithIt) {
  EngineBench bench;
  Settings settings = bench.engine().settings();
  settings.pool = 1;
  bench.engine().set_settings(settings);
  OpenRequest request;
  request.cwd = bench.path("/project");
  Terminal* terminal = bench.engine().open(request).value();
  bench.until([&] { return terminal->ready() && bench.engine().pooled() > 0; });
  bool ended = false;
  bench.engine().end_pool([&] { ended = true; });
  bench.until([&] { return ended; });
  EXPECT_EQ(bench.engine().pooled(), 0U);
  EXPECT_TRUE(terminal->live());
}

}  // namespace
}  // namespace ttyward::engine
