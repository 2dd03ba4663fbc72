// The journal on disk, byte for byte. docs/protocol/journal.md is the prose.
//
//   journals/.usage            Usage: bytes allocated by all journals here
//   journals/<id>.main         JournalHeader page, the tail, then segment 0
//   journals/<id>/<base>-<number>.seg   a further segment, from absolute offset <base> on
//
//   a segment:  SegmentHeader · Mark[index_capacity] · pad to a page · data
//
// Everything is little-endian and naturally aligned. There is one truth about
// how much was kept: JournalHeader::end. Whatever is below it and covered by a
// segment file is there, and so are the newest bytes if they are in the tail;
// whatever else is below it was dropped.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/provider.h"

namespace ttyward::journal {

static_assert(std::endian::native == std::endian::little,
              "the journal is little-endian, and mapped as it is");

inline constexpr std::array<char, 8> kJournalMagic = {'T', 'T', 'Y', 'W', 'J', 'N', 'L', '1'};
inline constexpr std::array<char, 8> kSegmentMagic = {'T', 'T', 'Y', 'W', 'S', 'E', 'G', '1'};
inline constexpr std::array<char, 8> kUsageMagic = {'T', 'T', 'Y', 'W', 'U', 'S', 'E', '1'};
inline constexpr uint32_t kVersion = 2;
inline constexpr uint32_t kOldestVersion = 1;  // without tail, counts of lines and sums over what changes
inline constexpr uint64_t kPage = 4096;

// The newest bytes are kept here when no segment is to be had. It is set aside when the journal is made.
inline constexpr uint64_t kTailBytes = 16 * 1024;

// The first segment shares a file with the header and the tail, 32 KiB in all, because most
// commands print little: 8 KiB of output cost no more than that.
inline constexpr uint64_t kFirstSegmentBytes = 12 * 1024;
inline constexpr uint64_t kLargestSegmentBytes = uint64_t{16} << 20;
inline constexpr uint64_t kOpenSegment = ~uint64_t{0};  // SegmentHeader::length while it is being written
inline constexpr uint64_t kNoTail = ~uint64_t{0};       // JournalHeader::tail_begin while nothing is there
inline constexpr size_t kLongestId = 63;

using base::Provider;
// As the header has it: 1 is a pseudo terminal, 2 are pipes.
constexpr uint32_t stored(Provider provider) {
  return static_cast<uint32_t>(provider) + 1;
}
enum class Overflow : uint32_t { DropMiddle = 1, Pause = 2, Kill = 3 };
// Exited: how the command ended is known, but what it left behind may still
// print. Closed: nothing more will come.
enum class State : uint32_t { Running = 1, Exited = 2, Closed = 3 };
enum class Stream : uint8_t { Terminal = 0, Stdout = 1, Stderr = 2 };

// How the command ended, as far as the writer saw it.
enum class EndKind : uint32_t { Exited = 1, Signaled = 2, Unknown = 3 };
// Why the output ended: every writer closed it, or somebody still held it open
// when the drain time was over, or reading failed.
enum class OutputEnd : uint32_t { Eof = 1, DrainTimeout = 2, ReadError = 3 };
// Who ended it, when it did not end by itself.
enum class EndReason : uint32_t { Itself = 0, Overflow = 1, Requested = 2, HolderStopped = 3 };

// Bits of JournalHeader::flags.
inline constexpr uint32_t kNotDurable = 1U << 0;  // lives on a memory file system: gone at reboot

// Bits of JournalHeader::conditions.
inline constexpr uint32_t kDiskWasFull = 1U << 0;  // some bytes were counted instead of kept: no space
inline constexpr uint32_t kPaused = 1U << 1;  // quota reached under Overflow::Pause; nobody reads the command
inline constexpr uint32_t kOverflowed = 1U << 2;  // the quota was reached at least once
inline constexpr uint32_t kDiscarding = 1U << 3;  // bytes are being counted instead of kept, now

struct ExitRecord {
  EndKind kind = EndKind::Unknown;
  int32_t code = 0;  // exit status, or signal number
  uint32_t core_dumped = 0;
  EndReason reason = EndReason::Itself;
  uint32_t survivors = 0;  // processes the command left behind, still alive at this moment
  uint32_t reserved0 = 0;
  uint64_t cpu_ms = 0;       // user and system, of the command and all it waited for
  uint64_t max_rss_kib = 0;  // of the largest of them
  uint64_t exited_unix_ns = 0;
  uint64_t run_us = 0;  // from spawn to exit, monotonic
  uint64_t reserved1 = 0;

  bool operator==(const ExitRecord&) const = default;
};
static_assert(sizeof(ExitRecord) == 64);

struct JournalHeader {
  // Constant after creation, covered by fixed_sum.
  std::array<char, 8> magic{};
  uint32_t version = 0;
  uint32_t header_bytes = 0;  // of the header page and the tail: where segment 0 begins
  uint64_t created_unix_ns = 0;
  uint64_t created_mono_us = 0;
  uint32_t writer_pid = 0;
  uint32_t provider = stored(Provider::Pty);
  uint32_t flags = 0;
  uint32_t reserved0 = 0;
  std::array<char, kLongestId + 1> id{};
  uint64_t fixed_sum = 0;

