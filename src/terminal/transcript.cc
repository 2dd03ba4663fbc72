#include "terminal/transcript.h"

#include <fcntl.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file_io.h"
#include "terminal/colour_sequence.h"

namespace ttyward::terminal {
namespace {

base::Result<base::UniqueFd> open_nameless(const std::string& folder) {
  base::UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  // Not every file system can: a name for a moment does as well.
  std::string name = folder + "/.transcript-XXXXXX";
  file.reset(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return base::fail_errno(errno, "cannot keep old output in " + folder);
  ::unlink(name.c_str());
  return file;
}

// Dropped blocks are merged so many at a time.
constexpr size_t kMergeAfter = 64;

}  // namespace

Transcript::Transcript() : Transcript(Limits()) {}
Transcript::Transcript(Limits limits) : limits_(std::move(limits)) {}

void Transcript::append(std::string_view line, uint64_t repeat) {
  const LineNumber first = lines_ + 1;
  lines_ += repeat;
  bytes_ += line.size() * repeat;
  if (!blocks_.empty()) {
    Block& last = blocks_.back();
    if (!last.items.empty()) {
      Item& item = last.items.back();
      if (item.length == line.size() &&
          std::memcmp(last.text.data() + item.begin, line.data(), line.size()) == 0) {
        item.repeat += repeat;
        last.lines += repeat;
        last.text_bytes += line.size() * repeat;
        return;
      }
    }
  }
  if (blocks_.empty() || blocks_.back().text.size() >= kBlockBytes ||
      blocks_.back().items.size() >= kBlockItems || blocks_.back().elsewhere || blocks_.back().dropped) {
    blocks_.emplace_back().first = first;
    make_room();
  }
  Block& block = blocks_.back();
  block.items.push_back(
      {static_cast<uint32_t>(block.text.size()), static_cast<uint32_t>(line.size()), repeat});
  block.text += line;
  block.lines += repeat;
  block.text_bytes += line.size() * repeat;
  memory_bytes_ += line.size() + sizeof(Item);
  kept_bytes_ += line.size() + sizeof(Item);
}

void Transcript::remove_last(uint64_t lines) {
  // A block that becomes empty stays: the one before it may have left memory.
  for (size_t i = blocks_.size(); lines > 0 && i > first_in_memory_; i--) {
    Block& block = blocks_[i - 1];
    while (lines > 0 && !block.items.empty()) {
      Item& item = block.items.back();
      const uint64_t taken = std::min(lines, item.repeat);
      lines -= taken;
      lines_ -= taken;
      block.lines -= taken;
      bytes_ -= taken * item.length;
      block.text_bytes -= taken * item.length;
      item.repeat -= taken;
      if (item.repeat > 0) break;
      memory_bytes_ -= item.length + sizeof(Item);
      kept_bytes_ -= item.length + sizeof(Item);
      block.text.resize(item.begin);
      block.items.pop_back();
    }
  }
}

void Transcript::make_room() {
  while (memory_bytes_ > limits_.memory && first_in_memory_ + 1 < blocks_.size()) spill_oldest();
  enforce_quota();
}

void Transcript::append_kept(const KeptLines& lines) {
  const bool joins = !blocks_.empty() && blocks_.back().elsewhere && !blocks_.back().dropped &&
                     blocks_.back().kept_offset + blocks_.back().kept_bytes == lines.offset &&
                     blocks_.back().kept_bytes + lines.bytes <= kKeptBlockBytes;
  if (!joins) {
    Block& fresh = blocks_.emplace_back();
    fresh.first = lines_ + 1;
    fresh.elsewhere = true;
    fresh.kept_offset = lines.offset;
    make_room();
  }
  Block& block = blocks_.back();
  block.kept_bytes += lines.bytes;
  block.lines += lines.lines;
  block.text_bytes += lines.text_bytes;
  kept_bytes_ += lines.bytes;
  lines_ += lines.lines;
  bytes_ += lines.text_bytes;
}

void Transcript::append_dropped(uint64_t lines) {
  if (lines == 0) return;
  Block& block = blocks_.emplace_back();
  block.first = lines_ + 1;
  block.lines = lines;
  block.dropped = true;
  lines_ += lines;
  dropped_lines_ += lines;
  ++unmerged_;
  make_room();
  merge_dropped();
}

void Transcript::spill_oldest() {
  Block& block = blocks_[first_in_memory_++];
  if (block.dropped || block.elsewhere) return;
  if (!spill_error_ && !file_) {
    auto file = open_nameless(limits_.spill_folder);
    if (file) {
      file_ = std::move(*file);
    } else {
      spill_error_ = file.error();
    }
  }
  if (!spill_error_) {
    const size_t item_bytes = block.items.size() * sizeof(Item);
    const std::string what = "old output in " + limits_.spill_folder;
    auto written = base::write_at(file_.get(), block.items.data(), item_bytes, file_end_, what);
    if (written) {
      written =
          base::write_at(file_.get(), block.text.data(), block.text.size(), file_end_ + item_bytes, what);
    }
    if (!written) spill_error_ = written.error();
  }
  if (spill_error_) {
    drop(block);
    merge_dropped();
    return;
  }
  memory_bytes_ -= block.size();
  block.file_offset = file_end_;
  file_end_ += block.size();
  block.item_count = static_cast<uint32_t>(block.items.size());
  block.text_size = static_cast<uint32_t>(block.text.size());
  block.spilled = true;
  block.forget();
}

void Transcript::drop(Block& block) {
  kept_bytes_ -= block.size();
  if (block.spilled) {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(block.file_offset), static_cast<off_t>(block.size()));
  } else if (!block.elsewhere) {
    memory_bytes_ -= block.size();
  }
  block.forget();
  block.spilled = false;
  block.elsewhere = false;
  block.dropped = true;
  dropped_lines_ += block.lines;
  dropped_bytes_ += block.text_bytes;
  unmerged_++;
}

void Transcript::enforce_quota() {
  if (kept_bytes_ <= limits_.quota) return;
  // The oldest quarter of the quota stays for good; dropping starts behind it and moves on.
  if (next_drop_ == 0) {
    uint64_t head = 0;
    while (next_drop_ < blocks_.size() && head < limits_.quota / 4) head += blocks_[next_drop_++].size();
  }
  while (kept_bytes_ > limits_.quota && next_drop_ + 1 < blocks_.size()) {
    Block& block = blocks_[next_drop_++];
    if (!block.dropped) drop(block);
  }
  merge_dropped();
}

// Neighbours that went become one, so that endless output needs no endless list of what is missing.
void Transcript::merge_dropped() {
  if (unmerged_ < kMergeAfter) return;
  unmerged_ = 0;
  size_t to = 0;
  size_t first_in_memory = 0;
  size_t next_drop = 0;
  for (size_t from = 0; from < blocks_.size(); from++) {
    if (from == first_in_memory_) first_in_memory = to;
    if (from == next_drop_) next_drop = to;
    if (to > 0 && blocks_[from].dropped && blocks_[to - 1].dropped) {
      blocks_[to - 1].lines += blocks_[from].lines;
      blocks_[to - 1].text_bytes += blocks_[from].text_bytes;
    } else {
      if (from != to) blocks_[to] = std::move(blocks_[from]);
      to++;
    }
  }
  blocks_.resize(to);
  first_in_memory_ = first_in_memory;
  next_drop_ = next_drop;
}

size_t Transcript::memory() const {
  return memory_bytes_ + blocks_.capacity() * sizeof(Block);
}

// Takes the lines apart as they were when they were counted.
bool Transcript::load_kept(const Block& block, Block& into) const {
  into.items.clear();
  into.text.resize(block.kept_bytes);
  if (!limits_.kept->read(block.kept_offset, into.text)) return false;
  const std::string_view all = into.text;
  uint64_t lines = 0;
  for (size_t at = 0; at < all.size(); lines++) {
    const size_t end = all.find('\n', at);
    if (end == std::string_view::npos) return false;
    std::string_view line = all.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool coloured = line.find('\x1b') != std::string_view::npos;
    if (coloured) line = line.substr(0, take_out_colours({into.text.data() + at, line.size()}));
    if (coloured || line.size() > limits_.blanks_up_to) line = line.substr(0, line.find_last_not_of(' ') + 1);
    const bool same =
        !into.items.empty() && all.substr(into.items.back().begin, into.items.back().length) == line;
    if (same) {
      into.items.back().repeat++;
    } else {
      into.items.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(line.size()), 1});
    }
    at = end + 1;
  }
  return lines == block.lines;
}

