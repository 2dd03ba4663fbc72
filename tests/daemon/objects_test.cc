// The protocol's objects say what the engine's and the store's do.
#include "app/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "policy/verdict_json.h"
#include "wire/decoder.h"
#include "wire/encoder.h"

namespace ttyward::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

terminal::CommandResult full_result() {
  terminal::CommandResult result;
  result.command_id = "cabc";
  result.terminal_id = "tabc";
  result.command = "echo \"a\\b\"\n\x01\xff";
  result.cwd = "/p";
  result.cwd_after = "/q";
  result.state = terminal::CommandState::TimedOut;
  result.exit_code = 3;
  result.signal = "SIGKILL";
  result.core_dumped = std::nullopt;
  result.known_by = "wait";
  result.pipeline = {0, 1};
  result.reason = "too long";
  result.waiting = terminal::WaitingFor{"password", "Password:", "ssh", 42, "read"};
  result.output = {"tab\t€\n", terminal::Omitted{1, 2, 3, 4}};
  result.total_bytes = 5;
  result.total_lines = 6;
  result.lost_bytes = 7;
  result.binary = true;
  result.no_newline = true;
  result.encoding = "latin1";
  result.started_at_ms = 1'763'195'400'007;
  result.duration_ms = 8;
  result.time_left_ms = 9;
  result.idle_left_ms = 10;
  result.pid = 11;
  result.process_group = 12;
  result.cpu_ms = 13;
  result.max_rss_kib = 14;
  result.background = {{7, "sleep 1"}};
  result.ended_background = {{8, "sleep 2"}};
  result.ports = {{8080, 7}};
  result.provider = "pty";
  result.fallback_reason = "none left";
  result.integration = "rich";
  result.verdict_json = R"({"decision":"allow"})";
  result.approval = "aabc";
  return result;
}

TEST(Objects, AnEmptyResultHasNullsForWhatIsNotKnown) {
  EXPECT_EQ(boost::json::parse(wire::json_text(result_object({}))),
            boost::json::parse(
                R"({"approval": null, "background": [], "binary": false, "command": "", "command_id": null, )"
                R"("core_dumped": false, "cpu_ms": null, "cwd": null, "cwd_after": null, "duration_ms": 0, )"
                R"("encoding": null, "exit_code": null, "fallback_reason": null, "integration": "none", )"
                R"("known_by": null, "lost_bytes": 0, "max_rss_kib": null, "omitted": null, "output": "", )"
                R"("pipeline": null, "ports": [], "provider": null, "reason": null, "signal": null, )"
                R"("started_at": null, "state": "running", "terminal_id": null, "total_bytes": 0, )"
                R"("total_lines": 0, "verdict": null, "waiting": null})"));
}

TEST(Objects, EveryMemberOfAResultIsThereAndQuoted) {
  terminal::CommandResult result = full_result();
  result.core_dumped = true;
  const auto read = boost::json::parse(wire::json_text(result_object(result))).as_object();
  EXPECT_EQ(read.at("command").as_string(), "echo \"a\\b\"\n\x01\xef\xbf\xbd");
  EXPECT_EQ(read.at("started_at").as_string(), "2025-11-15T08:30:00.007Z");
  EXPECT_EQ(read.at("ports"), boost::json::parse(R"([{"port":8080,"pid":7}])"));
  EXPECT_EQ(read.at("approval").as_string(), "aabc");
  for (const auto& member : read) EXPECT_FALSE(member.value().is_null()) << member.key();
}

TEST(Objects, AVerdictHasTheMembersThatTheProtocolNames) {
  policy::Verdict verdict;
  verdict.effects = {{policy::EffectKind::Write, "/p"}};
  verdict.reasons = {{"writes", {0, 4}, policy::Risk::High, policy::Decision::Ask}};
  verdict.commands = {"make"};
  verdict.waived = {{"objection", policy::Risk::Low, "rule"}};
  verdict.hints = {"hint"};
  const std::string text = policy::to_json(verdict);
  const auto read = wire::decode<wire::Verdict>(boost::json::parse(text).as_object());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(wire::json_text(*read), text);
}

TEST(Objects, AnApprovalShowsNothingOfACommandRaw) {
  gate::Approval approval;
  approval.asked_by = "agent\x1b[2K";
  approval.session = "s";
  approval.environment_changes = {"A=\x1b[2J"};
  approval.always.texts = {"[[rule]]\n"};
  const wire::Approval made = approval_object(approval);
  EXPECT_EQ(made.asked_by, "agent\\x1b[2K");
  EXPECT_THAT(wire::json_text(made), Not(HasSubstr("\\u001b")));
  EXPECT_THAT(wire::json_text(made), HasSubstr(R"("always_scope":"global")"));
  EXPECT_THAT(wire::json_text(made), HasSubstr(R"("state":"open")"));
  EXPECT_THAT(wire::json_text(made), HasSubstr(R"("expires_at":null)"));
}

}  // namespace
}  // namespace ttyward::app
