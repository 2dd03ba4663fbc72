// Writer and reader together: what was written is what is read, at once, for
// ever, and with exact counts of what is not there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "journal/scratch_folder.h"

namespace ttyward::journal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
uint64_t fake_now = 0;

class Journal : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Folder::open(scratch_.journals());
    ASSERT_TRUE(opened) << opened.error().message;
    folder_ = *opened;
    fake_now = 1'000'000;
  }

  Writer writer(WriterOptions options = {}) {
    if (options.id.empty()) options.id = "t1";
    auto made = Writer::create(folder_, options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  Reader reader(const std::string& id = "t1") {
    auto opened = Reader::open(scratch_.journals(), id);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  void put(Writer& to, const std::string& text, Stream stream = Stream::Terminal) {
    auto span = to.writable_span();
    ASSERT_GE(span.size(), text.size());
    std::memcpy(span.data(), text.data(), text.size());
    to.commit(text.size(), stream);
  }

  ScratchFolder scratch_;
  std::shared_ptr<Folder> folder_;
};

TEST_F(Journal, a_reader_sees_bytes_as_soon_as_they_are_committed_and_not_before) {
  Writer w = writer();
  Reader r = reader();
  auto span = w.writable_span();
  std::memcpy(span.data(), "hello", 5);
  EXPECT_EQ(r.end(), 0U);
  w.commit(3, Stream::Terminal);
  EXPECT_EQ(r.read_all({0, ~0ULL}, 100).value(), "hel");
  EXPECT_FALSE(r.complete().value());
}

TEST_F(Journal, one_made_ahead_is_found_when_it_has_its_name_and_is_like_any_other) {
  auto blank = Blank::make(*folder_);
  ASSERT_TRUE(blank) << blank.error().message;
  EXPECT_EQ(folder_->used(), 0U);
  EXPECT_FALSE(Reader::open(scratch_.journals(), "t1"));
  WriterOptions options;
  options.id = "t1";
  auto w = Writer::create(folder_, options, std::move(*blank));
  ASSERT_TRUE(w) << w.error().message;
  EXPECT_EQ(folder_->used(), w->allocated());
  EXPECT_EQ(reader().writer().value(), WriterLife::Alive);
  put(*w, "hello");
  EXPECT_EQ(reader().read_all({0, ~0ULL}, 100).value(), "hello");
  w->finish({});
  EXPECT_TRUE(reader().complete().value());
}

TEST_F(Journal, one_made_ahead_takes_no_name_that_is_in_use) {
  WriterOptions options;
  options.id = "t1";
  ASSERT_TRUE(use_up(folder_->fd(), "t1", scratch_.journals()));
  auto blank = Blank::make(*folder_);
  ASSERT_TRUE(blank);
  const auto w = Writer::create(folder_, options, std::move(*blank));
  ASSERT_FALSE(w);
  EXPECT_EQ(w.error().code, base::ErrorCode::AlreadyExists);
  EXPECT_EQ(folder_->used(), 0U);
  EXPECT_EQ(Reader::open(scratch_.journals(), "t1").error().code, base::ErrorCode::NotFound);
}

TEST_F(Journal, nothing_is_read_at_the_end_and_reading_goes_on_when_more_comes) {
  Writer w = writer();
  Reader r = reader();
  std::byte buffer[16];
  EXPECT_EQ(r.read(0, buffer)->bytes, 0U);
  put(w, "a");
  EXPECT_EQ(r.read(0, buffer)->bytes, 1U);
  EXPECT_EQ(r.read(1, buffer)->bytes, 0U);
  EXPECT_EQ(r.read(1, buffer)->gap, 0U);
  put(w, "bc");
  EXPECT_EQ(r.read(1, buffer)->bytes, 2U);
}

TEST_F(Journal, bytes_from_elsewhere_are_kept_over_any_number_of_segments) {
  Writer w = writer();
  std::string all;
  for (const size_t n : {5u, 20'000u, 3u, 700'000u, 64u * 1024}) {
    std::string text(n, '.');
    for (size_t i = 0; i < n; i++) text[i] = static_cast<char>('a' + (all.size() + i) % 26);
    EXPECT_EQ(w.append(std::as_bytes(std::span(text)), Stream::Terminal), n);
    all += text;
  }
  EXPECT_TRUE(reader().read_all({0, ~0ULL}, 10 << 20).value() == all);
}

TEST_F(Journal, what_does_not_fit_any_more_stays_with_the_caller) {
  WriterOptions options;
  options.quota = kSmallestQuota;
  options.overflow = Overflow::Pause;
  Writer w = writer(options);
  const std::string text(2 * kSmallestQuota, 'x');
  const size_t kept = w.append(std::as_bytes(std::span(text)), Stream::Terminal);
  EXPECT_GT(kept, kSmallestQuota / 2);
  EXPECT_LT(kept, text.size());
  EXPECT_TRUE(w.full());
  EXPECT_EQ(w.end(), kept);
  w.grant(4 * kSmallestQuota);
  EXPECT_EQ(w.append(std::as_bytes(std::span(text)), Stream::Terminal), text.size());
}

TEST_F(Journal, segments_roll_without_a_seam) {
  Writer w = writer();
  Reader early = reader();
  EXPECT_EQ(write_pattern(w, 7 * kMiB, 3001), 7 * kMiB);
  Reader late = reader();
  for (Reader* r : {&early, &late}) {
    auto text = r->read_all({0, ~0ULL}, 8 * kMiB);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(text->size(), 7 * kMiB);
    EXPECT_TRUE(is_pattern(*text, 0));
    EXPECT_TRUE(r->gaps()->empty());
  }
}

TEST_F(Journal, any_range_can_be_read) {
  Writer w = writer();
  write_pattern(w, 2 * kMiB);
  Reader r = reader();
  for (const Range range : {Range{0, 1}, {53247, 53250}, {1000, 1'000'000}, {2 * kMiB - 1, 2 * kMiB}}) {
    auto text = r.read_all(range, 2 * kMiB);
    ASSERT_TRUE(text);
    EXPECT_EQ(text->size(), range.end - range.begin);
    EXPECT_TRUE(is_pattern(*text, range.begin));
  }
}

TEST_F(Journal, finish_is_told_with_everything_it_says) {
  Writer w = writer();
  put(w, "bye");
  ExitRecord record;
  record.kind = EndKind::Signaled;
  record.code = 11;
  record.core_dumped = 1;
  record.cpu_ms = 12;
  record.max_rss_kib = 345;
  w.finish(record);
  Reader r = reader();
  auto status = r.status();
  ASSERT_TRUE(status && status->exit);
  EXPECT_EQ(*status->exit, record);
  EXPECT_TRUE(r.complete().value());
  EXPECT_EQ(r.read_all({0, 3}, 3).value(), "bye");
  EXPECT_EQ(r.writer().value(), WriterLife::Gone);
}

TEST_F(Journal, a_small_journal_is_small_and_a_large_one_gives_unused_space_back) {
  Writer small = writer();
  put(small, "x");
  small.finish({});
  EXPECT_EQ(std::filesystem::file_size(scratch_.journals() + "/t1.main"), 8 * kPage);
  EXPECT_EQ(folder_->used(), 8 * kPage);

  WriterOptions options;
  options.id = "t2";
  Writer large = writer(options);
  write_pattern(large, 2 * kMiB);
  const uint64_t before = large.allocated();
  EXPECT_GT(before, 3 * kMiB);
  large.finish({});
  EXPECT_LT(large.allocated(), 5 * kMiB / 2);
  EXPECT_EQ(folder_->used(), 8 * kPage + large.allocated());
}

TEST_F(Journal, the_lock_tells_whether_the_writer_lives) {
  auto w = std::make_unique<Writer>(writer());
  Reader r = reader();
  EXPECT_EQ(r.writer().value(), WriterLife::Alive);
  w.reset();
  EXPECT_EQ(r.writer().value(), WriterLife::Gone);
  EXPECT_EQ(r.status()->state, State::Running);
}

TEST_F(Journal, drop_middle_keeps_head_and_tail_and_counts_what_went) {
  WriterOptions options;
  options.quota = kMiB;
  Writer w = writer(options);
  const uint64_t total = 10 * kMiB + 12345;
  EXPECT_EQ(write_pattern(w, total), total);
  Reader r = reader();
  const auto gaps = r.gaps();
  ASSERT_TRUE(gaps) << gaps.error().message;
  ASSERT_EQ(gaps->size(), 1U);
  EXPECT_EQ(gaps->front().end - gaps->front().begin, r.status()->dropped);
  EXPECT_LE(w.allocated(), kMiB);
  EXPECT_GT(w.allocated(), kMiB * 3 / 4);
  EXPECT_TRUE(r.status()->conditions & kOverflowed);
  const std::string head = r.read_all({0, gaps->front().begin}, kMiB).value();
  const std::string tail = r.read_all({gaps->front().end, total}, kMiB).value();
  EXPECT_GE(head.size(), 50'000U);
  EXPECT_TRUE(is_pattern(head, 0));
  EXPECT_TRUE(is_pattern(tail, gaps->front().end));
  EXPECT_EQ(head.size() + tail.size() + r.status()->dropped, total);
  w.finish({});
  EXPECT_FALSE(r.complete().value());
}

TEST_F(Journal, a_reader_inside_the_dropped_part_is_told_the_gap) {
  WriterOptions options;
  options.quota = kMiB;
  Writer w = writer(options);
  write_pattern(w, kMiB / 2);
  Reader r = reader();
  std::byte buffer[4096];
  ASSERT_EQ(r.read(200'000, buffer)->bytes, sizeof buffer);
  write_pattern(w, 8 * kMiB);
  // The segment it has open stays readable to it; one it has not is a gap.
  ASSERT_EQ(r.read(200'000, buffer)->bytes, sizeof buffer);
  const auto chunk = r.read(kMiB, buffer);
  ASSERT_TRUE(chunk) << chunk.error().message;
  EXPECT_EQ(chunk->bytes, 0U);
  const auto gap = r.gaps()->front();
  EXPECT_EQ(kMiB + chunk->gap, gap.end);
}

TEST_F(Journal, pause_says_full_and_goes_on_when_granted_more) {
  WriterOptions options;
  options.quota = kMiB;
  options.overflow = Overflow::Pause;
  Writer w = writer(options);
  const uint64_t taken = write_pattern(w, 4 * kMiB);
  EXPECT_LT(taken, kMiB);
  EXPECT_GT(taken, kMiB * 3 / 4);
  EXPECT_TRUE(w.full());
  Reader r = reader();
  EXPECT_TRUE(r.status()->conditions & kPaused);
  w.grant(8 * kMiB);
  EXPECT_EQ(write_pattern(w, 4 * kMiB), 4 * kMiB);
  EXPECT_FALSE(r.status()->conditions & kPaused);
  EXPECT_TRUE(r.gaps()->empty());
  EXPECT_TRUE(is_pattern(r.read_all({0, ~0ULL}, 8 * kMiB).value(), 0));
}

TEST_F(Journal, under_kill_the_rest_is_counted_and_only_its_end_is_kept) {
  WriterOptions options;
  options.quota = kMiB;
  options.overflow = Overflow::Kill;
  Writer w = writer(options);
  const uint64_t taken = write_pattern(w, 4 * kMiB);
  ASSERT_TRUE(w.full());
  w.discard_rest();
  EXPECT_EQ(write_pattern(w, 100'000), 100'000U);
  w.finish({});
  Reader r = reader();
  EXPECT_EQ(*r.gaps(), (std::vector<Range>{{taken, taken + 100'000 - kTailBytes}}));
  EXPECT_EQ(r.status()->dropped, 100'000 - kTailBytes);
  EXPECT_FALSE(r.complete().value());
}

TEST_F(Journal, streams_of_pipes_are_told_apart_in_order) {
  WriterOptions options;
  options.provider = Provider::Pipe;
  Writer w = writer(options);
  put(w, "out", Stream::Stdout);
  put(w, "err", Stream::Stderr);
  put(w, "ERR", Stream::Stderr);
  put(w, "OUT", Stream::Stdout);
  Reader r = reader();
  std::vector<std::pair<uint64_t, uint64_t>> switches;
  const auto marks = r.marks({0, ~0ULL});
  for (const Mark& mark : *marks) {
    if (mark.kind() == Mark::Kind::Stream) switches.emplace_back(mark.offset, mark.value);
  }
  EXPECT_EQ(switches, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 1}, {3, 2}, {9, 1}}));
}

TEST_F(Journal, a_pipe_is_spliced_and_its_end_is_seen) {
  Writer w = writer();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  base::UniqueFd out(ends[0]);
  base::UniqueFd in(ends[1]);
  ASSERT_EQ(::write(in.get(), "spliced", 7), 7);
  EXPECT_EQ(w.splice_from(out.get(), 1000, Stream::Stdout), 7);
  EXPECT_EQ(w.splice_from(out.get(), 1000, Stream::Stdout), -1);
  EXPECT_EQ(errno, EAGAIN);
  in.reset();
  EXPECT_EQ(w.splice_from(out.get(), 1000, Stream::Stdout), 0);
  EXPECT_EQ(reader().read_all({0, 7}, 7).value(), "spliced");
}

TEST_F(Journal, time_marks_are_at_most_one_in_ten_milliseconds) {
  WriterOptions options;
  options.monotonic_us = [] { return fake_now; };
  Writer w = writer(options);
  for (int i = 0; i < 100; ++i) {
    put(w, "x");
    fake_now += 1000;
  }
  const auto marks = reader().marks({0, ~0ULL}).value();
  const auto timed = std::count_if(marks.begin(), marks.end(), [](const Mark& m) {
    return m.kind() == Mark::Kind::Time || m.kind() == Mark::Kind::Stream;
  });
  EXPECT_EQ(timed, 10);
  EXPECT_EQ(marks.back().time_us(), 90'000U);
  EXPECT_EQ(marks.back().offset, 90U);
}

TEST_F(Journal, slow_output_fills_the_index_first_and_loses_neither_bytes_nor_marks) {
  WriterOptions options;
  options.quota = kMiB;
  options.monotonic_us = [] { return fake_now; };
  Writer w = writer(options);
  constexpr uint64_t kWrites = 3000;
  for (uint64_t i = 0; i < kWrites; ++i) {
    ASSERT_EQ(write_pattern(w, 1), 1U);
    fake_now += kMarkEveryUs;
  }
  Reader r = reader();
  EXPECT_TRUE(r.gaps()->empty());
  EXPECT_TRUE(is_pattern(r.read_all({0, ~0ULL}, kWrites).value(), 0));
  uint64_t timed = 0;
  uint64_t last = 0;
  const auto marks = r.marks({0, ~0ULL});
  for (const Mark& mark : *marks) {
    timed += mark.kind() == Mark::Kind::Time || mark.kind() == Mark::Kind::Stream ? 1 : 0;
    EXPECT_GE(mark.time_us(), last);
    last = mark.time_us();
  }
  EXPECT_GE(timed, kWrites);
  EXPECT_LT(w.allocated(), kMiB / 2);
}

TEST_F(Journal, resizes_and_input_are_noted_with_what_was_typed_in_secret_only_counted) {
  Writer w = writer();
  w.mark_resize({132, 43});
  put(w, "ab");
  w.mark_input(5, Writer::Echo::On);
  w.mark_input(9, Writer::Echo::Off);
  Reader r = reader();
  EXPECT_EQ(r.status()->cols, 132);
  EXPECT_EQ(r.status()->rows, 43);
  EXPECT_EQ(r.status()->input_bytes, 14U);
  const auto marks = r.marks({0, ~0ULL}).value();
  ASSERT_EQ(marks.size(), 5U);
  EXPECT_EQ(marks[1].kind(), Mark::Kind::Resize);
  EXPECT_EQ(marks[1].value, uint64_t{132} << 16 | 43);
  EXPECT_EQ(marks[3].kind(), Mark::Kind::Input);
  EXPECT_EQ(marks[3].offset, 2U);
  EXPECT_EQ(marks[4].kind(), Mark::Kind::Secret);
  EXPECT_EQ(marks[4].value, 9U);
}

TEST_F(Journal, marks_without_output_do_not_collide) {
  Writer w = writer();
  for (uint16_t i = 1; i < 4000; ++i) w.mark_resize({i, 24});
  put(w, "end");
  Reader r = reader();
  EXPECT_TRUE(r.gaps()->empty());
  EXPECT_EQ(r.read_all({0, ~0ULL}, 10).value(), "end");
}

TEST_F(Journal, an_id_that_is_a_path_is_refused_and_a_taken_one_too) {
  for (const char* bad : {"", "..", "a/b", ".usage", "ä"}) {
    WriterOptions options;
    options.id = bad;
    EXPECT_EQ(Writer::create(folder_, options).error().code, base::ErrorCode::InvalidArgument) << bad;
    EXPECT_FALSE(Reader::open(scratch_.journals(), bad)) << bad;
  }
  Writer w = writer();
  put(w, "mine");
  WriterOptions again;
  again.id = "t1";
  EXPECT_EQ(Writer::create(folder_, again).error().code, base::ErrorCode::AlreadyExists);
  EXPECT_EQ(reader().read_all({0, 4}, 4).value(), "mine");
}

}  // namespace
}  // namespace ttyward::journal
