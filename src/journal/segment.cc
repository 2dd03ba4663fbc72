#include "journal/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"
#include "base/count_newlines.h"

namespace ttyward::journal {

namespace {

// A sixteenth of a segment is index. At the densest (one mark a 10 ms) output
// of a few bytes at a time fills the index first; the segment is then closed
// early and its unused data blocks are given back.
constexpr uint64_t kIndexShare = 16;

uint64_t round_up_to_page(uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

base::Result<Segment> Segment::create(base::UniqueFd file, uint64_t start, uint64_t bytes, uint32_t number,
                                      uint64_t base, uint64_t newlines_before, Allocate allocate,
                                      const std::string& shown) {
  TTYWARD_CHECK(start % kPage == 0 && bytes % kPage == 0 && bytes >= 2 * kPage);
  const uint64_t total = start + bytes;
  const int error = allocate(file.get(), static_cast<off_t>(total));
  if (error != 0) return base::fail_errno(error, "cannot allocate " + shown);
  auto mapping = Mapping::map(file.get(), total, Access::ReadWrite, shown);
  if (!mapping) return tl::unexpected(mapping.error());
  // Without this the first access reads ahead over megabytes of zeros that were never written.
  ::madvise(mapping->data(), mapping->size(), MADV_RANDOM);

  Segment segment;
  segment.file_ = std::move(file);
  segment.mapping_ = std::move(*mapping);
  segment.start_ = start;
  segment.file_bytes_ = total;
  SegmentHeader fresh;
  fresh.version = kVersion;
  fresh.number = number;
  fresh.base = base;
  fresh.data_offset = round_up_to_page(std::max(kPage, bytes / kIndexShare));
  fresh.data_capacity = bytes - fresh.data_offset;
  fresh.index_capacity = (fresh.data_offset - sizeof(SegmentHeader)) / sizeof(Mark);
  fresh.newlines_before = newlines_before;
  fresh.magic = kSegmentMagic;
  fresh.fixed_sum = fixed_sum(fresh);
  publish_header(segment.header(), fresh);
  return segment;
}

std::span<std::byte> Segment::space(uint64_t used) const {
  return {mapping_.data() + file_offset(used), capacity() - used};
}

void Segment::add_mark(const Mark& mark) {
  TTYWARD_CHECK(marks_left() > 0);
  mapping_.as<Mark>(start_ + sizeof(SegmentHeader))[marks_] = mark;
  publish(header()->index_count, ++marks_);
}

uint64_t Segment::count_newlines(uint64_t length) const {
  return base::count_newlines(mapping_.data() + file_offset(0), length);
}

uint64_t Segment::close(uint64_t length, uint64_t newlines, uint64_t worth_freeing) {
  SegmentHeader* shared = header();
  shared->newlines = newlines;
  SegmentHeader closed = *shared;
  closed.length = length;
  shared->closed_sum = closed_sum(closed);
  publish(shared->length, length);
  const uint64_t needed = round_up_to_page(file_offset(length));
  if (needed + worth_freeing > file_bytes_ || ::ftruncate(file_.get(), static_cast<off_t>(needed)) != 0)
    return 0;
  return std::exchange(file_bytes_, needed) - needed;
}

}  // namespace ttyward::journal
