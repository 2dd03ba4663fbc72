#include "policy/file_view.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "policy/evaluate.h"

namespace ttyward::policy {
namespace {

class RealFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 64> pattern{"/tmp/ttyward_view_XXXXXX"};
    folder_ = std::filesystem::canonical(::mkdtemp(pattern.data())).string();
    std::filesystem::create_directories(folder_ + "/home/project/src");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  RealFiles files_;
};

TEST_F(RealFilesTest, what_is_missing_stays_behind_the_real_place_of_its_parent) {
  std::filesystem::create_directory_symlink(folder_ + "/home/project", folder_ + "/link");
  EXPECT_EQ(files_.canonical(folder_ + "/link/src"), folder_ + "/home/project/src");
  EXPECT_EQ(files_.canonical(folder_ + "/link/new/file"), folder_ + "/home/project/new/file");
  EXPECT_EQ(files_.canonical("/nothing/here"), "/nothing/here");
}

TEST_F(RealFilesTest, a_link_to_nothing_leads_to_what_would_be_made) {
  std::filesystem::create_symlink(folder_ + "/home/.bashrc", folder_ + "/home/project/a");
  std::filesystem::create_symlink("../.profile", folder_ + "/home/project/b");
  std::filesystem::create_symlink("b", folder_ + "/home/project/c");
  std::filesystem::create_symlink("loop", folder_ + "/home/project/loop");
  EXPECT_EQ(files_.canonical(folder_ + "/home/project/a"), folder_ + "/home/.bashrc");
  EXPECT_EQ(files_.canonical(folder_ + "/home/project/b"), folder_ + "/home/.profile");
  EXPECT_EQ(files_.canonical(folder_ + "/home/project/c"), folder_ + "/home/.profile");
  EXPECT_FALSE(files_.canonical(folder_ + "/home/project/loop").empty());
  const Place place{folder_ + "/home/project", folder_ + "/home/project", folder_ + "/home", &files_};
  const Settings settings{Mode::AutoEdit, true, true};
  EXPECT_EQ(check("echo x > new", place, RuleSet{}, settings).decision, Decision::Allow);
  EXPECT_EQ(check("echo x > a", place, RuleSet{}, settings).decision, Decision::Ask);
  EXPECT_EQ(check("echo x > c", place, RuleSet{}, settings).decision, Decision::Ask);
}

}  // namespace
}  // namespace ttyward::policy
