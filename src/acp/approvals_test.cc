#include "acp/approvals.h"

#include <gtest/gtest.h>

#include "acp/profile.h"
#include "acp/tool_calls.h"

namespace ttyward::acp {
namespace {

const Option kAlways{"always", "allow_always"};
const Option kOnce{"once", "allow_once"};
const Option kNo{"no", "reject_once"};
const Option kNever{"never", "reject_always"};

TEST(PlainAllow, IsTheOneThatAllowsOnce) {
  EXPECT_EQ(plain_allow({kAlways, kOnce, kNo}, {}), "once");
  EXPECT_EQ(plain_allow({kAlways, kNo}, {}), "");
  EXPECT_EQ(plain_allow({}, {}), "");
}

TEST(PlainAllow, IsNoneOfSeveralUnlessOneIsKnown) {
  const Option other{"and_switch_mode", "allow_once"};
  EXPECT_EQ(plain_allow({other, kOnce}, {}), "once");
  EXPECT_EQ(plain_allow({other, {"mine", "allow_once"}}, {}), "");
  EXPECT_EQ(plain_allow({other, {"mine", "allow_once"}}, {"mine"}), "mine");
  EXPECT_EQ(plain_allow({kOnce, {"allow", "allow_once"}}, {}), "");
}

TEST(SomeReject, PrefersTheMildest) {
  EXPECT_EQ(some_reject({kNever, kNo}), "no");
  EXPECT_EQ(some_reject({kNever, kOnce}), "never");
  EXPECT_EQ(some_reject({kOnce}), "");
}

json::object object(std::string_view text) {
  return json::parse(json::string_view(text.data(), text.size())).as_object();
}

TEST(ToolCalls, JoinWhatUpdatesTell) {
  ToolCalls calls;
  calls.note(object(
      R"({"toolCallId":"1","title":"Bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"}})"));
  calls.note(object(R"({"toolCallId":"1","rawInput":{"command":"make"}})"));
  const ToolCall* call = calls.note(object(R"({"toolCallId":"1","status":"in_progress"})"));
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->command, "make");
  EXPECT_EQ(call->cwd, "/w");
  EXPECT_EQ(call->kind, "execute");
  EXPECT_EQ(calls.only_waiting(), "1");
  call = calls.note(object(R"({"toolCallId":"1","rawInput":{"command":["bash","-c","x y"]}})"));
  EXPECT_EQ(call->argv, (std::vector<std::string>{"bash", "-c", "x y"}));
  EXPECT_EQ(call->command, "");
  calls.note(object(R"({"toolCallId":"1","content":[{"type":"terminal","terminalId":"t"}]})"));
  EXPECT_EQ(calls.only_waiting(), "");
  EXPECT_EQ(calls.note(object(R"({"title":"x"})")), nullptr);
}

TEST(Profiles, AreReadableAndFound) {
  const auto& all = built_in_profiles();
  EXPECT_GE(all.size(), 6u);
  EXPECT_EQ(profile_named(all, "Kimi Code CLI")->id, "kimi");
  EXPECT_EQ(profile_named(all, "unknown"), nullptr);
  EXPECT_EQ(profile_for_command(
                all, {"node", "/x/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"})
                ->id,
            "claude");
  EXPECT_EQ(profile_for_command(all, {"/usr/bin/opencode", "acp"})->id, "opencode");
  EXPECT_EQ(profile_for_command(all, {"kimi.mjs", "acp"})->id, "kimi");
  EXPECT_EQ(profile_for_command(all, {"python3", "agent.py"}), nullptr);
  EXPECT_EQ(profile_named(all, "gemini-cli")->shell, Profile::Shell::Mcp);
  EXPECT_FALSE(parse_profile("shell = \"perhaps\"", "x"));
  EXPECT_FALSE(parse_profile("= nonsense", "x"));
}

}  // namespace
}  // namespace ttyward::acp
