// Mode auto: what a sandbox of the workspace contains is not asked about; what needs more is.
#include <gtest/gtest.h>

#include <array>
#include <string>

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

// A morning of an agent: sixty commands that look, edit, build, test, commit and install.
constexpr auto kEveryday = std::to_array<const char*>(
    {"pwd",
     "ls -la",
     "git status",
     "git log --oneline -5",
     "cat package.json",
     "cat src/index.js",
     "rg TODO src",
     "find . -name '*.test.js'",
     "head -50 README.md",
     "wc -l src/*.js",
     "git diff",
     "git branch",
     "npm install",
     "npm test",
     "npm run build",
     "npm run lint",
     "node src/index.js",
     "mkdir -p src/parse",
     "touch src/parse/lexer.js",
     "echo 'module.exports = {}' > src/parse/lexer.js",
     "cp src/index.js src/parse/index.js",
     "sed -i 's/foo/bar/' src/index.js",
     "mv src/old.js src/new.js",
     "rm src/unused.js",
     "git add -A",
     "git commit -m 'Add the parser'",
     "git checkout -b parser",
     "git stash",
     "git stash pop",
     "git show HEAD",
     "python3 -m pytest -q",
     "python3 tools/gen.py",
     "python3 -c 'import json; print(json.load(open(\"package.json\"))[\"name\"])'",
     "make",
     "make test",
     "make clean",
     "gcc -O2 -o tool tool.c",
     "./tool --version",
     "cmake -B build",
     "cmake --build build -j4",
     "ctest --test-dir build",
     "cargo build",
     "cargo test",
     "go build ./...",
     "go test ./...",
     "chmod +x scripts/run.sh",
     "./scripts/run.sh",
     "bash scripts/check.sh",
     "tar czf dist.tgz dist",
     "diff -u a.txt b.txt",
     "sort names.txt | uniq -c | sort -rn",
     "awk '{print $1}' data.txt",
     "jq .version package.json",
     "cat build/log.txt | tail -100",
     "git rebase -i --autosquash HEAD~3",
     "npx tsc --noEmit",
     "eslint src",
     "prettier --check src",
     "ps aux | head",
     "pip install -r requirements.txt"});

size_t questions(Mode mode, std::string& which) {
  size_t count = 0;
  for (const char* line : kEveryday) {
    const Verdict verdict = in_mode(mode, line);
    if (verdict.decision == Decision::Allow) continue;
    ++count;
    which += std::string("\n") + line + reasons_of(verdict);
  }
  return count;
}

TEST(AutoMode, an_everyday_session_has_two_questions) {
  static_assert(kEveryday.size() == 60);
  std::string which;
  EXPECT_LE(questions(Mode::Auto, which), 2U) << which;
  std::string before;
  RecordProperty("questions_by_default", static_cast<int>(questions(Mode::Default, before)));
}

}  // namespace
}  // namespace ttyward::policy
