#include "pty/tty_wait.h"

#include <gtest/gtest.h>

namespace ttyward::pty {
namespace {

TEST(BlockedCall, numbers_of_a_call_are_read_with_care) {
  EXPECT_FALSE(parse_blocked_call("running\n"));
  EXPECT_FALSE(parse_blocked_call("-1 0x7ffc 0x7f12\n"));
  EXPECT_FALSE(parse_blocked_call(""));
  EXPECT_FALSE(parse_blocked_call("0 0x1"));
  const auto call = parse_blocked_call("0 0x3 0x7f9f6d8b7000 0x20000 0x0 0xffffffff 0x0 0x7ffc 0x7f9f\n");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->number, 0);
  EXPECT_EQ(call->arguments[0], 3U);
  EXPECT_EQ(call->arguments[4], 0xffffffffU);
}

TEST(EpollSet, is_read_from_its_fdinfo) {
  const char* fdinfo =
      "pos:\t0\nflags:\t02000002\nmnt_id:\t15\n"
      "tfd:        5 events:       19 data:                5  pos:0 ino:1 sdev:f\n"
      "tfd:        7 events:        4 data:                7  pos:0 ino:2 sdev:f\n";
  EXPECT_TRUE(epoll_waits_for_input(fdinfo, 5));
  EXPECT_FALSE(epoll_waits_for_input(fdinfo, 7));
  EXPECT_FALSE(epoll_waits_for_input(fdinfo, 1));
}

}  // namespace
}  // namespace ttyward::pty
