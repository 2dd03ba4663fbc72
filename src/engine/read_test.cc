#include "engine/read.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "engine/line_scan.h"
#include "engine/readers.h"
#include "engine/testing.h"

namespace ttyward::engine {
namespace {

using testing::Bench;

OutputSource of_last(Terminal& terminal) {
  return OutputSource::find(terminal, terminal.last()->facts.command_id).value();
}

// All at once.
base::Result<ReadResult> read_grep(const OutputSource& source, const Grep& grep,
                                   const terminal::ViewLimits& view) {
  auto search = GrepSearch::begin(grep, view);
  if (!search) return tl::unexpected(search.error());
  while (!search->step(source, std::chrono::hours(1))) {
  }
  return search->take_result();
}

TEST(Read, RangesAndTailsOfACommand) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "seq 1 100");
  const OutputSource source = of_last(t);
  const auto range = read_range(source, 10, 12, {});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->text, "10\n11\n12\n");
  EXPECT_EQ(range->first_line, 10U);
  EXPECT_EQ(range->last_line, 12U);
  EXPECT_EQ(range->total_lines, 100U);
  EXPECT_TRUE(range->more);
  EXPECT_EQ(read_range(source, 99, 200, {})->text, "99\n100\n");
  EXPECT_EQ(read_range(source, 101, 200, {})->text, "");
  EXPECT_FALSE(read_range(source, 5, 4, {}));
  EXPECT_EQ(read_tail(source, 2, {})->text, "99\n100\n");
  EXPECT_EQ(read_tail(source, 2, {})->first_line, 99U);
  terminal::ViewLimits limits;
  limits.lines = 4;
  limits.head_percent = 50;
  const auto cut = read_range(source, 1, 100, limits);
  ASSERT_TRUE(cut->omitted);
  EXPECT_EQ(cut->omitted->lines, 96U);
}

TEST(Read, ASearchInSlicesFindsTheSame) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "seq 1 50000");
  const OutputSource source = of_last(t);
  const Grep grep{"7$", 1, 100'000};
  terminal::ViewLimits all;
  all.lines = all.chars = 0;
  auto search = GrepSearch::begin(grep, all).value();
  int slices = 1;
  while (!search.step(source, std::chrono::nanoseconds(1))) slices++;
  const ReadResult sliced = search.take_result();
  const auto whole = read_grep(source, grep, all);
  EXPECT_GT(slices, 100);
  EXPECT_EQ(sliced.matches.size(), 5000U);
  EXPECT_EQ(sliced.text, whole->text);
  EXPECT_EQ(sliced.first_line, 6U);
  EXPECT_EQ(sliced.last_line, whole->last_line);
  EXPECT_FALSE(sliced.more);
}

TEST(Read, PatternsThatCostTooMuchAreRefused) {
  EXPECT_TRUE(compile_pattern(std::string(1000, 'a')));
  const auto longer = compile_pattern(std::string(40'000, 'a'));
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("40000"), std::string::npos) << longer.error().message;
  EXPECT_FALSE(compile_pattern("((a{100}){100}){2}"));
  EXPECT_TRUE(compile_pattern("error|warning: [a-z]{1,40}"));
}

TEST(Read, GrepWithContext) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "seq 1 30; echo x; echo x; echo 30");
  const OutputSource source = of_last(t);
  const auto found = read_grep(source, {"^(10|12|30)$", 1, 3}, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->text, "9-9\n10:10\n11-11\n12:12\n13-13\n--\n29-29\n30:30\n31-x\n");
  ASSERT_EQ(found->matches.size(), 3U);
  EXPECT_EQ(found->matches[2].line, 30U);
  EXPECT_TRUE(found->more);
  EXPECT_EQ(found->first_line, 9U);
  EXPECT_EQ(found->last_line, 31U);
  EXPECT_EQ(read_grep(source, {"x", 0, 5}, {})->text, "31:x [2 times]\n");
  EXPECT_FALSE(read_grep(source, {"(", 0, 5}, {}));
}

TEST(Read, RawBytesFromAnOffset) {
  Bench bench;
  Terminal& t = bench.shell();
  bench.exec(t, "printf 'a\\033[1mb\\nc'");
  const OutputSource source = of_last(t);
  const auto first = read_raw(source, 0, 3);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, "a\033[");
  EXPECT_TRUE(first->more);
  const auto rest = read_raw(source, *first->next_offset, 100);
  EXPECT_EQ(rest->bytes, "1mb\r\nc");
  EXPECT_FALSE(rest->more);
}

