#include "terminal/result.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fstream>

#include "pty/testing.h"

namespace ttyward::terminal {
namespace {

// What a JSON parser that is not ours reads, with its keys sorted.
std::string reread(const std::string& json) {
  const pty::testing::TemporaryFolder folder;
  std::ofstream(folder.path() + "/in") << json;
  const std::string command =
      "python3 -c 'import json,sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))' " +
      folder.path() + "/in";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  EXPECT_EQ(::pclose(pipe), 0) << json;
  return out;
}

TEST(CommandResult, an_empty_result_has_nulls_for_what_is_not_known) {
  EXPECT_EQ(
      reread(CommandResult().to_json()),
      R"({"approval": null, "background": [], "binary": false, "command": "", "command_id": null, "core_dumped": false, )"
      R"("cpu_ms": null, "cwd": null, "cwd_after": null, "duration_ms": 0, "encoding": null, )"
      R"("exit_code": null, "fallback_reason": null, "integration": "none", "known_by": null, )"
      R"("lost_bytes": 0, "max_rss_kib": null, "omitted": null, "output": "", "pipeline": null, )"
      R"("ports": [], "provider": null, "reason": null, "signal": null, "started_at": null, )"
      R"("state": "running", "terminal_id": null, "total_bytes": 0, "total_lines": 0, "verdict": null, )"
      R"("waiting": null})"
      "\n");
}

TEST(CommandResult, every_field_is_there_and_quoted) {
  CommandResult result;
  result.command_id = "c1";
  result.command = "echo \"a\\b\"\n\x01\xff";
  result.state = CommandState::TimedOut;
  result.exit_code = 0;
  result.signal = "SIGKILL";
  result.pipeline = {0, 1};
  result.waiting = WaitingFor{"password", "Password:", "ssh", 42, "read"};
  result.output = {"tab\t€\n", Omitted{1, 2, 3, 4}};
  result.started_at_ms = 1'763'195'400'007;
  result.cpu_ms = 5;
  result.background = {{7, "sleep 1"}};
  result.ports = {{8080, 7}};
  const std::string json = reread(result.to_json());
  for (
      const char* part :
      {R"("command": "echo \"a\\b\"\n\u0001\ufffd")", R"("state": "timed_out")", R"("exit_code": 0)",
       R"("pipeline": [0, 1])",
       R"("waiting": {"evidence": "read", "kind": "password", "pid": 42, "program": "ssh", "prompt": "Password:"})",
       R"("output": "tab\t\u20ac\n")",
       R"("omitted": {"bytes": 1, "first_line": 3, "last_line": 4, "lines": 2})",
       R"("started_at": "2025-11-15T08:30:00.007Z")", R"("background": [{"command": "sleep 1", "pid": 7}])",
       R"("ports": [{"pid": 7, "port": 8080}])"}) {
    EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
  }
}

TEST(CommandResult, codes_are_those_of_a_shell) {
  CommandResult result;
  result.state = CommandState::Exited;
  result.exit_code = 42;
  EXPECT_EQ(result.shell_code(), 42);
  result.exit_code.reset();
  result.state = CommandState::Signaled;
  result.signal = "SIGSEGV";
  EXPECT_EQ(result.shell_code(), 128 + SIGSEGV);
  result.state = CommandState::TimedOut;
  EXPECT_EQ(result.shell_code(), 124);
  result.state = CommandState::FailedToStart;
  EXPECT_EQ(result.shell_code(), 125);
  result.start_failure_code = 127;
  EXPECT_EQ(result.shell_code(), 127);
  result = {};
  result.state = CommandState::Interrupted;
  EXPECT_EQ(result.shell_code(), 130);
  result.state = CommandState::AwaitingInput;
  EXPECT_EQ(result.shell_code(), 125);
}

TEST(CommandResult, every_state_has_a_name) {
  for (int i = 0; i <= static_cast<int>(CommandState::Lost); i++) {
    EXPECT_STRNE(command_state_name(static_cast<CommandState>(i)), "");
  }
}

}  // namespace
}  // namespace ttyward::terminal
