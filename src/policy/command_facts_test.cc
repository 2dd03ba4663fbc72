#include "policy/command_facts.h"

#include <gtest/gtest.h>

namespace ttyward::policy {
namespace {

const FakeFiles kFiles(std::map<std::string, std::string>{{"/home/me/project/link", "/etc"}});
const Place kPlace{"/home/me/project", "/home/me/project", "/home/me", &kFiles};

// Every simple command, its words separated by | so that boundaries show.
std::vector<std::string> commands_of(std::string_view text) {
  std::vector<std::string> found;
  for (const CommandFact& fact : read_command(text, kPlace).commands) {
    std::string line;
    for (const std::string& word : fact.argv) line += (line.empty() ? "" : "|") + word;
    found.push_back(line);
  }
  return found;
}

using Lines = std::vector<std::string>;

TEST(CommandFacts, words_are_resolved_as_bash_resolves_them) {
  EXPECT_EQ(commands_of("echo 'a b' \"c d\" e\\ f"), Lines{"echo|a b|c d|e f"});
  EXPECT_EQ(commands_of("echo $'\\x61\\n' \"\" ''"), Lines{"echo|a\n||"});
  EXPECT_EQ(commands_of("echo a{b,c{d,e}}f {1..3} {a..c}"), Lines{"echo|abf|acdf|acef|1|2|3|a|b|c"});
  EXPECT_EQ(commands_of("echo ~ ~/x '~'"), Lines{"echo|/home/me|/home/me/x|~"});
  EXPECT_EQ(commands_of("echo *.c 'a*' [ab]"), Lines{"echo|*.c|a*|?"});
  EXPECT_EQ(commands_of("echo $x\"$y\" $((1+2))"), Lines{"echo|……|N"});
}

TEST(CommandFacts, constants_are_followed_through_variables) {
  EXPECT_EQ(commands_of("x='a b'; echo $x \"$x\"").back(), "echo|a|b|a b");
  EXPECT_EQ(commands_of("x=abcdef; echo ${x:1:2} ${x#ab} ${x%f}").back(), "echo|bc|cdef|abcde");
  EXPECT_EQ(commands_of("a=(x 'y z'); echo \"${a[@]}\"").back(), "echo|x|y z");
  EXPECT_EQ(commands_of("echo $(echo hi)").back(), "echo|hi");
}

TEST(CommandFacts, a_variable_set_on_one_way_only_is_unknown_afterwards) {
  EXPECT_EQ(commands_of("x=a; true && x=b; echo $x").back(), "echo|…");
  EXPECT_EQ(commands_of("x=a; if ls; then x=b; fi; echo $x").back(), "echo|…");
  EXPECT_EQ(commands_of("x=a; (x=b); echo $x").back(), "echo|a");
}

TEST(CommandFacts, every_command_is_found_wherever_it_stands) {
  for (const char* text : {"ls; touch x",
                           "ls && touch x",
                           "ls | touch x",
                           "(touch x)",
                           "{ touch x; }",
                           "if touch x; then :; fi",
                           "while touch x; do :; done",
                           "for i in $(touch x); do :; done",
                           "case $(touch x) in *) ;; esac",
                           "echo `touch x`",
                           "echo \"a $(touch x)\"",
                           "cat <(touch x)",
                           "cat <<EOF\n$(touch x)\nEOF",
                           "f() { touch x; }",
                           "trap 'touch x' EXIT",
                           "eval 'touch x'",
                           "bash -c 'touch x'",
                           "env A=1 touch x",
                           "timeout 5 nice touch x",
                           "find . -exec touch x \\;",
                           "echo x | xargs touch",
                           "! touch x",
                           "coproc ls; touch x",
                           "x=$(touch x)",
                           "ls > $(touch x)",
                           "[[ -f $(touch x) ]]",
                           "sudo -u me touch x",
                           "echo 'touch x' | sh",
                           "bash <<< 'touch x'",
                           "echo ${a:-$(touch x)}"}) {
    bool found = false;
    for (const std::string& line : commands_of(text)) found |= line.starts_with("touch");
    EXPECT_TRUE(found) << text;
  }
}

TEST(CommandFacts, quoted_heredocs_run_nothing_and_end_where_bash_ends_them) {
  EXPECT_EQ(commands_of("cat <<'EOF'\n$(touch x)\nEOF"), Lines{"cat"});
  EXPECT_TRUE(read_command("cat <<'EOF'\nhello\nEOF", kPlace).understood);
  const Facts facts = read_command("cat <<EOF\nhi\nEOF\ntouch x", kPlace);
  EXPECT_EQ(facts.commands.back().program, "touch");
}

TEST(CommandFacts, what_two_readers_read_differently_is_not_understood) {
  for (const char* text : {"echo 'open", "echo \"open", "echo ${x", "{ ls", "if true; then", "ls )",
                           "b\\\nash -c id", "echo `a\\`b`", "cat <<A\nx", "ls\\\n"}) {
    EXPECT_FALSE(read_command(text, kPlace).understood) << text;
  }
}

TEST(CommandFacts, too_deep_and_too_much_is_not_understood) {
  std::string deep = "ls";
  for (int i = 0; i < 200; ++i) deep = "( " + deep + " )";
  EXPECT_FALSE(read_command(deep, kPlace).understood);
  std::string nested = "ls";
  for (int i = 0; i < 12; ++i) nested = "eval " + nested;
  EXPECT_FALSE(read_command(nested, kPlace).understood);
  std::string many;
  for (int i = 0; i < 1500; ++i) many += "ls;";
  EXPECT_FALSE(read_command(many, kPlace).understood);
}

TEST(CommandFacts, relative_paths_follow_cd_and_links) {
  const Facts through_link = read_command("echo x > link/cron.d/y", kPlace);
  EXPECT_EQ(through_link.commands.front().findings.front().target, "/etc/cron.d/y");
  const Facts after_cd = read_command("cd /etc && touch x", kPlace);
  EXPECT_EQ(after_cd.commands.back().findings.back().zone, Zone::System);
}

TEST(CommandFacts, spans_say_where_in_the_text) {
  const Facts facts = read_command("ls; touch x", kPlace);
  EXPECT_EQ(facts.commands.back().span, (Span{4, 11}));
}

}  // namespace
}  // namespace ttyward::policy
