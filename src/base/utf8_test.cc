#include "base/utf8.h"

#include <gtest/gtest.h>

#include <vector>

namespace ttyward::base {
namespace {

std::vector<char32_t> decoded(std::string_view text) {
  std::vector<char32_t> out;
  for (size_t pos = 0; pos < text.size();) out.push_back(decode_utf8(text, pos));
  return out;
}

TEST(Utf8, every_scalar_value_survives) {
  for (char32_t c = 0; c <= 0x10FFFF; c++) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    size_t pos = 0;
    ASSERT_EQ(decode_utf8(text, pos), c);
    ASSERT_EQ(pos, text.size());
  }
}

TEST(Utf8, an_ill_formed_prefix_is_one_replacement) {
  EXPECT_EQ(decoded("\xE2\x82"
                    "a"),
            (std::vector<char32_t>{0xFFFD, 'a'}));
  EXPECT_EQ(decoded("\xF0\x9F\x98"), (std::vector<char32_t>{0xFFFD}));
  EXPECT_EQ(decoded("\xC0\x80"), (std::vector<char32_t>{0xFFFD, 0xFFFD}));
  EXPECT_EQ(decoded("\xED\xA0\x80"), (std::vector<char32_t>{0xFFFD, 0xFFFD, 0xFFFD}));
  EXPECT_EQ(decoded("\xF4\x90\x80\x80"), (std::vector<char32_t>{0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}));
}

TEST(Utf8, validity_is_strict) {
  EXPECT_TRUE(is_valid_utf8("aé€😀"));
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_FALSE(is_valid_utf8("\x80"));
  EXPECT_FALSE(is_valid_utf8("\xE2\x82"));
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));
  EXPECT_FALSE(is_valid_utf8("\xC1\xBF"));
}

}  // namespace
}  // namespace ttyward::base
