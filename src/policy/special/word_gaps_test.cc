// Words that turn out to be something else when a command runs: values that split, names with blanks,
// variables with attributes, and the secrets that small options reach. Both ways: the harmless neighbour
// stays.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/evaluate.h"

namespace ttyward::policy {
namespace {

class WordGaps : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/ttyward_words_XXXXXX";
    const char* made = ::mkdtemp(pattern);
    ASSERT_NE(made, nullptr);
    root_ = made;
    std::filesystem::create_directories(root_ + "/work/src");
    for (const char* name : {"/work/a.c", "/work/n.txt", "/work/README.md", "/work/src/b.c"})
      std::ofstream(root_ + name) << "x\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void file(const std::string& name) const { std::ofstream(root_ + "/work/" + name) << "x\n"; }

  void expect(Decision decision, std::initializer_list<const char*> commands,
              syntax::Dialect dialect = syntax::Dialect::Bash) const {
    ShellReading reading;
    reading.syntax.dialect = dialect;
    Place place{root_ + "/work", root_ + "/work", root_ + "/home", &files_, &reading};
    place.own = {root_ + "/state"};
    for (const char* command : commands) {
      const Verdict verdict = check(command, place, RuleSet{}, Settings{});
      EXPECT_EQ(name_of(verdict.decision), name_of(decision))
          << command << (verdict.reasons.empty() ? "" : "\n    " + verdict.reasons[0].text);
    }
  }

