#include "engine/registry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ttyward::engine {
namespace {

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~RegistryTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = std::filesystem::temp_directory_path() / "ttyward-registry-XXXXXX";
  std::string file() const { return folder_ + "/registry.json"; }
};

TEST_F(RegistryTest, paths_go_where_their_contributors_want_them) {
  Registry registry(file());
  registry.contribute_path({"tools", "/opt/tools", "", false});
  registry.contribute_path({"shims", "/opt/shims", "", true});
  registry.contribute_path({"tools", "/opt/better", "", false});  // in place of the first
  std::vector<std::string> environment{"HOME=/root", "PATH=/bin"};
  registry.add_paths(environment);
  EXPECT_EQ(environment, (std::vector<std::string>{"HOME=/root", "PATH=/opt/shims:/bin:/opt/better"}));
  EXPECT_TRUE(registry.remove_path("shims"));
  EXPECT_FALSE(registry.remove_path("shims"));
}

TEST_F(RegistryTest, what_it_knows_is_there_for_the_next_one) {
  Registry registry(file());
  registry.contribute_path({"tools", "/opt/tools", "the tools", true});
  ASSERT_TRUE(registry.associate("t1", "alpha", "rich"));
  ASSERT_TRUE(registry.associate("t1", "alpha", "basic"));  // the same again
  ASSERT_TRUE(registry.associate("t1", "beta", "none"));
  EXPECT_FALSE(registry.associate("t1", "beta", "splendid"));
  Registry next(file());
  next.load();
  ASSERT_EQ(next.paths().size(), 1U);
  EXPECT_EQ(next.paths()[0].description, "the tools");
  EXPECT_TRUE(next.paths()[0].prepend);
  ASSERT_EQ(next.sessions_of("t1").size(), 2U);
  EXPECT_EQ(next.sessions_of("t1")[0].quality, "basic");
  EXPECT_TRUE(next.used_by("t1", "beta"));
  EXPECT_FALSE(next.used_by("t2", "beta"));
  next.forget_terminal("t1");
  Registry last(file());
  last.load();
  EXPECT_TRUE(last.sessions_of("t1").empty());
}

TEST_F(RegistryTest, a_file_that_is_missing_or_damaged_costs_what_is_in_it) {
  Registry registry(file());
  registry.load();
  EXPECT_TRUE(registry.paths().empty());
  std::ofstream(file()) << R"({"paths": [{"contributor": "a"}, 7], "sessions": )";
  registry.load();
  EXPECT_TRUE(registry.paths().empty());
}

}  // namespace
}  // namespace ttyward::engine
