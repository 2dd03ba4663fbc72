// Where a writer finds room: new segments, the quota, and what to drop.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/count_newlines.h"
#include "journal/writer.h"

namespace ttyward::journal {

namespace {

constexpr uint64_t kGrowth = 4;     // each segment is four times the last, up to the largest
constexpr uint64_t kHeadShare = 8;  // an eighth of the quota is kept from the beginning
constexpr uint64_t kSegmentsInQuota = 16;
constexpr uint64_t kSmallSegmentBytes = 32 * 1024;  // what a disk that is nearly full is asked for
constexpr uint64_t kRetryDiskUs = 200'000;
// A commit may need a mark, and so may a resize or input that comes before it.
constexpr size_t kMarksKeptFree = 4;

}  // namespace

uint64_t Writer::segment_after(uint64_t bytes, uint64_t quota) {
  const uint64_t largest =
      std::clamp(quota / kSegmentsInQuota / kPage * kPage, 8 * kPage, kLargestSegmentBytes);
  return std::min(bytes * kGrowth, largest);
}

bool Writer::make_room() {
  waits_for_reader_ = false;
  if (closed_for_good_) return false;
  if (current_ && current_->marks_left() >= kMarksKeptFree &&
      end_ - current_->base() < current_->capacity()) {
    return true;
  }
  if (full_) return false;
  const bool ask_disk = !discarding_ || (!discard_for_good_ && now_us() >= retry_at_us_);
  if (ask_disk) {
    close_segment(kPage);  // closed early, because of its index: much of it may be unused
    const Begun begun = begin_segment();
    if (begun == Begun::Yes) return true;
    if (begun == Begun::NotRead) {
      waits_for_reader_ = true;
      return false;
    }
    if (overflow_ != Overflow::DropMiddle && !discard_for_good_) {
      full_ = true;
      at_quota_ = allocated_ + next_bytes_ > quota_;
      set_condition(kOverflowed | (overflow_ == Overflow::Pause ? kPaused : 0), true);
      return false;
    }
    start_discarding();
  }
  waits_for_reader_ = tail_room() == 0;
  return !waits_for_reader_;
}

Writer::Begun Writer::begin_segment() {
  uint64_t bytes = next_bytes_;
  const auto drop_for_room = [&] {
    if (overflow_ != Overflow::DropMiddle) return Begun::NoRoom;
    switch (drop_one()) {
      case Dropped::One:
        return Begun::Yes;
      case Dropped::NotRead:
        return Begun::NotRead;
      case Dropped::NothingLeft:
        break;
    }
    return Begun::NoRoom;
  };
  while (allocated_ + bytes > quota_) {
    if (const Begun room = drop_for_room(); room != Begun::Yes) return room;
    set_condition(kOverflowed, true);
  }
  const uint64_t base = tail_begin_ != kNoTail ? tail_begin_ : end_;
  const std::string name = segment_file({base, next_number_});
  const std::string shown = folder_->path() + "/" + id_ + "/" + name;
  // A disk that cannot give the next size may still give a small one; and what
  // this journal can spare goes before anything new is lost.
  for (;;) {
    base::Result<void> reserved = folder_->reserve(bytes);
    bool out_of_space = !reserved;
    if (reserved) {
      auto file = open_dir()
                      ? open_private_file_at(dir_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL, shown)
                      : base::Result<base::UniqueFd>(base::fail_errno(ENOSPC, shown));
      if (file) {
        auto segment = Segment::create(std::move(*file), 0, bytes, next_number_, base, newlines_before_,
                                       allocate_, shown);
        if (segment) {
          current_ = std::move(*segment);
          break;
        }
        ::unlinkat(dir_.get(), name.c_str(), 0);
      }
      folder_->release(bytes);
      out_of_space = true;
    }
    if (out_of_space && bytes > kSmallSegmentBytes) {
      bytes = kSmallSegmentBytes;
      continue;
    }
    if (const Begun room = drop_for_room(); room != Begun::Yes) {
      set_condition(kDiskWasFull, true);
      return room;
    }
  }
  ++next_number_;
  allocated_ += bytes;
  next_bytes_ = segment_after(next_bytes_, quota_);
  publish(header()->allocated, allocated_);
  publish(header()->segments, uint64_t{next_number_});
  segment_newlines_ = 0;
  newlines_counted_ = true;
  if (discarding_) {
    move_tail(*current_);
    discarding_ = false;
    set_condition(kDiscarding, false);
  }
  // A segment can be read without those before it: it begins with the state.
  add_mark(Mark::Kind::Resize, header()->size);
  if (stream_) add_mark(Mark::Kind::Stream, static_cast<uint64_t>(*stream_));
  return Begun::Yes;
}

bool Writer::open_dir() {
  if (dir_.valid()) return true;
  if (::mkdirat(folder_->fd(), id_.c_str(), 0700) != 0 && errno != EEXIST) return false;
  auto dir = open_private_folder_at(folder_->fd(), id_.c_str(), id_);
  if (dir) dir_ = std::move(*dir);
  return dir_.valid();
}

Writer::Dropped Writer::drop_one() {
  // closed_ is in order of offsets. The head is what fits an eighth of the
  // quota from the beginning, and always the first segment, which is in `main`.
  uint64_t head = 0;
  auto victim = closed_.begin();
  for (; victim != closed_.end(); ++victim) {
    head += victim->file_bytes;
    if (victim->number != 0 && head > quota_ / kHeadShare) break;
  }
  // The newest closed segment stays: a tail must remain whatever happens.
  if (victim == closed_.end() || std::next(victim) == closed_.end()) return Dropped::NothingLeft;
  if (victim->base + victim->length > unread_from_) return Dropped::NotRead;
  // First the count, then the file: a reader that finds it gone finds it counted.
  dropped_ += victim->length;
  publish(header()->dropped, dropped_);
  ::unlinkat(dir_.get(), segment_file({victim->base, victim->number}).c_str(), 0);
  allocated_ -= victim->file_bytes;
  publish(header()->allocated, allocated_);
  folder_->release(victim->file_bytes);
  closed_.erase(victim);
  return Dropped::One;
}

void Writer::close_segment(uint64_t worth_freeing) {
  if (!current_) return;
  const uint64_t length = end_ - current_->base();
  if (!newlines_counted_) segment_newlines_ = current_->count_newlines(length);
  const uint64_t freed = current_->close(length, segment_newlines_, worth_freeing);
  newlines_before_ += segment_newlines_;
  allocated_ -= freed;
  publish(header()->allocated, allocated_);
  folder_->release(freed);
  closed_.push_back(Closed{current_->base(), length, current_->file_bytes(), next_number_ - 1});
  if (!main_.file.valid()) main_ = std::move(*current_).release();
  current_.reset();
}

void Writer::start_discarding() {
  close_segment(kPage);
  retry_at_us_ = now_us() + kRetryDiskUs;
  if (discarding_) return;
  scratch_.resize(kTailBytes);
  discarding_ = true;
  tail_begin_ = end_;
  publish_tail();
  set_condition(kDiscarding, true);
}

size_t Writer::tail_room() const {
  // A reader that is further behind than the tail reaches has lost what was before it already.
  const uint64_t keep_from = unread_from_ == kNobodyReads ? end_ : std::max(unread_from_, tail_begin_);
  return end_ > keep_from ? kTailBytes - std::min(kTailBytes, end_ - keep_from) : kTailBytes;
}

// Readers check that what they have copied was not overwritten meanwhile: the beginning moves first.
void Writer::put_in_tail(std::span<const std::byte> bytes) {
  const uint64_t end = end_ + bytes.size();
  if (end - tail_begin_ > kTailBytes) {
    const uint64_t gone = end - kTailBytes - tail_begin_;
    for (uint64_t at = tail_begin_; at < tail_begin_ + gone;) {
      const uint64_t part = std::min(kTailBytes - at % kTailBytes, tail_begin_ + gone - at);
      newlines_before_ += base::count_newlines(tail() + at % kTailBytes, part);
      at += part;
    }
    tail_begin_ += gone;
    dropped_ += gone;
    publish(header()->dropped, dropped_);
    publish_tail();
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  for (uint64_t at = end_; at < end;) {
    const uint64_t part = std::min(kTailBytes - at % kTailBytes, end - at);
    std::memcpy(tail() + at % kTailBytes, bytes.data() + (at - end_), part);
    at += part;
  }
}

// There is room again: what is in the tail begins the segment. Until it is there whole, readers find it in
// the tail.
void Writer::move_tail(Segment& into) {
  const std::span<std::byte> space = into.space(0);
  for (uint64_t at = tail_begin_; at < end_;) {
    const uint64_t part = std::min(kTailBytes - at % kTailBytes, end_ - at);
    std::memcpy(space.data() + (at - tail_begin_), tail() + at % kTailBytes, part);
    at += part;
  }
  segment_newlines_ = base::count_newlines(space.data(), end_ - tail_begin_);
  tail_begin_ = kNoTail;
  publish_tail();
}

void Writer::publish_tail() {
  JournalHeader* shared = header();
  publish(shared->tail_changes, shared->tail_changes + 1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  publish(shared->tail_begin, tail_begin_);
  publish(shared->tail_newlines, newlines_before_);
  publish(shared->tail_changes, shared->tail_changes + 1);
}

}  // namespace ttyward::journal
