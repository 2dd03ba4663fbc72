// The services by themselves: no socket, no JSON.
#include "app/services.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/testing.h"

namespace ttyward::app {
namespace {

using ::testing::HasSubstr;

class Events final : public EventSink {
 public:
  void event(uint64_t connection, uint64_t, const wire::AnyEvent& event) override {
    told.push_back(std::to_string(connection) + " " + std::string(wire::event_name(event)));
  }
  bool must_pause(uint64_t) const override { return false; }
  void on_drained(uint64_t, std::function<void()>) override {}
  std::vector<std::string> told;
};

// Keeps the answer of one call.
template <class T>
class Kept final : public AnswerChannel<T> {
 public:
  bool open() const override { return !answer && !error; }
  void ok(const T& came) override {
    if (open()) answer = came;
  }
  void fail(const wire::CallError& came) override {
    if (open()) error = came;
  }
  void part(const wire::StreamPart&) override {}
  void on_cancel(std::function<void()> callback) override { cancelled = std::move(callback); }
  std::optional<T> answer;
  std::optional<wire::CallError> error;
  std::function<void()> cancelled;
};

class ServicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    home_ = ::testing::TempDir() + "/ttyward-services-XXXXXX";
    ASSERT_NE(::mkdtemp(home_.data()), nullptr);
    const base::Folders folders{home_ + "/state", home_ + "/run", home_ + "/config"};
    for (const std::string& each : {folders.state, folders.runtime, folders.config}) {
      std::filesystem::create_directories(each);
      std::filesystem::permissions(each, std::filesystem::perms::owner_all);
    }
    loop_ = std::move(io::Loop::create().value());
    auto made = Services::start(*loop_, log_, {folders, "/bin/false", "test", 022}, events_);
    ASSERT_TRUE(made) << made.error().message;
    services_ = std::move(*made);
    person_.connection = 1;
    person_.role = Role::Person;
    person_.person = true;
    agent_.connection = 2;
    agent_.session = "s";
  }
  void TearDown() override {
    services_.reset();
    base::testing::remove_tree(home_);
  }
  // Runs the loop until the call is answered.
  template <class T>
  void answer_of(const std::shared_ptr<Kept<T>>& kept) {
    auto limit = loop_->after(std::chrono::seconds(30), [this] { loop_->stop(); });
    const std::function<void()> look = [&] { kept->open() ? loop_->post(look) : loop_->stop(); };
    loop_->post(look);
    loop_->run();
    loop_->cancel(limit);
  }

  std::string home_;
  std::unique_ptr<io::Loop> loop_;
  io::Log log_;
  Events events_;
  std::unique_ptr<Services> services_;
  Caller person_;
  Caller agent_;
};

TEST_F(ServicesTest, OnlyAPersonSetsTheMode) {
  wire::ModeRequest request;
  request.session = "s";
  request.set = wire::Mode::Plan;
  const auto refused = services_->approvals().mode(agent_, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::PermissionDenied);
  const auto set = services_->approvals().mode(person_, request);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->mode, wire::Mode::Plan);
}

TEST_F(ServicesTest, AProjectsFileMakesPolicyStricterForAgentsInIt) {
  const std::string project = home_ + "/project";
  std::filesystem::create_directories(project + "/src");
  std::ofstream(project + "/.ttyward.toml")
      << "[policy]\nauto_approve_safe_commands = false\nallowed_roots = [\"" << project << "/src\"]\n";
  const auto decision = [&](const Caller& caller, const std::string& cwd) {
    wire::CheckRequest request;
    request.command = "ls";
    request.cwd = cwd;
    const auto verdict = services_->approvals().check(caller, request);
    return verdict ? verdict->json.substr(0, verdict->json.find(',')) : verdict.error().message;
  };
  EXPECT_EQ(decision(agent_, home_), R"({"decision":"allow")");
  EXPECT_EQ(decision(agent_, project + "/src"), R"({"decision":"ask")");
  EXPECT_EQ(decision(agent_, project), R"({"decision":"deny")");
  EXPECT_EQ(decision(person_, project), R"({"decision":"deny")");  // `check` says what an agent would get
}

TEST_F(ServicesTest, AVerdictIsGivenAndNothingRuns) {
  wire::CheckRequest request;
  request.command = "rm -rf /";
  const auto verdict = services_->approvals().check(agent_, request);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_THAT(verdict->json, HasSubstr(R"("risk":"critical")"));
}