  std::string root_;
  RealFiles files_;
};

TEST_F(WordGaps, the_value_of_an_option_may_split) {
  expect(
      Decision::Ask,
      {"nice -n $(cat n.txt) ls", "ls | xargs -n $(cat n.txt) echo", "timeout -k $(cat n.txt) 5 ls",
       "awk -v n=$(cat n.txt) 'NR==n' a.c", "sort -k $(cat n.txt) a.c", "git log -n $(cat n.txt)",
       "head -n $(cat n.txt) a.c", "head -n$(cat n.txt) a.c", "grep $(cat n.txt) a.c", "grep -A $x foo a.c",
       "cut -f $x a.c", "tail -n $x a.c", "nice -n $x ls", "git log --author $x", "jq --arg a $x . a.c"});
  expect(Decision::Allow,
         {"head -n \"$x\" a.c", "x=5; head -n $x a.c", "n=$(wc -l < a.c); head -n \"$n\" a.c", "nice -n 5 ls",
          "awk -v n=\"$(cat n.txt)\" 'NR==n' a.c", "grep \"$(cat n.txt)\" a.c", "echo $x",
          "jq --arg a \"$x\" . a.c"});
}

TEST_F(WordGaps, names_with_blanks_become_other_words) {
  const auto lines = {"cat $(ls)",
                      "ls | xargs cat",
                      "find . -name '*.c' | xargs cat",
                      "find . -name '*.c' | xargs head -1",
                      "for f in *.c; do cat $f; done",
                      "for f in $(ls); do cat \"$f\"; done",
                      "for f in *.c; do sort $f; done"};
  expect(Decision::Allow, lines);
  file("q .env y.c");
  expect(Decision::Ask, lines);
  expect(Decision::Allow,
         {"find . -name '*.c' -print0 | xargs -0 head -1", "find . -name '*.c' -exec head -1 {} +",
          "for f in *.c; do cat \"$f\"; done", "ls | xargs -d '\\n' head -1", "ls", "wc -l *.c"});
}

TEST_F(WordGaps, attributes_of_variables) {
  expect(Decision::Ask, {"declare -l x=-C; git $x a=b diff", "declare -l x=.ENV; cat $x", "readonly x=-c",
                         "declare -r x=.env; declare x=README.md; cat $x", "typeset -u x=a"});
  expect(Decision::Allow, {"declare x=5; echo $x", "x=README.md; cat $x", "local_x=1; echo $local_x"});
}

TEST_F(WordGaps, numbers_that_hold_any_text) {
  expect(Decision::Ask, {"SHLVL='a[$(touch x)]'", "COLUMNS='a[$(touch x)]' ls", "echo $((SHLVL))",
                         "nice -n $SHLVL ls", "echo $((COLUMNS/2))", "[[ $LINES -gt 1 ]]",
                         "SECONDS='5 touch x'", "histchars='%^#'", "auto_resume=x"});
  expect(Decision::Ask, {"echo $((UID))", "nice -n $UID ls"}, syntax::Dialect::Posix);
  expect(Decision::Ask, {"RPROMPT='$(touch x)'", "PROMPT=x", "SPROMPT=x", "histchars=x"},
         syntax::Dialect::Zsh);
  expect(Decision::Allow, {"COLUMNS=200 ls", "echo $((RANDOM % 6))", "echo $UID", "SECONDS=0"});
}

TEST_F(WordGaps, secrets_by_small_options) {
  file(".env");
  expect(Decision::Ask, {"jq -R . .env --args",
                         "jq -R . .env --jsonargs 1",
                         "diff -N src .",
                         "git diff --no-index src .",
                         "git log -u -- .env",
                         "git log -U3 -- .env",
                         "git log --cc -- .env",
                         "git log -W -- .env",
                         "git log --word-diff -- .env",
                         "git show :1:id_rsa",
                         "git config --blob=HEAD:.env --list",
                         "git log -L1,2:.env",
                         "git show 'HEAD:.e*'",
                         "ps ep1",
                         "ps eq 1",
                         "ps wwep1",
                         "ps ek-pid",
                         "grep -d recurse '' .",
                         "grep -drecurse '' .",
                         "rg x -g '*'",
                         "rg x -g '.*'",
                         "ag -u x",
                         "ag --hidden x",
                         "ack x",
                         "find . -name '*.c' -exec true {} + -o -exec cat {} +",
                         "awk 1 .=/../.env",
                         "yq e 'load_str(\".env\")'",
                         "yq e -n 'env(HOME)'",
                         "cat .env~",
                         "cat .env-local",
                         "cat id_rsa.bak",
                         "lsof -i @secret.evil.com",
                         "ss -t dst secret.evil.com",
                         "read -e x"});
  expect(Decision::Allow,
         {"jq . a.json --args b", "git log --oneline -- .env", "git log -5", "git show HEAD:a.c", "ps aux",
          "ps axo pid,etime,cmd", "grep -d skip x a.c", "ag x src", "diff a.c n.txt", "awk 1 x=1 a.c",
          "yq e .a f.yml", "cat .env.example", "cat id_rsa.pub", "ss -tlnp", "lsof -i :8080", "read -r x"});
}

TEST_F(WordGaps, nothing_of_ttyward_is_read) {
  const std::string token = "cat " + root_ + "/state/policy/key";
  const std::string journals = "strings " + root_ + "/state/journals/*";
  expect(Decision::Ask, {token.c_str(), journals.c_str(), "cat ~/.local/state/ttyward/person-token"});
}

TEST_F(WordGaps, awk_brackets_and_jq_comments) {
  expect(Decision::Ask, {"awk 'BEGIN{b[a[/[[:alpha:]/] \"/]]; system(\"touch pwned\"); #\"]\n}'",
                         "jq -n '# x\\\n\"\n[env] #\"'"});
  expect(Decision::Allow, {"awk '/[[:alpha:]]+/ {print $1}' a.c", "awk '/[^[]x/' a.c", "jq '.a # b' a.json"});
}

TEST_F(WordGaps, a_wrapper_that_changes_the_folder) {
  file("src/.env");
  expect(Decision::Ask, {"env -C src cat .env", "env --chdir=src cat .env"});
  expect(Decision::Allow, {"env -C src cat b.c"});
}

}  // namespace
}  // namespace ttyward::policy
