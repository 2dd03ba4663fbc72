#include "vt/fill.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttyward::vt {
namespace {

constexpr size_t kLongest = 100;
constexpr StyleId kStyle = 0x12345;

TEST(Fill, widening_writes_every_cell_and_no_other) {
  std::vector<uint8_t> text(kLongest);
  for (size_t i = 0; i < kLongest; i++) text[i] = static_cast<uint8_t>(' ' + i % 95);
  for (size_t n = 0; n <= kLongest; n++) {
    std::vector<Cell> cells(kLongest + 2, Cell{7, 7});
    widen_ascii(cells.data() + 1, text.data(), n, kStyle);
    EXPECT_EQ(cells[0], (Cell{7, 7}));
    for (size_t i = 0; i < n; i++) ASSERT_EQ(cells[i + 1], (Cell{text[i], kStyle})) << i << " of " << n;
    for (size_t i = n + 1; i < cells.size(); i++) ASSERT_EQ(cells[i], (Cell{7, 7})) << i << " of " << n;
  }
}

TEST(Fill, narrowing_writes_every_byte_and_no_other) {
  std::vector<Cell> cells(kLongest);
  for (size_t i = 0; i < kLongest; i++) cells[i] = {static_cast<uint32_t>(i * 5 % 128), 0xFFFFFFFF};
  for (size_t n = 0; n <= kLongest; n++) {
    std::vector<uint8_t> out(kLongest + 2, 0xEE);
    narrow_ascii(out.data() + 1, cells.data(), n);
    EXPECT_EQ(out[0], 0xEE);
    for (size_t i = 0; i < n; i++) ASSERT_EQ(out[i + 1], cells[i].content) << i << " of " << n;
    for (size_t i = n + 1; i < out.size(); i++) ASSERT_EQ(out[i], 0xEE) << i << " of " << n;
  }
}

TEST(Fill, every_byte_that_is_not_printable_is_found_wherever_it_stands) {
  for (unsigned byte = 0; byte < 256; byte++) {
    const bool printable = byte >= 0x20 && byte <= 0x7E;
    for (size_t at = 0; at < kLongest; at++) {
      std::string text(kLongest, 'x');
      text[at] = static_cast<char>(byte);
      const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
      ASSERT_EQ(find_non_printable(begin, begin + kLongest), begin + (printable ? kLongest : at))
          << byte << " " << at;
    }
  }
}

}  // namespace
}  // namespace ttyward::vt
