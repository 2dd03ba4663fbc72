#include "pty/input_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace ttyward::pty {
namespace {

TEST(InputFile, HasTheBytesAndThenEndOfFile) {
  std::string bytes("a\x03\x15\r\0b", 6);
  auto file = input_file(bytes);
  ASSERT_TRUE(file) << file.error().message;
  std::string got(64, '\0');
  EXPECT_EQ(::read(file->get(), got.data(), got.size()), 6);
  EXPECT_EQ(got.substr(0, 6), bytes);
  EXPECT_EQ(::read(file->get(), got.data(), got.size()), 0);
}

TEST(InputFile, CannotBeWrittenTo) {
  auto file = input_file("");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(::write(file->get(), "x", 1), -1);
}

}  // namespace
}  // namespace ttyward::pty
