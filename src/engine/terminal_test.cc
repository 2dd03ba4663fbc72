#include "engine/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using terminal::CommandState;
using testing::Bench;

TEST(Terminal, ACommandOfItsOwnEndsWithTheKernelsWord) {
  Bench bench;
  Terminal& t = bench.run("printf 'one\\ntwo\\n'; exit 3");
  bench.until([&] { return !t.live(); });
  const auto result = bench.result(t);
  EXPECT_EQ(result.state, CommandState::Exited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.known_by, "wait");
  EXPECT_EQ(result.output.text, "one\ntwo\n");
  EXPECT_EQ(result.total_lines, 2U);
}

TEST(Terminal, AProgramThatIsNotThereIsAStartFailure) {
  Bench bench;
  TerminalSpec spec = bench.spec();
  spec.command_id = "c1";
  spec.argv = {"/no/such/program"};
  Terminal& t = bench.open(std::move(spec));
  bench.until([&] { return !t.live(); });
  const auto result = bench.result(t);
  EXPECT_EQ(result.state, CommandState::FailedToStart);
  EXPECT_EQ(result.start_failure_code, 127);
  EXPECT_FALSE(result.exit_code);
}

TEST(Terminal, AShellKeepsItsStateAndTellsEveryExitCode) {
  Bench bench;
  Terminal& t = bench.shell();
  EXPECT_EQ(bench.exec(t, "cd /tmp; X=7").exit_code, 0);
  EXPECT_EQ(t.cwd(), "/tmp");
  const auto echo = bench.exec(t, "echo $X");
  EXPECT_EQ(echo.output.text, "7\n");
  EXPECT_EQ(echo.known_by, "shell_mark");
  EXPECT_EQ(echo.cwd, "/tmp");
  EXPECT_EQ(bench.exec(t, "(exit 42)").exit_code, 42);
  EXPECT_EQ(t.state(), Terminal::State::Idle);
}

TEST(Terminal, ABusyTerminalRefusesAndSaysWhy) {
  Bench bench;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(bench.request("read x")));
  const auto second = t.submit(bench.request("echo no"));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("busy with 'read x'"), std::string::npos) << second.error().message;
}

TEST(Terminal, AQuestionIsSeenAndAnswered) {
  Bench bench;
  Terminal& t = bench.shell();
  Command* command = *t.submit(bench.request("read -p 'Name? ' n; echo \"hello $n\""));
  t.want_input_state(1);
  bench.until([&] { return command->facts.state == CommandState::AwaitingInput; });
  ASSERT_TRUE(command->facts.waiting);
  EXPECT_EQ(command->facts.waiting->kind, "line");
  EXPECT_EQ(command->facts.waiting->prompt, "Name?");
  t.input("you\r", Owner::Agent, [](auto sent) { EXPECT_TRUE(sent); });
  bench.until([&] { return command->over(); });
  EXPECT_EQ(bench.result(t).output.text, "Name? you\nhello you\n");
}

TEST(Terminal, ATimeLimitAnswersAtOnceAndFreesTheTerminal) {
  Bench bench;
  Terminal& t = bench.shell();
  CommandRequest request = bench.request("echo begun; trap '' INT TERM; sleep 600");
  request.timeout = std::chrono::milliseconds(300);
  Command* command = *t.submit(std::move(request));
  bench.until([&] { return command->answered(); });
  EXPECT_EQ(command->facts.state, CommandState::TimedOut);
  bench.until([&] { return command->over(); });
  EXPECT_EQ(command->facts.state, CommandState::TimedOut);
  EXPECT_EQ(bench.exec(t, "echo still here").output.text, "still here\n");
}

TEST(Terminal, AnOpenQuoteIsReportedAndTheShellComesBack) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto result = bench.exec(t, "echo 'open");
  EXPECT_NE(result.reason.find("not complete"), std::string::npos) << result.reason;
  EXPECT_EQ(bench.exec(t, "echo fine").output.text, "fine\n");
}

TEST(Terminal, AnInterruptIsNotLostHoweverEarlyItComes) {
  Bench bench;
  Terminal& t = bench.shell();
  for (int i = 0; i < 20; i++) {
    Command* command = *t.submit(bench.request("sleep 600"));
    // Before it is typed, while it is typed, when it has just begun.
    if (i % 3 == 1) bench.until([&] { return command->sent; });
    if (i % 3 == 2) bench.until([&] { return command->started_seen; });
    const std::string id = command->facts.command_id;
    t.interrupt([](auto sent) { EXPECT_TRUE(sent); });
    bench.until([&] { return t.find(id)->over(); });
    EXPECT_EQ(t.find(id)->facts.state, CommandState::Interrupted) << i;
  }
  EXPECT_EQ(bench.exec(t, "echo fine").output.text, "fine\n");
}

