#include "sandbox/control_group.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ttyward::sandbox {
namespace {

class GroupPlacesTest : public ::testing::Test {
 protected:
  GroupPlaces find(const std::string& mounts, const std::string& groups) const {
    return group_places(
        mounts, groups, [&](const std::string& folder) { return usable_.contains(folder); },
        [&](const std::string& folder) {
          const auto found = controllers_.find(folder);
          return found == controllers_.end() ? std::string() : found->second;
        });
  }
  std::set<std::string> usable_;
  std::map<std::string, std::string> controllers_;
};

constexpr char kVersion1[] =
    "30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/pids rw,relatime shared:9 - cgroup cgroup rw,pids\n"
    "32 30 0:28 /box /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "33 30 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr char kVersion2[] = "31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

TEST_F(GroupPlacesTest, Version1HasAFolderForEachController) {
  usable_ = {"/sys/fs/cgroup/pids/a/b", "/sys/fs/cgroup/memory/inner"};
  EXPECT_EQ(find(kVersion1, "4:memory:/box/inner\n3:pids:/a/b\n0::/\n"),
            (GroupPlaces{"/sys/fs/cgroup/memory/inner", "/sys/fs/cgroup/pids/a/b", false}));
}

TEST_F(GroupPlacesTest, AGroupThatIsNotMountedIsNone) {
  usable_ = {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"};
  EXPECT_EQ(find(kVersion1, "4:memory:/elsewhere\n3:pids:/\n"),
            (GroupPlaces{"", "/sys/fs/cgroup/pids", false}));
}

TEST_F(GroupPlacesTest, FoldersOfOthersAreNotUsed) {
  EXPECT_EQ(find(kVersion1, "4:memory:/box\n3:pids:/\n0::/\n"), GroupPlaces{});
}

TEST_F(GroupPlacesTest, Version2UsesTheNearestGroupWithControllers) {
  const std::string slice = "/sys/fs/cgroup/user.slice/app.slice";
  usable_ = {slice + "/x.scope", slice};
  controllers_[slice] = "cpu memory pids\n";
  EXPECT_EQ(find(kVersion2, "0::/user.slice/app.slice/x.scope\n"), (GroupPlaces{slice, slice, true}));
}

TEST_F(GroupPlacesTest, Version2StopsAtAGroupOfAnotherUser) {
  usable_ = {"/sys/fs/cgroup/user.slice/session.scope"};
  controllers_["/sys/fs/cgroup/user.slice"] = "memory pids\n";
  controllers_["/sys/fs/cgroup"] = "memory pids\n";
  EXPECT_EQ(find(kVersion2, "0::/user.slice/session.scope\n"), GroupPlaces{});
}

TEST_F(GroupPlacesTest, NothingIsMounted) {
  EXPECT_EQ(find("", ""), GroupPlaces{});
  EXPECT_EQ(find("garbage\n - - -\n", "x\n::\n"), GroupPlaces{});
}

}  // namespace
}  // namespace ttyward::sandbox
