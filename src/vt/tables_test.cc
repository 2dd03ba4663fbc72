// The screen's tables of styles, clusters and links: numbers, limits, sweeping.
#include <gtest/gtest.h>

#include <set>

#include "vt/cluster.h"
#include "vt/link.h"
#include "vt/style.h"

namespace ttyward::vt {
namespace {

Style colored(uint32_t n) {
  Style style;
  style.foreground =
      Color::rgb(static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n));
  return style;
}

TEST(StyleTable, DefaultIsZeroAndEqualStylesShareANumber) {
  StyleTable table;
  EXPECT_EQ(table.intern(Style{}), 0u);
  const StyleId red = table.intern(colored(0xFF0000));
  EXPECT_NE(red, 0u);
  EXPECT_EQ(table.intern(colored(0xFF0000)), red);
  EXPECT_EQ(table[red], colored(0xFF0000));
}

TEST(StyleTable, SweepingFreesNumbersAndKeepsTheRest) {
  StyleTable table;
  std::vector<StyleId> ids;
  for (uint32_t n = 1; n <= 10'000; n++) ids.push_back(table.intern(colored(n)));
  EXPECT_TRUE(table.wants_sweep());
  std::vector<bool> used(table.capacity(), false);
  for (size_t i = 0; i < ids.size(); i += 100) used[ids[i]] = true;
  table.sweep(used);
  EXPECT_FALSE(table.wants_sweep());
  EXPECT_EQ(table.live(), 101u);
  const size_t capacity = table.capacity();
  for (size_t i = 0; i < ids.size(); i += 100) {
    EXPECT_EQ(table.intern(colored(static_cast<uint32_t>(i + 1))), ids[i]);
  }
  for (uint32_t n = 50'000; n < 55'000; n++) table.intern(colored(n));
  EXPECT_EQ(table.capacity(), capacity);  // freed numbers are used again
  EXPECT_EQ(table.intern(Style{}), 0u);
}

TEST(ClusterTable, EqualClustersShareANumber) {
  ClusterTable table;
  const Glyph one = table.append(table.append('e', 0x301), 0x302);
  const Glyph two = table.append(table.append('e', 0x301), 0x302);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, table.append('e', 0x302));
  EXPECT_EQ(table.length(one), 3u);
  EXPECT_EQ(table.first_code_point(one), U'e');
  EXPECT_EQ(table.last_code_point(one), char32_t{0x302});
  std::string text;
  table.append_utf8(one, text);
  EXPECT_EQ(text, "e\xcc\x81\xcc\x82");
}

TEST(ClusterTable, KeepsAtMostSoManyCodePoints) {
  ClusterTable table;
  Glyph glyph = 'e';
  for (int i = 0; i < 100; i++) glyph = table.append(glyph, 0x301);
  EXPECT_EQ(table.length(glyph), ClusterTable::kMaxCodePoints);
  EXPECT_EQ(table.append(glyph, 0x301), glyph);
}

TEST(ClusterTable, SweepingKeepsPrefixes) {
  ClusterTable table;
  const Glyph kept = table.append(table.append('e', 0x301), 0x302);
  for (char32_t c = 0x300; c < 0x360; c++) table.append(table.append('a', c), 0x301);
  std::vector<bool> used(table.capacity(), false);
  used[kept & Cell::kContentMask] = true;
  table.sweep(used);
  EXPECT_EQ(table.live(), 2u);
  std::string text;
  table.append_utf8(kept, text);
  EXPECT_EQ(text, "e\xcc\x81\xcc\x82");
  EXPECT_EQ(table.append(table.append('e', 0x301), 0x302), kept);
}

TEST(ClusterTable, AtTheLimitMarksAreDropped) {
  ClusterTable table;
  std::set<Glyph> seen;
  char32_t base = 0x10000;
  while (table.live() < ClusterTable::kMaxClusters) table.append(base++, 0x301);
  EXPECT_EQ(table.append('z', 0x301), Glyph{'z'});
}

TEST(LinkTable, SameIdAndAddressAreOneLink) {
  LinkTable table;
  const uint16_t one = table.intern("", "http://a");
  EXPECT_EQ(table.intern("", "http://a"), one);
  EXPECT_NE(table.intern("x", "http://a"), one);
  EXPECT_EQ(table[one], (Link{"", "http://a"}));
  EXPECT_EQ(table.intern("", ""), 0u);
}

TEST(LinkTable, Limits) {
  LinkTable table;
  EXPECT_NE(table.intern("", std::string(LinkTable::kMaxUriBytes, 'a')), 0u);
  EXPECT_EQ(table.intern("", std::string(LinkTable::kMaxUriBytes + 1, 'a')), 0u);
  EXPECT_EQ(table.intern(std::string(LinkTable::kMaxIdBytes + 1, 'i'), "http://a"), 0u);
  while (!table.is_full()) EXPECT_NE(table.intern("", "http://" + std::to_string(table.capacity())), 0u);
  EXPECT_EQ(table.intern("", "http://one-too-many"), 0u);
  std::vector<bool> used(table.capacity(), false);
  used[7] = true;
  const Link seventh = table[7];
  table.sweep(used);
  EXPECT_NE(table.intern("", "http://one-too-many"), 0u);
  EXPECT_EQ(table.intern(seventh.id, seventh.uri), 7u);
}

}  // namespace
}  // namespace ttyward::vt
