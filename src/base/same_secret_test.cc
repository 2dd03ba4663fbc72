#include "base/same_secret.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(SameSecret, TheWholeTextCounts) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* wrong : {"", "ab", "abcd", "abd", "abcabc"})
    EXPECT_FALSE(same_secret(wrong, "abc")) << wrong;
}

}  // namespace
}  // namespace ttyward::base
