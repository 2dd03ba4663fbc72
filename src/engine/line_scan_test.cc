#include "engine/line_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttyward::engine {
namespace {

TEST(LineScan, what_the_time_does_not_suffice_for_is_visited_the_next_time) {
  terminal::Output output({});
  constexpr size_t kLines = 20'000;
  for (size_t i = 1; i <= kLines; i++) output.feed("line " + std::to_string(i) + "\r\n");
  LineScan scan;
  std::vector<terminal::LineNumber> visited;
  int calls = 0;
  bool all = false;
  while (!all) {
    ASSERT_LT(calls++, 1000);
    all = scan.scan(
        output, LineScan::Finished::No,
        [&](const LineScan::Line& line) {
          visited.push_back(line.number);
          return true;
        },
        std::chrono::steady_clock::now());
  }
  EXPECT_GT(calls, 2);
  ASSERT_EQ(visited.size(), kLines);
  for (size_t i = 0; i < kLines; i++) ASSERT_EQ(visited[i], i + 1);
}

TEST(LineScan, without_a_time_everything_is_visited_at_once) {
  terminal::Output output({});
  for (int i = 0; i < 20'000; i++) output.feed("x" + std::to_string(i) + "\r\n");
  LineScan scan;
  size_t visited = 0;
  EXPECT_TRUE(
      scan.scan(output, LineScan::Finished::No, [&](const LineScan::Line&) { return ++visited > 0; }));
  EXPECT_EQ(visited, 20'000U);
}

}  // namespace
}  // namespace ttyward::engine
