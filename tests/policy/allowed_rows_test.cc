// What "allow" promises, checked for real: every allowed row runs in a throw-away
// namespace whose file system can only be written in memory and which has no
// network, and nothing may have been written afterwards.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "corpus_rows.h"
#include "policy/evaluate.h"

namespace ttyward::policy {
namespace {

// A project with something in it, so that the commands have files to look at.
constexpr const char* kProject = R"sh(
set -e
mkdir -p src include docs lib subdir dirA dirB build dist other packages/core
printf 'int main(void) { return 0; }\n' > src/main.cpp
for f in a.txt b.txt f.txt list.txt file.txt app.log README.md notes.md data.csv Makefile build.log old.c new.c; do printf 'foo 1\nbar 2\n' > $f; done
printf '{"name":"x","version":"1","scripts":{},"dependencies":{},"items":[]}' > package.json
printf '[{"a":1}]' > data.json
printf 'abc' > f.bin; cp f.bin a.bin; cp f.bin b.bin
git init -q . && git -c user.name=x -c user.email=x@y add -A && git -c user.name=x -c user.email=x@y commit -qm first
)sh";

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

int run(const std::string& command) {
  return std::system(command.c_str());
}

// bwrap with everything read-only, no network, its own /tmp and /dev. The project is the only place
// that could be written: a tmpfs over which it is copied, inspected afterwards.
std::string sandbox(const std::string& folder, const std::string& script) {
  return "timeout -k 1 20 bwrap --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --bind " +
         shell_quoted(folder) + " " + shell_quoted(folder) +
         " --unshare-all --die-with-parent --new-session --chdir " + shell_quoted(folder + "/project") +
         " --setenv HOME " + shell_quoted(folder + "/home") +
         " --setenv GIT_OPTIONAL_LOCKS 0 --setenv GIT_TERMINAL_PROMPT 0 --setenv PAGER cat --setenv "
         "LESSHISTFILE - -- bash -c " +
         shell_quoted(script) + " </dev/null >/dev/null 2>&1";
}

class AllowedRows : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> pattern{"/tmp/ttyward_policy_XXXXXX"};
    const char* made = ::mkdtemp(pattern.data());
    ASSERT_NE(made, nullptr);
    folder_ = made;
    std::filesystem::create_directories(folder_ + "/project");
    std::filesystem::create_directories(folder_ + "/home");
    ASSERT_EQ(run("cd " + folder_ + "/project && bash -c " + shell_quoted(kProject) + " >/dev/null 2>&1"), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Names, sizes, contents and times of everything that could be written, tools' own caches left out.
  std::string fingerprint() const {
    std::string out;
    const std::string found =
        "find . -mindepth 1 '(' -path ./home/.npm -o -path ./home/.cache -o -path ./home/.rustup -o -path "
        "./home/.cargo ')' -prune -o ";
    const std::string command = "cd " + folder_ + " && { " + found +
                                "-path ./home -o -printf '%p %s %m %T@\\n' | sort | sha256sum; " + found +
                                "-type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; }";
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return out;
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out += buffer.data();
    ::pclose(pipe);
    return out;
  }

  std::string folder_;
};

TEST_F(AllowedRows, write_nothing_and_reach_nobody) {
  if (run(sandbox(folder_, "true")) != 0) {
    GTEST_SKIP()
        << "namespaces are not to be had here (bwrap failed): what allow promises was not checked by "
           "running";
  }
  // The cage has to work before it can prove anything.
  ASSERT_NE(run(sandbox(folder_, "touch /usr/x")), 0);
  const RealFiles files;
  const Place place{folder_ + "/project", folder_ + "/project", folder_ + "/home", &files};
  std::vector<CorpusRow> rows = read_corpus(everyday_path());
  for (CorpusRow& row : read_corpus(commands_path())) rows.push_back(std::move(row));
  const std::string before = fingerprint();
  std::vector<std::string> commands;
  for (const CorpusRow& row : rows) {
    if (check(row.command, place, RuleSet{}, Settings{}).decision == Decision::Allow)
      commands.push_back(row.command);
  }
  ASSERT_GT(commands.size(), 100U);
  // Several at a time for speed; one by one only if something was written.
  constexpr size_t kTogether = 20;
  for (size_t from = 0; from < commands.size(); from += kTogether) {
    std::string script;
    const size_t to = std::min(from + kTogether, commands.size());
    for (size_t i = from; i < to; ++i) script += "timeout -k 1 3 bash -c " + shell_quoted(commands[i]) + "\n";
    run(sandbox(folder_, script));
    if (fingerprint() == before) continue;
    for (size_t i = from; i < to; ++i) {
      TearDown();
      SetUp();
      const std::string clean = fingerprint();
      run(sandbox(folder_, "timeout -k 1 3 bash -c " + shell_quoted(commands[i])));
      EXPECT_EQ(fingerprint(), clean) << "allowed, but it wrote something: " << commands[i];
    }
    ADD_FAILURE() << "something was written by one of commands " << from << " to " << to;
    return;
  }
  std::printf("%zu allowed commands were run; nothing was written\n", commands.size());
}

}  // namespace
}  // namespace ttyward::policy
