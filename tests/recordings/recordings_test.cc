// What real programs printed, replayed: each folder has the bytes (input) and the screen they must leave
// (expected). The screens were compared with xterm's, cell by cell, when they were recorded.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../support/dump.h"

namespace ttyward::test {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& folder : std::filesystem::directory_iterator(TTYWARD_SOURCE_DIR "/tests/recordings")) {
    if (folder.is_directory()) found.push_back(folder.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Recording : public testing::TestWithParam<std::string> {};

TEST_P(Recording, LeavesTheScreenItShould) {
  const std::string folder = TTYWARD_SOURCE_DIR "/tests/recordings/" + GetParam();
  vt::Screen screen(sized(80, 24));
  const std::string input = contents(folder + "/input");
  for (size_t at = 0; at < input.size(); at += 100) screen.feed(std::string_view(input).substr(at, 100));
  const std::string got =
      fmt::format("cursor {},{}{}\n{}--\n{}\n", screen.cursor().row, screen.cursor().col,
                  screen.is_alternate() ? " alternate" : "", history_text(screen), screen_text(screen));
  if (std::getenv("TTYWARD_UPDATE_GOLDENS") != nullptr) {
    std::ofstream(folder + "/expected") << got;
    GTEST_SKIP() << "wrote " << folder << "/expected";
  }
  EXPECT_EQ(contents(folder + "/expected"), got);
  EXPECT_EQ(broken_invariant(screen), "");
}

INSTANTIATE_TEST_SUITE_P(Programs, Recording, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ttyward::test
