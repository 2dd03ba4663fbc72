// Our side of the comparison with xterm: reads cases from stdin, one a line in
// hexadecimal, and prints for each what the probe prints for xterm: the cursor,
// then one checksum a cell.
//   answer COLS ROWS < cases
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "base/utf8.h"
#include "vt/screen.h"

namespace {

using ttyward::vt::Style;

// As xterm sums a cell when it neither negates nor trims: code points and attributes.
uint32_t checksum(const ttyward::vt::Screen& screen, int row, int col) {
  const ttyward::vt::Cell cell = screen.cell(row, col);
  const Style& style = screen.style(cell.style);
  std::string text;
  if (!cell.is_empty() && !style.has(Style::kHidden)) screen.append_glyph(cell, text);
  const bool tail = cell.kind() == ttyward::vt::CellKind::WideTail && !style.has(Style::kHidden);
  size_t at = 0;
  uint32_t sum = tail ? 0xFFFF : text.empty() ? ' ' : ttyward::base::decode_utf8(text, at);
  if (style.underline() == ttyward::vt::Underline::Single) sum += 0x10;
  if (style.has(Style::kInverse)) sum += 0x20;
  if (style.has(Style::kBlink)) sum += 0x40;
  if (style.has(Style::kBold)) sum += 0x80;
  return sum & 0xFFFF;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int cols = std::stoi(argv[1]);
  const int rows = std::stoi(argv[2]);
  std::string hex;
  while (std::getline(std::cin, hex)) {
    ttyward::vt::ScreenOptions options;
    options.cols = cols;
    options.rows = rows;
    ttyward::vt::Screen screen(options);
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    screen.feed(bytes);
    screen.take_replies();
    screen.feed("\033[6n");
    const std::string position = screen.take_replies();
    std::string out = position.substr(2, position.find('R') - 2);
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < cols; c++) out += fmt::format(" {:X}", checksum(screen, r, c));
    }
    std::cout << out << std::endl;
  }
  return 0;
}
