#include "engine/dialogue.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using End = DialogueOutcome::End;
using Kind = Reply::Kind;
using testing::Bench;

DialogueOutcome talk(Bench& bench, Terminal& terminal, const std::string& line, std::vector<Reply> replies,
                     std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) {
  auto command = terminal.submit(Bench::request(line));
  EXPECT_TRUE(command);
  std::optional<DialogueOutcome> outcome;
  auto dialogue =
      Dialogue::start(bench.loop(), terminal, {(*command)->facts.command_id, std::move(replies), timeout},
                      [&](const DialogueOutcome& told) { outcome = told; });
  EXPECT_TRUE(dialogue) << dialogue.error().message;
  bench.until([&] { return outcome.has_value(); });
  return *outcome;
}

TEST(Dialogue, EveryQuestionGetsItsOwnReply) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome = talk(bench, t,
                            "read -p 'Name: ' n; read -p 'Sure? [y/n] ' a; read -p 'Sure? [y/n] ' b; "
                            "echo \"<$n $a $b>\"",
                            {{"Sure\\?", Kind::Text, "y", true}, {"Name: $", Kind::Text, "Ada", false}});
  EXPECT_EQ(outcome.end, End::CommandEnded);
  ASSERT_EQ(outcome.used.size(), 3U);
  EXPECT_EQ(outcome.used[0].reply, 1U);
  EXPECT_EQ(outcome.used[0].line, 1U);
  EXPECT_EQ(outcome.used[1].reply, 0U);
  EXPECT_EQ(outcome.used[2].line, 3U);
  EXPECT_NE(bench.result(t).output.text.find("<Ada y y>"), std::string::npos);
}

TEST(Dialogue, AReplyIsUsedOnceUnlessItMayRepeat) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome = talk(bench, t, "read -p 'go? ' a; read -t 1 -p 'go? ' b; echo; echo \"<$a|$b>\"",
                            {{"go\\?", Kind::Text, "yes", false}});
  EXPECT_EQ(outcome.used_count, 1U);
  EXPECT_NE(bench.result(t).output.text.find("<yes|>"), std::string::npos);
}

TEST(Dialogue, ASecretIsTypedWithEchoOffAndNowhereToBeFound) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome =
      talk(bench, t,
           "read -s -p 'Password: ' p; echo; [ \"$(printf %s \"$p\" | rev)\" = x-2retnuh ] && echo accepted",
           {{"Password:", Kind::Secret, "hunter2-x", false}});
  EXPECT_EQ(outcome.end, End::CommandEnded) << outcome.reason;
  ASSERT_EQ(outcome.used.size(), 1U);
  const std::string text = bench.result(t).output.text;
  EXPECT_EQ(text, "Password: \naccepted\n");
  // Not in a journal, a log or anything else that is kept.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(bench.root())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(content.find("hunter2"), std::string::npos) << entry.path();
  }
}

TEST(Dialogue, ASecretIsNotSentWhereItWouldBeEchoed) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome = talk(bench, t, "read -p 'Password: ' p; echo \"<$p>\"",
                            {{"Password:", Kind::Secret, "hunter2-x", false}});
  EXPECT_EQ(outcome.end, End::Failed);
  EXPECT_NE(outcome.reason.find("not a password prompt"), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.reason.find("hunter2"), std::string::npos);
  EXPECT_EQ(outcome.used_count, 0U);
  t.input("\r", Owner::Agent, [](auto) {});
  bench.until([&] { return !t.busy(); });
  EXPECT_NE(bench.result(t).output.text.find("<>"), std::string::npos);
}

TEST(Dialogue, KeysByName) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome = talk(bench, t, "printf 'menu> '; read -rsn3 k; printf '\\n%q\\n' \"$k\"",
                            {{"menu>", Kind::Keys, "Down", false}});
  EXPECT_EQ(outcome.end, End::CommandEnded);
  EXPECT_NE(bench.result(t).output.text.find("$'\\E[B'"), std::string::npos) << bench.result(t).output.text;
}

TEST(Dialogue, ItsTimeIsItsOwn) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto outcome = talk(bench, t, "read -p 'other? ' x", {{"never", Kind::Text, "x", false}},
                            std::chrono::milliseconds(20));
  EXPECT_EQ(outcome.end, End::Timeout);
  EXPECT_TRUE(t.busy());
}

TEST(Dialogue, WhatMakesNoSenseIsRefused) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = (*t.submit(bench.request("read x")))->facts.command_id;
  const auto refusal = [&](std::vector<Reply> replies) {
    const auto made = Dialogue::start(bench.loop(), t, {id, std::move(replies), {}}, {});
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_NE(refusal({}).find("at least one"), std::string::npos);
  EXPECT_NE(refusal({{"x*", Kind::Text, "y", true}}).find("also matches empty text"), std::string::npos);
  EXPECT_NE(refusal({{"x", Kind::Keys, "Nokey", true}}).find("reply 1"), std::string::npos);
  EXPECT_NE(refusal({{"(", Kind::Text, "", true}}).find("RE2"), std::string::npos);
}

}  // namespace
}  // namespace ttyward::engine
