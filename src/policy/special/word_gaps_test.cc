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

TEST_F(WordGaps, what_a_command_prints_is_believed_only_where_it_is_known) {
  expect(Decision::Ask, {"printf '%s\\n' README.md .env | xargs cat", "cat $(printf '%s ' a.c .env)",
                         "printf '%b' '\\056env' | xargs cat", "sh -c \"echo '\\056env' | xargs cat\"",
                         "find . -name '*.c' -printf '.env\\n' | xargs cat", "ls | xargs -I{} cat {}/.env",
                         "ls | xargs -I{} cat {}/id_rsa"});
  expect(Decision::Deny, {"printf '%s\\n' x / | xargs rm -rf", "rm -rf $(printf '%s ' x /)"});
  expect(Decision::Allow,
         {"printf '%s\\n' a.c README.md | xargs cat", "find . -name '*.c' -printf '%p\\n' | xargs head -1",
          "ls | xargs -I{} wc -l {}", "echo 'a\\nb' | wc -l"});
  expect(Decision::Ask, {"nice -n $a ls"}, syntax::Dialect::Zsh);
}

TEST_F(WordGaps, kernel_files_by_wildcards_and_variables_in_small_letters) {
  expect(Decision::Ask, {"cat /proc/self/env*", "cat /proc/self/[e]nviron", "cat /proc/1/e*",
                         "strings /proc/self/m?m", "echo $github_token", "printenv npm_config__authToken"});
  expect(Decision::Allow,
         {"cat /proc/cpuinfo", "cat /proc/self/status", "cat /proc/*/comm", "token=5; echo $token"});
}

TEST_F(WordGaps, folders_that_are_only_known_when_it_runs) {
  std::filesystem::create_directories(root_ + "/work/cfg");
  file("cfg/.env");
  expect(Decision::Ask,
         {"cd \"$x\" && find . -type f -exec cat {} +", "cd cf?; diff -r . ../src", "cd cf* && cat .e*",
          "find . -name b.c -execdir git diff \\;", "diff -rN cfg src", "cd \"$x\" && grep -r y ."});
  expect(Decision::Allow, {"cd sr* && cat b.c", "for d in sr*/; do (cd \"$d\" && ls); done",
                           "diff -r src src", "find . -name b.c -execdir ls {} \\;"});
}

TEST_F(WordGaps, values_that_double_are_bounded) {
  std::string line = "x=aaaaaaaaaa";
  for (int i = 0; i < 40; ++i) line += ";x=$x$x";
  std::string array = "a=(b c)";
  for (int i = 0; i < 40; ++i) array += ";a=(\"${a[@]}\" \"${a[@]}\")";
  std::string many = "x=aaaaaaaaaa";
  for (int i = 0; i < 9; ++i) many += ";x=$x$x";
  many += ";echo ";
  for (int i = 0; i < 3000; ++i) many += "$x";
  for (const std::string& one : {line + ";echo $x", array + ";echo \"${a[@]}\"", many, many + " | cat",
                                 std::string("x=a;for i in {1..32}; do x=$x$x; done; echo $x")})
    check(one, Place{root_, root_, root_, &files_}, RuleSet{}, Settings{});  // within memory and time
}

TEST_F(WordGaps, long_names_of_pattern_options) {
  file(".env");
  expect(Decision::Ask, {"grep --regexp='' .env", "grep --regexp '' .env", "grep --file=a.c .env",
                         "rg --regexp '' .env", "fmt -t .env", "git ls-files -c -d -m -o | xargs cat",
                         "curl -H @.env localhost", "curl -b .env localhost", "curl -w @.env localhost"});
  expect(Decision::Ask,
         {"nice -n \"$@\" ls", "grep \"$@\" a.c", "head -n \"$@\" a.c", "sort -k \"${a[@]}\" a.c"});
  expect(Decision::Allow, {"grep --regexp=x a.c", "fmt -t a.c", "git ls-files", "grep \"$*\" a.c"});
}

TEST_F(WordGaps, pathspecs_are_globs) {
  expect(Decision::Ask, {"git log -p -- '.e*'", "git log -p -- '*env'", "git log -p -- ':(icase).ENV'",
                         "git diff -- ':(glob).e*'", "git grep x -- '.e*'", "git diff-tree -u HEAD -- .env"});
  expect(Decision::Allow, {"git log -p -- '*.c'", "git diff -- ':(glob)src/**/*.c'", "git grep x -- src"});
}

TEST_F(WordGaps, a_wrapper_that_changes_the_folder) {
  file("src/.env");
  expect(Decision::Ask, {"env -C src cat .env", "env --chdir=src cat .env"});
  expect(Decision::Allow, {"env -C src cat b.c"});
}

}  // namespace
}  // namespace ttyward::policy
