#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ttyward::base {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

UniqueFd open_null() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, closes_when_it_goes_out_of_scope) {
  int number = -1;
  {
    UniqueFd fd = open_null();
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, a_move_leaves_the_source_empty_and_closes_what_the_target_held) {
  UniqueFd a = open_null();
  UniqueFd b = open_null();
  const int from = a.get();
  const int overwritten = b.get();
  b = std::move(a);
  EXPECT_EQ(b.get(), from);
  EXPECT_FALSE(a.valid());  // NOLINT(bugprone-use-after-move): the moved-from state is the subject
  EXPECT_FALSE(is_open(overwritten));
}

TEST(UniqueFd, release_hands_the_descriptor_over_open) {
  UniqueFd fd = open_null();
  UniqueFd other(fd.release());
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(is_open(other.get()));
}

TEST(UniqueFd, closing_keeps_errno) {
  UniqueFd fd = open_null();
  errno = ENOSPC;
  fd.reset();
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace ttyward::base
