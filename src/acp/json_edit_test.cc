#include "acp/json_edit.h"

#include <gtest/gtest.h>

namespace ttyward::acp {
namespace {

TEST(Outline, FindsMembersAsTheyAreWritten) {
  const std::string text = R"( { "a" : 1.0 ,"b":[1, {"a":2}],"m\u0065":"x\ny\ud83d\ude00" } )";
  const auto outline = Outline::of(text);
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->size(), 3u);
  EXPECT_EQ(outline->value("a"), "1.0");
  EXPECT_EQ(outline->value("b"), R"([1, {"a":2}])");
  EXPECT_EQ(outline->text("me"), "x\ny😀");
  EXPECT_EQ(outline->text("a"), std::nullopt);
  EXPECT_EQ(outline->value("nothing"), std::nullopt);
  EXPECT_TRUE(Outline::of("{}"));
}

TEST(Outline, RefusesWhatIsNotOneObject) {
  for (const char* text : {"",
                           "{",
                           "}",
                           "[]",
                           "1",
                           "{}{}",
                           "{} x",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({a:1})",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":+1})",
                           R"({"a":tru})",
                           R"({"a":"\x"})",
                           R"({"a":"\u12g4"})",
                           "{\"a\":\"\n\"}",
                           R"({"a":[1,]})",
                           R"({"a":[1}})",
                           R"({"a":1 "b":2})",
                           R"({"a":"x)",
                           R"({"a":{"b":1,}})",
                           R"({"a":-})",
                           R"({"a":1e})",
                           R"({"a":[)"})
    EXPECT_FALSE(Outline::of(text)) << text;
}

TEST(Outline, RefusesAMemberThatIsThereTwice) {
  EXPECT_FALSE(Outline::of(R"({"method":"a","method":"b"})"));
  EXPECT_FALSE(Outline::of(R"({"method":"a","m\u0065thod":"b"})"));
  EXPECT_TRUE(Outline::of(R"({"a":{"x":1},"b":{"x":1}})"));
}

TEST(Outline, IsNotFooledByDepth) {
  const auto nested = [](size_t depth) {
    return R"({"a":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(Outline::of(nested(kDeepest - 1)));
  EXPECT_FALSE(Outline::of(nested(kDeepest)));
  EXPECT_FALSE(Outline::of(nested(1'000'000)));
}

TEST(WithValue, ChangesOneThingAndNothingElse) {
  const std::string text = R"({"z":1e400, "params":{"n":1.0,"caps":{"t":false,"x":[ ]}},"a":0})";
  EXPECT_EQ(with_value(text, {"params", "caps", "t"}, "true"),
            R"({"z":1e400, "params":{"n":1.0,"caps":{"t":true,"x":[ ]}},"a":0})");
  EXPECT_EQ(with_value(text, {"params", "caps", "new", "deep"}, "1"),
            R"({"z":1e400, "params":{"n":1.0,"caps":{"t":false,"x":[ ],"new":{"deep":1}}},"a":0})");
  EXPECT_EQ(with_value(R"({"a":null})", {"a", "b"}, "2"), R"({"a":{"b":2}})");
  EXPECT_EQ(with_value("{ }", {"a"}, "2"), R"({ "a":2})");
  EXPECT_EQ(with_value(R"({"a":1} )", {"b"}, "2"), R"({"a":1,"b":2} )");
  EXPECT_EQ(with_value("[]", {"a"}, "2"), std::nullopt);
}

TEST(StringOf, TakesEscapesApart) {
  EXPECT_EQ(string_of(R"("a\"\\\/\b\f\n\r\t")"), "a\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_of(R"("\ud83d")"), "\xEF\xBF\xBD");
  EXPECT_EQ(string_of(R"("\ud83dx")"), "\xEF\xBF\xBDx");
  EXPECT_EQ(string_of(R"("\u0000")"), std::string(1, '\0'));
  EXPECT_EQ(string_of("1"), std::nullopt);
  EXPECT_EQ(string_of(R"(")"), std::nullopt);
  EXPECT_EQ(string_of(R"("\")"), std::nullopt);
  EXPECT_EQ(string_of(quoted("é\n\"")), "é\n\"");
}

}  // namespace
}  // namespace ttyward::acp
