#include "base/count_newlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ttyward::base {
namespace {

TEST(CountNewlines, every_length_and_place) {
  for (size_t length = 0; length < 70; ++length) {
    for (size_t step = 1; step < 20; ++step) {
      std::string text(length, '\x8a');  // a line feed but for its highest bit
      for (size_t i = 0; i < length; i += step) text[i] = '\n';
      EXPECT_EQ(count_newlines(text.data(), text.size()),
                static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')))
          << length << " " << step;
    }
  }
}

}  // namespace
}  // namespace ttyward::base
