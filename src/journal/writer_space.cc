// Where a writer finds room: new segments, the quota, and what to drop.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "journal/writer.h"

namespace ttyward::journal {

namespace {

constexpr uint64_t kGrowth = 4;     // each segment is four times the last, up to the largest
constexpr uint64_t kHeadShare = 8;  // an eighth of the quota is kept from the beginning
constexpr uint64_t kSegmentsInQuota = 16;
constexpr uint64_t kSmallSegmentBytes = 32 * 1024;  // what a disk that is nearly full is asked for
constexpr size_t kScratchBytes = 64 * 1024;
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
  if (current_ && current_->marks_left() >= kMarksKeptFree &&
      end_ - current_->base() < current_->capacity()) {
    return true;
  }
  if (full_) return false;
  if (discarding_ && (discard_for_good_ || now_us() < retry_at_us_)) return true;
  close_segment(kPage);  // closed early, because of its index: much of it may be unused
  if (begin_segment()) return true;
  if (overflow_ == Overflow::DropMiddle || discard_for_good_) {
    start_discarding();
    return true;
  }
  full_ = true;
  set_condition(kOverflowed | (overflow_ == Overflow::Pause ? kPaused : 0), true);
  return false;
}

bool Writer::begin_segment() {
  uint64_t bytes = next_bytes_;
  while (allocated_ + bytes > quota_) {
    if (overflow_ != Overflow::DropMiddle || !drop_one()) return false;
    set_condition(kOverflowed, true);
  }
  const std::string name = segment_file({end_, next_number_});
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
        auto segment = Segment::create(std::move(*file), 0, bytes, next_number_, end_, allocate_, shown);
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
    if (overflow_ != Overflow::DropMiddle || !drop_one()) {
      set_condition(kDiskWasFull, true);
      return false;
    }
  }
  ++next_number_;
  allocated_ += bytes;
  next_bytes_ = segment_after(next_bytes_, quota_);
  publish(header()->allocated, allocated_);
  publish(header()->segments, uint64_t{next_number_});
  if (discarding_) {
    discarding_ = false;
    set_condition(kDiscarding, false);
  }
  // A segment can be read without those before it: it begins with the state.
  add_mark(Mark::Kind::Resize, header()->size);
  if (stream_) add_mark(Mark::Kind::Stream, static_cast<uint64_t>(*stream_));
  return true;
}

bool Writer::open_dir() {
  if (dir_.valid()) return true;
  if (::mkdirat(folder_->fd(), id_.c_str(), 0700) != 0 && errno != EEXIST) return false;
  auto dir = open_private_folder_at(folder_->fd(), id_.c_str(), id_);
  if (dir) dir_ = std::move(*dir);
  return dir_.valid();
}

bool Writer::drop_one() {
  // closed_ is in order of offsets. The head is what fits an eighth of the
  // quota from the beginning, and always the first segment, which is in `main`.
  uint64_t head = 0;
  auto victim = closed_.begin();
  for (; victim != closed_.end(); ++victim) {
    head += victim->file_bytes;
    if (victim->number != 0 && head > quota_ / kHeadShare) break;
  }
  // The newest closed segment stays: a tail must remain whatever happens.
  if (victim == closed_.end() || std::next(victim) == closed_.end()) return false;
  // First the count, then the file: a reader that finds it gone finds it counted.
  dropped_ += victim->length;
  publish(header()->dropped, dropped_);
  ::unlinkat(dir_.get(), segment_file({victim->base, victim->number}).c_str(), 0);
  allocated_ -= victim->file_bytes;
  publish(header()->allocated, allocated_);
  folder_->release(victim->file_bytes);
  closed_.erase(victim);
  return true;
}

void Writer::close_segment(uint64_t worth_freeing) {
  if (!current_) return;
  const uint64_t length = end_ - current_->base();
  const uint64_t freed = current_->close(length, worth_freeing);
  allocated_ -= freed;
  publish(header()->allocated, allocated_);
  folder_->release(freed);
  closed_.push_back(Closed{current_->base(), length, current_->file_bytes(), next_number_ - 1});
  if (!main_.file.valid()) main_ = std::move(*current_).release();
  current_.reset();
}

void Writer::start_discarding() {
  close_segment(kPage);
  scratch_.resize(kScratchBytes);
  discarding_ = true;
  retry_at_us_ = now_us() + kRetryDiskUs;
  set_condition(kDiscarding, true);
}

}  // namespace ttyward::journal
