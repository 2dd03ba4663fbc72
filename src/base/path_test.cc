#include "base/path.h"

#include <gtest/gtest.h>

namespace ttyward::base {
namespace {

TEST(NormalizePath, resolves_what_it_can_by_the_text_alone) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"/", "/"},
                                                       {"//", "/"},
                                                       {"/..", "/"},
                                                       {"/a/", "/a"},
                                                       {"/a//b", "/a/b"},
                                                       {"/a/./b", "/a/b"},
                                                       {"/a/b/../c", "/a/c"},
                                                       {"a/..", "."},
                                                       {"./a", "a"},
                                                       {"../a", "../a"},
                                                       {"a/../../b", "../b"},
                                                       {"/a/b/../..", "/"},
                                                       {"...", "..."},
                                                       {"/a/.b/..c", "/a/.b/..c"}};
  for (const auto& [path, expected] : cases) EXPECT_EQ(normalize_path(path), expected) << path;
}

TEST(SamePath, missing_equals_missing_only) {
  EXPECT_TRUE(same_path(std::nullopt, std::nullopt));
  EXPECT_FALSE(same_path("/a", std::nullopt));
  EXPECT_FALSE(same_path(std::nullopt, "/a"));
}

TEST(SamePath, spelling_does_not_matter_but_case_does) {
  EXPECT_TRUE(same_path("/home/u/project/", "/home/u//x/../project/."));
  EXPECT_TRUE(same_path("/", "/.."));
  EXPECT_FALSE(same_path("/A", "/a"));
  EXPECT_FALSE(same_path("/a", "a"));
}

}  // namespace
}  // namespace ttyward::base
