#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace ttyward::base {
namespace {

TEST(Ids, they_have_their_kind_and_a_fixed_form) {
  const std::string id = random_id('c');
  EXPECT_EQ(id.size(), 13u);
  EXPECT_EQ(id[0], 'c');
  EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz234567"), std::string::npos);
  const std::string nonce = random_nonce();
  EXPECT_EQ(nonce.size(), 32u);
  EXPECT_EQ(nonce.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Ids, they_do_not_repeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; i++) {
    EXPECT_TRUE(seen.insert(random_id('t')).second);
    EXPECT_TRUE(seen.insert(random_nonce()).second);
  }
}

}  // namespace
}  // namespace ttyward::base
