// Folders that want to run something: repositories whose settings name programs, links, globs, files that
// tools obey. Real git shows that what is allowed runs none of it with the environment that agents' commands
// get.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "policy/evaluate.h"
#include "pty/environment.h"

namespace ttyward::policy {
namespace {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

class Folders : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> pattern{"/tmp/ttyward_folders_XXXXXX"};
    const char* made = ::mkdtemp(pattern.data());
    ASSERT_NE(made, nullptr);
    root_ = made;
    std::filesystem::create_directories(root_ + "/home/.ssh");
    std::filesystem::create_directories(root_ + "/work");
    std::ofstream(root_ + "/evil") << "#!/bin/sh\ntouch " << root_ << "/marker\ncat 2>/dev/null\n";
    std::filesystem::permissions(root_ + "/evil", std::filesystem::perms::owner_all);
    std::ofstream(root_ + "/home/.ssh/id_rsa") << "key\n";
    std::ofstream(root_ + "/home/.gitconfig")
        << "[user]\n\tname = x\n\temail = x@example.com\n[init]\n\tdefaultBranch = main\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Sets a folder up: in bash, with EVIL as the program that leaves the marker.
  void make(const std::string& script) const {
    const std::string line =
        "cd " + root_ + "/work && env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=" + root_ +
        "/home EVIL=" + root_ + "/evil bash -ec " + shell_quoted(script) + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(line.c_str()), 0) << script;
  }

  Decision decide(const std::string& command, const std::string& folder = "/work") const {
    const Place place{root_ + "/work", root_ + folder, root_ + "/home", &files_};
    return check(command, place, RuleSet{}, Settings{}).decision;
  }

  // Runs it on a terminal of its own, so that pagers start if they may. Whether the marker appeared.
  bool leaves_marker(const std::string& command, bool guarded, const std::string& folder = "/work",
                     const std::string& typed = {}) const {
    std::filesystem::remove(root_ + "/marker");
    std::string variables =
        "PATH=/usr/local/bin:/usr/bin:/bin HOME=" + root_ + "/home TERM=xterm SHELL=/bin/sh ";
    if (guarded) {
      pty::EnvironmentRequest request;
      request.ours = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root_ + "/home", "SHELL=/bin/sh"};
      variables.clear();
      for (const std::string& variable : pty::build_environment(request).variables)
        variables += shell_quoted(variable) + " ";
    }
    const std::string input = typed.empty() ? "</dev/null" : "";
    const std::string line = "cd " + root_ + folder + " && " +
                             (typed.empty() ? "" : "printf " + shell_quoted(typed) + " | ") +
                             "timeout 3 env -i " + variables + "script -qec " + shell_quoted(command) +
                             " /dev/null " + input + " >/dev/null 2>&1";
    (void)!std::system(line.c_str());
    return std::filesystem::exists(root_ + "/marker");
  }

  RealFiles files_;
  std::string root_;
};

constexpr const char* kRepository = R"sh(
git init -q .
printf 'one\ntwo\n' > a.txt
printf '* diff=x filter=x\n' > .gitattributes
git add -A && git commit -qm first
printf 'three\n' >> a.txt
)sh";

constexpr const char* kReadingCommands[] = {
    "git status",
    "git status -sb",
    "git diff",
    "git diff --stat HEAD",
    "git diff-index HEAD",
    "git diff-files",
    "git log -1",
    "git log -p -1",
    "git show HEAD",
    "git blame a.txt",
    "git describe --always --dirty",
    "git ls-files -m",
    "git grep three",
    "git branch -a",
    "git stash list",
    "git submodule status",
    "git rev-parse HEAD",
    "git shortlog -sn HEAD",
    "git cat-file -p HEAD:a.txt",
    "git for-each-ref",
    "git log --remerge-diff",
    "git show --diff-merges=remerge HEAD",
    "git log -m -p",
};

struct Trap {
  const char* name;
  const char* script;
  const char* folder = "/work";
};

