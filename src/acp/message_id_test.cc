#include "acp/message_id.h"

#include <gtest/gtest.h>

namespace ttyward::acp {
namespace {

TEST(MessageId, IsItsValueAndKeepsItsText) {
  EXPECT_EQ(MessageId("1.0"), MessageId("1"));
  EXPECT_EQ(MessageId("7e2"), MessageId("700"));
  EXPECT_EQ(MessageId(R"("a\/b")"), MessageId(R"("a/b")"));
  EXPECT_EQ(MessageId("1.0").text(), "1.0");
}

TEST(MessageId, ATextIsNotANumber) {
  EXPECT_FALSE(MessageId("\"5\"") == MessageId("5"));
  EXPECT_FALSE(MessageId("7.5") == MessageId("7"));
  EXPECT_FALSE(MessageId("null") == MessageId("0"));
}

}  // namespace
}  // namespace ttyward::acp
