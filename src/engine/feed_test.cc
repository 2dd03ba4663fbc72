#include "engine/feed.h"

#include <gtest/gtest.h>

#include "engine/recorded_terminal.h"

namespace ttyward::engine {
namespace {

using testing::mark;
using testing::RecordedJournals;

// What a sink is told, as one text.
class Told final : public Feed::Sink {
 public:
  void feed_bytes(uint64_t offset, std::string_view bytes) override {
    EXPECT_EQ(offset, bytes_);
    bytes_ += bytes.size();
    pieces_++;
  }
  void feed_output(uint64_t /*offset*/, std::string_view bytes) override { output_ += bytes; }
  void feed_mark(const vt::ShellMark& mark) override {
    output_ += "|";
    marks_.emplace_back(mark.begin, mark.end);
    EXPECT_EQ(feed_->read_to(), mark.end);
  }
  void feed_event(const vt::Event&) override { events_++; }
  void feed_gap(uint64_t newlines) override { gap_newlines_ += newlines; }
  void feed_replies(std::string replies) override { replies_ += replies; }

  const Feed* feed_ = nullptr;
  uint64_t bytes_ = 0;
  int pieces_ = 0;
  std::string output_;
  std::vector<std::pair<uint64_t, uint64_t>> marks_;
  int events_ = 0;
  uint64_t gap_newlines_ = 0;
  std::string replies_;
};

class Feeding : public ::testing::Test {
 protected:
  Feed& follow(std::string_view bytes, Feed::Marks marks = Feed::Marks::Follow,
               const std::string& name = "t1") {
    terminal::OutputOptions options;
    options.source = terminal::BinarySniffer::Source::Shell;
    feed_.emplace(options, marks, told_);
    feed_->follow(journals_.make(name, bytes));
    told_.feed_ = &*feed_;
    return *feed_;
  }

