#include "terminal/transcript.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <re2/re2.h>
#include <sys/resource.h>

#include <csignal>
#include <random>

namespace ttyward::terminal {
namespace {

std::vector<std::string> lines_of(const Transcript& transcript) {
  std::vector<std::string> out;
  transcript.forward(1, [&](const Transcript::Entry& entry) {
    for (uint64_t i = 0; i < entry.repeat; i++) out.push_back(entry.dropped ? "<dropped>" : entry.text);
    return true;
  });
  return out;
}

std::vector<Transcript::Match> search(const Transcript& transcript, const char* pattern, LineNumber from,
                                      LineNumber to, size_t most) {
  return transcript.search(re2::RE2(pattern), from, to, most, [] { return false; }).matches;
}

std::string numbered(uint64_t i) {
  return "line " + std::to_string(i) + std::string(i % 90, '.');
}

// More than fits in one block, with little memory: most of it is in the file.
Transcript spilled(uint64_t n, Transcript::Limits limits) {
  Transcript transcript(std::move(limits));
  for (uint64_t i = 1; i <= n; i++) transcript.append(numbered(i));
  return transcript;
}

TEST(Transcript, lines_are_numbered_from_one) {
  Transcript transcript;
  EXPECT_EQ(transcript.line(1), std::nullopt);
  transcript.append("a");
  transcript.append("");
  transcript.append("b");
  EXPECT_EQ(lines_of(transcript), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(transcript.size(), 3u);
  EXPECT_EQ(transcript.bytes(), 2u);
  EXPECT_EQ(transcript.line(0), std::nullopt);
  EXPECT_EQ(transcript.line(2), "");
  EXPECT_EQ(transcript.line(3), "b");
  EXPECT_EQ(transcript.line(4), std::nullopt);
}

TEST(Transcript, equal_lines_cost_one_entry) {
  Transcript transcript;
  transcript.append("start");
  for (int i = 0; i < 1'000'000; i++) transcript.append("y");
  transcript.append("end");
  EXPECT_EQ(transcript.size(), 1'000'002u);
  EXPECT_EQ(transcript.bytes(), 1'000'008u);
  EXPECT_LT(transcript.memory(), 10'000u);
  std::vector<std::pair<LineNumber, uint64_t>> entries;
  transcript.backward(~0ULL, [&](const Transcript::Entry& entry) {
    entries.emplace_back(entry.first, entry.repeat);
    return true;
  });
  EXPECT_EQ(entries, (std::vector<std::pair<LineNumber, uint64_t>>{{1'000'002, 1}, {2, 1'000'000}, {1, 1}}));
  EXPECT_EQ(transcript.line(500'000), "y");
}

TEST(Transcript, what_is_in_the_file_reads_as_what_is_in_memory) {
  const uint64_t n = 30'000;
  const Transcript transcript = spilled(n, {.memory = 100'000, .quota = 1 << 30, .spill_folder = "/tmp"});
  EXPECT_LT(transcript.memory(), 400'000u);
  EXPECT_FALSE(transcript.spill_error());
  std::vector<std::string> expected;
  for (uint64_t i = 1; i <= n; i++) expected.push_back(numbered(i));
  EXPECT_EQ(lines_of(transcript), expected);
  std::vector<std::string> backwards;
  transcript.backward(n, [&](const Transcript::Entry& entry) {
    backwards.push_back(entry.text);
    return true;
  });
  std::reverse(backwards.begin(), backwards.end());
  EXPECT_EQ(backwards, expected);
  for (const uint64_t i : {1ULL, 2ULL, 777ULL, 15'000ULL, 29'999ULL, 30'000ULL}) {
    EXPECT_EQ(transcript.line(i), numbered(i));
  }
}

TEST(Transcript, visits_begin_where_asked_and_end_when_told) {
  const Transcript transcript = spilled(5'000, {.memory = 1, .quota = 1 << 30, .spill_folder = "/tmp"});
  for (const LineNumber from : {1u, 2u, 1'999u, 4'096u, 4'097u, 5'000u}) {
    std::vector<LineNumber> seen;
    transcript.forward(from, [&](const Transcript::Entry& entry) {
      seen.push_back(entry.first);
      return seen.size() < 3;
    });
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front(), from);
    EXPECT_EQ(seen.size(), std::min<size_t>(3, 5'000 - from + 1));
    seen.clear();
    transcript.backward(from, [&](const Transcript::Entry& entry) {
      seen.push_back(entry.first);
      return seen.size() < 3;
    });
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.front(), from);
    EXPECT_EQ(seen.size(), std::min<size_t>(3, from));
  }
  int visited = 0;
  const auto count = [&](const Transcript::Entry&) { return ++visited < 100; };
  transcript.forward(5'001, count);
  transcript.backward(0, count);
  EXPECT_EQ(visited, 0);
}

TEST(Transcript, search_finds_lines_in_memory_and_file_within_bounds) {
  const Transcript transcript =
      spilled(30'000, {.memory = 100'000, .quota = 1 << 30, .spill_folder = "/tmp"});
  const auto found = search(transcript, "^line 2777[0-9]\\b", 1, ~0ULL, 100);
  ASSERT_EQ(found.size(), 10u);
  EXPECT_EQ(found.front().line, 27'770u);
  EXPECT_EQ(found.front().text, numbered(27'770));
  EXPECT_EQ(search(transcript, "^line ", 11, 20, 100).size(), 10u);
  EXPECT_EQ(search(transcript, "^line ", 1, ~0ULL, 7).size(), 7u);
}

TEST(Transcript, a_match_in_a_run_is_reported_within_the_asked_range_only) {
  Transcript transcript;
  for (int i = 0; i < 100; i++) transcript.append("same");
  const auto found = search(transcript, "same", 11, 20, 100);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().line, 11u);
  EXPECT_EQ(found.front().repeat, 10u);
}

TEST(Transcript, a_search_that_is_stopped_goes_on_where_it_was) {
  const Transcript transcript =
      spilled(30'000, {.memory = 100'000, .quota = 1 << 30, .spill_folder = "/tmp"});
  const re2::RE2 pattern("7\\b");
  size_t found = 0;
  int slices = 0;
  for (LineNumber next = 1; next <= transcript.size(); slices++) {
    const auto searched = transcript.search(pattern, next, ~0ULL, 100'000, [] { return true; });
    ASSERT_GT(searched.next, next);
    next = searched.next;
    found += searched.matches.size();
  }
  EXPECT_EQ(found, 3'000u);
  EXPECT_GT(slices, 10);
}

TEST(Transcript, lines_that_were_never_there_count) {
  Transcript transcript;
  transcript.append("one");
  transcript.append_dropped(1000);
  transcript.append("last");
  EXPECT_EQ(transcript.size(), 1002u);
  EXPECT_EQ(transcript.dropped_lines(), 1000u);
  EXPECT_EQ(transcript.line(1), "one");
  EXPECT_EQ(transcript.line(500), std::nullopt);
  EXPECT_EQ(transcript.line(1002), "last");
  EXPECT_EQ(search(transcript, ".", 1, ~0ULL, 10).size(), 2u);
}

TEST(Transcript, at_the_quota_the_middle_goes_and_is_counted) {
  for (const size_t memory : {size_t{100'000}, size_t{16} << 20}) {
    const uint64_t n = 60'000;
    const Transcript transcript = spilled(n, {.memory = memory, .quota = 1'000'000, .spill_folder = "/tmp"});
    uint64_t kept_lines = 0;
    uint64_t kept_bytes = 0;
    uint64_t lost_lines = 0;
    LineNumber next = 1;
    transcript.forward(1, [&](const Transcript::Entry& entry) {
      EXPECT_EQ(entry.first, next);
      next += entry.repeat;
      if (entry.dropped) {
        lost_lines += entry.repeat;
      } else {
        EXPECT_EQ(entry.text, numbered(entry.first));
        kept_lines++;
        kept_bytes += entry.text.size();
      }
      return true;
    });
    EXPECT_EQ(next, n + 1);
    EXPECT_EQ(kept_lines + transcript.dropped_lines(), n);
    EXPECT_EQ(lost_lines, transcript.dropped_lines());
    EXPECT_EQ(kept_bytes + transcript.dropped_bytes(), transcript.bytes());
    EXPECT_LT(kept_bytes, 1'100'000u);
    EXPECT_GT(kept_bytes, 600'000u);
    EXPECT_EQ(transcript.line(1), numbered(1));
    EXPECT_EQ(transcript.line(2'000), numbered(2'000));  // the first quarter
    EXPECT_EQ(transcript.line(n / 3), std::nullopt);
    EXPECT_EQ(transcript.line(n), numbered(n));
  }
}

TEST(Transcript, endless_output_needs_no_endless_memory) {
  Transcript transcript({.memory = 100'000, .quota = 500'000, .spill_folder = "/tmp"});
  for (uint64_t i = 0; i < 3'000'000; i++) transcript.append(std::to_string(i));
  EXPECT_LT(transcript.memory(), 400'000u);
  EXPECT_EQ(transcript.line(1), "0");
  EXPECT_EQ(transcript.line(3'000'000), "2999999");
  EXPECT_GT(transcript.dropped_lines(), 2'900'000u);
}

TEST(Transcript, what_went_to_the_file_takes_no_memory) {
  const size_t before = ::mallinfo2().uordblks;  // the allocator's own count; 0 where it is replaced
  const Transcript transcript =
      spilled(600'000, {.memory = 1 << 20, .quota = 1 << 30, .spill_folder = "/tmp"});
  EXPECT_GT(transcript.bytes(), 30u << 20);
  EXPECT_LT(::mallinfo2().uordblks - before, 4u << 20);
}

TEST(Transcript, without_a_place_for_old_text_the_newest_is_kept) {
  const uint64_t n = 30'000;
  const Transcript transcript =
      spilled(n, {.memory = 100'000, .quota = 1 << 30, .spill_folder = "/proc/nonexistent"});
  ASSERT_TRUE(transcript.spill_error());
  EXPECT_NE(transcript.spill_error()->message.find("/proc/nonexistent"), std::string::npos);
  EXPECT_LT(transcript.memory(), 400'000u);
  EXPECT_EQ(transcript.line(1), std::nullopt);
  EXPECT_EQ(transcript.line(n), numbered(n));
  uint64_t kept = 0;
  for (const std::string& line : lines_of(transcript)) kept += line == "<dropped>" ? 0 : 1;
  EXPECT_EQ(kept + transcript.dropped_lines(), n);
}

// In a process of its own: the limit on file sizes belongs to the process.
[[noreturn]] void fill_a_small_file() {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{300'000, 300'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const uint64_t n = 30'000;
  const Transcript transcript = spilled(n, {.memory = 100'000, .quota = 1 << 30, .spill_folder = "/tmp"});
  bool good = transcript.spill_error().has_value() && transcript.dropped_lines() > 0;
  good = good && transcript.line(1) == numbered(1) && transcript.line(n) == numbered(n);
  uint64_t kept = 0;
  for (const std::string& line : lines_of(transcript)) kept += line == "<dropped>" ? 0 : 1;
  std::_Exit(good && kept + transcript.dropped_lines() == n ? 0 : 1);
}

TEST(Transcript, a_file_that_can_grow_no_more_is_a_stated_loss) {
  EXPECT_EXIT(fill_a_small_file(), ::testing::ExitedWithCode(0), "");
}

TEST(Transcript, it_can_be_moved) {
  Transcript first = spilled(5'000, {.memory = 1, .quota = 1 << 30, .spill_folder = "/tmp"});
  Transcript second = std::move(first);
  second.append("more");
  EXPECT_EQ(second.line(1), numbered(1));
  EXPECT_EQ(second.line(5'001), "more");
}

}  // namespace
}  // namespace ttyward::terminal
