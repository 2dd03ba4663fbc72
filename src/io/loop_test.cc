#include "io/loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace ttyward::io {
namespace {

using std::chrono::milliseconds;

TEST(Loop, TimersFireInTheOrderOfTheirTimes) {
  auto loop = Loop::create().value();
  std::string order;
  loop->after(milliseconds(2), [&] {
    order += 'b';
    loop->stop();
  });
  loop->after(milliseconds(1), [&] { order += 'a'; });
  loop->run();
  EXPECT_EQ(order, "ab");
}

TEST(Loop, ACancelledTimerDoesNotFire) {
  auto loop = Loop::create().value();
  bool fired = false;
  Loop::TimerId timer = loop->after(milliseconds(0), [&] { fired = true; });
  loop->cancel(timer);
  EXPECT_EQ(timer, 0U);
  loop->after(milliseconds(1), [&] { loop->stop(); });
  loop->run();
  EXPECT_FALSE(fired);
}

TEST(Loop, ATimerMayCancelAnotherThatIsDue) {
  auto loop = Loop::create().value();
  int fired = 0;
  Loop::TimerId second = 0;
  loop->after(milliseconds(0), [&] {
    ++fired;
    loop->cancel(second);
  });
  second = loop->after(milliseconds(0), [&] { ++fired; });
  loop->after(milliseconds(2), [&] { loop->stop(); });
  loop->run();
  EXPECT_EQ(fired, 1);
}

TEST(Loop, OtherThreadsHandWorkOver) {
  auto loop = Loop::create().value();
  int sum = 0;
  std::thread other([&] {
    for (int i = 1; i <= 100; ++i) loop->post([&sum, i] { sum += i; });
    loop->post([&] { loop->stop(); });
  });
  loop->run();
  other.join();
  EXPECT_EQ(sum, 5050);
}

TEST(Loop, WorkPostedByWorkRunsLaterAndIsNotLost) {
  auto loop = Loop::create().value();
  int depth = 0;
  std::function<void()> again = [&] {
    if (++depth == 10) {
      loop->stop();
    } else {
      loop->post(again);
    }
  };
  loop->post(again);
  loop->run();
  EXPECT_EQ(depth, 10);
}

}  // namespace
}  // namespace ttyward::io