  RecordedJournals journals_;
  Told told_;
  std::optional<Feed> feed_;
};

TEST_F(Feeding, output_is_told_without_marks_and_marks_in_their_place) {
  const std::string c = mark("C", 1);
  Feed& feed = follow("one" + c + "two\r\n" + c);
  EXPECT_TRUE(feed.read_all({}));
  EXPECT_EQ(told_.output_, "one|two\r\n|");
  ASSERT_EQ(told_.marks_.size(), 2U);
  EXPECT_EQ(told_.marks_[0].first, 3U);
  EXPECT_EQ(told_.marks_[0].second, 3 + c.size());
  EXPECT_EQ(feed.read_to(), feed.end());
  EXPECT_EQ(told_.bytes_, feed.end());
}

TEST_F(Feeding, ignored_marks_are_output) {
  const std::string c = mark("C", 1);
  Feed& feed = follow("one" + c, Feed::Marks::Ignore);
  EXPECT_TRUE(feed.read_all({}));
  EXPECT_EQ(told_.output_, "one" + c);
  EXPECT_TRUE(told_.marks_.empty());
}

TEST_F(Feeding, a_mark_that_was_cut_in_two_is_whole) {
  const std::string text = "one" + mark("C", 1) + "two";
  Feed& feed = follow(text);
  for (uint64_t at = 1; at <= text.size(); at++) EXPECT_TRUE(feed.read(at, {}));
  EXPECT_EQ(told_.marks_.size(), 1U);
  EXPECT_EQ(feed.read_to(), text.size());
}

// A mark that nobody follows (of another terminal's shell, shown by cat) must not hide what comes after it.
TEST_F(Feeding, output_after_a_mark_that_was_cut_anywhere_is_seen) {
  const std::string text = "one" + mark("D", 1) + "two\r\n";
  for (uint64_t cut = 1; cut < text.size(); cut++) {
    told_ = {};
    Feed& feed = follow(text, Feed::Marks::Follow, "t" + std::to_string(cut));
    EXPECT_TRUE(feed.read(cut, {}));
    EXPECT_TRUE(feed.read_all({}));
    std::string bytes = told_.output_;
    if (const size_t bar = bytes.find('|'); bar != std::string::npos) bytes.erase(bar, 1);
    terminal::Output output({});
    output.feed(bytes);
    output.finish();
    ASSERT_EQ(output.transcript().size(), 1U) << cut;
    EXPECT_EQ(output.transcript().line(1), "onetwo") << cut;
  }
}

TEST_F(Feeding, a_budget_of_bytes_ends_a_turn_and_the_next_goes_on) {
  std::string text;
  while (text.size() < (1 << 20)) text += "a line of text\r\n";
  Feed& feed = follow(text);
  int turns = 1;
  while (!feed.read_all({128 * 1024, Feed::Clock::duration::max()})) turns++;
  EXPECT_GE(turns, 8);
  EXPECT_EQ(feed.read_to(), text.size());
  EXPECT_EQ(told_.output_, text);
}

TEST_F(Feeding, a_budget_of_time_is_kept_by_the_slowest_bytes) {
  std::string text;
  while (text.size() < (64 << 10)) text += "x\x1b[65535b";
  Feed& feed = follow(text);
  const Feed::Budget budget{UINT64_MAX, std::chrono::milliseconds(5)};
  Feed::Clock::duration longest{};
  for (bool done = false; !done;) {
    const auto before = Feed::Clock::now();
    done = feed.read_all(budget);
    longest = std::max(longest, Feed::Clock::now() - before);
    if (feed.read_to() > (16 << 10)) break;
  }
  EXPECT_LT(longest, std::chrono::milliseconds(500));  // a loaded machine
}

TEST_F(Feeding, each_long_repeat_is_a_piece_of_its_own) {
  std::string bytes;
  for (int i = 0; i < 20; i++) bytes += "x\033[999999999b";
  EXPECT_TRUE(follow(bytes).read_all({}));
  EXPECT_EQ(told_.pieces_, 20);
  // What only looks a little like it is no reason for small pieces.
  told_ = {};
  EXPECT_TRUE(follow("a 0000b 123b \033[20b 999b\r\n", Feed::Marks::Follow, "t2").read_all({}));
  EXPECT_EQ(told_.pieces_, 1);
}

TEST_F(Feeding, line_feeds_are_counted_below_any_place_of_the_piece) {
  Feed& feed = follow("a\nb\nc");
  EXPECT_TRUE(feed.read_all({}));
  EXPECT_EQ(feed.newlines(), 2U);
  EXPECT_EQ(feed.newlines_below(feed.read_to()), 2U);
  EXPECT_FALSE(feed.newlines_below(1));
}

TEST_F(Feeding, questions_are_answered_after_the_piece) {
  Feed& feed = follow("\x1b[5n");
  EXPECT_TRUE(feed.read_all({}));
  EXPECT_EQ(told_.replies_, "\x1b[0n");
}

TEST_F(Feeding, a_range_is_read_again_in_slices) {
  std::string text;
  for (int i = 0; text.size() < (1 << 20); i++) text += "line " + std::to_string(i) + "\r\n";
  Feed& feed = follow(text);
  EXPECT_TRUE(feed.read_all({}));
  terminal::Output output({});
  const uint64_t begin = text.find("line 7\r");
  Feed::Again again(feed, {begin, text.size()}, 7);
  int slices = 1;
  while (!again.step(output, {64 * 1024, Feed::Clock::duration::max()})) slices++;
  output.finish();
  EXPECT_GE(slices, 15);
  EXPECT_EQ(output.transcript().line(1), "line 7");
  EXPECT_EQ(output.transcript().size() + 7, feed.newlines());
  EXPECT_FALSE(again.end_missing());
}

TEST_F(Feeding, what_cannot_be_read_is_lost_and_counted) {
  Feed& feed = follow("abc");
  EXPECT_TRUE(feed.read(10, {}));  // three bytes are there
  EXPECT_EQ(feed.read_to(), 10U);
  EXPECT_EQ(feed.lost_bytes(), 7U);
  EXPECT_EQ(feed.lost_in({0, 3}), 0U);
  EXPECT_EQ(feed.lost_in({2, 6}), 3U);
}

}  // namespace
}  // namespace ttyward::engine