constexpr Trap kTraps[] = {
    {"fsmonitor", "git config core.fsmonitor $EVIL"},
    {"external diff", "git config diff.external $EVIL"},
    {"diff driver", "git config diff.x.command $EVIL"},
    {"textconv", "git config diff.x.textconv $EVIL"},
    {"clean filter", "git config filter.x.clean $EVIL; touch a.txt"},
    {"process filter", "git config filter.x.process $EVIL; touch a.txt"},
    {"hook", "cp $EVIL .git/hooks/post-index-change; touch a.txt"},
    {"hooks path", "mkdir h; cp $EVIL h/post-index-change; git config core.hooksPath h; touch a.txt"},
    {"pager", "git config core.pager $EVIL"},
    {"pager of a subcommand", "git config pager.log $EVIL; git config pager.status $EVIL"},
    {"include", "printf '[diff]\\n external = %s\\n' $EVIL > s; git config include.path ../s"},
    {"signatures",
     "c=$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n "
     "-----END PGP "
     "SIGNATURE-----' | git hash-object -t commit -w --stdin); git reset -q --soft $c; git config "
     "log.showSignature "
     "true; git config gpg.program $EVIL"},
    {"signatures in a format",
     "c=$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n "
     "-----END PGP "
     "SIGNATURE-----' | git hash-object -t commit -w --stdin); git reset -q --soft $c; git config "
     "format.pretty "
     "'%H %G?'; git config gpg.program $EVIL"},
    {"old section names", "printf '[diff.x]textconv=%s\\n' $EVIL >> .git/config"},
    {"settings elsewhere", "mv .git g; printf 'gitdir: g\\n' > .git; git config diff.x.textconv $EVIL"},
    {"work tree settings",
     "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $EVIL; git config "
     "--worktree "
     "diff.external $EVIL"},
    {"merge driver",
     "printf '* merge=e\\n' > .gitattributes; git config merge.e.driver \"$EVIL; false\"; git add .; git "
     "commit -qm x; "
     "git checkout -qb other HEAD~1; printf 'z\\n' > a.txt; git commit -qam y; git checkout -q -; "
     "git -c merge.e.driver=true merge -q -m m other || true; git config log.diffMerges remerge"},
    {"reached through a link",
     "mkdir -p other/deep; git init -q other; cd other; printf 'one\\n' > a.txt; git add .; git commit -qm "
     "x; "
     "git config diff.external $EVIL; printf 'two\\n' > a.txt; cd ..; ln -s other/deep link",
     "/work/link"},
    {"submodule in a split index",
     "git init -q ../inner; git -C ../inner commit -q --allow-empty -m x; git -c protocol.file.allow=always "
     "submodule add -q ../inner sub; printf 'x\\n' > sub/f; git -C sub add f; git -C sub commit -qm f; "
     "printf '* filter=e\\n' > "
     "sub/.gitattributes; git -C sub config filter.e.clean $EVIL; printf 'y\\n' > sub/f; git update-index "
     "--split-index"},
    {"linked work tree",
     "git config diff.x.textconv $EVIL; git worktree add -q ../linked; printf 'four\\n' >> ../linked/a.txt",
     "/linked"},
    {"submodule without a name",
     "git init -q sub; cd sub; printf x > f; git add -A; git commit -qm s; cd ..; git add sub; git commit "
     "-qm s; cd sub; "
     "git config core.fsmonitor $EVIL; git config filter.x.clean $EVIL; printf '* filter=x\\n' > "
     ".gitattributes; touch f"},
    {"folder made like a repository",
     "mkdir -p bare; cp -r .git/HEAD .git/objects .git/refs .git/index bare; printf "
     "'[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = %s\\n\\tfsmonitor = %s\\n' "
     "$PWD $EVIL > "
     "bare/config",
     "/work/bare"},
};

TEST_F(Folders, reading_commands_are_allowed_in_an_ordinary_repository) {
  make(kRepository);
  for (const char* command : kReadingCommands) {
    EXPECT_EQ(decide(command), Decision::Allow) << command;
    EXPECT_FALSE(leaves_marker(command, true)) << command;
  }
}

