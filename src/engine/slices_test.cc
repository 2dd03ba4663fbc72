#include "engine/slices.h"

#include <gtest/gtest.h>

#include <vector>

namespace ttyward::engine {
namespace {

using std::chrono::milliseconds;

class Slicing : public ::testing::Test {
 protected:
  std::unique_ptr<io::Loop> loop_ = io::Loop::create().value();
  Slices slices_{*loop_};
  void turn() { loop_->turn(milliseconds(0)); }
};

TEST_F(Slicing, work_begins_from_the_loop_and_ends_when_it_is_done) {
  int steps = 0;
  slices_.add([&](Slices::Clock::time_point) { return ++steps == 3; });
  EXPECT_EQ(steps, 0);
  while (slices_.size() > 0) turn();
  EXPECT_EQ(steps, 3);
  turn();
  EXPECT_EQ(steps, 3);
}

TEST_F(Slicing, a_turn_has_one_budget_for_all_of_them) {
  std::vector<int> turns(8, 0);
  for (int& each : turns) {
    slices_.add([&each](Slices::Clock::time_point until) {
      each++;
      while (Slices::Clock::now() < until) {
      }
      return false;
    });
  }
  turn();
  int worked = 0;
  for (const int each : turns) worked += each;
  EXPECT_LE(worked, Slices::kTurn / Slices::kSlice + 1);
  // Everybody has their turn before anybody has the second one.
  for (int i = 0; i < 100 && turns.back() == 0; i++) turn();
  EXPECT_EQ(turns.back(), 1);
  EXPECT_LE(turns.front(), 2);
}

TEST_F(Slicing, work_may_hand_over_more_work) {
  bool second = false;
  slices_.add([&](Slices::Clock::time_point) {
    slices_.add([&](Slices::Clock::time_point) { return second = true; });
    return true;
  });
  while (slices_.size() > 0) turn();
  EXPECT_TRUE(second);
}

TEST_F(Slicing, what_is_not_done_goes_with_them) {
  int steps = 0;
  {
    Slices gone(*loop_);
    gone.add([&](Slices::Clock::time_point) {
      steps++;
      return false;
    });
  }
  turn();
  EXPECT_EQ(steps, 0);
}

}  // namespace
}  // namespace ttyward::engine
