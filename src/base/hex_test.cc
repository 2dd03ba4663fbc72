#include "base/hex.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(Hex, digits) {
  EXPECT_EQ(hex_digit('0'), 0);
  EXPECT_EQ(hex_digit('9'), 9);
  EXPECT_EQ(hex_digit('a'), 10);
  EXPECT_EQ(hex_digit('F'), 15);
  for (const char c : {'/', ':', '@', 'G', '`', 'g', '\0', '\x80', '\xFF'}) EXPECT_EQ(hex_digit(c), -1);
}

TEST(Hex, bytes_need_two_digits) {
  EXPECT_EQ(hex_byte("x3b", 1), 0x3B);
  EXPECT_EQ(hex_byte("FF", 0), 0xFF);
  EXPECT_EQ(hex_byte("FF", 1), -1);
  EXPECT_EQ(hex_byte("FF", 2), -1);
  EXPECT_EQ(hex_byte("FF", 9), -1);
  EXPECT_EQ(hex_byte("0g", 0), -1);
}

}  // namespace
}  // namespace ttyward::base