bool Transcript::load(const Block& block, Block& into) const {
  if (block.elsewhere) return load_kept(block, into);
  into.items.resize(block.item_count);
  into.text.resize(block.text_size);
  const size_t item_bytes = block.item_count * sizeof(Item);
  const auto whole = [&](void* to, size_t bytes, uint64_t offset) {
    return base::read_at(file_.get(), to, bytes, offset, "old output") == bytes;
  };
  return whole(into.items.data(), item_bytes, block.file_offset) &&
         whole(into.text.data(), block.text_size, block.file_offset + item_bytes);
}

const Transcript::Block* Transcript::at(LineNumber number, size_t* index) const {
  if (number == 0 || number > lines_) return nullptr;
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), number,
                                      [](LineNumber n, const Block& block) { return n < block.first; });
  *index = static_cast<size_t>(after - blocks_.begin()) - 1;
  return &blocks_[*index];
}

void Transcript::forward(LineNumber from, const std::function<bool(const Entry&)>& visit) const {
  size_t index = 0;
  if (at(std::max<LineNumber>(from, 1), &index) == nullptr) return;
  Block loaded;
  for (; index < blocks_.size(); index++) {
    const Block& stored = blocks_[index];
    const Block* block = &stored;
    if (loadable(stored) && load(stored, loaded)) block = &loaded;
    if (stored.dropped || (loadable(stored) && block == &stored)) {
      if (!visit({stored.first, stored.lines, "", true})) return;
      continue;
    }
    LineNumber first = stored.first;
    for (const Item& item : block->items) {
      const LineNumber next = first + item.repeat;
      if (next > from && !visit({first, item.repeat, block->text.substr(item.begin, item.length), false}))
        return;
      first = next;
    }
  }
}

