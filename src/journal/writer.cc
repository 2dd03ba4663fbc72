#include "journal/writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/count_newlines.h"
#include "base/file_io.h"
#include "base/unnamed_file.h"
#include "journal/allocate.h"

namespace ttyward::journal {

namespace {

// Less than this stays allocated when a journal closes: freeing blocks can cost
// milliseconds where the disk is told of every block that is freed.
constexpr uint64_t kWorthFreeingAtEnd = 256 * 1024;

// From so much on a system call is cheaper than the faults of fresh pages.
constexpr size_t kWorthWriting = 16 * 1024;

uint64_t unix_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint32_t packed(TerminalSize size) {
  return static_cast<uint32_t>(size.cols) << 16 | size.rows;
}

// Removes a journal whose creation failed halfway, so that no unusable folder stays behind.
class Undo {
 public:
  Undo(Folder& folder, const std::string& id, uint64_t reserved)
      : folder_(folder), id_(id), reserved_(reserved) {}
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (!armed_) return;
    if (made_) (void)remove_journal(folder_.fd(), id_);
    folder_.release(reserved_);
  }
  void made() { made_ = true; }
  void disarm() { armed_ = false; }

 private:
  Folder& folder_;
  const std::string& id_;
  uint64_t reserved_;
  bool made_ = false;
  bool armed_ = true;
};

constexpr uint64_t kFirstBytes = kPage + kTailBytes + kFirstSegmentBytes;

// The first file, its space allocated and mapped. The lock is taken before the header is written: whoever
// finds a header without a lock knows that the writer is gone.
base::Result<Segment> first_segment(base::UniqueFd file, Allocate allocate, const std::string& shown) {
  // Waits only for a probe that asks, in a few microseconds, whether we live.
  if (::flock(file.get(), LOCK_EX) != 0) return base::fail_errno(errno, "cannot lock " + shown);
  return Segment::create(std::move(file), kPage + kTailBytes, kFirstSegmentBytes, 0, 0, 0, allocate, shown);
}

}  // namespace

base::Result<Blank> Blank::make(const Folder& folder) {
  auto file = base::make_unnamed_file(folder.fd(), 0);
  if (!file) return tl::unexpected(file.error());
  auto segment = first_segment(std::move(*file), allocate_room, folder.path());
  if (!segment) return tl::unexpected(segment.error());
  return Blank(std::move(*segment));
}

uint64_t Writer::monotonic_now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

