#include "vt/scrollback.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "vt/fill.h"
#include "vt/varint.h"
#include "vt/width.h"

namespace ttyward::vt {
namespace {

constexpr uint8_t kWrapped = 1;
constexpr uint8_t kHasRuns = 2;
constexpr uint8_t kIsText = 4;
constexpr uint8_t kHasMarks = 8;

constexpr uint8_t kWrapSpaceByte = 0xF8;
constexpr uint8_t kNarrowClusterByte = 0xF9;
constexpr uint8_t kWideClusterByte = 0xFA;

constexpr size_t kMaxVarint = 5;
constexpr size_t kMaxHeader = 1 + 2 * kMaxVarint + 2;  // flags, columns, length, marks

// Mixed text makes the length of each character unpredictable, so nothing here branches on it. Writes four
// bytes, of which the returned number count.
size_t encode_utf8_branchless(uint32_t c, uint8_t* out) {
  struct Form {
    uint32_t prefix;  // the marker bits of all bytes
    uint32_t plain;   // bits taken as they are
    uint8_t length;
    uint8_t unused_bits;
  };
  static constexpr Form kOne{0, 0x7F, 1, 24};
  static constexpr Form kTwo{0x80C0, 0, 2, 16};
  static constexpr Form kThree{0x8080E0, 0, 3, 8};
  static constexpr Form kFour{0x808080F0, 0, 4, 0};
  // By the number of bits the code point has.
  static constexpr Form kForms[22] = {kOne,   kOne,  kOne,  kOne,  kOne,   kOne,   kOne,   kOne,
                                      kTwo,   kTwo,  kTwo,  kTwo,  kThree, kThree, kThree, kThree,
                                      kThree, kFour, kFour, kFour, kFour,  kFour};
  const Form& form = kForms[std::bit_width(c | 1)];
  // Six bits a byte, in two steps: twelve and twelve, then each of those.
  const uint32_t twelves = (c & 0xFFF000) << 4 | (c & 0xFFF);
  const uint32_t sixes = __builtin_bswap32((twelves & 0xFC00FC0) << 2 | (twelves & 0x3F003F));
  const uint32_t bytes = sixes >> form.unused_bits | form.prefix | (c & form.plain);
  for (unsigned i = 0; i < 4; i++) out[i] = static_cast<uint8_t>(bytes >> (8 * i));
  return form.length;
}

// Cells that are looked at together: mixed text has blanks and stretches of ASCII in it too.
constexpr uint32_t kGroup = 8;

bool is_ascii_group(const Cell* cells) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < kGroup; i++) any |= cells[i].content;
  return any < 0x80;
}

constexpr uint16_t kKeptFlags = Row::kSizeFlags | Row::kMarkFlags;

}  // namespace

Scrollback::Scrollback(Limits limits, StyleTable& styles, ClusterTable& clusters)
    : limits_(limits), styles_(styles), clusters_(clusters) {}

Scrollback::Block& Scrollback::block_with_room(size_t bytes) {
  if (!blocks_.empty() && blocks_.back().capacity - blocks_.back().used >= bytes) return blocks_.back();
  if (!blocks_.empty()) {  // its dictionary and index will not grow any more
    Block& full = blocks_.back();
    bytes_ -= full.offsets.capacity() * sizeof(uint32_t) + full.styles.capacity() * sizeof(Style);
    full.offsets.shrink_to_fit();
    full.styles.shrink_to_fit();
    bytes_ += full.offsets.capacity() * sizeof(uint32_t) + full.styles.capacity() * sizeof(Style);
  }
  forget_style_numbers();
  Block& block = blocks_.emplace_back();
  block.capacity = std::max(kBlockBytes, static_cast<uint32_t>(bytes));
  block.data.reset(new uint8_t[block.capacity]);  // deliberately not zeroed
  block.styles.push_back(Style{});
  bytes_ += block.capacity + sizeof(Block) + sizeof(Style);
  return block;
}

uint32_t Scrollback::dictionary_number(Block& block, StyleId style) {
  if (style == 0) return 0;
  if (style >= known_.size()) known_.resize(std::max<size_t>(styles_.capacity(), style + 1), 0);
  uint32_t& number = known_[style];
  if (number == 0) {
    const size_t before = block.styles.capacity();
    block.styles.push_back(styles_[style]);
    bytes_ += (block.styles.capacity() - before) * sizeof(Style);
    number = static_cast<uint32_t>(block.styles.size());
    known_ids_.push_back(style);
  }
  return number - 1;
}

