#include "shell/text_tracking.h"

#include <gtest/gtest.h>

namespace ttyward::shell {
namespace {

TEST(TextTracking, cd) {
  const auto from = [](std::string_view command) { return cwd_after(command, "/a/b", "/home/u"); };
  EXPECT_EQ(from("cd c"), "/a/b/c");
  EXPECT_EQ(from(" cd ../x/ "), "/a/x");
  EXPECT_EQ(from("cd /"), "/");
  EXPECT_EQ(from("cd 'with blank'"), "/a/b/with blank");
  EXPECT_EQ(from("cd"), "/home/u");
  EXPECT_EQ(from("cd ~/src"), "/home/u/src");
  EXPECT_EQ(from("cd -- c"), "/a/b/c");
  for (const char* other : {"cd $X", "cd a && b", "cd -", "cd ~other", "cdx", "ls", "cd a; ls", "cd \"$X\""})
    EXPECT_EQ(from(other), std::nullopt) << other;
}

TEST(TextTracking, assignments) {
  EXPECT_EQ(assigned_by("export A=1"), (Variables{{"A", "1"}}));
  EXPECT_EQ(assigned_by("export A='x y'"), (Variables{{"A", "x y"}}));
  EXPECT_EQ(assigned_by("set NAME=value"), (Variables{{"NAME", "value"}}));
  EXPECT_EQ(assigned_by("export A=$B"), Variables{});
  EXPECT_EQ(assigned_by("export A"), Variables{});
  EXPECT_EQ(assigned_by("A=1"), Variables{});
}

}  // namespace
}  // namespace ttyward::shell
