// What a terminal's log keeps: little, no secrets, and enough to find everything again.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

std::string log_of(const Bench& bench, const std::string& id) {
  std::ifstream file(bench.root() + "/logs/" + id + ".log", std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) found++;
  return found;
}

struct Kind {
  const char* name;
  std::vector<std::string> argv;
  pty::Provider provider = pty::Provider::Pty;
};

class LogOf : public ::testing::TestWithParam<Kind> {
 protected:
  Terminal& open(Bench& bench) {
    bench.settings().log_bytes = 8 << 10;
    bench.settings().records = 5;
    TerminalSpec spec = bench.spec();
    spec.argv = GetParam().argv;
    spec.provider = GetParam().provider;
    Terminal& t = bench.open(std::move(spec));
    bench.until([&] { return t.ready(); });
    return t;
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, LogOf,
                         ::testing::Values(Kind{"bash", {"/bin/bash"}}, Kind{"dash", {"/bin/dash"}},
                                           Kind{"pipes", {"/bin/bash"}, pty::Provider::Pipe}),
                         [](const auto& made) { return std::string(made.param.name); });

TEST_P(LogOf, ManyCommandsStaysSmallAndIsReadBack) {
  Bench bench;
  Terminal& t = open(bench);
  const std::string id = t.id();
  t.set_name("many");
  t.set_loan(Loan{Loan::Use::Act, "somebody", "a person", 1});
  t.set_loan(std::nullopt);
  std::string first;
  for (int i = 0; i < 60; i++) {
    const auto result =
        bench.exec(t, "echo number " + std::to_string(i) + "; (exit " + std::to_string(i % 7) + ")");
    EXPECT_EQ(result.exit_code, i % 7);
    if (i == 0) first = result.command_id;
  }
  EXPECT_EQ(bench.exec(t, "cd /usr").exit_code, 0);
  const std::string log = log_of(bench, id);
  EXPECT_LT(log.size(), 40U << 10);
  EXPECT_LT(count(log, "\"k\":\"submit\""), 40U);
  EXPECT_EQ(count(log, "\"k\":\"state\""), 1U);
  std::vector<terminal::CommandResult> before;
  for (const auto& command : t.commands()) before.push_back(t.result(*command, {}));
  const uint64_t lines = t.output().transcript().size();
  const std::string next = "echo still; (exit 9)";

  for (int round = 0; round < 3; round++) {
    bench.forget_all();
    if (round == 1) {
      // An engine that died while it wrote the new file.
      std::ofstream(bench.root() + "/logs/" + id + ".log.new") << log.substr(0, log.size() / 3);
    }
    std::vector<std::string> forgotten;
    bench.host().on_command_forgotten = [&](const std::string& one) { forgotten.push_back(one); };
    Terminal& again = bench.recover(id);
    bench.host().on_command_forgotten = {};
    EXPECT_EQ(again.spec().name, "many");
    EXPECT_TRUE(again.agents_act()) << "it was lent once";
    EXPECT_FALSE(again.loan());
    EXPECT_EQ(again.cwd(), "/usr");
    EXPECT_EQ(again.output().transcript().size(), lines);
    EXPECT_TRUE(std::count(forgotten.begin(), forgotten.end(), first) == 1) << "it is not run a second time";
    ASSERT_EQ(again.commands().size(), before.size());
    for (size_t i = 0; i < before.size(); i++) {
      const auto now = again.result(*again.commands()[i], {});
      EXPECT_EQ(now.command_id, before[i].command_id);
      EXPECT_EQ(now.command, before[i].command);
      EXPECT_EQ(now.exit_code, before[i].exit_code);
      EXPECT_EQ(now.output.text, before[i].output.text);
      EXPECT_EQ(now.total_lines, before[i].total_lines);
    }
  }
  bench.forget_all();
  Terminal& again = bench.recover(id);
  for (int i = 0; i < 40; i++) {
    const auto result = bench.exec(again, next);
    EXPECT_EQ(result.exit_code, 9);
    EXPECT_EQ(result.output.text, "still\n");
  }
  EXPECT_LT(log_of(bench, id).size(), 40U << 10);
}

TEST_P(LogOf, ASecretIsGoneAsSoonAsItWasTyped) {
  Bench bench;
  Terminal& t = open(bench);
  const std::string id = t.id();
  const std::string secret = "ghp_" + std::string(36, 'q');
  const std::string pipe = bench.root() + "/home/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto command =
      t.submit(Bench::request("TOKEN=" + secret + "; read x < " + pipe + "; (exit ${#TOKEN})"));
  ASSERT_TRUE(command);
  const std::string command_id = (*command)->facts.command_id;
  bench.until([&] { return t.find(command_id)->accepted; });
  EXPECT_EQ(log_of(bench, id).find(secret), std::string::npos);
  EXPECT_NE(log_of(bench, id).find(command_id), std::string::npos);
  // Killed now, the next engine does not type it again, and knows how it ends.
  bench.forget_all();
  Terminal& again = bench.recover(id);
  ASSERT_NE(again.find(command_id), nullptr);
  std::ofstream(pipe) << "go\n";
  bench.until([&] { return again.find(command_id)->over(); });
  EXPECT_EQ(bench.result(again).exit_code, 40);
  EXPECT_EQ(log_of(bench, id).find(secret), std::string::npos);
}

}  // namespace
}  // namespace ttyward::engine
