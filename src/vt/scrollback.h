// The rows that have left the screen, packed.
//
// Whom it serves: `ttyward render`, and programs that use vt::Screen as a library. A live terminal's screen
// has no scrollback (ScreenOptions::scrollback.lines is 0): its history is terminal::Transcript, which is
// made from the same rows as they leave, and can be made again from the journal.
//
// A row is stored as its text and its runs of equal style, not as cells: an
// 80-column log line costs its own 80 bytes and 6 more. Rows live in blocks of
// about 64 KiB; each block has a dictionary of the styles used in it, so that a
// block can be dropped, kept or rewritten without asking anybody else.
//
// A packed row:
//     flags      1 byte     kWrapped, kHasRuns, kIsText, kHasMarks
//     columns    varint     how many columns are in use
//     length     varint     bytes of text; only with kIsText, else it equals `columns`
//     text                  a byte a column (0 = nothing written), or with kIsText:
//                           UTF-8, 0x00 an empty column, 0xF8 a wrap space, and 0xF9/0xFA n
//                           where the next n code points are one narrow/wide cell
//     marks      2 bytes    Row's size and mark flags; only with kHasMarks
//     runs       varint count, then (varint columns, varint style) pairs; only with kHasRuns.
//                Columns after the last run are in the default style.
//
// Rows are numbered from 0, the oldest kept. The limits are in lines and in
// bytes, whichever comes first; whole blocks are dropped, and the number of rows
// offered never exceeds the limit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vt/cell.h"
#include "vt/cluster.h"
#include "vt/grid.h"
#include "vt/line.h"
#include "vt/style.h"

namespace ttyward::vt {

// A row taken out of the scrollback again, as cells. `style` holds numbers of the screen's own table.
struct UnpackedRow {
  std::vector<Cell> cells;
  uint16_t flags = 0;
};

class Scrollback {
 public:
  struct Limits {
    size_t lines = 300'000;
    size_t bytes = size_t{512} << 20;  // reached only by rows far longer than a screen is wide
  };

  Scrollback(Limits limits, StyleTable& styles, ClusterTable& clusters);

  void push(const Row& row);
  // Removes the newest row. There must be one.
  UnpackedRow pop();
  void clear();

  bool empty() const { return limits_.lines == 0 || count_ + stale_count_ == 0; }
  bool newest_is_wrapped() const;
  // How many rows there are, but at most `n`: does not look further than it must.
  size_t available(size_t n);
  size_t size() const;
  Line read(size_t index) const;

  // From now on rows are `cols` wide: every line that does not fit any more, or could now be joined, is split
  // anew. That is done when somebody reads so far back, so a change of width costs nothing however long the
  // history is; blocks in which nothing changes are kept as they are. `housekeeping` is called between lines
  // of such work, when no style or cluster number is held here, so that the owner of those tables can sweep
  // them.
  void rewrap(uint32_t cols, std::function<void()> housekeeping);
  // Must be called when the style table is swept: numbers may mean other styles afterwards.
  void forget_style_numbers();
  void mark_links(std::vector<bool>& used) const;

  size_t memory() const;

 private:
  struct Block {
    std::unique_ptr<uint8_t[]> data;
    uint32_t capacity = 0;
    uint32_t used = 0;
    std::vector<uint32_t> offsets;  // where each row starts in `data`
    std::vector<Style> styles;      // the dictionary; runs refer to it by position
    uint32_t widest = 0;            // columns
    bool any_wrapped = false;
  };
  struct Place {
    const Block* block;
    const uint8_t* data;
  };
  // A logical line on its way from one width to another.
  struct Rewrapped {
    std::vector<Cell> cells;
    std::vector<std::pair<size_t, uint16_t>> flags;  // mark and size flags, and the cell they stand at
    uint16_t content_flags = 0;
  };
  static constexpr uint32_t kBlockBytes = 64 * 1024;
  // Cells of one logical line held at once while rewrapping; a longer line is done in pieces.
  static constexpr size_t kRewrapCells = 1u << 20;

  void append(const Row& row);
  void encode_text(const Row& row, uint32_t columns);  // into scratch_ and text_bytes_
  uint8_t* encode_runs(Block& block, const Row& row, uint32_t columns, uint8_t* out);
  Block& block_with_room(size_t bytes);
  uint32_t dictionary_number(Block& block, StyleId style);
  Place find(size_t index) const;
  void unpack(const Block& block, uint32_t offset, UnpackedRow& out) const;
  void trim();
  void drop(const Block& block);
  enum class Flush : uint8_t { FullRows, All, AllButStillWrapped };
  void flush(Rewrapped& line, uint32_t cols, Flush how);
  static size_t memory_of(const Block& block);
  bool ends_wrapped(const Block& block) const;
  // Splits the newest stale line or lines anew; or all of them.
  void settle_some();
  void settle_all();
  void settle(std::deque<Block> group, bool keeping_house);

  Limits limits_;
  StyleTable& styles_;
  ClusterTable& clusters_;
  std::deque<Block> blocks_;
  size_t count_ = 0;  // rows in them
  // Older than all of blocks_, and still split for another width.
  std::deque<Block> stale_;
  size_t stale_count_ = 0;
  uint32_t cols_ = 0;  // what they are to be split for
  std::function<void()> housekeeping_;
  size_t bytes_ = 0;  // memory of all blocks
  // With so many rows the oldest block may be too many; 0 where that has to be found out anew.
  size_t trim_at_ = 0;
  // StyleId -> dictionary number + 1 in the newest block; emptied with each new block.
  std::vector<uint32_t> known_;
  std::vector<StyleId> known_ids_;
  std::vector<uint8_t> scratch_;
  size_t text_bytes_ = 0;
};

}  // namespace ttyward::vt
