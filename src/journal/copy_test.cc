// A copy of a journal: the same offsets, marks and gaps, and a writer that goes on where another was killed.
#include <algorithm>

#include "journal/scratch_folder.h"

namespace ttyward::journal {
namespace {

class Copy : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Folder::open(scratch_.journals());
    ASSERT_TRUE(opened) << opened.error().message;
    folder_ = *opened;
  }
  Writer writer(uint64_t quota = kDefaultQuota) {
    WriterOptions options;
    options.id = "t1";
    options.quota = quota;
    auto made = Writer::create(folder_, options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  Writer resumed() {
    auto made = Writer::resume(folder_, "t1");
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  Reader reader() {
    auto opened = Reader::open(scratch_.journals(), "t1");
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  static void append(Writer& to, std::string_view text) {
    ASSERT_EQ(to.append(std::as_bytes(std::span(text.data(), text.size())), Stream::Terminal), text.size());
  }

  ScratchFolder scratch_;
  std::shared_ptr<Folder> folder_;
};

TEST_F(Copy, a_gap_has_the_counts_of_the_original) {
  Writer w = writer();
  append(w, "one\ntwo\n");
  w.skip(1000, 17);
  append(w, "last\n");
  Reader r = reader();
  EXPECT_EQ(r.end(), 8U + 1000U + 5U);
  EXPECT_EQ(r.status()->dropped, 1000U);
  EXPECT_EQ(r.gaps().value(), (std::vector<Range>{{8, 1008}}));
  std::array<std::byte, 100> buffer;
  ASSERT_EQ(r.read(0, buffer)->bytes, 8U);
  const auto gap = r.read(8, buffer);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->gap, 1000U);
  EXPECT_EQ(gap->newlines, std::optional<uint64_t>(17));
  EXPECT_EQ(r.read_all({1008, ~0ULL}, 100).value(), "last\n");
}

TEST_F(Copy, marks_have_the_times_of_the_original) {
  Writer w = writer();
  w.copy_mark(Mark(Mark::Kind::Stream, 0, 5'000, 0));
  append(w, "a");
  w.copy_mark(Mark(Mark::Kind::Input, 1, 7'000, 3));
  w.copy_mark(Mark(Mark::Kind::Resize, 1, 8'000, 100 << 16 | 40));
  w.copy_mark(Mark(Mark::Kind::Resize, 1, 8'500, 100 << 16 | 40));  // as each segment repeats it
  w.copy_mark(Mark(Mark::Kind::Time, 1, 90'000'000, 0));
  append(w, "b");
  const auto marks = reader().marks({0, 10}).value();
  const auto has = [&](const Mark& wanted) { return std::count(marks.begin(), marks.end(), wanted); };
  EXPECT_EQ(has(Mark(Mark::Kind::Stream, 0, 5'000, 0)), 1);
  EXPECT_EQ(has(Mark(Mark::Kind::Input, 1, 7'000, 3)), 1);
  EXPECT_EQ(has(Mark(Mark::Kind::Resize, 1, 8'000, 100 << 16 | 40)), 1);
  EXPECT_EQ(has(Mark(Mark::Kind::Resize, 1, 8'500, 100 << 16 | 40)), 0);
  EXPECT_EQ(has(Mark(Mark::Kind::Time, 1, 90'000'000, 0)), 1);
  // Typed bytes are counted by whoever knows how many there were.
  EXPECT_EQ(reader().status()->input_bytes, 0U);
  w.set_input_bytes(12);
  EXPECT_EQ(reader().status()->input_bytes, 12U);
}

// However far the first had come: readers that are open see what the second writes.
TEST_F(Copy, another_writer_goes_on_where_the_first_was_killed) {
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{10}, uint64_t{9'000}, uint64_t{70'000}, uint64_t{900'000}}) {
    SCOPED_TRACE(bytes);
    Reader before = [&] {
      Writer w = writer();
      write_pattern(w, bytes);
      EXPECT_EQ(Writer::resume(folder_, "t1").error().code, base::ErrorCode::Unavailable);
      return reader();
    }();
    {
      Writer w = resumed();
      EXPECT_EQ(w.end(), bytes);
      write_pattern(w, 50'000);
      w.skip(7, 1);
      write_pattern(w, 100);
    }
    Writer w = resumed();
    write_pattern(w, 30'000);
    const uint64_t end = bytes + 50'000 + 7 + 100 + 30'000;
    EXPECT_EQ(before.end(), end);
    EXPECT_EQ(before.status()->dropped, 7U);
    const uint64_t gap = bytes + 50'000;
    EXPECT_EQ(before.gaps().value(), (std::vector<Range>{{gap, gap + 7}}));
    EXPECT_TRUE(is_pattern(before.read_all({0, gap}, 2 << 20).value(), 0));
    EXPECT_TRUE(is_pattern(before.read_all({gap + 7, end}, 2 << 20).value(), gap + 7));
    w.finish({});
    EXPECT_EQ(before.status()->state, State::Closed);
    EXPECT_EQ(Writer::resume(folder_, "t1").error().code, base::ErrorCode::AlreadyExists);
    ASSERT_TRUE(remove_journal(folder_->fd(), "t1"));
  }
}

TEST_F(Copy, one_that_had_dropped_goes_on_with_its_counts) {
  {
    Writer w = writer(1 << 20);
    write_pattern(w, 3 << 20);
  }
  const uint64_t dropped = reader().status()->dropped;
  EXPECT_GT(dropped, 0U);
  Writer w = resumed();
  write_pattern(w, 1 << 20);
  Reader r = reader();
  EXPECT_GE(r.status()->dropped, dropped);
  uint64_t missing = 0;
  const std::vector<Range> gaps = r.gaps().value();
  for (const Range& gap : gaps) missing += gap.end - gap.begin;
  EXPECT_EQ(missing, r.status()->dropped);
  EXPECT_LE(w.allocated(), uint64_t{1} << 20);
}

}  // namespace
}  // namespace ttyward::journal
