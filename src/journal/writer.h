// The one writer of a journal: takes bytes where they are read and keeps them.
//
//   auto space = writer.writable_span();      // straight into the mapped file
//   n = read(master, space.data(), space.size());
//   writer.commit(n, Stream::Terminal);       // now readers may see them
//
// Much that comes in small pieces is gathered by the caller and handed over by
// append(): a page that is first touched through the mapping costs a fault.
//
// A pipe is moved by splice_from(): its pages go into the file without passing
// through this process at all.
//
// Surviving the death of any process is promised; surviving a power cut is not
// (nothing is synced on the way).
//
// When no more can be kept, the overflow policy decides:
//   DropMiddle  the oldest segments after the head go, counted. If even that
//               makes no room (the disk is full), only the newest bytes are
//               kept, in the tail, until there is room again.
//   Pause,Kill  writable_span() is empty and full() is true; the holder stops
//               reading, or ends the command.
//
// What a reader has yet to see is not dropped (set_unread_from): the writer then
// waits_for_reader(), and writable_span() is empty. So whoever follows a terminal
// sees every byte of it, and every mark of its shell, however little is kept.
//
// Thread rule: one thread. Not copied, moved only while nobody holds a span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "journal/blank.h"
#include "journal/folder.h"
#include "journal/format.h"
#include "journal/segment.h"

namespace ttyward::journal {

inline constexpr uint64_t kDefaultQuota = uint64_t{256} << 20;
inline constexpr uint64_t kSmallestQuota = uint64_t{512} << 10;  // sixteen of the smallest segments
// Finer than an eye can tell apart, and at most 2.4 kB of index a second.
inline constexpr uint64_t kMarkEveryUs = 10'000;

struct TerminalSize {
  uint16_t cols = 80;
  uint16_t rows = 24;
};

struct WriterOptions {
  std::string id;
  Provider provider = Provider::Pty;
  TerminalSize size;
  uint64_t quota = kDefaultQuota;
  Overflow overflow = Overflow::DropMiddle;
  uint32_t flags = 0;                    // kNotDurable
  uint64_t created_unix_ns = 0;          // 0: now. A copy has the time of its original
  Allocate allocate = nullptr;           // default: allocate_room
  uint64_t (*monotonic_us)() = nullptr;  // default: CLOCK_MONOTONIC
};

class Writer {
 public:
  // `blank` was made in the same folder; without one the file is made now.
  static base::Result<Writer> create(std::shared_ptr<Folder> folder, const WriterOptions& options,
                                     std::optional<Blank> blank = std::nullopt);
  // Goes on where a writer that is gone left off. AlreadyExists: the journal is closed; Unavailable: its
  // writer lives.
  static base::Result<Writer> resume(std::shared_ptr<Folder> folder, const std::string& id);
  Writer(Writer&&) noexcept = default;
  Writer& operator=(Writer&&) noexcept = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() = default;

  // Where the next bytes go. Empty only when full() or waits_for_reader().
  std::span<std::byte> writable_span();
  // The first `bytes` of the span hold bytes of `stream`: publish them.
  void commit(size_t bytes, Stream stream);
  // Keeps bytes that are somewhere else in memory, and publishes them. How many: fewer than given only
  // when full() or waits_for_reader().
  size_t append(std::span<const std::byte> bytes, Stream stream);
  // Moves at most `limit` bytes from a pipe. As read(2): 0 is the end of the
  // stream, -1 sets errno; EXFULL when full() or waits_for_reader().
  ssize_t splice_from(int pipe, size_t limit, Stream stream);

  Overflow overflow() const { return overflow_; }
  bool full() const { return full_; }
  // More room: the quota grows by `bytes`, and a paused writer goes on.
  void grant(uint64_t bytes);
  // Full, and not because of its own quota: whether there is room now.
  bool find_room();
  bool may_find_room() const { return full_ && !at_quota_; }
  // From now on only the newest bytes are kept (the command is being ended).
  void discard_rest();
  // Somebody has read up to here and follows. kNobodyReads: what is oldest may go.
  static constexpr uint64_t kNobodyReads = ~uint64_t{0};
  void set_unread_from(uint64_t offset) { unread_from_ = offset; }
  bool waits_for_reader() const { return waits_for_reader_; }

