// What policy or a person has allowed a command becomes possible in its sandbox, and nothing else does.
#include "app/sandbox_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/folders.h"
#include "sandbox/prepare.h"

namespace ttyward::app {
namespace {

namespace fs = std::filesystem;
using policy::Decision;
using policy::EffectKind;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Granting : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/var/tmp/ttyward-granting-XXXXXX";
    ASSERT_NE(::mkdtemp(path), nullptr);
    root_ = fs::canonical(path);
    for (const char* folder : {"home", "work"}) fs::create_directories(root_ + "/" + folder);
    for (const char* file : {"home/.bashrc", "home/.npmrc", "work/.envrc"})
      std::ofstream(root_ + "/" + file) << "x\n";
    sandbox::PlanRequest request;
    request.profile = sandbox::profile_named("workspace").value();
    request.directory = root_ + "/work";
    request.home = root_ + "/home";
    request.path = "/usr/bin:/bin";
    plan_ = sandbox::make_plan(request).value();
    verdict_.decision = Decision::Ask;
    verdict_.sandbox = "workspace";
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void grant(EffectKind kind, const std::string& target, const std::string& command = "tool") {
    verdict_.effects.push_back({kind, target});
    verdict_.commands = {command};
    grant_effects(plan_, verdict_);
  }
  std::vector<std::string> denied() const { return denied_by(plan_, verdict_); }

