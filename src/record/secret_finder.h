// Finds secrets in what a terminal shows.
//
// A secret may come in any pieces: over many events, with colours between its characters, wrapped at the
// margin, edited by a shell. So the text is put on a screen, each cell remembers which character of the
// output it shows, and a line is searched before anything but text and colours comes, and at the end of each
// event. Found characters are known by their place in the output, also those that came long before.
//
// Lines are searched as base::secret_spans() does; the block of a private key is masked over its lines.
//
// Thread rule: one thread per object.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "record/recording.h"
#include "vt/screen.h"

namespace ttyward::record {

class SecretFinder {
 public:
  explicit SecretFinder(Size size);

  // `text` is from Visible; its first byte is the byte `at` of all output.
  void feed(std::string_view text, uint64_t at);
  void resize(Size size);

  const vt::Screen& screen() const { return screen_; }
  // In order, each once.
  std::vector<Mask> take();

 private:
  friend struct FinderTokens;
  struct Cell {
    char32_t character = 0;  // 0: empty
    uint64_t at = 0;
    uint8_t bytes = 0;
    uint8_t columns = 1;
    bool masked = false;
  };
  struct Row {
    std::vector<Cell> cells;
    bool continues = false;  // in the next one
  };
  // Rows that are kept, those that left the screen included: a line longer than this is searched in parts.
  static constexpr size_t kMostRows = 256;
  // A private key without its end is masked over so many lines.
  static constexpr int kMostKeyLines = 200;

  void text(std::string_view characters, uint64_t at);
  size_t ascii(std::string_view characters, uint64_t at);
  void one(char32_t character, std::string_view bytes, uint64_t at);
  void control(char c);
  void sequence(std::string_view all, char final);
  void erased(std::string_view all, char final, const vt::Cursor& cursor);
  void search();
  void mask(Cell& cell);
  void forget() { rows_.clear(); }
  Row& row_at(vt::StableRow number);
  void pass(std::string_view bytes);

  vt::Screen screen_;
  std::deque<Row> rows_;
  vt::StableRow first_ = 0;  // number of the first of them
  bool dirty_ = false;       // text came since the last search
  int key_lines_ = 0;        // of a private key that are still to be masked
  std::vector<Mask> masks_;
};

}  // namespace ttyward::record
