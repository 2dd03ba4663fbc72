#include "base/with_timeout.h"

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>

namespace ttyward::base {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(WithTimeout, an_operation_that_ends_first_gives_its_value) {
  bool told = false;
  const auto came =
      with_timeout(hours(1), [](const StopFlag&) { return std::string("done"); }, [&] { told = true; });
  ASSERT_TRUE(came);
  EXPECT_EQ(*came, "done");
  EXPECT_FALSE(told);
}

TEST(WithTimeout, an_operation_without_a_value) {
  auto ran = std::make_shared<std::atomic<bool>>(false);
  EXPECT_TRUE(with_timeout(hours(1), [ran](const StopFlag&) { *ran = true; }));
  EXPECT_TRUE(*ran);
}

TEST(WithTimeout, the_limit_that_comes_first_is_told_once_and_stops_it) {
  auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  int told = 0;
  const auto came = with_timeout(
      milliseconds(20),
      [ended](const StopFlag& stop) {
        while (!stop.is_set()) std::this_thread::yield();
        ended->set_value();
        return 1;
      },
      [&] { told++; });
  ASSERT_FALSE(came);
  EXPECT_EQ(came.error().code, ErrorCode::Unavailable);
  EXPECT_EQ(came.error().message, "it took longer than 20 ms");
  EXPECT_EQ(told, 1);
  end.wait();  // it saw the flag
}

TEST(WithTimeout, what_it_throws_comes_out_of_the_call) {
  bool told = false;
  const auto call = [&] {
    static_cast<void>(with_timeout(
        hours(1), [](const StopFlag&) -> int { throw std::runtime_error("no"); }, [&] { told = true; }));
  };
  EXPECT_THROW(call(), std::runtime_error);
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace ttyward::base
