#include "fleet/nkey.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace ttyward::fleet {
namespace {

TEST(NKey, a_new_one_is_read_back) {
  const std::string file = testing::TempDir() + "/seed";
  std::remove(file.c_str());
  const auto made = make_nkey_file(file);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 56U);
  EXPECT_EQ(made->front(), 'U');
  EXPECT_EQ(public_nkey_of_file(file).value_or(""), *made);
  EXPECT_FALSE(make_nkey_file(file)) << "a seed is not overwritten";
  std::remove(file.c_str());
}

TEST(NKey, a_text_that_is_no_seed_is_refused) {
  const std::string file = testing::TempDir() + "/no-seed";
  for (const std::string& text : {std::string(58, 'A'), std::string("SUA") + std::string(55, 'B')}) {
    std::ofstream(file) << text << "\n";
    ::chmod(file.c_str(), 0600);
    EXPECT_FALSE(public_nkey_of_file(file));
  }
  std::remove(file.c_str());
}

}  // namespace
}  // namespace ttyward::fleet
