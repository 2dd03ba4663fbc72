#include "base/rfc3339.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(Rfc3339, WritesUtcWithMilliseconds) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(rfc3339(1'794'800'220'123), "2026-11-16T03:37:00.123Z");
  EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59.999Z");
}

TEST(Rfc3339, ReadsBackWhatItWrote) {
  for (const int64_t ms :
       {int64_t{0}, int64_t{1'794'800'220'123}, int64_t{951'782'399'999}, int64_t{-62'135'596'800'000}})
    EXPECT_EQ(parse_rfc3339(rfc3339(ms)), ms);
}

TEST(Rfc3339, UnderstandsOffsetsAndFractions) {
  EXPECT_EQ(parse_rfc3339("2026-11-16T05:37:00+02:00"), 1'794'800'220'000);
  EXPECT_EQ(parse_rfc3339("2026-11-15T22:07:00-05:30"), 1'794'800'220'000);
  EXPECT_EQ(parse_rfc3339("2026-11-16 03:37:00.1239999Z"), 1'794'800'220'123);
  EXPECT_EQ(parse_rfc3339("2026-11-16t03:37:00.1z"), 1'794'800'220'100);
}

TEST(Rfc3339, RefusesWhatIsNoMoment) {
  for (const char* text :
       {"", "2026-11-16", "2026-11-16T03:37:00", "2026-02-30T00:00:00Z", "2026-11-16T24:00:00Z",
        "2026-11-16T03:37:00.Z", "2026-11-16T03:37:00Zx", "1794800220123", "2026-11-16T03:37:00+25:00"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

}  // namespace
}  // namespace ttyward::base