base::Result<Writer> Writer::create(std::shared_ptr<Folder> folder, const WriterOptions& options,
                                    std::optional<Blank> blank) {
  if (!valid_id(options.id)) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "a journal id is 1 to 63 letters, digits, '-' or '_', not '" + options.id + "'");
  }
  if (options.quota < kSmallestQuota) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "a journal's quota must be at least " + std::to_string(kSmallestQuota) + " bytes");
  }
  if (auto room = folder->reserve(kFirstBytes); !room) return tl::unexpected(room.error());
  Undo undo(*folder, options.id, kFirstBytes);
  const std::string shown = folder->path() + "/" + main_file(options.id);
  const std::string name = main_file(options.id);

  Writer writer;
  writer.allocate_ = options.allocate != nullptr ? options.allocate : allocate_room;
  writer.monotonic_us_ = options.monotonic_us != nullptr ? options.monotonic_us : monotonic_now_us;
  if (blank) {
    writer.current_ = std::move(*blank).take();
  } else {
    auto file = open_private_file_at(folder->fd(), name.c_str(), O_RDWR | O_CREAT | O_EXCL, folder->path());
    if (!file) return tl::unexpected(file.error());
    undo.made();
    auto segment = first_segment(std::move(*file), writer.allocate_, shown);
    if (!segment) return tl::unexpected(segment.error());
    writer.current_ = std::move(*segment);
  }

  writer.id_ = options.id;
  writer.header_ = writer.current_->mapping().as<JournalHeader>();
  writer.started_us_ = writer.now_us();
  writer.overflow_ = options.overflow;
  writer.quota_ = options.quota;
  writer.allocated_ = kFirstBytes;
  writer.next_number_ = 1;
  writer.next_bytes_ = segment_after(kFirstSegmentBytes, options.quota);

  JournalHeader fresh;
  fresh.version = kVersion;
  fresh.header_bytes = kPage + kTailBytes;
  fresh.tail_begin = kNoTail;
  fresh.created_unix_ns = options.created_unix_ns != 0 ? options.created_unix_ns : unix_now_ns();
  fresh.created_mono_us = writer.started_us_;
  fresh.writer_pid = static_cast<uint32_t>(::getpid());
  fresh.provider = stored(options.provider);
  fresh.flags = options.flags;
  std::memcpy(fresh.id.data(), options.id.data(), options.id.size());
  fresh.magic = kJournalMagic;
  fresh.fixed_sum = fixed_sum(fresh);
  fresh.allocated = kFirstBytes;
  fresh.segments = 1;
  fresh.quota = options.quota;
  fresh.state = static_cast<uint32_t>(State::Running);
  fresh.overflow = static_cast<uint32_t>(options.overflow);
  fresh.size = packed(options.size);
  publish_header(writer.header(), fresh);
  writer.add_mark(Mark::Kind::Resize, fresh.size);
  // Complete before it can be found.
  if (blank) {
    if (auto named = base::give_name(writer.current_->fd(), folder->fd(), name); !named) {
      return tl::unexpected(named.error());
    }
  }
  undo.disarm();
  writer.folder_ = std::move(folder);
  return writer;
}

std::span<std::byte> Writer::writable_span() {
  if (!make_room()) return {};
  if (discarding_) return std::span(scratch_).first(tail_room());
  return current_->space(end_ - current_->base());
}

void Writer::commit(size_t bytes, Stream stream) {
  if (bytes == 0 || closed_for_good_) return;
  if (discarding_) {
    put_in_tail(std::span(scratch_).first(bytes));
    stream_ = stream;
    count(bytes);
  } else {
    TTYWARD_CHECK(current_ && bytes <= current_->capacity() - (end_ - current_->base()));
    keep(current_->space(end_ - current_->base()).data(), bytes, stream);
  }
}

// They are in the current segment, and `bytes` is where to look at them; null: not without reading them back.
void Writer::keep(const std::byte* bytes, size_t count, Stream stream) {
  note_arrival(stream);
  if (bytes == nullptr) {
    newlines_counted_ = false;
  } else {
    segment_newlines_ += base::count_newlines(bytes, count);
  }
  this->count(count);
}

size_t Writer::append(std::span<const std::byte> bytes, Stream stream) {
  size_t done = 0;
  while (done < bytes.size()) {
    // writable_span() may begin a new segment, so the bytes are kept in as many parts as there are segments.
    const auto space = writable_span();
    if (space.empty()) break;
    const auto part = bytes.subspan(done, std::min(bytes.size() - done, space.size()));
    // The blocks are there, so a write can only fail where the mapping would be fatal; it is tried last.
    const bool worth_a_call = !discarding_ && part.size() >= kWorthWriting;
    if (!worth_a_call || !base::write_at(current_->fd(), part.data(), part.size(),
                                         current_->file_offset(end_ - current_->base()), id_)) {
      std::memcpy(space.data(), part.data(), part.size());
    }
    if (discarding_) {
      commit(part.size(), stream);
    } else {
      keep(part.data(), part.size(), stream);
    }
    done += part.size();
  }
  return done;
}