void Scrollback::forget_style_numbers() {
  for (const StyleId id : known_ids_) known_[id] = 0;
  known_ids_.clear();
}

void Scrollback::encode_text(const Row& row, uint32_t columns) {
  // Plain characters take at most 4 bytes; a cluster makes room for itself.
  if (scratch_.size() < size_t{columns} * 4) scratch_.resize(size_t{columns} * 4);
  uint8_t* out = scratch_.data();
  const Cell* const cells = row.cells;
  for (uint32_t c = 0; c < columns; c++) {
    while (c % kGroup == 0 && c + kGroup < columns && is_ascii_group(cells + c)) {
      narrow_ascii(out, cells + c, kGroup);
      out += kGroup;
      c += kGroup;
    }
    const Cell cell = cells[c];
    // A lone code point, one or two columns wide: its width need not be stored, the table knows it.
    if (cell.content >> Cell::kKindShift < static_cast<uint32_t>(CellKind::WrapSpace)) [[likely]] {
      const size_t bytes = encode_utf8_branchless(cell.glyph(), out);
      out += cell.kind() == CellKind::WideTail ? 0 : bytes;
      continue;
    }
    if (!cell.is_cluster()) {
      *out++ = kWrapSpaceByte;
      continue;
    }
    char32_t code_points[ClusterTable::kMaxCodePoints];
    const unsigned count = clusters_.code_points(cell.glyph(), code_points);
    const auto at = static_cast<size_t>(out - scratch_.data());
    const size_t needed = at + 2 + size_t{count} * 4 + size_t{columns - c} * 4;
    if (scratch_.size() < needed) scratch_.resize(needed * 2);
    out = scratch_.data() + at;
    *out++ = cell.kind() == CellKind::Wide ? kWideClusterByte : kNarrowClusterByte;
    *out++ = static_cast<uint8_t>(count);
    for (unsigned i = 0; i < count; i++) out += encode_utf8_branchless(code_points[i], out);
  }
  text_bytes_ = static_cast<size_t>(out - scratch_.data());
}

// Writes the runs to `out`, which has room for the worst case, and returns their end; nothing if all is
// default.
uint8_t* Scrollback::encode_runs(Block& block, const Row& row, uint32_t columns, uint8_t* out) {
  while (columns > 0 && row.cells[columns - 1].style == 0) columns--;
  if (columns == 0) return out;
  uint32_t runs = 0;
  uint8_t* const start = out;
  out += kMaxVarint;  // the count goes here once it is known
  uint8_t* const first_run = out;
  for (uint32_t c = 0; c < columns;) {
    const StyleId style = row.cells[c].style;
    uint32_t end = c + 1;
    while (end < columns && row.cells[end].style == style) end++;
    out += write_varint(end - c, out);
    out += write_varint(dictionary_number(block, style), out);
    runs++;
    c = end;
  }
  const size_t n = write_varint(runs, start);
  std::memmove(start + n, first_run, static_cast<size_t>(out - first_run));
  return start + n + (out - first_run);
}

void Scrollback::push(const Row& row) {
  if (limits_.lines == 0) return;
  append(row);
  if (count_ + stale_count_ >= trim_at_ || bytes_ > limits_.bytes) trim();
}

