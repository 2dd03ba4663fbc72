// Mode auto: what a sandbox of the workspace contains is not asked about; what needs more is.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "policy/evaluate.h"
#include "policy/verdict_json.h"

namespace ttyward::policy {
namespace {

const FakeFiles kFiles;

Verdict in_mode(Mode mode, const std::string& command) {
  ShellReading reading;
  Place place{"/home/me/project", "/home/me/project", "/home/me", &kFiles};
  place.shell = &reading;
  Settings settings;
  settings.mode = mode;
  return check(command, place, RuleSet{}, settings);
}

std::string reasons_of(const Verdict& verdict) {
  std::string text;
  for (const Reason& reason : verdict.reasons) text += "\n  " + reason.text;
  return text;
}

TEST(AutoMode, what_the_sandbox_contains_runs_confined) {
  for (const char* line : {"make test", "python3 script.py", "./build.sh", "npm test", "rm old.txt", "mv a b",
                           "sed -i s/a/b/ file.c", "echo x > new.txt", "cargo build", "python3 -c 'print(1)'",
                           "unknown-program --flag", "chmod +x run.sh", "git commit -m x",
                           "for f in *.c; do gcc -c $f; done", "cat Makefile"}) {
    const Verdict verdict = in_mode(Mode::Auto, line);
    EXPECT_EQ(verdict.decision, Decision::Allow) << line << reasons_of(verdict);
    EXPECT_EQ(verdict.sandbox, "workspace") << line;
    EXPECT_NE(to_json(verdict).find("\"allow_confined\""), std::string::npos) << line;
  }
}

TEST(AutoMode, what_needs_more_is_asked_about) {
  for (const char* line : {"curl https://example.org/x", "npm install left-pad", "pip install requests",
                           "echo x > /etc/hosts", "echo x > ~/.bashrc", "rm -rf ~/other", "cat ~/.ssh/id_rsa",
                           "sudo ls", "echo x > .git/hooks/pre-commit", "echo x > .envrc", "rm -rf .",
                           "git push origin main", "ssh host ls", "echo 'unfinished"}) {
    const Verdict verdict = in_mode(Mode::Auto, line);
    EXPECT_NE(verdict.decision, Decision::Allow) << line;
    EXPECT_EQ(verdict.sandbox, "workspace") << line;
  }
}

TEST(AutoMode, refusals_stand) {
  EXPECT_EQ(in_mode(Mode::Auto, "rm -rf /").decision, in_mode(Mode::Default, "rm -rf /").decision);
}

TEST(AutoMode, other_modes_rely_on_no_sandbox) {
  for (const Mode mode : {Mode::Plan, Mode::Default, Mode::AutoEdit, Mode::Yolo})
    EXPECT_EQ(in_mode(mode, "ls").sandbox, "");
}

Verdict confined(const std::string& command, Confinable confinable = Confinable::Alone,
                 Mode mode = Mode::Default) {
  ShellReading reading;
  Place place{"/home/me/project", "/home/me/project", "/home/me", &kFiles};
  place.shell = &reading;
  Settings settings;
  settings.mode = mode;
  settings.confinable = confinable;
  return check(command, place, RuleSet{}, settings);
}

TEST(AutoMode, folders_that_tools_made_may_be_cleared) {
  for (const char* line : {"rm -rf dist", "rm -rf build node_modules", "rm -r ./target"})
    EXPECT_EQ(in_mode(Mode::Auto, line).decision, Decision::Allow) << line;
  for (const char* line : {"rm -rf src", "rm -rf *", "rm -rf .git", "rm -rf ../build", "rm -rf ~/build",
                           "rm -rf /build", "rm -rf src/build"})
    EXPECT_NE(in_mode(Mode::Auto, line).decision, Decision::Allow) << line;
}

TEST(DefaultMode, what_the_sandbox_contains_runs_confined_where_there_is_one) {
  for (const char* line :
       {"make test", "python3 script.py", "npm test", "echo x > new.txt", "git commit -m x", "mkdir -p a/b",
        "cargo build", "sed -i s/a/b/ file.c", "cat Makefile; make"}) {
    const Verdict verdict = confined(line);
    EXPECT_EQ(verdict.decision, Decision::Allow) << line << reasons_of(verdict);
    EXPECT_EQ(verdict.sandbox, "workspace") << line;
    EXPECT_EQ(confined(line, Confinable::InItsTerminal).sandbox, "workspace") << line;
    EXPECT_EQ(in_mode(Mode::Default, line).decision, Decision::Ask) << line;  // no sandbox: as ever
  }
}

TEST(DefaultMode, what_destroys_or_needs_more_is_asked_about) {
  for (const char* line :
       {"rm old.txt", "rm -rf dist", "git reset --hard", "git clean -fdx", "npm ci", "pip install requests",
        "curl https://example.org/x", "echo x > ~/.bashrc", "cat ~/.ssh/id_rsa", "sudo make install",
        "echo x > .envrc", "echo x > .git/hooks/pre-commit", "git push", "make && curl https://example.org",
        "echo 'unfinished", "kill 1234", "echo x > /tmp/x", "touch ../x", "python3 /tmp/script.py"}) {
    const Verdict verdict = confined(line);
    EXPECT_EQ(verdict.decision, Decision::Ask) << line;
    EXPECT_EQ(verdict.sandbox, "") << line;
  }
  EXPECT_EQ(confined("rm -rf /").decision, Decision::Deny);
}

TEST(DefaultMode, what_only_looks_at_files_is_confined_to_reading) {
  for (const char* line : {"ls -la", "cat README.md | head -5", "git status", "grep -rn x src", "wc -l a b"})
    EXPECT_EQ(confined(line).sandbox, "read-only") << line;
  // In a terminal it runs as it is there; and what tells about the machine would tell something else inside.
  EXPECT_EQ(confined("ls -la", Confinable::InItsTerminal).sandbox, "");
  for (const char* line : {"ps aux", "ls /var/log", "df -h", "cat /etc/hosts", "id"})
    EXPECT_EQ(confined(line).sandbox, "") << line;
}

TEST(DefaultMode, plan_mode_and_refusals_are_not_loosened) {
  EXPECT_EQ(confined("make", Confinable::Alone, Mode::Plan).decision, Decision::Deny);
  EXPECT_EQ(confined("touch x", Confinable::Alone, Mode::AutoEdit).sandbox, "");
}

// An agent's day in one list: it looks, edits, builds, tests, commits and installs.
std::vector<std::string> session() {
  std::ifstream file(TTYWARD_SOURCE_DIR "/tests/policy/session.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

size_t questions(const std::function<Verdict(const std::string&)>& judge, std::string& which) {
  size_t count = 0;
  for (const std::string& line : session()) {
    const Verdict verdict = judge(line);
    if (verdict.decision == Decision::Allow) continue;
    ++count;
    which += "\n" + line + reasons_of(verdict);
  }
  return count;
}

TEST(EverydaySession, has_few_questions_where_there_is_a_sandbox) {
  ASSERT_EQ(session().size(), 60U);
  std::string in_auto;
  const size_t by_auto =
      questions([](const std::string& line) { return in_mode(Mode::Auto, line); }, in_auto);
  EXPECT_LE(by_auto, 2U) << in_auto;
  std::string by_default;
  const size_t confined_count = questions([](const std::string& line) { return confined(line); }, by_default);
  EXPECT_LE(confined_count, 12U) << by_default;
  std::string without;
  const size_t unconfined =
      questions([](const std::string& line) { return in_mode(Mode::Default, line); }, without);
  EXPECT_GT(unconfined, 30U);
  RecordProperty("auto", static_cast<int>(by_auto));
  RecordProperty("default", static_cast<int>(confined_count));
  RecordProperty("without_a_sandbox", static_cast<int>(unconfined));
}

}  // namespace
}  // namespace ttyward::policy
