#include "io/outgoing.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace ttyward::io {
namespace {

class OutgoingTest : public testing::Test, protected Poller::Handler {
 protected:
  OutgoingTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    near_.reset(ends[0]);
    far_.reset(ends[1]);
    EXPECT_TRUE(poller_.add(near_.get(), EPOLLIN, *this));
  }
  void on_ready(int, uint32_t events) override { events_ |= events; }
  // What the poller says now.
  uint32_t ready() {
    events_ = 0;
    poller_.wait(0);
    return events_;
  }
  std::string read_all() {
    std::string all;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::recv(far_.get(), buffer.data(), buffer.size(), 0)) > 0;)
      all.append(buffer.data(), static_cast<size_t>(got));
    return all;
  }

  Poller poller_ = Poller::create().value();
  base::UniqueFd near_;
  base::UniqueFd far_;
  Outgoing out_;
  uint32_t events_ = 0;
};

TEST_F(OutgoingTest, WhatFitsIsSentAtOnceAndThePollerIsNotAsked) {
  out_.push("hello");
  EXPECT_TRUE(out_.flush(near_.get(), poller_, *this));
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(ready(), 0U);
  EXPECT_EQ(read_all(), "hello");
}

TEST_F(OutgoingTest, WhatDoesNotFitGoesLaterInOrder) {
  std::string sent;
  for (int i = 0; out_.empty() && i < 10'000; i++) {
    const std::string part = std::to_string(i) + std::string(5000, static_cast<char>('a' + i % 26));
    sent += part;
    out_.push(part);
    ASSERT_TRUE(out_.flush(near_.get(), poller_, *this));
  }
  ASSERT_FALSE(out_.empty());
  out_.push("end");
  sent += "end";
  std::string got = read_all();
  while (!out_.empty()) {
    ASSERT_EQ(ready() & EPOLLOUT, uint32_t{EPOLLOUT});
    ASSERT_TRUE(out_.flush(near_.get(), poller_, *this));
    got += read_all();
  }
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(ready(), 0U);
}

TEST_F(OutgoingTest, ABrokenConnectionIsSaid) {
  far_.reset();
  out_.push("hello");
  EXPECT_FALSE(out_.flush(near_.get(), poller_, *this));
}

}  // namespace
}  // namespace ttyward::io
