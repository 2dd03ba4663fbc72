// What a journal keeps when it can keep little: the newest bytes, whatever somebody has yet to read, and how
// many lines went.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/count_newlines.h"
#include "base/file_io.h"
#include "journal/allocate.h"
#include "journal/scratch_folder.h"

namespace ttyward::journal {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
bool disk_is_full = false;
uint64_t fake_now = 0;

int allocate_unless_full(int fd, off_t bytes) {
  return disk_is_full ? ENOSPC : allocate_room(fd, bytes);
}

class JournalTail : public ::testing::Test {
 protected:
  JournalTail() {
    disk_is_full = false;
    fake_now = 1;
    folder_ = *Folder::open(scratch_.journals());
  }
  Writer writer(WriterOptions options = {}) {
    options.id = "t1";
    options.allocate = allocate_unless_full;
    options.monotonic_us = [] { return fake_now; };
    auto made = Writer::create(folder_, options);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  Reader reader() {
    auto opened = Reader::open(scratch_.journals(), "t1");
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    return std::move(*opened);
  }
  static size_t put(Writer& w, std::string_view text) {
    return w.append(std::as_bytes(std::span(text.data(), text.size())), Stream::Terminal);
  }
  // Numbered lines, and all of them as they were written.
  std::string numbered(Writer& w, int from, int to) {
    std::string all;
    for (int i = from; i < to; ++i) {
      const std::string line = "line " + std::to_string(i) + "\r\n";
      EXPECT_EQ(put(w, line), line.size());
      all += line;
    }
    return all;
  }
  // Reads all there is as somebody does who follows: bytes as they are, '#' for each line feed in a gap.
  static std::string follow(Reader& r, uint64_t from = 0) {
    std::string text;
    std::string buffer(1000, ' ');
    for (uint64_t at = from; at < r.end();) {
      const auto chunk = r.read(at, std::as_writable_bytes(std::span(buffer.data(), buffer.size())));
      EXPECT_TRUE(chunk && chunk->bytes + chunk->gap > 0);
      if (!chunk || chunk->bytes + chunk->gap == 0) break;
      if (chunk->gap > 0) {
        EXPECT_TRUE(chunk->newlines);
        text += std::string(chunk->newlines.value_or(0), '#');
      }
      text += buffer.substr(0, chunk->bytes);
      at += chunk->bytes + chunk->gap;
    }
    return text;
  }
  static uint64_t lines_in(const std::string& followed) {
    return base::count_newlines(followed.data(), followed.size()) +
           static_cast<uint64_t>(std::count(followed.begin(), followed.end(), '#'));
  }

  ScratchFolder scratch_;
  std::shared_ptr<Folder> folder_;
};

TEST_F(JournalTail, on_a_full_disk_the_newest_bytes_are_there_and_the_lines_that_went_are_counted) {
  Writer w = writer();
  disk_is_full = true;
  const std::string all = numbered(w, 0, 20'000);
  Reader r = reader();
  const std::string text = follow(r);
  EXPECT_EQ(lines_in(text), 20'000U);
  EXPECT_TRUE(text.ends_with(all.substr(all.size() - kTailBytes)));
  EXPECT_EQ(*r.missing({0, r.end()}), r.status()->dropped);
  EXPECT_EQ(r.status()->dropped, all.size() - 8 * 1024 - kTailBytes);
  w.finish({});
  EXPECT_EQ(follow(r), text);
  Reader afterwards = reader();
  EXPECT_EQ(follow(afterwards), text);
}

TEST_F(JournalTail, when_there_is_room_again_the_tail_begins_the_next_segment) {
  Writer w = writer();
  disk_is_full = true;
  std::string all = numbered(w, 0, 20'000);
  const size_t kept_from = all.size() - kTailBytes;
  disk_is_full = false;
  fake_now += 1'000'000;
  all += numbered(w, 20'000, 30'000);
  Reader r = reader();
  EXPECT_EQ(r.gaps()->size(), 1U);
  EXPECT_EQ(r.gaps()->front().end, kept_from);
  EXPECT_EQ(r.read_all({kept_from, r.end()}, kMiB).value(), all.substr(kept_from));
  EXPECT_EQ(lines_in(follow(r)), 30'000U);
  disk_is_full = true;  // and a second time
  all += numbered(w, 30'000, 90'000);
  EXPECT_EQ(lines_in(follow(r)), 90'000U);
  EXPECT_EQ(*r.missing({0, r.end()}), r.status()->dropped);
}

TEST_F(JournalTail, what_a_follower_has_not_read_is_not_overwritten) {
  Writer w = writer();
  disk_is_full = true;
  w.set_unread_from(0);
  const std::string much(kMiB, 'x');
  const size_t taken = put(w, much);
  EXPECT_TRUE(w.waits_for_reader());
  EXPECT_EQ(taken, 8 * 1024 + kTailBytes);
  EXPECT_TRUE(w.writable_span().empty());
  Reader r = reader();
  EXPECT_TRUE(r.gaps()->empty());
  w.set_unread_from(taken - 100);
  EXPECT_EQ(put(w, much), kTailBytes - 100);
  EXPECT_EQ(r.read_all({taken - 100, ~0ULL}, kMiB)->size(), kTailBytes);
  w.set_unread_from(Writer::kNobodyReads);
  EXPECT_EQ(put(w, much), much.size());
  EXPECT_FALSE(w.waits_for_reader());
}

TEST_F(JournalTail, at_the_quota_segments_that_were_not_read_stay) {
  WriterOptions options;
  options.quota = kMiB;
  Writer w = writer(options);
  w.set_unread_from(500'000);
  const uint64_t taken = write_pattern(w, 8 * kMiB);
  EXPECT_TRUE(w.waits_for_reader());
  Reader r = reader();
  EXPECT_LE(r.gaps()->empty() ? 0 : r.gaps()->back().end, 500'000U);
  w.set_unread_from(taken);
  EXPECT_GT(write_pattern(w, 8 * kMiB), 0U);
  EXPECT_LE(w.allocated(), kMiB);
  EXPECT_EQ(*r.missing({0, r.end()}), r.status()->dropped);
}

TEST_F(JournalTail, lines_that_went_at_the_quota_are_counted) {
  WriterOptions options;
  options.quota = kSmallestQuota;
  Writer w = writer(options);
  const std::string all = numbered(w, 0, 300'000);
  Reader r = reader();
  EXPECT_EQ(lines_in(follow(r)), 300'000U);
  // From within a gap: whoever knows how many there were before is told the rest.
  const Range gap = r.gaps()->front();
  const uint64_t inside = (gap.begin + gap.end) / 2;
  const uint64_t before = base::count_newlines(all.data(), inside);
  r.know_newlines(inside, before);
  EXPECT_EQ(lines_in(follow(r, inside)), 300'000 - before);
}

TEST_F(JournalTail, pause_on_a_full_disk_goes_on_when_there_is_room) {
  WriterOptions options;
  options.overflow = Overflow::Pause;
  Writer w = writer(options);
  disk_is_full = true;
  const uint64_t taken = write_pattern(w, kMiB);
  EXPECT_TRUE(w.full());
  EXPECT_TRUE(w.may_find_room());
  EXPECT_FALSE(w.find_room());
  disk_is_full = false;
  EXPECT_TRUE(w.find_room());
  EXPECT_EQ(write_pattern(w, kMiB), kMiB);
  Reader r = reader();
  EXPECT_TRUE(is_pattern(r.read_all({0, taken + kMiB}, 2 * kMiB).value(), 0));
  EXPECT_FALSE(r.status()->conditions & kPaused);
}

TEST_F(JournalTail, no_single_bit_of_a_closed_header_can_change_what_it_says) {
  {
    Writer w = writer();
    put(w, "hello\n");
    ExitRecord record;
    record.kind = EndKind::Exited;
    record.code = 51;
    w.finish(record);
  }
  const std::string file = scratch_.journals() + "/t1.main";
  const Status good = *reader().status();
  const base::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  int repaired = 0;
  for (size_t at = 0; at < sizeof(JournalHeader); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      unsigned char byte = 0;
      ASSERT_EQ(::pread(fd.get(), &byte, 1, static_cast<off_t>(at)), 1);
      const unsigned char damaged = byte ^ static_cast<unsigned char>(1U << bit);
      ASSERT_EQ(::pwrite(fd.get(), &damaged, 1, static_cast<off_t>(at)), 1);
      const auto opened = Reader::open(scratch_.journals(), "t1");
      const auto status = opened ? opened->status() : tl::unexpected(opened.error());
      if (status) {
        ++repaired;
        EXPECT_EQ(status->end, good.end) << at;
        EXPECT_EQ(status->dropped, good.dropped) << at;
        EXPECT_EQ(status->state, good.state) << at;
        EXPECT_TRUE(status->exit == good.exit) << at;
        EXPECT_EQ(status->output_end, good.output_end) << at;
      } else {
        EXPECT_EQ(status.error().code, base::ErrorCode::Corrupt) << at << " " << status.error().message;
      }
      ASSERT_EQ(::pwrite(fd.get(), &byte, 1, static_cast<off_t>(at)), 1);
    }
  }
  EXPECT_GE(repaired, 2);  // a state that cannot be is seen through
}

// As a holder of the version before wrote it; one may still live when the daemon is a new one.
TEST_F(JournalTail, a_journal_of_the_first_version_is_read) {
  JournalHeader header;
  header.magic = kJournalMagic;
  header.version = 1;
  header.header_bytes = kPage;
  header.id = {'t', '1'};
  header.fixed_sum = fixed_sum(header);
  header.end = 5;
  header.segments = 1;
  header.state = static_cast<uint32_t>(State::Closed);
  header.output_end = static_cast<uint32_t>(OutputEnd::Eof);
  header.exit.kind = EndKind::Exited;
  header.exit.code = 7;
  header.exit_sum = checksum(&header.exit, sizeof header.exit);
  SegmentHeader segment;
  segment.magic = kSegmentMagic;
  segment.version = 1;
  segment.data_offset = kPage;
  segment.data_capacity = 2 * kPage;
  segment.index_capacity = (kPage - index_offset(1)) / sizeof(Mark);
  segment.fixed_sum = fixed_sum(segment);
  segment.index_count = 1;
  segment.length = 5;
  const Mark mark(Mark::Kind::Resize, 0, 0, 80 << 16 | 24);
  const base::UniqueFd fd(
      ::open((scratch_.journals() + "/t1.main").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(fd.get(), 4 * kPage), 0);
  ASSERT_TRUE(base::write_at(fd.get(), &header, sizeof header, 0, "header"));
  ASSERT_TRUE(base::write_at(fd.get(), &segment, index_offset(1), kPage, "segment"));
  ASSERT_TRUE(base::write_at(fd.get(), &mark, sizeof mark, kPage + index_offset(1), "mark"));
  ASSERT_TRUE(base::write_at(fd.get(), "hello", 5, 2 * kPage, "data"));
  Reader r = reader();
  EXPECT_EQ(r.read_all({0, 5}, 5).value(), "hello");
  EXPECT_EQ(r.status()->exit->code, 7);
  EXPECT_TRUE(r.complete().value());
  EXPECT_EQ(r.marks({0, 5})->size(), 1U);
}

}  // namespace
}  // namespace ttyward::journal
