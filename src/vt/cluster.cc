#include "vt/cluster.h"

#include <algorithm>

#include "base/utf8.h"

namespace ttyward::vt {
namespace {

bool is_cluster(Glyph glyph) {
  return (glyph & Cell::kClusterBit) != 0;
}
uint32_t number_of(Glyph glyph) {
  return glyph & Cell::kContentMask;
}

}  // namespace

uint64_t ClusterTable::hash(Glyph base, char32_t next) {
  const uint64_t key = static_cast<uint64_t>(base) << 32 | static_cast<uint32_t>(next);
  const uint64_t h = key * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 32);
}

unsigned ClusterTable::length(Glyph glyph) const {
  return is_cluster(glyph) ? nodes_[number_of(glyph)].length : 1;
}

Glyph ClusterTable::append(Glyph base, char32_t next) {
  if (slots_.empty()) rebuild(64);
  const size_t mask = slots_.size() - 1;
  size_t at = hash(base, next) & mask;
  while (slots_[at] != 0) {
    const Node& node = nodes_[slots_[at] - 1];
    if (node.base == base && node.last == next) return (slots_[at] - 1) | Cell::kClusterBit;
    at = (at + 1) & mask;
  }
  const unsigned length_before = length(base);
  if (length_before >= kMaxCodePoints || live() >= kMaxClusters) return base;

  uint32_t number = 0;
  const Node node{base, next, length_before + 1};
  if (free_.empty()) {
    number = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
  } else {
    number = free_.back();
    free_.pop_back();
    nodes_[number] = node;
  }
  if (live() * 2 > slots_.size()) {
    rebuild(slots_.size() * 2);
  } else {
    slots_[at] = number + 1;
  }
  return number | Cell::kClusterBit;
}

unsigned ClusterTable::code_points(Glyph glyph, char32_t* out) const {
  const unsigned count = length(glyph);
  for (unsigned i = count; i > 1; i--) {
    const Node& node = nodes_[number_of(glyph)];
    out[i - 1] = node.last;
    glyph = node.base;
  }
  out[0] = glyph;
  return count;
}

void ClusterTable::append_utf8(Glyph glyph, std::string& out) const {
  char32_t all[kMaxCodePoints];
  const unsigned count = code_points(glyph, all);
  for (unsigned i = 0; i < count; i++) base::append_utf8(out, all[i]);
}

char32_t ClusterTable::first_code_point(Glyph glyph) const {
  while (is_cluster(glyph)) glyph = nodes_[number_of(glyph)].base;
  return glyph;
}

char32_t ClusterTable::last_code_point(Glyph glyph) const {
  return is_cluster(glyph) ? nodes_[number_of(glyph)].last : static_cast<char32_t>(glyph);
}

void ClusterTable::rebuild(size_t slots) {
  std::vector<bool> is_free(nodes_.size(), false);
  for (const uint32_t number : free_) is_free[number] = true;
  slots_.assign(slots, 0);
  for (uint32_t number = 0; number < nodes_.size(); number++) {
    if (is_free[number]) continue;
    size_t at = hash(nodes_[number].base, nodes_[number].last) & (slots - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots - 1);
    slots_[at] = number + 1;
  }
}

void ClusterTable::sweep(std::vector<bool> used) {
  used.resize(nodes_.size(), false);
  std::vector<uint32_t> roots;
  for (uint32_t number = 0; number < nodes_.size(); number++) {
    if (used[number]) roots.push_back(number);
  }
  for (uint32_t number : roots) {  // a prefix of a live cluster is live
    for (Glyph base = nodes_[number].base; is_cluster(base); base = nodes_[number_of(base)].base) {
      used[number_of(base)] = true;
    }
  }
  free_.clear();
  for (uint32_t number = 0; number < nodes_.size(); number++) {
    if (!used[number]) free_.push_back(number);
  }
  sweep_at_ = std::max(kFirstSweep, live() * 2);
  if (!slots_.empty()) rebuild(slots_.size());
}

}  // namespace ttyward::vt
