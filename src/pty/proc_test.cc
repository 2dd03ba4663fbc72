#include "pty/proc.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ttyward::pty {
namespace {

TEST(ParseStat, a_name_may_hold_blanks_and_parentheses) {
  const auto stat = parse_stat(
      "4242 (a) b (c) S 17 4242 4240 34817 4243 4194304 100 0 0 0 1 2 30 400 20 0 3 0 987654 1000000 200 "
      "18446744073709551615\n");
  ASSERT_TRUE(stat);
  ProcessStat expected;
  expected.pid = 4242;
  expected.comm = "a) b (c";
  expected.state = 'S';
  expected.parent = 17;
  expected.group = 4242;
  expected.session = 4240;
  expected.terminal = (136U << 8) | 1U;  // 34817 is /dev/pts/1
  expected.terminal_foreground = 4243;
  expected.threads = 3;
  expected.cpu_ticks = 433;
  expected.start_time = 987654;
  EXPECT_EQ(*stat, expected);
}

TEST(ParseStat, a_first_thread_that_ended_is_no_zombie_while_others_run) {
  const auto with_threads = [](const char* threads) {
    return parse_stat("1 (x) Z 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 " + std::string(threads) + " 0 5 0")
        ->zombie();
  };
  EXPECT_TRUE(with_threads("1"));
  EXPECT_FALSE(with_threads("2"));
}

TEST(ParseStat, anything_else_is_refused) {
  for (const char* text :
       {"", "1", "1 (x", "(x) S", "1 (x) S 1 2", "x (x) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 5 0"})
    EXPECT_FALSE(parse_stat(text)) << text;
}

TEST(Proc, sees_itself) {
  const auto stat = read_stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(stat->group, ::getpgrp());
  EXPECT_GT(stat->start_time, 0U);
  EXPECT_FALSE(list_threads(::getpid()).empty());
  EXPECT_TRUE(list_descriptors(::getpid()));
}

TEST(Proc, who_is_not_there_is_unknown) {
  EXPECT_FALSE(read_stat(0x3fffffff));
  EXPECT_TRUE(list_threads(0x3fffffff).empty());
  EXPECT_FALSE(list_descriptors(0x3fffffff));
  EXPECT_EQ(read_command_line(0x3fffffff), "[?]");
}

}  // namespace
}  // namespace ttyward::pty
