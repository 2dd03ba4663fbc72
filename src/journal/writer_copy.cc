// A journal that is a copy of another: what its writer needs besides append(), and how one goes on after the
// process that wrote it has ended.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/count_newlines.h"
#include "journal/allocate.h"
#include "journal/reader.h"
#include "journal/segment_list.h"
#include "journal/writer.h"

namespace ttyward::journal {
namespace {

tl::unexpected<base::Error> corrupt(const std::string& message) {
  return base::fail(base::ErrorCode::Corrupt, message);
}

base::Result<uint64_t> size_of(int fd, const std::string& shown) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return base::fail_errno(errno, "cannot look at " + shown);
  return static_cast<uint64_t>(info.st_size);
}

// Writes what a writer that was killed did not: where the segment ends, and its line feeds.
void close_left_open(const Mapping& mapping, SegmentHeader* header, uint64_t start, uint64_t length) {
  header->newlines = base::count_newlines(mapping.data() + start + header->data_offset, length);
  SegmentHeader closed = *header;
  closed.length = length;
  header->closed_sum = closed_sum(closed);
  publish(header->length, length);
}

}  // namespace

void Writer::copy_mark(const Mark& mark) {
  copied_us_ = mark.time_us();
  const bool again = mark.kind() == Mark::Kind::Resize && header()->size == mark.value;
  switch (mark.kind()) {
    case Mark::Kind::Resize:
      if (again) return;
      publish(header()->size, static_cast<uint32_t>(mark.value));
      break;
    case Mark::Kind::Input:
    case Mark::Kind::Secret:
      break;
    case Mark::Kind::Time:
    case Mark::Kind::Stream:
      return;  // made when the bytes come
  }
  if (make_room()) add_mark(mark.kind(), mark.value);
}

// The count first, then the end: a reader that finds the gap finds it counted.
void Writer::skip(uint64_t bytes, uint64_t newlines) {
  if (bytes == 0 || closed_for_good_) return;
  close_segment(kPage);
  if (discarding_) {
    for (uint64_t at = tail_begin_; at < end_;) {
      const uint64_t part = std::min(kTailBytes - at % kTailBytes, end_ - at);
      newlines_before_ += base::count_newlines(tail() + at % kTailBytes, part);
      at += part;
    }
    dropped_ += end_ - tail_begin_;
  }
  dropped_ += bytes;
  newlines_before_ += newlines;
  publish(header()->dropped, dropped_);
  end_ += bytes;
  if (discarding_) {
    tail_begin_ = end_;
    publish_tail();
  }
  publish(header()->end, end_);
  // The next segment has the line feeds before it, also for a writer that goes on later.
  static_cast<void>(make_room());
}

void Writer::set_input_bytes(uint64_t bytes) {
  publish(header()->input_bytes, bytes);
}

base::Result<Writer> Writer::resume(std::shared_ptr<Folder> folder, const std::string& id) {
  const std::string shown = folder->path() + "/" + main_file(id);
  auto before = Reader::open_at(folder->fd(), id, shown);  // checks the header
  if (!before) return tl::unexpected(before.error());
  const auto status = before->status();
  if (!status) return tl::unexpected(status.error());
  if (status->state == State::Closed) return base::fail(base::ErrorCode::AlreadyExists, shown + " is closed");
  auto file = open_private_file_at(folder->fd(), main_file(id).c_str(), O_RDWR, folder->path());
  if (!file) return tl::unexpected(file.error());
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0)
    return base::fail(base::ErrorCode::Unavailable, shown + " is being written by another process");
  const auto bytes = size_of(file->get(), shown);
  if (!bytes) return tl::unexpected(bytes.error());
  auto mapping = Mapping::map(file->get(), *bytes, Access::ReadWrite, shown);
  if (!mapping) return tl::unexpected(mapping.error());

  Writer writer;
  writer.id_ = id;
  writer.allocate_ = allocate_room;
  writer.monotonic_us_ = monotonic_now_us;
  writer.main_ = {std::move(*file), std::move(*mapping)};
  writer.header_ = writer.main_.mapping.as<JournalHeader>();
  const JournalHeader& found = *writer.header_;
  if (found.version != kVersion) return corrupt(shown + " is from another version of ttyward");
  writer.folder_ = std::move(folder);
  writer.started_us_ = found.created_mono_us;
  writer.overflow_ = static_cast<Overflow>(found.overflow);
  writer.quota_ = found.quota;
  writer.end_ = found.end;
  writer.dropped_ = found.dropped;
  writer.allocated_ = found.allocated;
  writer.next_number_ = static_cast<uint32_t>(found.segments);
  for (uint64_t i = 0; i < found.segments && writer.next_bytes_ < kLargestSegmentBytes; i++)
    writer.next_bytes_ = segment_after(writer.next_bytes_, found.quota);
  if (auto taken = writer.take_over_segments(shown); !taken) return tl::unexpected(taken.error());
  if (found.tail_begin != kNoTail) {
    writer.tail_begin_ = found.tail_begin;
    writer.newlines_before_ = found.tail_newlines;
    writer.scratch_.resize(kTailBytes);
    writer.discarding_ = true;
  }
  return writer;
}

// All that are there become closed ones; the next byte begins a new one.
base::Result<void> Writer::take_over_segments(const std::string& shown) {
  const auto take = [this](const Mapping& mapping, uint64_t start, uint64_t file_bytes) {
    auto* header = mapping.as<SegmentHeader>(start);
    if (header->magic != kSegmentMagic || header->fixed_sum != fixed_sum(*header) ||
        start + header->data_offset > file_bytes) {
      return;
    }
    if (observe(header->length) == kOpenSegment) {
      const uint64_t in_file = file_bytes - start - header->data_offset;
      const uint64_t length = end_ > header->base ? std::min(end_ - header->base, in_file) : 0;
      close_left_open(mapping, header, start, length);
    }
    closed_.push_back(Closed{header->base, header->length, file_bytes, header->number});
    newlines_before_ = header->newlines_before + header->newlines;
  };
  take(main_.mapping, kPage + kTailBytes, main_.mapping.size());
  auto dir = open_private_folder_at(folder_->fd(), id_.c_str(), id_);
  if (!dir) return {};  // the first was enough
  dir_ = std::move(*dir);
  const auto names = list_segments(dir_.get(), shown);
  if (!names) return tl::unexpected(names.error());
  for (const SegmentName& name : *names) {
    const std::string file_name = segment_file(name);
    auto file = open_private_file_at(dir_.get(), file_name.c_str(), O_RDWR, shown);
    if (!file) return tl::unexpected(file.error());
    const auto bytes = size_of(file->get(), file_name);
    if (!bytes) return tl::unexpected(bytes.error());
    if (*bytes < kPage) continue;
    const auto mapping = Mapping::map(file->get(), *bytes, Access::ReadWrite, file_name);
    if (!mapping) return tl::unexpected(mapping.error());
    take(*mapping, 0, *bytes);
    next_number_ = std::max(next_number_, name.number + 1);
  }
  return {};
}

}  // namespace ttyward::journal