  void mark_resize(TerminalSize size);
  enum class Echo : uint8_t { Off, On };
  void mark_input(uint64_t bytes, Echo echo);
  void set_child(uint32_t pid, uint64_t start_time);

  // --- for a copy of another journal, which has its offsets, marks and gaps
  // The mark's time holds for what is appended after it. A stream is given with its bytes.
  void copy_mark(const Mark& mark);
  // The original has dropped the next `bytes`, with so many line feeds in them.
  void skip(uint64_t bytes, uint64_t newlines);
  void set_input_bytes(uint64_t bytes);

  // How the command ended. Output may still come.
  void record_exit(const ExitRecord& record);
  // The last word: no output after it.
  void close(OutputEnd end);
  void finish(const ExitRecord& record, OutputEnd end = OutputEnd::Eof) {
    record_exit(record);
    close(end);
  }

  uint64_t end() const { return end_; }
  uint64_t dropped() const { return dropped_; }
  uint64_t allocated() const { return allocated_; }
  uint64_t elapsed_us() const { return now_us() - started_us_; }
  const std::string& id() const { return id_; }

 private:
  struct Closed {
    uint64_t base = 0;
    uint64_t length = 0;
    uint64_t file_bytes = 0;
    uint32_t number = 0;
  };

  Writer() = default;
  JournalHeader* header() const { return header_; }
  uint64_t now_us() const { return monotonic_us_(); }
  // What marks say: now, or the time of the original.
  uint64_t mark_us() const { return copied_us_ ? started_us_ + *copied_us_ : now_us(); }
  static uint64_t monotonic_now_us();
  base::Result<void> take_over_segments(const std::string& shown);

  static uint64_t segment_after(uint64_t bytes, uint64_t quota);
  bool make_room();  // after it: a current segment with space, or discarding_, or full_, or waiting
  enum class Begun : uint8_t { Yes, NoRoom, NotRead };
  Begun begin_segment();
  bool open_dir();
  enum class Dropped : uint8_t { One, NotRead, NothingLeft };
  Dropped drop_one();
  void close_segment(uint64_t worth_freeing);
  void start_discarding();
  std::byte* tail() const { return reinterpret_cast<std::byte*>(header_) + kPage; }
  size_t tail_room() const;  // for how much the tail may forget older bytes
  void put_in_tail(std::span<const std::byte> bytes);
  void move_tail(Segment& into);
  void publish_tail();
  void note_arrival(Stream stream);
  void count(size_t bytes);
  void keep(const std::byte* bytes, size_t count, Stream stream);
  void add_mark(Mark::Kind kind, uint64_t value);
  void set_condition(uint32_t bit, bool on);

  // Constant after construction.
  std::string id_;
  std::shared_ptr<Folder> folder_;
  JournalHeader* header_ = nullptr;
  Allocate allocate_ = nullptr;
  uint64_t (*monotonic_us_)() = nullptr;
  uint64_t started_us_ = 0;

  base::UniqueFd dir_;  // of the segments; there is none while the first is enough
  Overflow overflow_ = Overflow::DropMiddle;
  uint64_t quota_ = 0;
  // `main` holds the header and the lock that says the writer lives. Its descriptor and mapping are those
  // of the first segment, and once that is closed, here.
  Segment::Rest main_;
  std::optional<Segment> current_;
  std::deque<Closed> closed_;
  uint64_t end_ = 0;
  uint64_t dropped_ = 0;
  uint64_t allocated_ = 0;
  uint32_t next_number_ = 0;
  uint64_t next_bytes_ = kFirstSegmentBytes;
  std::optional<Stream> stream_;
  uint64_t last_mark_us_ = 0;
  uint64_t segment_newlines_ = 0;  // in the current segment
  bool newlines_counted_ = true;   // false: bytes went into it without being seen
  uint64_t newlines_before_ = 0;   // line feeds below the current segment, or below the next
  uint64_t tail_begin_ = kNoTail;
  uint64_t unread_from_ = kNobodyReads;
  bool waits_for_reader_ = false;
  bool full_ = false;
  bool at_quota_ = false;  // that is why
  bool closed_for_good_ = false;
  bool discarding_ = false;
  bool discard_for_good_ = false;
  uint64_t retry_at_us_ = 0;  // while discarding: when to ask the disk again
  std::vector<std::byte> scratch_;
  std::optional<uint64_t> copied_us_;  // since creation
};

}  // namespace ttyward::journal