TEST(Terminal, ACommandElsewhereLeavesTheShellWhereItIs) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "cd /tmp");
  CommandRequest request = bench.request("pwd; false");
  request.cwd = "/usr";
  const auto result = bench.exec(t, std::move(request));
  EXPECT_EQ(result.output.text, "/usr\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(t.cwd(), "/tmp");
  EXPECT_EQ(bench.exec(t, "pwd; echo \"${__tw_d-gone}\"").output.text, "/tmp\ngone\n");
}

TEST(Terminal, KillLeavesNothingBehind) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "sleep 1000 & disown; setsid sleep 1001 & disown");
  const size_t recorded = bench.recorded.size();
  t.kill();
  bench.until([&] { return !t.live() && !bench.holder_lives(t); });
  EXPECT_EQ(t.state(), Terminal::State::Finished);
  EXPECT_EQ(bench.recorded.size(), recorded) << "ending a terminal is not recorded as a command";
}

TEST(Terminal, ExitEndsTheTerminalAndTheCommandKnowsItsCode) {
  Bench bench;
  Terminal& t = bench.shell();
  const auto result = bench.exec(t, "exit 9");
  EXPECT_EQ(result.exit_code, 9);
  EXPECT_EQ(result.known_by, "wait");
  bench.until([&] { return !t.live(); });
}

TEST(Terminal, AnEngineThatWasKilledFindsEverythingAgain) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = t.id();
  bench.exec(t, "cd /tmp");
  const auto before = bench.exec(t, "seq 3; false");
  Command* running = *t.submit(bench.request("echo begun; read x; echo \"got $x\"; (exit 5)"));
  const std::string running_id = running->facts.command_id;
  bench.until([&] { return running->started_seen && running->output->total_bytes() > 0; });

  bench.forget_all();  // as SIGKILL would: nothing is told, nothing is written
  Terminal& again = bench.recover(id);
  EXPECT_EQ(again.cwd(), "/tmp");
  EXPECT_EQ(again.quality(), shell::Quality::Rich);
  ASSERT_EQ(again.commands().size(), 3U);
  const auto replayed = again.result(*again.commands()[1], {});
  EXPECT_EQ(replayed.command_id, before.command_id);
  EXPECT_EQ(replayed.output.text, "1\n2\n3\n");
  EXPECT_EQ(replayed.exit_code, 1);
  EXPECT_EQ(replayed.duration_ms, before.duration_ms);
  Command* still = again.find(running_id);
  ASSERT_NE(still, nullptr);
  EXPECT_FALSE(still->over());
  again.input("it\r", Owner::Agent, [](auto) {});
  bench.until([&] { return still->over(); });
  EXPECT_EQ(still->facts.exit_code, 5);
  EXPECT_EQ(again.result(*still, {}).output.text, "begun\nit\ngot it\n");
  EXPECT_EQ(bench.exec(again, "echo on").output.text, "on\n");
}

TEST(Terminal, WhatEndedWhileNobodyLookedHasItsTrueStatus) {
  Bench bench;
  Terminal& t = bench.run("echo begun; read x; exit 6");
  const std::string id = t.id();
  bench.until([&] { return t.output().total_bytes() > 0; });
  const pid_t pid = t.pid();
  bench.forget_all();
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGKILL);
  bench.until([&] { return !bench.holder_lives(id); });
  Terminal& again = bench.recover(id);
  bench.until([&] { return !again.live(); });
  const auto result = bench.result(again);
  EXPECT_EQ(result.state, CommandState::Signaled);
  EXPECT_EQ(result.signal, "SIGKILL");
  EXPECT_EQ(result.output.text, "begun\n");
}

