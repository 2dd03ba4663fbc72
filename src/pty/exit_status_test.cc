#include "pty/exit_status.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

namespace ttyward::pty {
namespace {

TEST(SignalName, every_number_from_1_to_64_has_its_own) {
  std::set<std::string> names;
  for (int number = 1; number <= 64; ++number) names.insert(signal_name(number));
  EXPECT_EQ(names.size(), 64U);
  EXPECT_FALSE(names.contains(""));
}

TEST(SignalName, agrees_with_kill_l) {
  EXPECT_EQ(signal_name(SIGHUP), "SIGHUP");
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGSYS), "SIGSYS");
  EXPECT_EQ(signal_name(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(signal_name(SIGRTMIN + 15), "SIGRTMIN+15");
  EXPECT_EQ(signal_name(SIGRTMAX - 14), "SIGRTMAX-14");
  EXPECT_EQ(signal_name(SIGRTMAX), "SIGRTMAX");
}

TEST(SignalName, numbers_that_are_no_signals_have_none) {
  for (const int number : {-1, 0, 65, 255}) EXPECT_EQ(signal_name(number), "");
}

TEST(DecodeShellCode, reads_128_plus_n) {
  EXPECT_EQ(decode_shell_code(130), (ShellSignal{SIGINT, "SIGINT", false}));
  EXPECT_EQ(decode_shell_code(139), (ShellSignal{SIGSEGV, "SIGSEGV", true}));
  EXPECT_EQ(decode_shell_code(128 + 64), (ShellSignal{64, "SIGRTMAX", false}));
}

TEST(DecodeShellCode, leaves_ordinary_codes_alone) {
  for (const int code : {0, 1, 127, 128, 193, 255}) EXPECT_EQ(decode_shell_code(code), std::nullopt);
}

TEST(Describe, says_how_it_ended) {
  EXPECT_EQ(describe({ExitStatus::Kind::Exited, 3, 0, false}), "exit 3");
  EXPECT_EQ(describe({ExitStatus::Kind::Signaled, 0, SIGTERM, false}), "SIGTERM");
  EXPECT_EQ(describe({ExitStatus::Kind::Signaled, 0, SIGABRT, true}), "SIGABRT (core dumped)");
}

}  // namespace
}  // namespace ttyward::pty