void Scrollback::append(const Row& row) {
  uint32_t columns = row.used;
  if (!row.has(Row::kWrapped)) {
    while (columns > 0 && row.cells[columns - 1] == Cell{}) columns--;
  }
  const uint16_t marks = row.flags & kKeptFlags;
  uint8_t flags = row.has(Row::kWrapped) ? kWrapped : 0;
  if (marks != 0) flags |= kHasMarks;
  const bool is_text = row.has(Row::kMaybeNonAscii | Row::kMaybeWide);
  if (is_text) flags |= kIsText;

  text_bytes_ = columns;
  if (is_text) encode_text(row, columns);
  const bool styled = row.has(Row::kMaybeStyled);
  const size_t room = kMaxHeader + text_bytes_ + (styled ? kMaxVarint + size_t{columns} * 2 * kMaxVarint : 0);
  Block& block = block_with_room(room);

  uint8_t* const start = block.data.get() + block.used;
  uint8_t* out = start + 1;
  out += write_varint(columns, out);
  if (is_text) {
    out += write_varint(static_cast<uint32_t>(text_bytes_), out);
    if (text_bytes_ > 0) std::memcpy(out, scratch_.data(), text_bytes_);
  } else {
    narrow_ascii(out, row.cells, columns);
  }
  out += text_bytes_;
  if (marks != 0) {
    *out++ = static_cast<uint8_t>(marks & 0xFF);
    *out++ = static_cast<uint8_t>(marks >> 8);
  }
  if (styled) {
    uint8_t* const runs = out;
    out = encode_runs(block, row, columns, out);
    if (out != runs) flags |= kHasRuns;
  }
  *start = flags;
  const size_t before = block.offsets.capacity();
  block.offsets.push_back(block.used);
  if (block.offsets.capacity() != before) bytes_ += (block.offsets.capacity() - before) * sizeof(uint32_t);
  block.used += static_cast<uint32_t>(out - start);
  block.widest = std::max(block.widest, columns);
  block.any_wrapped |= row.has(Row::kWrapped);
  count_++;
}

size_t Scrollback::memory_of(const Block& block) {
  return block.capacity + sizeof(Block) + block.offsets.capacity() * sizeof(uint32_t) +
         block.styles.capacity() * sizeof(Style);
}

void Scrollback::drop(const Block& block) {
  count_ -= block.offsets.size();
  bytes_ -= memory_of(block);
}

void Scrollback::trim() {
  const auto over = [&](const Block& oldest) {
    return oldest.offsets.size() + limits_.lines <= count_ + stale_count_ || bytes_ > limits_.bytes;
  };
  while (!stale_.empty() && over(stale_.front())) {
    stale_count_ -= stale_.front().offsets.size();
    bytes_ -= memory_of(stale_.front());
    stale_.pop_front();
  }
  while (stale_.empty() && blocks_.size() > 1 && over(blocks_.front())) {
    drop(blocks_.front());
    blocks_.pop_front();
  }
  trim_at_ = (stale_.empty() ? blocks_.front() : stale_.front()).offsets.size() + limits_.lines;
}

void Scrollback::clear() {
  blocks_.clear();
  stale_.clear();
  forget_style_numbers();
  count_ = 0;
  stale_count_ = 0;
  trim_at_ = 0;
  bytes_ = 0;
}

bool Scrollback::ends_wrapped(const Block& block) const {
  return (block.data[block.offsets.back()] & kWrapped) != 0;
}

bool Scrollback::newest_is_wrapped() const {
  if (empty()) return false;
  return ends_wrapped(blocks_.empty() ? stale_.back() : blocks_.back());
}

size_t Scrollback::available(size_t n) {
  n = std::min(n, limits_.lines);
  while (count_ < n && !stale_.empty()) settle_some();
  return std::min(n, count_);
}

// Reading is const to those who read; that lines are put in order for it only now is our own affair.
size_t Scrollback::size() const {
  if (!stale_.empty()) const_cast<Scrollback*>(this)->settle_all();
  return std::min(count_, limits_.lines);
}

Scrollback::Place Scrollback::find(size_t index) const {
  const size_t offered = size();  // puts everything in order first
  index += count_ - offered;      // rows beyond the limit are still stored, but not offered
  // The newest rows are asked for most: look from the end.
  size_t first = count_;
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    first -= block->offsets.size();
    if (index >= first) return {&*block, block->data.get() + block->offsets[index - first]};
  }
  TTYWARD_CHECK(false && "row number out of range");
  return {};
}

