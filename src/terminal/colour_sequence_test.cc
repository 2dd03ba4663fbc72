#include "terminal/colour_sequence.h"

#include <gtest/gtest.h>

#include <string>

namespace ttyward::terminal {
namespace {

using Kind = ColourSequence::Kind;

TEST(ColourSequence, says_what_a_sequence_does) {
  EXPECT_EQ(colour_sequence("\x1b[mtext").kind, Kind::Reset);
  EXPECT_EQ(colour_sequence("\x1b[0m").kind, Kind::Reset);
  EXPECT_EQ(colour_sequence("\x1b[01;31m").kind, Kind::Style);
  EXPECT_EQ(colour_sequence("\x1b[38:2::1:2:3mtext").length, 14u);
  EXPECT_EQ(colour_sequence("\x1b[K").kind, Kind::EraseRight);
  // They move or erase what was written, or are not whole.
  for (const char* other : {"\x1b[1K", "\x1b[2K", "\x1b[A", "\x1b[>4;2m", "\x1b[?25h", "\x1b]0;t\x07",
                            "\x1b"
                            "c",
                            "\x1b[3", "\x1b[", "\x1b"})
    EXPECT_EQ(colour_sequence(other).kind, Kind::None) << other + 1;
}

TEST(ColourSequence, is_found_alone_or_not) {
  EXPECT_TRUE(has_only_colours("plain"));
  EXPECT_TRUE(has_only_colours("\x1b[31mred\x1b[m\r\n\x1b[K"));
  EXPECT_FALSE(has_only_colours("\x1b[31mred\x1b[m\x1b[2J"));
  EXPECT_FALSE(has_only_colours("red\x1b[3"));
}

TEST(ColourSequence, is_taken_out) {
  const auto without = [](std::string text) {
    text.resize(take_out_colours(text));
    return text;
  };
  EXPECT_EQ(without("\x1b[1;31merror:\x1b[m\x1b[K no \x1b[4msuch\x1b[0m file"), "error: no such file");
  EXPECT_EQ(without("plain"), "plain");
  EXPECT_EQ(without("\x1b[31m\x1b[m"), "");
}

}  // namespace
}  // namespace ttyward::terminal
