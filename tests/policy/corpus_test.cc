// Whole corpora against the engine, and changes to a command that must never make it more welcome.
#include <gtest/gtest.h>

#include <chrono>

#include "corpus_rows.h"
#include "policy/evaluate.h"
#include "policy/program_table.h"
#include "syntax/parse.h"

namespace ttyward::policy {
namespace {

const FakeFiles kFiles;
const Place kPlace{"/home/somebody/project", "/home/somebody/project", "/home/somebody", &kFiles};

Verdict verdict_of(const std::string& command) {
  return check(command, kPlace, RuleSet{}, Settings{});
}

std::string explain(const CorpusRow& row, const Verdict& verdict) {
  std::string text = row.id + " " + row.command.substr(0, 120) + " -> " +
                     std::string(name_of(verdict.decision)) + " " + std::string(name_of(verdict.risk));
  for (const Reason& reason : verdict.reasons) text += "\n    " + reason.text;
  return text;
}

struct Tally {
  size_t benign = 0, asks = 0, catastrophes = 0;
  size_t unsafe = 0, needless = 0, not_refused = 0, benign_refused = 0, too_low = 0;
};

Tally tally(const std::vector<CorpusRow>& rows, std::string& report) {
  Tally count;
  for (const CorpusRow& row : rows) {
    const Verdict verdict = verdict_of(row.command);
    const bool allowed = verdict.decision == Decision::Allow;
    bool wrong = false;
    switch (row.expected) {
      case Decision::Allow:
        ++count.benign;
        if (!allowed) ++count.needless, wrong = true;
        if (verdict.decision == Decision::Deny) ++count.benign_refused;
        break;
      case Decision::Ask:
        ++count.asks;
        if (allowed) ++count.unsafe, wrong = true;
        if (verdict.decision == Decision::Ask && verdict.risk < row.least_risk) ++count.too_low, wrong = true;
        break;
      case Decision::Deny:
        ++count.catastrophes;
        if (allowed) ++count.unsafe;
        if (verdict.decision != Decision::Deny) ++count.not_refused, wrong = true;
        break;
    }
    if (wrong) report += explain(row, verdict) + "\n";
  }
  return count;
}

void expect_aims(const Tally& count, const std::string& report) {
  EXPECT_EQ(count.unsafe, 0U) << report;
  EXPECT_LE(count.needless * 20, count.benign) << report;
  EXPECT_EQ(count.not_refused, 0U) << report;
  EXPECT_EQ(count.benign_refused, 0U) << report;
  EXPECT_LE(count.too_low * 50, count.asks) << report;
}

std::vector<CorpusRow> all_rows() {
  std::vector<CorpusRow> rows = read_corpus(everyday_path());
  for (CorpusRow& row : read_corpus(looking_path())) rows.push_back(std::move(row));
  for (CorpusRow& row : read_corpus(commands_path())) rows.push_back(std::move(row));
  return rows;
}

TEST(Corpus, everyday_commands_get_exactly_the_expected_verdict) {
  std::vector<CorpusRow> rows = read_corpus(everyday_path());
  for (CorpusRow& row : read_corpus(looking_path())) rows.push_back(std::move(row));
  ASSERT_GT(rows.size(), 1000U);
  std::string report;
  const Tally count = tally(rows, report);
  EXPECT_EQ(report, "");
  EXPECT_EQ(count.needless, 0U);
  expect_aims(count, report);
}

// Every catastrophe in many forms, what looks like one and is none, and what programs that mostly look do
// otherwise.
TEST(Corpus, forms_of_catastrophes_and_their_neighbours_get_exactly_the_expected_verdict) {
  const std::vector<CorpusRow> rows = read_corpus(forms_path());
  ASSERT_GT(rows.size(), 600U);
  std::string report;
  const Tally count = tally(rows, report);
  EXPECT_EQ(report, "");
  EXPECT_EQ(count.unsafe, 0U);
  EXPECT_EQ(count.not_refused, 0U);
}

TEST(Corpus, agents_commands_and_attacks_meet_the_aims) {
  const std::vector<CorpusRow> rows = read_corpus(commands_path());
  ASSERT_GT(rows.size(), 400U);
  std::string report;
  const Tally count = tally(rows, report);
  std::printf(
      "%zu rows: unsafe %zu, needless %zu of %zu, catastrophes not refused %zu of %zu, risk too low %zu of "
      "%zu\n",
      rows.size(), count.unsafe, count.needless, count.benign, count.not_refused, count.catastrophes,
      count.too_low, count.asks);
  std::printf("%s", report.c_str());
  expect_aims(count, report);
}

TEST(Corpus, every_example_in_the_program_table_holds) {
  size_t checked = 0;
  for (const ProgramExample& example : program_examples()) {
    const Verdict verdict = verdict_of(std::string(example.command));
    EXPECT_EQ(name_of(verdict.decision), name_of(example.expected))
        << example.program << ": " << example.command
        << (verdict.reasons.empty() ? "" : "\n    " + verdict.reasons[0].text);
    ++checked;
  }
  EXPECT_GT(checked, 300U);
}

// Each of these runs the same command, or more. None may turn a question into silence.
TEST(Metamorphic, decorating_a_command_never_makes_it_more_welcome) {
  const std::vector<std::pair<std::string, std::string>> decorations = {
      {"  ", ""},
      {"", "  "},
      {"command ", ""},
      {"( ", " )"},
      {"{ ", "; }"},
      {"! ", ""},
      {"true && ", ""},
      {"ls; ", ""},
      {"", "; ls"},
      {"", " | cat"},
      {"if true; then ", "; fi"},
      {"", "\nls"},
      {"time ", ""},
      {"env ", ""},
      {"zz=1; ", ""},
      {"for i in 1; do ", "; done"},
      {"LC_ALL=C ", ""},
      {"", " # note"},
      {"echo $(", ")"},
      {"ls | ", ""},
      {"", " 2>/dev/null"},
  };
  for (const CorpusRow& row : all_rows()) {
    const Decision plain = verdict_of(row.command).decision;
    if (plain == Decision::Allow) continue;
    for (const auto& [before, after] : decorations) {
      // A pipe would make the cd or the assignment in front go no further than the pipe.
      if (before == "ls | " && row.command.find_first_of("c=(") != std::string::npos) continue;
      // Two parentheses are arithmetic: nothing runs.
      if (before == "echo $(" && row.command.starts_with("(")) continue;
      const std::string decorated = before + row.command + after;
      const Decision now = verdict_of(decorated).decision;
      EXPECT_NE(now, Decision::Allow) << decorated;
      // A here-document or a comment may swallow what is added behind it; apart from that refusals stand.
      const bool swallowed =
          row.command.find('#') != std::string::npos || row.command.find("<<") != std::string::npos;
      if (plain == Decision::Deny && !swallowed && before != "env " && before != "command " &&
          before != "! " && before != "time " && before != "LC_ALL=C ") {
        EXPECT_EQ(now, Decision::Deny) << decorated;
      }
    }
  }
}

TEST(Metamorphic, quoting_the_words_never_makes_a_command_more_welcome) {
  for (const CorpusRow& row : all_rows()) {
    if (row.command.find_first_of("'\"\\$`<>|&;(){}#*?[~!=\n") != std::string::npos) continue;
    const Decision plain = verdict_of(row.command).decision;
    for (const std::string_view quote : {"'", "\""}) {
      std::string quoted;
      for (const char c : row.command)
        quoted += c == ' ' ? std::string(quote) + " " + std::string(quote) : std::string(1, c);
      quoted = std::string(quote) + quoted + std::string(quote);
      EXPECT_GE(verdict_of(quoted).decision, plain) << quoted;
    }
  }
}

TEST(Metamorphic, cutting_a_command_short_never_allows_a_broken_tree) {
  for (const CorpusRow& row : all_rows()) {
    if (row.command.size() > 400) continue;
    for (size_t length = 1; length < row.command.size(); ++length) {
      const std::string cut = row.command.substr(0, length);
      if (verdict_of(cut).decision != Decision::Allow) continue;
      EXPECT_TRUE(syntax::parse(cut, {}).has_value()) << cut;
    }
  }
}

TEST(Corpus, decisions_are_quick_enough_even_without_optimisation) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<CorpusRow> rows = read_corpus(everyday_path());
  for (const CorpusRow& row : rows) verdict_of(row.command);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  // The bench holds the real aim; this only catches something that went badly wrong.
  EXPECT_LT(took.count() / static_cast<double>(rows.size()), 20.0);
}

}  // namespace
}  // namespace ttyward::policy