TEST_F(Folders, what_repositories_have_every_day_is_no_objection) {
  make(std::string(kRepository) +
       "git remote add origin https://example.com/x.git; git config branch.main.remote origin; git config "
       "core.editor vim; git config core.autocrlf input; git config alias.co checkout; git config core.pager "
       "less; git "
       "config filter.lfs.clean 'git-lfs clean -- %f'; git config filter.lfs.process 'git-lfs "
       "filter-process'; git "
       "config core.hooksPath .husky; mkdir .husky; touch .husky/pre-commit; git worktree add -q ../other; "
       "git init -q "
       "sub; cd sub; touch f; git add f; git commit -qm s; cd ..; git add sub; git commit -qm s");
  for (const char* command : kReadingCommands) EXPECT_EQ(decide(command), Decision::Allow) << command;
  EXPECT_EQ(decide("git -C sub status"), Decision::Allow);
  EXPECT_EQ(decide("cd sub && git log"), Decision::Allow);
}

// Every trap works where nobody guards against it, and none does for a command that is allowed.
TEST_F(Folders, what_is_allowed_in_a_hostile_repository_runs_nothing_of_it) {
  for (const Trap& trap : kTraps) {
    TearDown();
    SetUp();
    make(std::string(kRepository) + trap.script);
    const std::string folder = trap.folder;
    bool works = false;
    size_t allowed = 0;
    for (const char* command : kReadingCommands) {
      works = works || leaves_marker(command, false, folder);
      if (decide(command, folder) != Decision::Allow) continue;
      ++allowed;
      EXPECT_FALSE(leaves_marker(command, true, folder)) << trap.name << ": " << command;
    }
    EXPECT_TRUE(works) << trap.name << ": the trap is not one";
    std::printf("%s: %zu of %zu commands allowed\n", trap.name, allowed, std::size(kReadingCommands));
  }
}

TEST_F(Folders, hooks_of_an_approved_commit_run) {
  make(std::string(kRepository) + "cp $EVIL .git/hooks/pre-commit");
  EXPECT_EQ(decide("git commit -am x"), Decision::Ask);
  EXPECT_TRUE(leaves_marker("git commit -am x", true));
}

TEST_F(Folders, a_pager_of_an_agent_runs_no_commands) {
  make("printf 'a\\nb\\n' > f");
  const std::string typed = "!touch " + root_ + "/marker\\n\\nq";
  if (!leaves_marker("less f", false, "/work", typed)) GTEST_SKIP() << "no less here that runs commands";
  EXPECT_EQ(decide("less f"), Decision::Allow);
  EXPECT_FALSE(leaves_marker("less f", true, "/work", typed));
}

TEST_F(Folders, tools_that_run_code_from_their_folder_ask_where_it_is) {
  struct Tool {
    const char* command;
    const char* file;
    const char* content = "x";
  };
  constexpr Tool kTools[] = {{"cargo --version", "rust-toolchain"},
                             {"cargo -V", "rust-toolchain.toml"},
                             {"rustc --version", "rust-toolchain.toml"},
                             {"mvn --version", ".mvn"},
                             {"gradle --version", "gradle.properties"},
                             {"pytest --version", "conftest.py"},
                             {"pytest --version", "pytest.ini"},
                             {"yarn --version", ".yarnrc"},
                             {"yarn --version", ".yarnrc.yml"},
                             {"yarn --version", "package.json", "{\"packageManager\": \"yarn@4\"}"},
                             {"pnpm --version", "package.json", "{\"packageManager\": \"pnpm@9\"}"},
                             {"yarn why x", ".yarnrc.yml"},
                             {"go version", "go.mod", "module x\ntoolchain go1.99.0\n"},
                             {"go env GOPATH", "go.mod", "module x\ntoolchain go1.99.0\n"},
                             {"dotnet --version", "global.json"},
                             {"bazel --version", ".bazelversion"},
                             {"jest --version", "node_modules"},
                             {"composer --version", "composer.json"},
                             {"ansible --version", "ansible.cfg"}};
  std::filesystem::create_directories(root_ + "/work/sub");
  for (const Tool& tool : kTools) {
    EXPECT_EQ(decide(tool.command, "/work/sub"), Decision::Allow) << tool.command;
    std::ofstream(root_ + "/work/" + tool.file) << tool.content;
    EXPECT_EQ(decide(tool.command), Decision::Ask) << tool.command << " with " << tool.file;
    EXPECT_EQ(decide(tool.command, "/work/sub"), Decision::Ask) << tool.command << " below " << tool.file;
    EXPECT_EQ(decide(std::string("cd sub && ") + tool.command), Decision::Ask) << tool.command;
    std::filesystem::remove(root_ + "/work/" + tool.file);
  }
  std::ofstream(root_ + "/work/package.json") << "{\"name\": \"x\"}";
  std::ofstream(root_ + "/work/go.mod") << "module x\ngo 1.20\n";
  for (const char* command : {"yarn --version", "pnpm -v", "npm --version", "node --version", "go version"})
    EXPECT_EQ(decide(command), Decision::Allow) << command;
}

