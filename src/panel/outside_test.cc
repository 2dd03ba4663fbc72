#include "panel/outside.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing.h"

namespace ttyward::panel {
namespace {

class OutsideTest : public ::testing::Test {
 protected:
  OutsideTest() {
    std::string made = ::testing::TempDir() + "panel-outside-XXXXXX";
    folder = ::mkdtemp(made.data());
    places.folder = folder;
    places.sessions_file = folder + "/sessions";
    places.daemon.folders.state = folder + "/state";
    places.daemon.folders.runtime = folder + "/run";
    places.daemon.folders.config = folder + "/config";
    places.daemon.start_daemon = false;
  }
  ~OutsideTest() override { base::testing::remove_tree(folder); }
  std::string folder;
  Outside::Places places;
};

TEST_F(OutsideTest, keeps_sessions_in_a_file_for_the_person_alone) {
  const auto outside = Outside::start(places);
  ASSERT_TRUE(outside) << outside.error().message;
  (*outside)->keep_sessions("first\n");
  (*outside)->keep_sessions("second\n");
  // It does one thing after the other: this answer comes when they are written.
  EXPECT_FALSE((*outside)->reach(places.daemon));
  std::ifstream in(places.sessions_file);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(in)), {}), "second\n");
  struct stat status{};
  ASSERT_EQ(::stat(places.sessions_file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(OutsideTest, says_why_there_is_no_daemon) {
  const auto outside = Outside::start(places);
  ASSERT_TRUE(outside) << outside.error().message;
  client::Options wanted = places.daemon;
  wanted.start_daemon = true;  // more than the helper was told it may
  const auto reached = (*outside)->reach(wanted);
  ASSERT_FALSE(reached);
  EXPECT_EQ(reached.error().code, base::ErrorCode::NotFound);
  EXPECT_EQ(reached.error().message, "no daemon is running; start one with: ttyward daemon run");
}

}  // namespace
}  // namespace ttyward::panel
