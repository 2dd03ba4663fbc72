// What must hold for any output: random sequences from a grammar of everything the screen understands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../support/dump.h"
#include "grammar.h"
#include "vt/serialize/serialize.h"

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

class Property : public testing::TestWithParam<unsigned> {};

TEST_P(Property, AnySplitGivesTheSameState) {
  Grammar grammar(GetParam());
  for (int round = 0; round < 60; round++) {
    const std::string input = grammar.output(40);
    Screen whole(sized(12, 6));
    whole.feed(input);
    Screen cut(sized(12, 6));
    for (size_t at = 0; at < input.size();) {
      const size_t n = 1 + static_cast<size_t>(grammar.below(5));
      cut.feed(std::string_view(input).substr(at, n));
      at += n;
    }
    ASSERT_EQ(broken_invariant(whole), "") << escaped(input);
    ASSERT_EQ(dump(whole), dump(cut)) << escaped(input);
  }
}

// Inputs whose cuts once mattered.
TEST(Split, WhatOnceDiffered) {
  // Clusters, noise that puts text in doubt, and ASCII between two halves of a family.
  constexpr std::string_view kFamily(
      "\x1b,\xa9\x1b[?2027h\0\0\0\0\0\0\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe7\xe5\x19"
      "\xf0\x9f\x91\xa8\xe2\x80\x8d\0\0\0\0\0\0\0b\xf0\x9f\x91\xa9\0\0\0\0\0#8\0\0\0\x1b[?6[9h\0\0#\xff"
      "8\0\0\0\0\0\0",
      78);
  for (const int cols : {1, 2, 12}) {
    Screen whole(sized(cols, 24));
    whole.feed(kFamily);
    for (size_t step = 1; step < kFamily.size(); step++) {
      Screen cut(sized(cols, 24));
      for (size_t at = 0; at < kFamily.size(); at += step) cut.feed(kFamily.substr(at, step));
      ASSERT_EQ(dump(whole), dump(cut)) << cols << " columns, by " << step;
    }
  }
}

TEST_P(Property, ResizingThereAndBackKeepsTheText) {
  Grammar grammar(GetParam() + 1000);
  for (int round = 0; round < 60; round++) {
    const std::string input = grammar.text(60);
    const int cols = 4 + grammar.below(20);
    const int rows = 2 + grammar.below(10);
    Screen screen(sized(cols, rows));
    screen.feed(input);
    const std::string before = logical_text(screen);
    for (int step = 0; step < 5; step++) {
      screen.resize(2 + grammar.below(40), 1 + grammar.below(20));
      ASSERT_EQ(broken_invariant(screen), "") << escaped(input);
      ASSERT_EQ(logical_text(screen), before)
          << screen.cols() << "x" << screen.rows() << " " << escaped(input);
    }
    screen.resize(cols, rows);
    ASSERT_EQ(logical_text(screen), before) << escaped(input);
  }
}

TEST_P(Property, AnsiReplayedLooksTheSame) {
  Grammar grammar(GetParam() + 2000);
  for (int round = 0; round < 60; round++) {
    const std::string input = grammar.output(40);
    Screen screen(sized(12, 6));
    screen.feed(input);
    Screen replayed(sized(12, 6));
    replayed.feed(screen_as(screen, Format::Ansi));
    ASSERT_EQ(appearance(screen), appearance(replayed)) << escaped(input) << "\n"
                                                        << escaped(screen_as(screen, Format::Ansi));
  }
}

TEST_P(Property, AnsiWithHistoryBringsTheTextBack) {
  Grammar grammar(GetParam() + 3000);
  for (int round = 0; round < 60; round++) {
    const std::string input = grammar.text(80);
    Screen screen(sized(12, 6));
    screen.feed(input);
    Screen replayed(sized(12, 6));
    replayed.feed(screen_as(screen, Format::Ansi, WithHistory::Yes));
    ASSERT_EQ(history_text(screen), history_text(replayed)) << escaped(input);
    ASSERT_EQ(logical_text(screen), logical_text(replayed)) << escaped(input);
    ASSERT_EQ(appearance(screen), appearance(replayed)) << escaped(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Property, testing::Range(1u, 9u));

}  // namespace
}  // namespace ttyward::test