TEST(Readers, OnlyWholeLinesWhileItRunsAndAllAtTheEnd) {
  Bench bench;
  Readers readers;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(bench.request("echo one; printf 'two?'; read x; printf three")));
  bench.until([&] { return t.output().cursor_line() == "two?"; });
  const OutputSource source = of_last(t);
  EXPECT_EQ(readers.unread_lines("a", source), 1U);
  EXPECT_EQ(readers.read_new("a", source, {}).text, "one\n");
  const auto nothing = readers.read_new("a", source, {});
  EXPECT_EQ(nothing.text, "");
  EXPECT_TRUE(nothing.more);
  t.input("y\r", Owner::Agent, [](auto) {});
  bench.until([&] { return source.ended(); });
  const auto rest = readers.read_new("a", source, {});
  EXPECT_EQ(rest.text, "two?y\nthree\n");
  EXPECT_EQ(rest.first_line, 2U);
  EXPECT_FALSE(rest.more);
  EXPECT_EQ(readers.read_new("a", source, {}).text, "");
  EXPECT_EQ(readers.read_new("b", source, {}).text, "one\ntwo?y\nthree\n");
}

TEST(Readers, WhatAClearedScreenShowsIsNew) {
  Bench bench;
  Readers readers;
  Terminal& t = bench.shell();
  ASSERT_TRUE(t.submit(
      bench.request("clear; printf '1\\n2\\n3\\n4\\n'; read -s x; clear; printf '1\\nnew\\n'; read -s x")));
  const OutputSource source = of_last(t);
  bench.until([&] { return t.output().cursor_line().empty() && readers.unread_lines("a", source) == 4; });
  readers.read_new("a", source, {});
  t.input("\r", Owner::Agent, [](auto) {});
  bench.until([&] { return readers.unread_lines("a", source) > 0; });
  EXPECT_EQ(readers.read_new("a", source, {}).text, "new\n");
}

TEST(Readers, ARecoveredTerminalIsReadFromWhereTheReaderWas) {
  Bench bench;
  const std::string path = bench.root() + "/readers";
  Terminal& t = bench.shell();
  const std::string id = t.id();
  ASSERT_TRUE(t.submit(bench.request("seq 1 40; read x; seq 41 45; read x")));
  const std::string command = t.last()->facts.command_id;
  {
    Readers readers = Readers::open(path).value();
    bench.until([&] { return readers.unread_lines("a", of_last(t)) == 40; });
    EXPECT_EQ(readers.read_new("a", of_last(t), {}).last_line, 40U);
  }
  bench.forget_all();
  Terminal& again = bench.recover(id);
  Readers readers = Readers::open(path).value();
  const OutputSource source = OutputSource::find(again, command).value();
  EXPECT_EQ(readers.unread_lines("a", source), 0U);
  again.input("\r", Owner::Agent, [](auto) {});
  bench.until([&] { return readers.unread_lines("a", source) == 6; });
  EXPECT_EQ(readers.read_new("a", source, {}).text, "\n41\n42\n43\n44\n45\n");
}

TEST(Readers, PlacesOutliveTheProcessAndStayBounded) {
  Bench bench;
  const std::string path = bench.root() + "/readers";
  Terminal& t = bench.shell();
  bench.exec(t, "seq 1 50");
  const OutputSource source = of_last(t);
  {
    Readers readers = Readers::open(path).value();
    EXPECT_EQ(readers.read_new("a", source, {}).last_line, 50U);
    for (int i = 0; i < 10'000; i++) readers.skip_all("r" + std::to_string(i), source);
    EXPECT_EQ(readers.size(), Readers::kMostPlaces);
    readers.skip_all("a", source);
  }
  EXPECT_LT(std::filesystem::file_size(path), 4U << 20);
  Readers again = Readers::open(path).value();
  EXPECT_EQ(again.read_new("a", source, {}).text, "");
  EXPECT_EQ(again.size(), Readers::kMostPlaces);
  again.forget(source.id());
  EXPECT_EQ(again.size(), 0U);
}

}  // namespace
}  // namespace ttyward::engine