  // Written by the writer alone, each by one atomic store.
  alignas(256) uint64_t end = 0;  // absolute offset after the last committed byte
  uint64_t dropped = 0;           // bytes below `end` that are not kept any more (or never were)
  uint64_t allocated = 0;         // file bytes of this journal
  uint64_t segments = 0;          // segments ever begun
  uint64_t last_output_us = 0;    // monotonic µs since creation
  uint64_t input_bytes = 0;       // bytes written to the command
  uint64_t quota = 0;
  uint32_t state = 0;
  uint32_t conditions = 0;
  uint32_t overflow = 0;
  uint32_t size = 0;           // cols << 16 | rows
  uint32_t child_pid = 0;      // 0 until there is one
  uint32_t output_end = 0;     // an OutputEnd, once Closed
  uint64_t child_started = 0;  // field 22 of /proc/PID/stat: tells a reused pid apart
  // The tail: a ring of header_bytes - 4096 bytes after this page, the byte at absolute offset x in place
  // x modulo its size. It holds [tail_begin, end), or nothing if tail_begin is kNoTail.
  uint64_t tail_changes = 0;  // odd while the two below are being changed
  uint64_t tail_begin = 0;
  uint64_t tail_newlines = 0;  // line feeds below tail_begin

  // Written once, before state becomes Exited.
  alignas(256) ExitRecord exit;
  uint64_t exit_sum = 0;
  uint64_t closed_sum = 0;  // written before state becomes Closed: of all from `end` to here, as it is then
};
static_assert(offsetof(JournalHeader, fixed_sum) == 112);
static_assert(offsetof(JournalHeader, end) == 256);
static_assert(offsetof(JournalHeader, state) == 312);
static_assert(offsetof(JournalHeader, tail_changes) == 344);
static_assert(offsetof(JournalHeader, exit) == 512);
static_assert(offsetof(JournalHeader, closed_sum) == 584);
static_assert(sizeof(JournalHeader) <= kPage);

struct SegmentHeader {
  std::array<char, 8> magic{};
  uint32_t version = 0;
  uint32_t number = 0;
  uint64_t base = 0;         // absolute offset of the first data byte
  uint64_t data_offset = 0;  // from the segment's first byte
  uint64_t data_capacity = 0;
  uint64_t index_capacity = 0;  // in marks
  uint64_t fixed_sum = 0;
  uint64_t index_count = 0;        // atomic: marks below it are whole
  uint64_t length = kOpenSegment;  // data bytes, once the segment is closed
  // Not in version 1, where marks follow the length.
  uint64_t newlines_before = 0;  // line feeds in all bytes below base
  uint64_t newlines = 0;         // those in it, once it is closed
  uint64_t closed_sum = 0;       // written before the length: of what is before it, the length included
};
static_assert(sizeof(SegmentHeader) == 96);
// Where a segment's marks begin.
constexpr uint64_t index_offset(uint32_t version) {
  return version == 1 ? offsetof(SegmentHeader, newlines_before) : sizeof(SegmentHeader);
}

// A note beside the bytes: from `offset` on, something holds.
struct Mark {
  enum class Kind : uint8_t {
    Time = 1,    // bytes from offset on arrived at time_us
    Stream = 2,  // bytes from offset on belong to stream `value`
    Resize = 3,  // the terminal became value = cols << 16 | rows
    Input = 4,   // `value` bytes were typed
    Secret = 5,  // `value` bytes were typed while ECHO was off: never more than the count
  };
  uint64_t offset = 0;
  uint64_t time_and_kind = 0;  // monotonic µs since creation << 8 | kind
  uint64_t value = 0;

  Mark() = default;
  Mark(Kind kind, uint64_t at, uint64_t time_us, uint64_t v)
      : offset(at), time_and_kind(time_us << 8 | static_cast<uint8_t>(kind)), value(v) {}
  Kind kind() const { return static_cast<Kind>(time_and_kind & 0xff); }
  uint64_t time_us() const { return time_and_kind >> 8; }
  bool operator==(const Mark&) const = default;
};
static_assert(sizeof(Mark) == 24);

struct Usage {
  std::array<char, 8> magic{};
  uint64_t bytes = 0;  // atomic; never too low by more than what one writer allocates at once
};

// FNV-1a over the bytes. Guards against damage, not against an attacker.
uint64_t checksum(const void* data, size_t bytes);
uint64_t fixed_sum(const JournalHeader& header);
uint64_t fixed_sum(const SegmentHeader& header);
// Of a header as it is once its journal or segment is closed.
uint64_t closed_sum(const JournalHeader& header);
uint64_t closed_sum(const SegmentHeader& header);

bool valid_id(const std::string& id);  // [A-Za-z0-9_-], 1 to 63 of them

// A segment's file is "<base>-<number>.seg", 16 and 8 hex digits. The base tells
// a reader where it lies without opening it; the number keeps two apart when the
// first of them closed without data.
struct SegmentName {
  uint64_t base = 0;
  uint32_t number = 0;
};
std::string main_file(const std::string& id);  // "<id>.main"
std::string segment_file(SegmentName name);
std::optional<SegmentName> parse_segment_file(std::string_view file);

}  // namespace ttyward::journal
