// Reads a journal, also while it is written, also after its writer died.
//
// Only the header's page is mapped (its counters are atomics of another
// process); data and marks are read with pread. So nothing that happens to the
// files of a journal, short of truncating `main` to nothing while it is open,
// can harm the process that reads: damage is an Error.
//
// Offsets are absolute and never change their meaning. A part that was dropped
// is reported as a gap, and `complete()` is true only if every byte is there.
//
// Thread rule: one thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "journal/folder.h"
#include "journal/format.h"
#include "journal/mapping.h"

namespace ttyward::journal {

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool operator==(const Range&) const = default;
};

// What the header says at one moment.
struct Status {
  uint64_t end = 0;
  uint64_t dropped = 0;
  uint64_t allocated = 0;
  uint64_t quota = 0;
  uint64_t input_bytes = 0;
  uint64_t last_output_us = 0;
  uint32_t conditions = 0;
  uint32_t child_pid = 0;
  uint64_t child_started = 0;
  uint16_t cols = 0;
  uint16_t rows = 0;
  State state = State::Running;
  std::optional<ExitRecord> exit;       // unless Running
  std::optional<OutputEnd> output_end;  // when Closed
};

class Reader {
 public:
  // What read() found: bytes at the offset asked for, or a gap that begins
  // there, or nothing yet (both zero).
  struct Chunk {
    size_t bytes = 0;
    uint64_t gap = 0;
    std::optional<uint64_t> newlines;  // line feeds in the gap, if anybody counted them
  };

  static base::Result<Reader> open(const std::string& journals, const std::string& id);
  static base::Result<Reader> open_at(int journals_fd, const std::string& id, const std::string& shown);

  const std::string& id() const { return id_; }
  Provider provider() const { return provider_; }
  uint32_t flags() const { return flags_; }
  uint64_t created_unix_ns() const { return created_unix_ns_; }
  uint32_t writer_pid() const { return writer_pid_; }

  uint64_t end() const { return observe(header_.as<const JournalHeader>()->end); }
  base::Result<Status> status() const;
  // How the command ended, if that was recorded and the record is whole; also when the rest is damaged.
  std::optional<ExitRecord> exit_record() const;
  // A journal whose writer is gone and that is still Running was lost:
  // how the command ended is not known.
  base::Result<WriterLife> writer() const { return probe_writer(main_.get()); }

  base::Result<Chunk> read(uint64_t at, std::span<std::byte> into);
  // All bytes of [begin, end) that are there, in order; refuses more than `limit`.
  base::Result<std::string> read_all(Range range, size_t limit);
  base::Result<std::vector<Range>> gaps();
  // Closed, every byte there, and the output ended by itself.
  base::Result<bool> complete();
  // Bytes of [begin, end) that are not there.
  base::Result<uint64_t> missing(Range range);
  // There are so many line feeds below this offset: for a read that begins in a gap.
  void know_newlines(uint64_t at, uint64_t newlines) { counted_ = Counted{at, newlines}; }
  // Marks with an offset in [begin, end].
  base::Result<std::vector<Mark>> marks(Range range);

 private:
  struct Part {
    SegmentName name;
    base::UniqueFd file;
    SegmentHeader header;
    uint64_t start = 0;  // of the segment in its file
  };

  Reader() = default;
  base::Result<State> state() const;
  base::Result<void> list();  // what segments there are
  base::Result<Part> open_part(SegmentName name) const;
  base::Result<uint64_t> length_of(Part& part, uint64_t end) const;
  struct Tail {
    uint64_t begin = kNoTail;
    std::optional<uint64_t> newlines;  // below begin
  };
  Tail tail() const;
  base::Result<size_t> read_tail(uint64_t at, uint64_t end, std::span<std::byte> into) const;
  Chunk gap_at(uint64_t at, uint64_t end);
  // The segment that covers `at`, opened; null if none does.
  base::Result<Part*> part_at(uint64_t at, uint64_t end);

  // Constant after construction.
  std::string id_;
  std::string shown_;
  base::UniqueFd root_;
  base::UniqueFd main_;
  Mapping header_;
  uint32_t version_ = kVersion;
  uint64_t first_segment_ = 0;  // where it begins in `main`
  Provider provider_ = Provider::Pty;
  uint32_t flags_ = 0;
  uint64_t created_unix_ns_ = 0;
  uint32_t writer_pid_ = 0;

  base::UniqueFd dir_;              // of further segments, once there are any
  std::vector<SegmentName> names_;  // in order of offset, then number
  std::optional<Part> open_;        // the one read last
  struct Counted {
    uint64_t at = 0;
    uint64_t newlines = 0;  // below it
  };
  std::optional<Counted> counted_;  // up to where reads have come
};

}  // namespace ttyward::journal
