#include "vt/style.h"

#include <algorithm>

namespace ttyward::vt {

StyleTable::StyleTable() {
  styles_.emplace_back();
  rebuild(64);
}

uint64_t StyleTable::hash(const Style& style) {
  uint64_t words[2];
  std::memcpy(words, &style, sizeof words);
  uint64_t h = (words[0] * 0x9E3779B97F4A7C15u) ^ ((words[1] + 0x7F4A7C15u) * 0xC2B2AE3D27D4EB4Fu);
  return h ^ (h >> 29);
}

void StyleTable::insert_slot(StyleId id) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash(styles_[id]) & mask;
  while (slots_[at] != 0) at = (at + 1) & mask;
  slots_[at] = id + 1;
}

void StyleTable::rebuild(size_t slots) {
  std::vector<bool> is_free(styles_.size(), false);
  for (const StyleId id : free_) is_free[id] = true;
  slots_.assign(slots, 0);
  for (StyleId id = 0; id < styles_.size(); id++) {
    if (!is_free[id]) insert_slot(id);
  }
}

StyleId StyleTable::intern(const Style& style) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash(style) & mask;
  while (slots_[at] != 0) {
    const StyleId id = slots_[at] - 1;
    if (styles_[id] == style) return id;
    at = (at + 1) & mask;
  }
  StyleId id = 0;
  if (free_.empty()) {
    id = static_cast<StyleId>(styles_.size());
    styles_.push_back(style);
  } else {
    id = free_.back();
    free_.pop_back();
    styles_[id] = style;
  }
  if (live() * 2 > slots_.size()) {
    rebuild(slots_.size() * 2);
  } else {
    slots_[at] = id + 1;
  }
  return id;
}

void StyleTable::sweep(const std::vector<bool>& used) {
  free_.clear();
  for (StyleId id = 1; id < styles_.size(); id++) {
    if (id >= used.size() || !used[id]) free_.push_back(id);
  }
  sweep_at_ = std::max(kFirstSweep, live() * 2);
  rebuild(slots_.size());
}

}  // namespace ttyward::vt
