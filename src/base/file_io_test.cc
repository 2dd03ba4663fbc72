#include "base/file_io.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace ttyward::base {
namespace {

TEST(FileIo, what_was_written_is_read_and_the_end_is_told) {
  const UniqueFd file(::memfd_create("file_io_test", MFD_CLOEXEC));
  ASSERT_TRUE(file);
  ASSERT_TRUE(write_at(file.get(), "hello", 5, 3, "it"));
  char text[16] = {};
  EXPECT_EQ(read_at(file.get(), text, 5, 3, "it").value(), 5u);
  EXPECT_STREQ(text, "hello");
  EXPECT_EQ(read_at(file.get(), text, sizeof text, 6, "it").value(), 2u);
  EXPECT_EQ(read_at(file.get(), text, sizeof text, 100, "it").value(), 0u);
}

TEST(FileIo, a_failure_names_the_file_and_keeps_the_errno) {
  char text[4];
  const auto got = read_at(-1, text, sizeof text, 0, "the journal");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().sys_errno, EBADF);
  EXPECT_NE(got.error().message.find("the journal"), std::string::npos);
  EXPECT_FALSE(write_at(-1, text, sizeof text, 0, "the journal"));
}

}  // namespace
}  // namespace ttyward::base