void Transcript::backward(LineNumber from, const std::function<bool(const Entry&)>& visit) const {
  size_t index = 0;
  if (at(std::min<LineNumber>(from, lines_), &index) == nullptr) return;
  Block loaded;
  for (size_t left = index + 1; left > 0; left--) {
    const Block& stored = blocks_[left - 1];
    const Block* block = &stored;
    if (loadable(stored) && load(stored, loaded)) block = &loaded;
    if (stored.dropped || (loadable(stored) && block == &stored)) {
      if (!visit({stored.first, stored.lines, "", true})) return;
      continue;
    }
    LineNumber after = stored.first + stored.lines;
    for (size_t i = block->items.size(); i > 0; i--) {
      const Item& item = block->items[i - 1];
      after -= item.repeat;
      if (after <= from && !visit({after, item.repeat, block->text.substr(item.begin, item.length), false}))
        return;
    }
  }
}

std::optional<std::string> Transcript::line(LineNumber number) const {
  std::optional<std::string> found;
  if (number == 0 || number > lines_) return found;
  forward(number, [&](const Entry& entry) {
    if (!entry.dropped) found = entry.text;
    return false;
  });
  return found;
}

Transcript::Searched Transcript::search(const re2::RE2& pattern, LineNumber from, LineNumber to, size_t most,
                                        const std::function<bool()>& stop) const {
  constexpr size_t kAskAfter = 32 * 1024;  // bytes that were looked at
  Searched searched;
  searched.next = from;
  size_t looked_at = 0;
  forward(from, [&](const Entry& entry) {
    if (entry.first > to || searched.matches.size() >= most) return false;
    if (looked_at >= kAskAfter && stop()) return false;
    if (looked_at >= kAskAfter) looked_at = 0;
    looked_at += entry.text.size() + sizeof(Item);
    const LineNumber first = std::max(entry.first, from);
    const LineNumber last = std::min(entry.first + entry.repeat - 1, to);
    if (!entry.dropped && re2::RE2::PartialMatch(entry.text, pattern))
      searched.matches.push_back({first, last - first + 1, entry.text});
    searched.next = last + 1;
    return true;
  });
  return searched;
}

}  // namespace ttyward::terminal
