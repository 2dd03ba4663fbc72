#include "gate/rule_book.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace ttyward::gate {
namespace {

using policy::Decision;

class RuleBookTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> pattern{"/tmp/ttyward_book_XXXXXX"};
    folder_ = ::mkdtemp(pattern.data());
    project_ = folder_ + "/home/project";
    std::filesystem::create_directories(project_);
    settings_.home = folder_ + "/home";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write_rules(const std::string& text) const { std::ofstream(folder_ + "/rules.toml") << text; }
  base::Result<Judgement> judge(const std::string& command, Role role = Role::Agent) {
    RuleBook book(settings_, folder_ + "/rules.toml", nullptr);
    Case what;
    what.action.command = command;
    what.action.cwd = project_;
    what.role = role;
    what.more = more_;
    return book.judge(what);
  }
  static bool has_reason(const Judgement& judgement, std::string_view part) {
    const auto& reasons = judgement.verdict.reasons;
    return std::any_of(reasons.begin(), reasons.end(), [&](const policy::Reason& reason) {
      return reason.text.find(part) != std::string::npos;
    });
  }

  std::string folder_;
  std::string project_;
  JudgeSettings settings_;
  std::vector<policy::Rule> more_;
};

TEST_F(RuleBookTest, a_mistake_in_a_rule_file_stops_agents_and_is_told_to_people) {
  EXPECT_EQ(judge("ls")->verdict.decision, Decision::Allow);
  write_rules("[[rule]]\nname = 7\n");
  const auto agent = judge("ls");
  ASSERT_FALSE(agent);
  EXPECT_NE(agent.error().message.find("rules.toml"), std::string::npos);
  EXPECT_EQ(refused_for_mistake(agent.error()).decision, Decision::Deny);
  const auto person = judge("ls", Role::Person);
  ASSERT_TRUE(person);
  EXPECT_EQ(person->verdict.decision, Decision::Allow);
  EXPECT_NE(person->mistake.find("rules.toml"), std::string::npos);
}

TEST_F(RuleBookTest, outside_the_folders_that_agents_may_work_in_nothing_runs) {
  settings_.allowed_roots = {folder_ + "/elsewhere"};
  EXPECT_EQ(judge("ls")->verdict.decision, Decision::Deny);
  EXPECT_EQ(judge("ls")->verdict.rule, "setting allowed_roots");
  EXPECT_EQ(judge("ls", Role::Person)->verdict.decision, Decision::Allow);
  settings_.allowed_roots = {folder_ + "/home"};
  EXPECT_EQ(judge("ls")->verdict.decision, Decision::Allow);
}

TEST_F(RuleBookTest, what_an_interactive_program_is_told_later_is_part_of_the_question) {
  const auto asked = judge("python3");
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->verdict.decision, Decision::Ask);
  EXPECT_TRUE(has_reason(*asked, "accepts input later"));
  const auto plain = judge("touch /etc/x");
  EXPECT_EQ(plain->verdict.decision, Decision::Ask);
  EXPECT_FALSE(has_reason(*plain, "accepts input later"));
}

TEST_F(RuleBookTest, a_line_for_powershell_is_asked_about_and_what_destroys_is_refused) {
  RuleBook book(settings_, folder_ + "/rules.toml", nullptr);
  Case what;
  what.action.cwd = project_;
  what.action.language = Language::PowerShell;
  what.action.command = "Get-ChildItem";
  EXPECT_EQ(book.judge(what)->verdict.decision, Decision::Ask);
  what.action.command = "Remove-Item -Recurse -Force ~";
  what.mode = policy::Mode::Yolo;
  EXPECT_EQ(book.judge(what)->verdict.decision, Decision::Deny);
}

}  // namespace
}  // namespace ttyward::gate