TEST_F(ServicesTest, ACommandThatAPersonHasToAllowWaitsAndIsToldOf) {
  wire::SubscribeRequest subscribe;
  subscribe.kinds = {"approval_opened", "approval_closed"};
  ASSERT_TRUE(services_->watching().subscribe(person_, subscribe));
  wire::RunRequest run;
  run.command = "npm install left-pad";
  run.yield_after = std::chrono::milliseconds(1);
  const auto kept = std::make_shared<Kept<wire::CommandResult>>();
  services_->commands().run(agent_, run, Reply<wire::CommandResult>(kept));
  EXPECT_THAT(events_.told, ::testing::ElementsAre("1 approval_opened"));
  answer_of(kept);
  ASSERT_TRUE(kept->answer);
  EXPECT_EQ(kept->answer->state, "pending_approval");
  const auto listed = services_->approvals().approvals(agent_, {});
  ASSERT_EQ(listed.approvals.size(), 1U);
  EXPECT_EQ(listed.approvals[0].id, kept->answer->approval);
  wire::AnswerRequest no;
  no.approval = kept->answer->approval;
  no.decision = wire::AnswerWord::Deny;
  ASSERT_TRUE(services_->approvals().answer(person_, no));
  const auto result = std::make_shared<Kept<wire::CommandResult>>();
  services_->commands().result(agent_, {kept->answer->command_id, {}}, Reply<wire::CommandResult>(result));
  ASSERT_TRUE(result->answer);
  EXPECT_EQ(result->answer->state, "denied");
  EXPECT_EQ(events_.told.back(), "1 approval_closed");
}

TEST_F(ServicesTest, ACommandRunsOnceItIsAllowedThoughItsClientHasLeft) {
  wire::RunRequest run;
  run.command = "python3 -c 'print(6*7)'";
  run.yield_after = std::chrono::milliseconds(1);
  const auto kept = std::make_shared<Kept<wire::CommandResult>>();
  services_->commands().run(agent_, run, Reply<wire::CommandResult>(kept));
  answer_of(kept);
  ASSERT_TRUE(kept->answer);
  ASSERT_EQ(kept->answer->state, "pending_approval");
  services_->connection_closed(agent_.connection);
  wire::AnswerRequest yes;
  yes.approval = kept->answer->approval;
  yes.decision = wire::AnswerWord::Allow;
  const auto answered = services_->approvals().answer(person_, yes);
  ASSERT_TRUE(answered) << answered.error().message;
  EXPECT_EQ(answered->approval.state, "allowed");
  // There is no holder here that could start it: it was tried, and its id tells.
  wire::WaitRequest wait;
  wait.command = kept->answer->command_id;
  wait.exit = true;
  const auto ended = std::make_shared<Kept<wire::WaitOutcome>>();
  services_->watching().wait(agent_, wait, Reply<wire::WaitOutcome>(ended));
  answer_of(ended);
  ASSERT_TRUE(ended->answer && ended->answer->result);
  EXPECT_EQ(ended->answer->result->state, "failed_to_start");
}

TEST_F(ServicesTest, AnotherAgentSeesNothingOfIt) {
  wire::RunRequest run;
  run.command = "npm install left-pad";
  run.yield_after = std::chrono::milliseconds(1);
  const auto kept = std::make_shared<Kept<wire::CommandResult>>();
  services_->commands().run(agent_, run, Reply<wire::CommandResult>(kept));
  answer_of(kept);
  ASSERT_TRUE(kept->answer);
  Caller other = agent_;
  other.connection = 3;
  other.session = "t";
  EXPECT_TRUE(services_->approvals().approvals(other, {}).approvals.empty());
  const auto result = std::make_shared<Kept<wire::CommandResult>>();
  services_->commands().result(other, {kept->answer->command_id, {}}, Reply<wire::CommandResult>(result));
  ASSERT_TRUE(result->error);
  EXPECT_EQ(result->error->code, wire::Code::PermissionDenied);
}

TEST_F(ServicesTest, HistoryAnswersLater) {
  const auto kept = std::make_shared<Kept<wire::CommandList>>();
  services_->history().history(person_, {}, Reply<wire::CommandList>(kept));
  EXPECT_TRUE(kept->open());
  answer_of(kept);
  ASSERT_TRUE(kept->answer) << (kept->error ? kept->error->message : "no answer");
  EXPECT_TRUE(kept->answer->commands.empty());
}

TEST_F(ServicesTest, WhatNobodyKnowsNeedsNoKilling) {
  const auto kept = std::make_shared<Kept<wire::Killed>>();
  wire::KillRequest request;
  request.terminal = "nobody";
  services_->terminals().kill(agent_, request, Reply<wire::Killed>(kept));
  ASSERT_TRUE(kept->answer);
  EXPECT_FALSE(kept->answer->killed);
}

}  // namespace
}  // namespace ttyward::app
