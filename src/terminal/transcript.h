// The lines a person would have seen, in their final form, numbered from 1 for ever.
//
// Lines are appended once and never change. They are kept in blocks; the newest
// few blocks are in memory, older ones in an unlinked file, so that a gigabyte
// of output costs a few megabytes here and can still be paged and searched. A
// line equal to the one before it only raises a counter: `yes` is one entry.
//
// Plain lines that are kept elsewhere, in the journal, are not kept again: a block
// then only knows where they are, and reads them when somebody asks.
//
// At the quota the middle goes, block by block: the oldest quarter and the newest
// rest stay. Numbers keep their meaning; a line that went reads as "dropped".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace ttyward::terminal {

using LineNumber = uint64_t;  // from 1

// Bytes that are kept somewhere else and can be read again. One thread with the transcript.
class KeptBytes {
 public:
  // Whether all of them are still there.
  virtual bool read(uint64_t offset, std::span<char> into) = 0;

 protected:
  ~KeptBytes() = default;
};

class Transcript {
 public:
  struct Limits {
    size_t memory = 4 << 20;             // bytes kept in memory before blocks go to the file
    uint64_t quota = uint64_t{1} << 30;  // bytes kept at all; as above, with 16 for each line or run of lines
    std::string spill_folder = "/tmp";   // text is private to us there: the file has no name
    size_t blanks_up_to = 0;    // lines given to append_kept() keep the blanks at their end up to this length
    KeptBytes* kept = nullptr;  // where lines given to append_kept() are; it outlives the transcript
  };

  Transcript();
  explicit Transcript(Limits limits);
  Transcript(Transcript&&) = default;
  Transcript& operator=(Transcript&&) = default;

  void append(std::string_view line, uint64_t repeat = 1);
  // Takes back the newest lines, as if they had never been appended. Only lines of the last append()s since
  // the caller looked at size(): what has left memory stays.
  void remove_last(uint64_t lines);

  // Whole lines of printable ASCII, each ended by LF or CR LF, that can be read again from limits.kept. Lines
  // with colour sequences in them are kept without those and without blanks at their end.
  struct KeptLines {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t lines = 0;
    uint64_t text_bytes =
        0;  // without line ends, and without the blanks before them where those are not kept
  };
  void append_kept(const KeptLines& lines);

  // Lines that are no longer kept anywhere: they are only counted.
  void append_dropped(uint64_t lines);

  uint64_t size() const { return lines_; }
  uint64_t bytes() const { return bytes_; }  // of all lines ever, without line ends
  uint64_t dropped_lines() const { return dropped_lines_; }
  uint64_t dropped_bytes() const { return dropped_bytes_; }
  size_t memory() const;
  // Set once something could not be written out: from then on old text is dropped instead of spilled.
  const std::optional<base::Error>& spill_error() const { return spill_error_; }

  // A stretch of equal lines.
  struct Entry {
    LineNumber first = 0;
    uint64_t repeat = 1;
    std::string text;
    bool dropped = false;
  };
  // Visits stretches from the one that holds `from` on, in order, until `visit` returns false.
  void forward(LineNumber from, const std::function<bool(const Entry&)>& visit) const;
  // The same towards the beginning.
  void backward(LineNumber from, const std::function<bool(const Entry&)>& visit) const;

  // "dropped" lines are nullopt.
  std::optional<std::string> line(LineNumber number) const;

  struct Match {
    LineNumber line = 0;
    uint64_t repeat = 1;
    std::string text;
  };
  // Lines in [from, to] in which the RE2 pattern is found, at most `most`. Ends early when `stop`, which is
  // asked now and then, says so.
  struct Searched {
    std::vector<Match> matches;
    LineNumber next = 1;  // the first line that was not looked at
  };
  Searched search(const re2::RE2& pattern, LineNumber from, LineNumber to, size_t most,
                  const std::function<bool()>& stop) const;

 private:
  struct Item {
    uint32_t begin;
    uint32_t length;
    uint64_t repeat;
  };
  struct Block {
    LineNumber first = 1;
    uint64_t lines = 0;
    uint64_t text_bytes = 0;  // as counted: repeats included
    std::vector<Item> items;
    std::string text;
    bool spilled = false;
    bool dropped = false;
    bool elsewhere = false;    // its text is kept_bytes from kept_offset on in limits.kept
    uint64_t file_offset = 0;  // items, then text
    uint64_t kept_offset = 0;
    uint64_t kept_bytes = 0;
    uint32_t item_count = 0;
    uint32_t text_size = 0;

    // Gives the memory back; assigning {} would empty them and keep it.
    void forget() {
      std::vector<Item>().swap(items);
      std::string().swap(text);
    }
    // What it takes, in memory, in the file or elsewhere.
    uint64_t size() const {
      if (elsewhere) return kept_bytes;
      return spilled ? item_count * sizeof(Item) + text_size : items.size() * sizeof(Item) + text.size();
    }
  };
  static constexpr size_t kBlockBytes = 64 * 1024;
  static constexpr size_t kBlockItems = 4096;
  static constexpr size_t kKeptBlockBytes = 256 * 1024;  // is read whole for any line in it

  void spill_oldest();
  void enforce_quota();
  void drop(Block& block);
  void merge_dropped();
  void make_room();
  bool load(const Block& block, Block& into) const;
  bool load_kept(const Block& block, Block& into) const;
  bool loadable(const Block& block) const { return (block.spilled || block.elsewhere) && !block.dropped; }
  const Block* at(LineNumber number, size_t* index) const;

  Limits limits_;
  std::vector<Block> blocks_;
  size_t first_in_memory_ = 0;
  size_t memory_bytes_ = 0;
  uint64_t kept_bytes_ = 0;
  size_t next_drop_ = 0;
  size_t unmerged_ = 0;  // blocks dropped since merge_dropped()
  uint64_t lines_ = 0;
  uint64_t bytes_ = 0;
  uint64_t dropped_lines_ = 0;
  uint64_t dropped_bytes_ = 0;
  base::UniqueFd file_;
  uint64_t file_end_ = 0;
  std::optional<base::Error> spill_error_;
};

}  // namespace ttyward::terminal
