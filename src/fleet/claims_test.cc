#include "fleet/claims.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ttyward::fleet {
namespace {

TEST(Claims, what_was_kept_is_found_again_until_it_is_removed) {
  const std::string folder = testing::TempDir() + "/claims";
  std::filesystem::remove_all(folder);
  const auto claims = Claims::open(folder);
  ASSERT_TRUE(claims) << claims.error().message;
  Claim claim;
  claim.job.id = "caaaaaaaaaaaa";
  claim.job.argv = {"echo", "a b"};
  claim.job.env.entries = {"A=1"};
  claim.job.proof = Proof{"ada", "00"};
  claim.boot = "boot";
  claim.starts = 2;
  ASSERT_TRUE(claims->keep(claim));
  // Half a file and files of others do no harm.
  std::ofstream(folder + "/cbbbbbbbbbbbb") << "{\"job\":";
  std::ofstream(folder + "/notes") << "x";
  const auto found = Claims::open(folder)->all();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(text_of(found.front()), text_of(claim));
  EXPECT_TRUE(claims->has("caaaaaaaaaaaa"));
  claims->remove("caaaaaaaaaaaa");
  EXPECT_FALSE(claims->has("caaaaaaaaaaaa"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ttyward::fleet