Line Scrollback::read(size_t index) const {
  const auto [block, data] = find(index);
  const uint8_t* p = data;
  const uint8_t flags = *p++;
  const uint32_t columns = read_varint(p);
  const uint32_t text_bytes = (flags & kIsText) != 0 ? read_varint(p) : columns;
  const std::string_view text(reinterpret_cast<const char*>(p), text_bytes);
  p += text_bytes;
  Line line;
  line.wrapped = (flags & kWrapped) != 0;
  if ((flags & kHasMarks) != 0) {
    line.flags = static_cast<uint16_t>(p[0] | p[1] << 8);
    p += 2;
  }
  uint32_t runs = (flags & kHasRuns) != 0 ? read_varint(p) : 0;
  uint32_t run_end = 0;
  Style style;
  uint32_t c = 0;
  for (size_t at = 0; at < text.size();) {
    if (c >= run_end) {
      style = Style{};
      run_end = columns;
      if (runs > 0) {
        runs--;
        run_end = c + read_varint(p);
        style = block->styles[read_varint(p)];
      }
    }
    const auto byte = static_cast<uint8_t>(text[at]);
    uint32_t width = 1;
    size_t begin = at;
    if (byte == 0 || byte == kWrapSpaceByte) {
      at++;
      if (byte == 0 || !line.wrapped || at < text.size()) line.add(" ", 1, style);
    } else {
      if (byte == kNarrowClusterByte || byte == kWideClusterByte) {
        width = byte == kWideClusterByte ? 2 : 1;
        begin = at += 2;
        for (auto n = static_cast<uint8_t>(text[begin - 1]); n > 0; n--) base::decode_utf8(text, at);
      } else {
        width = char_width(base::decode_utf8(text, at)) == 2 ? 2 : 1;
      }
      line.add(text.substr(begin, at - begin), width, style);
    }
    c += width;
  }
  return line;
}

void Scrollback::unpack(const Block& block, uint32_t offset, UnpackedRow& row) const {
  const uint8_t* p = block.data.get() + offset;
  const uint8_t flags = *p++;
  const uint32_t columns = read_varint(p);
  const uint32_t text_bytes = (flags & kIsText) != 0 ? read_varint(p) : columns;
  row.flags = (flags & kWrapped) != 0 ? Row::kWrapped : 0;
  row.cells.resize(columns);
  if ((flags & kIsText) == 0) {
    widen_ascii(row.cells.data(), p, columns, 0);
  } else {
    row.flags |= Row::kMaybeNonAscii;
    const std::string_view text(reinterpret_cast<const char*>(p), text_bytes);
    size_t c = 0;
    for (size_t at = 0; at < text.size();) {
      const auto byte = static_cast<uint8_t>(text[at]);
      CellKind kind = CellKind::Narrow;
      uint32_t code_points = 1;
      if (byte == kWrapSpaceByte) {
        row.cells[c++] = Cell::of(0, CellKind::WrapSpace, 0);
        at++;
        continue;
      }
      if (byte == kNarrowClusterByte || byte == kWideClusterByte) {
        kind = byte == kWideClusterByte ? CellKind::Wide : CellKind::Narrow;
        code_points = static_cast<uint8_t>(text[at + 1]);
        at += 2;
      }
      Glyph glyph = base::decode_utf8(text, at);
      if (byte != kNarrowClusterByte && byte != kWideClusterByte && char_width(glyph) == 2)
        kind = CellKind::Wide;
      while (--code_points > 0) glyph = clusters_.append(glyph, base::decode_utf8(text, at));
      row.cells[c] = {glyph | static_cast<uint32_t>(kind) << Cell::kKindShift, 0};
      c++;
      if (kind == CellKind::Wide) {
        row.cells[c++] = Cell::of(0, CellKind::WideTail, 0);
        row.flags |= Row::kMaybeWide;
      }
    }
  }
  p += text_bytes;
  if ((flags & kHasMarks) != 0) {
    row.flags = static_cast<uint16_t>(row.flags | p[0] | p[1] << 8);
    p += 2;
  }
  if ((flags & kHasRuns) != 0) {
    row.flags |= Row::kMaybeStyled;
    uint32_t c = 0;
    for (uint32_t runs = read_varint(p); runs > 0; runs--) {
      const uint32_t length = read_varint(p);
      const StyleId style = styles_.intern(block.styles[read_varint(p)]);
      for (uint32_t i = 0; i < length; i++) row.cells[c + i].style = style;
      c += length;
    }
  }
}

UnpackedRow Scrollback::pop() {
  TTYWARD_CHECK(available(1) > 0);
  UnpackedRow row;
  Block& block = blocks_.back();
  unpack(block, block.offsets.back(), row);
  block.used = block.offsets.back();
  block.offsets.pop_back();
  count_--;
  trim_at_ = 0;
  if (block.offsets.empty()) {
    drop(block);
    blocks_.pop_back();
    forget_style_numbers();  // the block before has a dictionary of its own
  }
  return row;
}

