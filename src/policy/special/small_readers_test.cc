// jq filters and the input of xargs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/special/jq_filter.h"
#include "policy/special/xargs_input.h"

namespace ttyward::policy::special {
namespace {

using ::testing::ElementsAre;

TEST(JqFilter, fields_and_texts_are_not_the_environment) {
  for (const char* filter :
       {".", ".env", ".a.env | keys", "\"env\"", "{\"env\": 1}", ".x # env\n", ".[] | .env?", "\"\\(.env)\"",
        "@base64", ".environment", "$env", "to_entries"}) {
    EXPECT_EQ(read_jq_filter(filter), JqFilter{}) << filter;
  }
}

TEST(JqFilter, the_environment_and_other_files) {
  for (const char* filter : {"env", "$ENV", "$ENV.A", "[env]", "\"\\(env.A)\"", "\"a\\(\"\\(env)\")\"",
                             ".a|env", "..env", "strenv(A)", "{env}"}) {
    EXPECT_TRUE(read_jq_filter(filter).reads_environment) << filter;
  }
  for (const char* filter :
       {"import \"a\" as b; .", "include \"a\"; .", "load(\"x\")", "load_str(\"x\")", "eval(.a)"}) {
    EXPECT_TRUE(read_jq_filter(filter).loads_files) << filter;
  }
  for (const char* filter : {"\"", "\"\\(", "\"\\(\"", "\"\\"}) {
    EXPECT_FALSE(read_jq_filter(filter).understood) << filter;
  }
  EXPECT_FALSE(read_jq_filter([] {
                 std::string deep;
                 for (int i = 0; i < 5000; ++i) deep += "\"\\(";
                 return deep;
               }())
                   .understood);
}

std::vector<std::string> split(std::string_view text, XargsSplit how = {}) {
  std::vector<std::string> out;
  if (!split_xargs_input(text, how, out)) return {"refused"};
  return out;
}

TEST(XargsInput, words_are_cut_as_xargs_cuts_them) {
  EXPECT_THAT(split("a b\tc\nd\n"), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(split("'a b' \"c d\""), ElementsAre("a b", "c d"));
  EXPECT_THAT(split("r''m -r\"f\" \\/"), ElementsAre("rm", "-rf", "/"));
  EXPECT_THAT(split("''"), ElementsAre(""));
  EXPECT_THAT(split("a\\\nb"), ElementsAre("a\nb"));
  EXPECT_THAT(split("'a"), ElementsAre("refused"));
  EXPECT_THAT(split("'a\nb'"), ElementsAre("refused"));
  EXPECT_THAT(split("a\\"), ElementsAre("refused"));
}

TEST(XargsInput, lines_and_bytes) {
  EXPECT_THAT(split("  a b\nc 'd e'\n", {XargsSplit::By::Lines, '\n'}), ElementsAre("a b", "c d e"));
  EXPECT_THAT(split("a,'b',c\n", {XargsSplit::By::Byte, ','}), ElementsAre("a", "'b'", "c\n"));
  EXPECT_THAT(split("", {XargsSplit::By::Byte, ','}), ElementsAre());
}

}  // namespace
}  // namespace ttyward::policy::special