  std::string root_;
  sandbox::Plan plan_;
  policy::Verdict verdict_;
};

TEST_F(Granting, AFileInTheHomeFolderLasts) {
  const std::string file = root_ + "/home/.bashrc";
  EXPECT_FALSE(plan_.keeps(file));
  grant(EffectKind::Write, file);
  EXPECT_TRUE(plan_.keeps(file));
  EXPECT_THAT(denied(), IsEmpty());
  EXPECT_FALSE(plan_.keeps(root_ + "/home/.profile"));
}

TEST_F(Granting, AHiddenFileIsShown) {
  const std::string file = root_ + "/home/.npmrc";
  EXPECT_FALSE(plan_.writes(file));
  grant(EffectKind::Write, file);
  EXPECT_TRUE(plan_.keeps(file));
  EXPECT_THAT(denied(), IsEmpty());
}

TEST_F(Granting, AFileThatDoesNotExistIsDenied) {
  const std::string file = root_ + "/home/.new";
  grant(EffectKind::Write, file);
  EXPECT_THAT(denied(), ElementsAre(AllOf(HasSubstr("write " + file), HasSubstr("lost"))));
  EXPECT_THAT(plan_.notes, Contains(HasSubstr("does not exist")));
}

TEST_F(Granting, ALinkIsDenied) {
  const std::string link = root_ + "/home/.zshrc";
  fs::create_symlink(".bashrc", link);
  grant(EffectKind::Write, link);
  EXPECT_THAT(denied(), ElementsAre(HasSubstr("write " + link)));
  EXPECT_THAT(plan_.notes, Contains(HasSubstr("is a link")));
}

TEST_F(Granting, AControlFileCanBeChanged) {
  for (const char* name : {"/work/.envrc", "/work/.mcp.json"}) {
    EXPECT_FALSE(plan_.writes(root_ + name));
    grant(EffectKind::Write, root_ + name);
    EXPECT_TRUE(plan_.keeps(root_ + name));
  }
  EXPECT_THAT(denied(), IsEmpty());
  EXPECT_FALSE(plan_.writes(root_ + "/work/.vscode"));
}

TEST_F(Granting, WhatGitCannotWriteIsNamed) {
  plan_.read_only.push_back(root_ + "/work/.git/config");
  for (const char* command :
       {"git remote add more ../x", "git config user.name me", "git push -u origin x"}) {
    verdict_.commands = {command};
    EXPECT_THAT(denied(), ElementsAre(HasSubstr(".git/config"))) << command;
  }
  for (const char* command :
       {"git remote -v", "git config --get user.name", "git config user.name", "git push"}) {
    verdict_.commands = {command};
    EXPECT_THAT(denied(), IsEmpty()) << command;
  }
}

TEST_F(Granting, TemporaryFilesStayPrivate) {
  grant(EffectKind::Write, "/tmp/ttyward-there-is-no-such-file");
  EXPECT_FALSE(plan_.keeps("/tmp/ttyward-there-is-no-such-file"));
  EXPECT_THAT(denied(), IsEmpty());
}

TEST_F(Granting, WhatNobodyHasJudgedGetsNothing) {
  verdict_.decision = Decision::Allow;
  verdict_.waived.push_back({"runs code", policy::Risk::Medium, "mode auto"});
  grant(EffectKind::Write, root_ + "/home/.bashrc");
  grant(EffectKind::Network, "example.org");
  EXPECT_FALSE(plan_.keeps(root_ + "/home/.bashrc"));
  EXPECT_EQ(plan_.network, sandbox::Network::None);
  EXPECT_THAT(denied(), Contains(HasSubstr("is lost")));
}

TEST_F(Granting, OneHostIsNotTheNetwork) {
  grant(EffectKind::Network, "https://Example.org:8080/x", "curl https://Example.org:8080/x");
  EXPECT_EQ(plan_.network, sandbox::Network::Proxy);
  EXPECT_THAT(plan_.hosts, ElementsAre("example.org:*"));
  EXPECT_THAT(plan_.notes, Contains(HasSubstr("proxy to example.org")));
  EXPECT_THAT(denied(), IsEmpty());
}

TEST_F(Granting, WhatCannotUseAProxyGetsTheNetwork) {
  struct Case {
    EffectKind kind;
    const char* target;
    const char* command;
  };
  const sandbox::Plan before = plan_;
  for (const Case& each :
       {Case{EffectKind::Network, "", "tool"}, Case{EffectKind::Network, "localhost:80", "curl x"},
        Case{EffectKind::Network, "127.1", "curl x"},
        Case{EffectKind::Network, "example.org", "ping example.org"},
        Case{EffectKind::Install, "left-pad", "npm install left-pad"}}) {
    plan_ = before;
    verdict_.effects.clear();
    grant(each.kind, each.target, each.command);
    EXPECT_EQ(plan_.network, sandbox::Network::Host) << each.command << each.target;
  }
}

TEST_F(Granting, OurOwnFilesAreNeverGranted) {
  const std::string state = base::user_folders().state;
  grant(EffectKind::Write, state + "/history.db");
  EXPECT_FALSE(plan_.keeps(state + "/history.db"));
}

TEST_F(Granting, ATerminalSufficesForItsWorkspaceOnly) {
  terminal::SandboxReport has;
  has.profile = "workspace";
  has.workspace = root_ + "/work";
  verdict_.commands = {"tool"};
  verdict_.effects = {{EffectKind::Write, root_ + "/work/x"}};
  EXPECT_TRUE(suffices(has, verdict_));
  verdict_.effects = {{EffectKind::Write, "/home/somebody/.bashrc"}};
  EXPECT_FALSE(suffices(has, verdict_));
}

// Only a line of which every command acts with the person's keys runs without a sandbox.
TEST_F(Granting, OneGitCommandDoesNotFreeTheWholeLine) {
  const auto profile = [&](std::vector<std::string> commands) {
    verdict_.commands = std::move(commands);
    auto confined =
        confine("", Asker::Agent, root_ + "/work", {"HOME=" + root_ + "/home", "PATH=/usr/bin:/bin"},
                config::SandboxSettings{}, &verdict_);
    return confined && confined->plan ? confined->plan->profile : std::string("none");
  };
  EXPECT_EQ(profile({"git push"}), "none");
  EXPECT_EQ(profile({"cd sub", "git push", "echo done"}), "none");
  EXPECT_EQ(profile({"> log", "git push", "tail -5"}), "none");
  EXPECT_EQ(profile({"git push", "make test"}), "workspace");
  EXPECT_EQ(profile({"make test"}), "workspace");
  EXPECT_EQ(profile({}), "workspace");
}

TEST(SandboxNotes, WhatTheMachineLacksIsSaid) {
  sandbox::Plan plan;
  plan.network = sandbox::Network::Host;
  plan.limits.memory = 1;
  EXPECT_THAT(sandbox::notes_of(plan, 5),
              AllOf(Contains(HasSubstr("abstract unix sockets")), Contains(HasSubstr("no cgroup"))));
  plan.groups.memory = true;
  EXPECT_THAT(sandbox::notes_of(plan, 6), IsEmpty());
  plan.network = sandbox::Network::None;
  EXPECT_THAT(sandbox::notes_of(plan, 5), IsEmpty());
}

}  // namespace
}  // namespace ttyward::app
