#include "vt/utf8_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace ttyward::vt {
namespace {

// What the block may give for `bytes`: characters one by one, up to the first that it must leave alone.
std::u32string one_by_one(std::string_view bytes) {
  std::u32string out;
  for (size_t at = 0; at < bytes.size();) {
    const size_t before = at;
    const char32_t c = base::decode_utf8(bytes, at);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) break;
    if (c == base::kReplacementCharacter && bytes.substr(before, at - before) != "\xEF\xBF\xBD") break;
    out += c;
  }
  return out;
}

// The block's characters are the first ones of the text, and what they took is where it stopped.
void expect_agrees(const std::string& bytes) {
  ASSERT_GE(bytes.size(), static_cast<size_t>(kUtf8BlockBytes));
  char32_t got[kUtf8BlockChars];
  const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
  const Utf8Block block = decode_utf8_block(begin, got);
  ASSERT_LE(block.count, kUtf8BlockChars);
  const std::u32string text(got, block.count);
  const std::u32string wanted = one_by_one(bytes);
  ASSERT_EQ(text, wanted.substr(0, block.count));
  std::string taken;
  for (const char32_t c : text) base::append_utf8(taken, c);
  EXPECT_EQ(taken, bytes.substr(0, static_cast<size_t>(block.end - begin)));
}

TEST(Utf8Block, gives_what_decoding_one_by_one_gives) {
  const std::vector<char32_t> edges = {0x1F,   0x20,    0x7E,    0x7F,     0x80,   0x9F,
                                       0xA0,   0x7FF,   0x800,   0xD7FF,   0xE000, 0xFFFD,
                                       0xFFFF, 0x10000, 0x1F600, 0x10FFFF, 0x4E00, 'a'};
  std::mt19937 random(7);
  for (int round = 0; round < 200'000; round++) {
    std::string bytes;
    while (bytes.size() < static_cast<size_t>(kUtf8BlockBytes)) {
      const char32_t c = random() % 3 == 0 ? edges[random() % edges.size()]
                                           : static_cast<char32_t>(0xA0 + random() % 0x3000);
      base::append_utf8(bytes, c);
    }
    // Half of the time something in it is broken.
    for (unsigned n = random() % 4; n > 1; n--) bytes[random() % bytes.size()] = static_cast<char>(random());
    expect_agrees(bytes);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Utf8Block, stops_at_what_is_not_well_formed) {
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF", "\xC3", "\xC2\x85", "\x1B", "\x7F"}) {
    char32_t got[kUtf8BlockChars];
    const std::string bytes = "a\xC3\xA9" + std::string(bad) + std::string(40, 'b');
    const Utf8Block block = decode_utf8_block(reinterpret_cast<const uint8_t*>(bytes.data()), got);
    EXPECT_LE(block.count, 2U);
    expect_agrees(bytes);
  }
}

// Byte by byte: what a block of noise must give, and where it must stop.
TEST(NoiseBlock, every_byte_is_itself_or_replaced_up_to_a_control_or_a_pair) {
  std::mt19937 random(7);
  for (int round = 0; round < 200'000; round++) {
    uint8_t bytes[kNoiseBlockBytes];
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(random());
      if (round % 2 == 0 && byte < 0x20) byte |= 0x80;  // or few blocks would get far
    }
    std::u32string wanted;
    bool ill_formed = false;
    for (size_t i = 0; i < kNoiseBlockChars; i++) {
      const uint8_t c = bytes[i];
      const bool is_pair = base::kUtf8Leads[c].following != 0 && (bytes[i + 1] & 0xC0) == 0x80;
      if (c < 0x20 || c == 0x7F || is_pair) break;
      wanted += c < 0x80 ? static_cast<char32_t>(c) : base::kReplacementCharacter;
      ill_formed |= c >= 0x80;
    }
    char32_t got[kNoiseBlockChars];
    const NoiseBlock block = decode_noise_block(bytes, got);
    ASSERT_EQ(std::u32string(got, block.count), wanted) << "round " << round;
    ASSERT_EQ(block.ill_formed, ill_formed) << "round " << round;
  }
}

#if defined(__SSE2__)
TEST(Utf8Block, takes_most_of_a_block_of_good_text) {
  std::string bytes;
  for (int i = 0; i < 20; i++) bytes += "\xE6\xBC\xA2\xC3\xA9";
  char32_t got[kUtf8BlockChars];
  EXPECT_EQ(decode_utf8_block(reinterpret_cast<const uint8_t*>(bytes.data()), got).count, 12U);
}
#endif

}  // namespace
}  // namespace ttyward::vt