TEST(Terminal, AtTheQuotaLinesAndLostBytesAreExactAlsoAfterARestart) {
  Bench bench;
  bench.settings().journal_quota = journal::kSmallestQuota;
  Terminal& t = bench.shell();
  const std::string id = t.id();
  bench.exec(t, "seq 1 3");
  const auto before = bench.exec(t, "seq 1 300000; (exit 3)");
  EXPECT_EQ(before.exit_code, 3);
  EXPECT_EQ(before.total_lines, 300'000U);
  EXPECT_EQ(before.total_bytes, 2'288'895U);
  EXPECT_GT(before.lost_bytes, before.total_bytes - journal::kSmallestQuota);
  EXPECT_EQ(t.lost_bytes(), before.lost_bytes);
  const uint64_t all_lines = t.output().transcript().size();

  bench.forget_all();
  Terminal& again = bench.recover(id);
  const Command& command = *again.commands().back();
  const auto after = again.result(command, {});
  EXPECT_EQ(after.exit_code, 3);
  EXPECT_EQ(after.total_lines, before.total_lines);
  EXPECT_EQ(after.total_bytes, before.total_bytes);
  EXPECT_EQ(after.lost_bytes, before.lost_bytes);
  EXPECT_EQ(again.output().transcript().size(), all_lines);
  const terminal::Transcript& lines = again.output_of(*again.find(command.facts.command_id)).transcript();
  EXPECT_EQ(lines.line(1), "1");
  EXPECT_EQ(lines.line(150'000), std::nullopt);
  EXPECT_EQ(lines.line(299'000), "299000");
  EXPECT_EQ(bench.exec(again, "echo on").output.text, "on\n");
  // What came after it drops more of it; its numbers stay.
  bench.exec(again, "seq 1 300000");
  const auto later = again.result(*again.find(command.facts.command_id), {});
  EXPECT_EQ(later.total_lines, before.total_lines);
  EXPECT_GT(later.lost_bytes, before.lost_bytes);
}

TEST(Terminal, ADamagedJournalIsSaidAndWhatTheLogKnowsStays) {
  Bench bench;
  Terminal& t = bench.run("echo hello; exit 51");
  const std::string id = t.id();
  bench.until([&] { return !t.live() && !bench.holder_lives(t); });
  EXPECT_EQ(bench.result(t).exit_code, 51);
  bench.forget_all();
  const std::string file = bench.root() + "/journals/" + id + ".main";
  const base::UniqueFd main(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  char byte = 0;
  ASSERT_EQ(::pread(main.get(), &byte, 1, 60), 1);
  byte = static_cast<char>(byte ^ 4);
  ASSERT_EQ(::pwrite(main.get(), &byte, 1, 60), 1);
  Terminal& again = bench.recover(id);
  const auto result = bench.result(again);
  EXPECT_EQ(result.state, CommandState::Exited);
  EXPECT_EQ(result.exit_code, 51);
  EXPECT_NE(result.reason.find("damaged"), std::string::npos) << result.reason;
  EXPECT_EQ(result.lost_bytes, result.total_bytes);
  EXPECT_GT(result.total_bytes, 0U);
  EXPECT_FALSE(again.live());
}

TEST(Terminal, AShellWhoseJournalIsDamagedIsEndedAndItsCommandsAreKnown) {
  Bench bench;
  Terminal& t = bench.shell();
  const std::string id = t.id();
  const auto before = bench.exec(t, "echo one; (exit 7)");
  bench.forget_all();
  const std::string file = bench.root() + "/journals/" + id + ".main";
  const base::UniqueFd main(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  char byte = 0;
  ASSERT_EQ(::pread(main.get(), &byte, 1, 60), 1);
  byte = static_cast<char>(~byte);
  ASSERT_EQ(::pwrite(main.get(), &byte, 1, 60), 1);
  Terminal& again = bench.recover(id);
  EXPECT_FALSE(again.live());
  const auto result = bench.result(again);
  EXPECT_EQ(result.command_id, before.command_id);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_NE(result.reason.find("damaged"), std::string::npos) << result.reason;
  bench.until([&] { return !bench.holder_lives(id); });
}

TEST(Terminal, LinesOfFormerCommandsAreMadeAgainWhenAskedFor) {
  Bench bench;
  Terminal& t = bench.shell();
  for (int i = 0; i < 12; i++) bench.exec(t, "seq " + std::to_string(i) + " 2000");
  const auto held = std::count_if(t.commands().begin(), t.commands().end(),
                                  [](const auto& command) { return command->output != nullptr; });
  EXPECT_LE(held, 3);
  const auto result = t.result(*t.commands()[3], {});
  EXPECT_EQ(result.total_lines, 1998U);
  EXPECT_TRUE(result.output.text.starts_with("3\n4\n5\n")) << result.output.text.substr(0, 20);
  EXPECT_TRUE(result.output.text.ends_with("1999\n2000\n"));
}

TEST(Terminal, WhenItEndedIsKnownAfterARestart) {
  Bench bench;
  Terminal& t = bench.run("true");
  const std::string id = t.id();
  bench.until([&] { return !t.live() && !bench.holder_lives(t); });
  const int64_t ended = t.closed_at_ms();
  EXPECT_GT(ended, 0);
  bench.forget_all();
  EXPECT_EQ(bench.recover(id).closed_at_ms(), ended);
}

}  // namespace
}  // namespace ttyward::engine
