// Characters made of several code points: a base and its marks, emoji sequences.
//
// Clusters are interned as a trie: each node is "that glyph, plus one code
// point". Adding a mark to a cell is therefore one look-up, and equal clusters
// share one number however they came to be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vt/cell.h"

namespace ttyward::vt {

// A code point, or a cluster number with Cell::kClusterBit set.
using Glyph = uint32_t;

class ClusterTable {
 public:
  // Code points a cluster may have; more are dropped. Real text stays far below (the longest emoji has 10).
  static constexpr unsigned kMaxCodePoints = 32;
  // Numbers available; cells have 21 bits for them. At the limit marks are dropped until a sweep frees some.
  static constexpr size_t kMaxClusters = 1u << 20;

  // The glyph for `base` followed by `next`, or `base` unchanged at one of the limits.
  Glyph append(Glyph base, char32_t next);

  // Writes the code points in order and returns how many there are, at most kMaxCodePoints.
  unsigned code_points(Glyph glyph, char32_t* out) const;
  void append_utf8(Glyph glyph, std::string& out) const;
  char32_t first_code_point(Glyph glyph) const;
  char32_t last_code_point(Glyph glyph) const;
  unsigned length(Glyph glyph) const;

  size_t capacity() const { return nodes_.size(); }
  size_t live() const { return nodes_.size() - free_.size(); }
  bool wants_sweep() const { return live() >= sweep_at_; }
  // Frees every cluster not marked in `used` (indexed by number) and not a prefix of one that is.
  void sweep(std::vector<bool> used);

 private:
  struct Node {
    Glyph base;
    char32_t last;
    uint32_t length;
  };
  static constexpr size_t kFirstSweep = 16384;

  static uint64_t hash(Glyph base, char32_t next);
  void rebuild(size_t slots);

  std::vector<Node> nodes_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> slots_;  // open addressing, number + 1; a power of two
  size_t sweep_at_ = kFirstSweep;
};

}  // namespace ttyward::vt