ssize_t Writer::splice_from(int pipe, size_t limit, Stream stream) {
  if (!make_room()) {
    errno = EXFULL;
    return -1;
  }
  if (discarding_) {
    const ssize_t got = ::read(pipe, scratch_.data(), std::min(limit, tail_room()));
    if (got > 0) commit(static_cast<size_t>(got), stream);
    return got;
  }
  const uint64_t used = end_ - current_->base();
  auto at = static_cast<loff_t>(current_->file_offset(used));
  const size_t room = std::min<size_t>(limit, current_->capacity() - used);
  ssize_t got = ::splice(pipe, nullptr, current_->fd(), &at, room, SPLICE_F_NONBLOCK);
  if (got < 0 && errno == EINVAL) {
    // Not a pipe, or a file system without splice: the mapping always works.
    got = ::read(pipe, current_->space(used).data(), room);
  }
  if (got > 0) keep(nullptr, static_cast<size_t>(got), stream);
  return got;
}

void Writer::note_arrival(Stream stream) {
  const uint64_t now = mark_us();
  if (stream_ != stream) {
    stream_ = stream;
    add_mark(Mark::Kind::Stream, static_cast<uint64_t>(stream));
  } else if (now - last_mark_us_ >= kMarkEveryUs) {
    add_mark(Mark::Kind::Time, 0);
  } else {
    return;
  }
  publish(header()->last_output_us, now - started_us_);
}

void Writer::count(size_t bytes) {
  // Published after the bytes are in place, with release order: a reader finds every byte below `end`.
  end_ += bytes;
  publish(header()->end, end_);
}

void Writer::add_mark(Mark::Kind kind, uint64_t value) {
  const uint64_t now = mark_us();
  if (!current_) return;  // the tail has no place for a mark; the next segment begins with the state
  current_->add_mark(Mark(kind, end_, now - started_us_, value));
  if (kind == Mark::Kind::Stream || kind == Mark::Kind::Time) last_mark_us_ = now;
}

void Writer::mark_resize(TerminalSize size) {
  publish(header()->size, packed(size));
  if (make_room()) add_mark(Mark::Kind::Resize, packed(size));
}

void Writer::mark_input(uint64_t bytes, Echo echo) {
  publish(header()->input_bytes, header()->input_bytes + bytes);
  if (make_room()) add_mark(echo == Echo::On ? Mark::Kind::Input : Mark::Kind::Secret, bytes);
}

void Writer::set_child(uint32_t pid, uint64_t start_time) {
  header()->child_started = start_time;
  publish(header()->child_pid, pid);
}

void Writer::grant(uint64_t bytes) {
  quota_ = bytes > ~uint64_t{0} - quota_ ? ~uint64_t{0} : quota_ + bytes;
  publish(header()->quota, quota_);
  full_ = false;
  set_condition(kPaused, false);
}

bool Writer::find_room() {
  if (!full_) return true;
  full_ = false;
  if (!make_room()) return false;
  set_condition(kPaused, false);
  return true;
}

void Writer::discard_rest() {
  discard_for_good_ = true;
  full_ = false;
  set_condition(kPaused, false);
  start_discarding();
}

void Writer::record_exit(const ExitRecord& record) {
  JournalHeader* shared = header();
  shared->exit = record;
  // The state is published last: a reader that sees Exited finds a complete record.
  shared->exit_sum = checksum(&record, sizeof record);
  publish(shared->state, static_cast<uint32_t>(State::Exited));
}

void Writer::close(OutputEnd end) {
  close_segment(kWorthFreeingAtEnd);
  set_condition(kPaused, false);
  set_condition(kDiscarding, false);
  closed_for_good_ = true;
  publish(header()->output_end, static_cast<uint32_t>(end));
  // The sum of the header as it will be, written before the state changes: if the writer dies between the
  // two, the right sum still says that the journal is closed.
  JournalHeader closed = *header();
  closed.state = static_cast<uint32_t>(State::Closed);
  header()->closed_sum = closed_sum(closed);
  publish(header()->state, static_cast<uint32_t>(State::Closed));
  ::flock(main_.file.get(), LOCK_UN);
}

void Writer::set_condition(uint32_t bit, bool on) {
  const uint32_t now = header()->conditions;
  publish(header()->conditions, on ? now | bit : now & ~bit);
}

}  // namespace ttyward::journal