void Scrollback::flush(Rewrapped& line, uint32_t cols, Flush how) {
  if (cols == 1) blank_wide(line.cells.data(), line.cells.size());
  size_t at = 0;
  size_t next_flag = 0;
  const auto emit = [&](size_t n, bool wrapped) {
    Row row;
    row.cells = line.cells.data() + at;
    row.used = static_cast<uint32_t>(n);
    row.flags = line.content_flags;
    if (wrapped) row.set(Row::kWrapped);
    for (; next_flag < line.flags.size() && (line.flags[next_flag].first < at + n || !wrapped); next_flag++) {
      row.set(line.flags[next_flag].second);
    }
    append(row);
    at += n;
  };
  while (line.cells.size() - at > cols) {
    const bool cuts_wide = cols > 1 && line.cells[at + cols].kind() == CellKind::WideTail;
    emit(cuts_wide ? cols - 1 : cols, true);
  }
  if (how != Flush::FullRows) {
    emit(line.cells.size() - at, how == Flush::AllButStillWrapped);
    line = {};
    return;
  }
  line.cells.erase(line.cells.begin(), line.cells.begin() + static_cast<std::ptrdiff_t>(at));
  line.flags.erase(line.flags.begin(), line.flags.begin() + static_cast<std::ptrdiff_t>(next_flag));
  for (auto& [cell, flags] : line.flags) cell -= at;
}

void Scrollback::rewrap(uint32_t cols, std::function<void()> housekeeping) {
  cols_ = cols;
  housekeeping_ = std::move(housekeeping);
  for (Block& block : blocks_) stale_.push_back(std::move(block));
  blocks_.clear();
  stale_count_ += std::exchange(count_, 0);
  trim_at_ = 0;
  forget_style_numbers();
}

void Scrollback::settle_some() {
  // Back to a block that begins with a line: what is split anew is always whole.
  std::deque<Block> group;
  do {
    group.push_front(std::move(stale_.back()));
    stale_.pop_back();
  } while (!stale_.empty() && ends_wrapped(stale_.back()));
  settle(std::move(group), false);
}

void Scrollback::settle_all() {
  settle(std::exchange(stale_, {}), true);
  if (!blocks_.empty()) trim();
}

// Splits the lines of `group`, which come just before blocks_, for the present width.
void Scrollback::settle(std::deque<Block> group, bool keeping_house) {
  std::deque<Block> newer = std::exchange(blocks_, {});
  const size_t newer_count = std::exchange(count_, 0);
  forget_style_numbers();
  Rewrapped line;
  UnpackedRow row;
  bool open = false;  // a line has begun and not ended yet
  while (!group.empty()) {
    Block block = std::move(group.front());
    group.pop_front();
    stale_count_ -= block.offsets.size();
    if (!open && !block.any_wrapped && block.widest <= cols_) {
      forget_style_numbers();
      count_ += block.offsets.size();
      blocks_.push_back(std::move(block));
      continue;
    }
    bytes_ -= memory_of(block);
    for (const uint32_t offset : block.offsets) {
      unpack(block, offset, row);
      if (!row.cells.empty() && row.cells.back().kind() == CellKind::WrapSpace) row.cells.pop_back();
      if ((row.flags & kKeptFlags) != 0) line.flags.emplace_back(line.cells.size(), row.flags & kKeptFlags);
      line.cells.insert(line.cells.end(), row.cells.begin(), row.cells.end());
      line.content_flags |= row.flags & Row::kContentFlags;
      open = (row.flags & Row::kWrapped) != 0;
      if (!open) {
        flush(line, cols_, Flush::All);
        if (keeping_house) housekeeping_();
      } else if (line.cells.size() > kRewrapCells) {
        flush(line, cols_, Flush::FullRows);
      }
    }
  }
  if (open) flush(line, cols_, Flush::AllButStillWrapped);
  for (Block& block : newer) blocks_.push_back(std::move(block));
  count_ += newer_count;
  trim_at_ = 0;
  forget_style_numbers();
}

void Scrollback::mark_links(std::vector<bool>& used) const {
  for (const std::deque<Block>* blocks : {&stale_, &blocks_}) {
    for (const Block& block : *blocks) {
      for (const Style& style : block.styles) {
        if (style.link < used.size()) used[style.link] = true;
      }
    }
  }
}

size_t Scrollback::memory() const {
  return bytes_ + known_.capacity() * sizeof(uint32_t);
}

}  // namespace ttyward::vt
