#include "base/json_text.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(JsonText, what_must_be_escaped_is) {
  EXPECT_EQ(json_quoted("plain"), R"("plain")");
  EXPECT_EQ(json_quoted("\"\\\n\r\t"), R"("\"\\\n\r\t")");
  EXPECT_EQ(json_quoted(std::string_view("\0\x1b\x7f", 3)), "\"\\u0000\\u001b\\u007f\"");
  EXPECT_EQ(json_quoted("é€😀"), "\"é€😀\"");
}

TEST(JsonText, ill_formed_text_is_replaced) {
  EXPECT_EQ(json_quoted("a\xFF"
                        "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(json_quoted("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_quoted("\xE2\x82"), "\"\xEF\xBF\xBD\"");
}

TEST(JsonText, objects_keep_the_order_of_their_members) {
  EXPECT_EQ(JsonObject().str(), "{}");
  EXPECT_EQ(JsonObject().text("a", "x").number("b", -1).boolean("c", true).null("d").raw("e", "[1]").str(),
            R"({"a":"x","b":-1,"c":true,"d":null,"e":[1]})");
}

}  // namespace
}  // namespace ttyward::base
