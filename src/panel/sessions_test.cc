#include "panel/sessions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ttyward::panel {
namespace {

class Sessions_ : public ::testing::Test {
 protected:
  int64_t now = 1'000'000;
  Sessions::Options options(Role most = Role::Person) {
    Sessions::Options made{most, file};
    if (!file.empty()) made.keep = [this](std::string_view text) { std::ofstream(file) << text; };
    made.now = [this] { return now; };
    return made;
  }
  std::string file;
};

TEST_F(Sessions_, a_link_works_once_and_for_a_minute) {
  Sessions sessions(options());
  const std::string token = sessions.make_link(Role::Person);
  EXPECT_EQ(sessions.redeem("0000").error(), Sessions::Problem::Unknown);
  EXPECT_EQ(sessions.redeem("").error(), Sessions::Problem::Unknown);
  const auto made = sessions.redeem(token);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->role, Role::Person);
  EXPECT_EQ(sessions.redeem(token).error(), Sessions::Problem::Used);
  const std::string late = sessions.make_link(Role::Person);
  now += Sessions::kLinkLife + 1;
  EXPECT_EQ(sessions.redeem(late).error(), Sessions::Problem::Expired);
}

TEST_F(Sessions_, cookie_and_key_are_both_needed_and_belong_together) {
  Sessions sessions(options());
  const auto one = sessions.redeem(sessions.make_link(Role::Person));
  const auto other = sessions.redeem(sessions.make_link(Role::Viewer));
  ASSERT_TRUE(one && other);
  EXPECT_EQ(sessions.admit(one->cookie, one->key), Role::Person);
  EXPECT_EQ(sessions.admit(other->cookie, other->key), Role::Viewer);
  EXPECT_EQ(sessions.admit(one->cookie, other->key), std::nullopt);
  EXPECT_EQ(sessions.admit(one->cookie, ""), std::nullopt);
  EXPECT_EQ(sessions.admit("", one->key), std::nullopt);
  EXPECT_EQ(sessions.admit(one->key, one->cookie), std::nullopt);
  now += Sessions::kSessionLife + 1;
  EXPECT_EQ(sessions.admit(one->cookie, one->key), std::nullopt) << "it is over after twelve hours";
}

TEST_F(Sessions_, a_panel_for_watching_makes_no_more_than_viewers) {
  Sessions sessions(options(Role::Viewer));
  const auto made = sessions.redeem(sessions.make_link(Role::Person));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->role, Role::Viewer);
}

TEST_F(Sessions_, who_guesses_is_told_to_wait_and_the_right_one_still_gets_in) {
  Sessions sessions(options());
  const std::string token = sessions.make_link(Role::Person);
  for (size_t i = 0; i < Sessions::kMostWrong; i++)
    EXPECT_EQ(sessions.redeem(std::to_string(i)).error(), Sessions::Problem::Unknown);
  EXPECT_EQ(sessions.redeem("another").error(), Sessions::Problem::TooMany);
  EXPECT_TRUE(sessions.redeem(token)) << "nobody can lock a person out by guessing";
  now += Sessions::kWrongTime + 1;
  EXPECT_EQ(sessions.redeem("later").error(), Sessions::Problem::Unknown);
}

TEST_F(Sessions_, with_a_file_sessions_outlive_the_process_and_secrets_are_not_in_it) {
  const std::string folder = ::testing::TempDir() + "panel-sessions-" + std::to_string(::getpid());
  std::filesystem::create_directory(folder);
  file = folder + "/sessions";
  Sessions::Made made;
  {
    Sessions sessions(options());
    made = sessions.redeem(sessions.make_link(Role::Person)).value();
  }
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text.find(made.cookie), std::string::npos);
  EXPECT_EQ(text.find(made.key), std::string::npos);
  {
    Sessions again(options());
    EXPECT_EQ(again.admit(made.cookie, made.key), Role::Person);
  }
  {
    Sessions watching(options(Role::Viewer));
    EXPECT_EQ(watching.admit(made.cookie, made.key), Role::Viewer) << "a panel for watching lowers them";
  }
  std::ofstream(file) << "rubbish\n\nshort short person 99\n";
  Sessions damaged(options());
  EXPECT_EQ(damaged.admit(made.cookie, made.key), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ttyward::panel