TEST_F(Folders, globs_and_listings_are_what_they_stand_for) {
  make(
      "printf hi > note2.txt; ln -s ../home/.ssh/id_rsa note1; mkdir sub; printf x > sub/a.c; ln -s "
      "../../home/.ssh/id_rsa sub/b.c; printf A=1 > .env; ln -s /etc/somewhere outx; printf x > plain.md");
  for (const char* command : {"cat note*",
                              "cat *",
                              "head -1 n*1",
                              "cat */*.c",
                              "ls | xargs cat",
                              "ls -A | xargs cat",
                              "cat $(ls)",
                              "find . -name '*.c' | xargs cat",
                              "find . -type f | xargs grep x",
                              "find sub -name '*.c' -exec cat {} +",
                              "grep -r SECRET .",
                              "grep -r SECRET",
                              "grep -r SECRET --include=.env",
                              "grep -r SECRET --include='.e*' .",
                              "grep -R x sub",
                              "rg --hidden SECRET",
                              "rg -uu SECRET",
                              "rg x -g .env",
                              "for f in *; do cat \"$f\"; done",
                              "find . -name '.env*' | xargs head",
                              "cat sub/?.c",
                              "tail -n5 .e*",
                              "echo x > out*",
                              "wc -l * | sort"}) {
    EXPECT_EQ(decide(command), Decision::Ask) << command;
  }
  for (const char* command :
       {"cat note2*", "cat *.md", "head -1 *.txt", "ls | xargs ls -d", "find . -name '*.md' | xargs cat",
        "grep -rn x sub", "grep -r x --include='*.md' .", "grep -r x --exclude=.env .", "rg x",
        "rg x -g '*.md'", "for f in *.md; do head -1 \"$f\"; done", "ls *", "sort *.md"}) {
    EXPECT_EQ(decide(command), Decision::Allow) << command;
  }
}

TEST_F(Folders, a_file_that_looks_like_an_option_is_one) {
  make("printf a > a.md; printf b > b.md");
  EXPECT_EQ(decide("sort *.md"), Decision::Allow);
  EXPECT_EQ(decide("wc -l *"), Decision::Allow);
  make("printf x > ./--files0-from=names; printf x > ./-oout.md");
  EXPECT_EQ(decide("sort *.md"), Decision::Ask);
  EXPECT_EQ(decide("wc -l *"), Decision::Ask);
  EXPECT_EQ(decide("wc -l ./*"), Decision::Allow);
}

TEST_F(Folders, tracked_secrets_are_not_read_by_way_of_the_index) {
  make(std::string(kRepository) + "git rm -q --cached .gitattributes; git commit -qam x");
  EXPECT_EQ(decide("git ls-files | xargs grep three"), Decision::Allow);
  make("printf A=1 > .env; printf '.env\\n' > .gitignore");
  EXPECT_EQ(decide("git ls-files | xargs grep three"), Decision::Allow);
  make("git add -f .env");
  EXPECT_EQ(decide("git ls-files | xargs grep three"), Decision::Ask);
}

}  // namespace
}  // namespace ttyward::policy
