#include "base/folders.h"

#include <gtest/gtest.h>

#include <map>

namespace ttyward::base {
namespace {

Folders folders(const std::map<std::string, std::string>& environment) {
  return user_folders([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Folders, one_variable_holds_everything_together) {
  const Folders all = folders({{"TTYWARD_HOME", "/t"}, {"HOME", "/home/me"}, {"XDG_STATE_HOME", "/s"}});
  EXPECT_EQ(all.state, "/t/state");
  EXPECT_EQ(all.runtime, "/t/run");
  EXPECT_EQ(all.config, "/t/config");
  EXPECT_EQ(all.journals(), "/t/state/journals");
}

TEST(Folders, xdg_variables_are_followed) {
  const Folders all =
      folders({{"XDG_STATE_HOME", "/s"}, {"XDG_RUNTIME_DIR", "/r"}, {"XDG_CONFIG_HOME", "/c"}});
  EXPECT_EQ(all.state, "/s/ttyward");
  EXPECT_EQ(all.runtime, "/r/ttyward");
  EXPECT_EQ(all.config, "/c/ttyward");
}

TEST(Folders, home_is_the_default_and_relative_paths_do_not_count) {
  const Folders all = folders({{"HOME", "/home/me"}, {"XDG_STATE_HOME", "relative"}, {"TTYWARD_HOME", ""}});
  EXPECT_EQ(all.state, "/home/me/.local/state/ttyward");
  EXPECT_EQ(all.runtime, "");
  EXPECT_EQ(all.config, "/home/me/.config/ttyward");
  EXPECT_EQ(folders({}).state.front(), '/');
}

TEST(Folders, no_slash_is_doubled) {
  EXPECT_EQ(folders({{"HOME", "/"}}).state, "/.local/state/ttyward");
  EXPECT_EQ(folders({{"TTYWARD_HOME", "/t/"}}).state, "/t/state");
  EXPECT_EQ(folders({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c/"}}).config, "/c/ttyward");
}

}  // namespace
}  // namespace ttyward::base
