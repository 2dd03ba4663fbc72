// One segment as its writer sees it: a mapped, preallocated file region with a
// data area that only grows and an index beside it.
//
// Every block is allocated before the mapping is touched, so a full disk is an
// error here and never a SIGBUS later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "journal/format.h"
#include "journal/mapping.h"

namespace ttyward::journal {

// As allocate_room. Tests pass one that fails.
using Allocate = int (*)(int fd, off_t bytes);

class Segment {
 public:
  // `start` is where in the file the segment begins: after the journal's header
  // in `main`, 0 in a file of its own. `bytes` is the segment's size.
  static base::Result<Segment> create(base::UniqueFd file, uint64_t start, uint64_t bytes, uint32_t number,
                                      uint64_t base, uint64_t newlines_before, Allocate allocate,
                                      const std::string& shown);

  uint64_t base() const { return header()->base; }
  uint64_t capacity() const { return header()->data_capacity; }
  uint64_t file_bytes() const { return file_bytes_; }
  int fd() const { return file_.get(); }
  const Mapping& mapping() const { return mapping_; }

  // The data area from `used` on.
  std::span<std::byte> space(uint64_t used) const;
  uint64_t file_offset(uint64_t used) const { return start_ + header()->data_offset + used; }

  size_t marks_left() const { return header()->index_capacity - marks_; }
  void add_mark(const Mark& mark);

  uint64_t newlines_before() const { return header()->newlines_before; }
  uint64_t count_newlines(uint64_t length) const;

  // Records the final length and the line feeds in it, and gives unused blocks back, if they are at least
  // `worth_freeing` bytes. Returns how many bytes that freed.
  uint64_t close(uint64_t length, uint64_t newlines, uint64_t worth_freeing);

  // The file and its mapping, of a segment that is closed but has a neighbour in the same file.
  struct Rest {
    base::UniqueFd file;
    Mapping mapping;
  };
  Rest release() && { return {std::move(file_), std::move(mapping_)}; }

 private:
  SegmentHeader* header() const { return mapping_.as<SegmentHeader>(start_); }

  base::UniqueFd file_;
  Mapping mapping_;
  uint64_t start_ = 0;
  uint64_t file_bytes_ = 0;
  uint64_t marks_ = 0;
};

}  // namespace ttyward::journal
