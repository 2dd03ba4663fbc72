#include "acp/profile.h"

#include <gtest/gtest.h>

#include "rpc/json.h"

namespace ttyward::acp {
namespace {

bool is_object(const std::string& text) {
  rpc::json::error_code error;
  const rpc::json::value value = rpc::json::parse(text, error);
  return !error && value.is_object();
}

TEST(Profiles, OursSayHowAShellIsSwitchedOff) {
  for (const Profile& profile : built_in_profiles()) {
    SCOPED_TRACE(profile.id);
    EXPECT_FALSE(profile.names.empty());
    EXPECT_FALSE(profile.commands.empty());
    EXPECT_FALSE(profile.our_tools.empty() && profile.our_calls.empty());
    EXPECT_FALSE(profile.allow_options.empty());
    EXPECT_EQ(profile.shell == Profile::Shell::Mcp, prepares_start(profile) || !profile.session_meta.empty());
    // All of these agents take JSON, except in files that an option names.
    for (const auto& [name, value] : profile.environment) EXPECT_TRUE(is_object(value)) << name;
    for (const auto& [name, value] : profile.files) EXPECT_TRUE(is_object(value)) << name;
    EXPECT_TRUE(profile.session_meta.empty() || is_object(profile.session_meta));
  }
}

TEST(Profiles, KnowsOurToolsByTheirWholeName) {
  Profile profile;
  profile.our_tools = {"ttyward_*", "* (ttyward)", "exactly"};
  for (const char* name : {"ttyward_run_command", "run_command (ttyward)", "exactly"})
    EXPECT_TRUE(names_our_tool(profile, name)) << name;
  for (const char* name :
       {"", "ttyward_", "ttyward_run_command; rm -rf x", "ttyward_a b", "ttyward_a\nb",
        "x ttyward_run_command", "rm -rf x (ttyward)", " (ttyward)", "exactly so", "TTYWARD_RUN"})
    EXPECT_FALSE(names_our_tool(profile, name)) << name;
}

TEST(Profiles, KnowsOurToolsByTheNameOfOurServerOnly) {
  for (const Profile& built_in : built_in_profiles()) {
    SCOPED_TRACE(built_in.id);
    const Profile profile = with_server(built_in, "ttyward1a2b3c4d");
    for (const auto* list : {&profile.our_tools, &profile.our_calls}) {
      for (const std::string& text : *list) {
        EXPECT_NE(text.find("ttyward1a2b3c4d"), std::string::npos) << text;
        EXPECT_EQ(text.find('{'), std::string::npos) << text;
      }
    }
    for (const auto& [name, value] : profile.files)
      EXPECT_EQ(value.find("{server}"), std::string::npos) << name;
    for (const char* other : {"mcp__ttyward__run_command", "ttyward_run_command", "mcp.ttyward.run_command"})
      EXPECT_FALSE(names_our_tool(profile, other)) << other;
  }
  EXPECT_TRUE(names_our_tool(with_server(*profile_with_id(built_in_profiles(), "claude"), "ttyward1a2b3c4d"),
                             "mcp__ttyward1a2b3c4d__run_command"));
}

TEST(Profiles, IsFoundByAPartOfTheCommand) {
  const auto id = [](const std::vector<std::string>& argv) {
    const Profile* found = profile_for_command(built_in_profiles(), argv);
    return found != nullptr ? found->id : "";
  };
  EXPECT_EQ(id({"opencode", "acp"}), "opencode");
  EXPECT_EQ(id({"node", "/x/node_modules/@google/gemini-cli/bundle/gemini.js", "--acp"}), "gemini");
  EXPECT_EQ(id({"npx", "@agentclientprotocol/codex-acp"}), "codex");
  EXPECT_EQ(id({"/usr/bin/my-opencode-fork"}), "");
}

TEST(Profiles, RefusesAWrongWord) {
  EXPECT_FALSE(parse_profile("shell = \"none\"", "x"));
  EXPECT_FALSE(parse_profile("names = [", "x"));
  const auto good = parse_profile("shell = \"mcp\"\n[defaults]\nA = \"1\"\n[files]\nB = \"{}\"", "x");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->defaults.size(), 1u);
  EXPECT_EQ(good->files.front().second, "{}");
}

TEST(Profiles, HaveFilesThatAnOptionNames) {
  const auto made = parse_profile(
      "ignored_where = [\"/etc/x/*\"]\n[[argument_files]]\noption = \"--rules\"\nending = \".toml\"\ntext = "
      "\"of "
      "{server}\"\n"
      "[[argument_files]]\noption = \"-s\"\ntext = \"{}\"",
      "x");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(prepares_start(*made));
  EXPECT_EQ(made->ignored_where, std::vector<std::string>{"/etc/x/*"});
  const Profile ours = with_server(*made, "ttyward1a2b3c4d");
  ASSERT_EQ(ours.argument_files.size(), 2u);
  EXPECT_EQ(ours.argument_files[0].option, "--rules");
  EXPECT_EQ(ours.argument_files[0].ending, ".toml");
  EXPECT_EQ(ours.argument_files[0].text, "of ttyward1a2b3c4d");
  EXPECT_EQ(ours.argument_files[1].ending, ".json");
  for (const char* wrong :
       {"argument_files = \"--rules\"", "[argument_files]\n--rules = \"x\"",
        "[[argument_files]]\ntext = \"x\"", "[[argument_files]]\noption = \"rules\"\ntext = \"x\"",
        "[[argument_files]]\noption = \"--rules\"",
        "[[argument_files]]\noption = \"--rules\"\nending = \"/../x\"\ntext = \"x\""})
    EXPECT_FALSE(parse_profile(wrong, "x")) << wrong;
}

}  // namespace
}  // namespace ttyward::acp
