#include "vt/grid.h"

#include <gtest/gtest.h>

#include <string>

namespace ttyward::vt {
namespace {

void write(Grid& grid, int row, std::string_view text, StyleId style = 0) {
  Row& r = grid.row(row);
  grid.materialize(r, static_cast<uint32_t>(text.size()));
  for (size_t c = 0; c < text.size(); c++) r.cells[c] = {static_cast<uint8_t>(text[c]), style};
}

void write_wide(Grid& grid, int row, uint32_t col) {
  Row& r = grid.row(row);
  grid.materialize(r, col + 2);
  r.cells[col] = Cell::of(U'漢', CellKind::Wide, 0);
  r.cells[col + 1] = Cell::of(0, CellKind::WideTail, 0);
  r.set(Row::kMaybeWide | Row::kMaybeNonAscii);
}

std::string text(const Grid& grid, int row) {
  std::string out;
  for (int c = 0; c < grid.cols(); c++) {
    const Cell cell = grid.cell(row, c);
    switch (cell.kind()) {
      case CellKind::Wide:
        out += '<';
        break;
      case CellKind::WideTail:
        out += '>';
        break;
      default:
        out += cell.is_empty() ? '.' : static_cast<char>(cell.content);
    }
  }
  return out;
}

TEST(Grid, StartsBlank) {
  Grid grid(2, 3);
  EXPECT_EQ(text(grid, 0), "...");
  EXPECT_EQ(grid.row(1).used, 0u);
}

TEST(Grid, EraseShortensOrFills) {
  Grid grid(1, 6);
  write(grid, 0, "abcdef");
  grid.erase(grid.row(0), 4, 6, 0);
  EXPECT_EQ(text(grid, 0), "abcd..");
  EXPECT_EQ(grid.row(0).used, 4u);
  grid.erase(grid.row(0), 1, 2, 0);
  EXPECT_EQ(text(grid, 0), "a.cd..");
  grid.erase(grid.row(0), 3, 6, 7);
  EXPECT_EQ(text(grid, 0), "a.c...");
  EXPECT_EQ(grid.cell(0, 5).style, 7u);
  EXPECT_EQ(grid.row(0).used, 6u);
  grid.erase(grid.row(0), 2, 2, 7);
  EXPECT_EQ(text(grid, 0), "a.c...");
}

TEST(Grid, InsertAndDeleteStayBelowTheLimit) {
  Grid grid(1, 8);
  write(grid, 0, "abcdefgh");
  grid.insert_cells(grid.row(0), 2, 2, 6, 0);
  EXPECT_EQ(text(grid, 0), "ab..cdgh");
  grid.delete_cells(grid.row(0), 1, 2, 6, 0);
  EXPECT_EQ(text(grid, 0), "a.cd..gh");
  grid.insert_cells(grid.row(0), 0, 99, 8, 3);
  EXPECT_EQ(text(grid, 0), "........");
  EXPECT_EQ(grid.cell(0, 7).style, 3u);
}

TEST(Grid, InsertIntoAShortRowMovesOnlyWhatIsThere) {
  Grid grid(1, 8);
  write(grid, 0, "ab");
  grid.insert_cells(grid.row(0), 1, 2, 8, 0);
  EXPECT_EQ(text(grid, 0), "a..b....");
  grid.insert_cells(grid.row(0), 6, 1, 8, 0);
  EXPECT_EQ(text(grid, 0), "a..b....");
  grid.delete_cells(grid.row(0), 0, 3, 8, 0);
  EXPECT_EQ(text(grid, 0), "b.......");
}

TEST(Grid, WideCharactersAreNeverHalved) {
  for (uint32_t at = 0; at <= 4; at++) {
    Grid grid(1, 4);
    write_wide(grid, 0, 1);
    grid.erase(grid.row(0), at, 4, 0);
    EXPECT_EQ(text(grid, 0), at >= 3 ? ".<>." : "....") << at;
  }
  Grid grid(1, 6);
  write_wide(grid, 0, 0);
  write_wide(grid, 0, 2);
  grid.insert_cells(grid.row(0), 1, 1, 6, 0);
  EXPECT_EQ(text(grid, 0), "...<>.");
  grid.delete_cells(grid.row(0), 0, 4, 6, 0);
  EXPECT_EQ(text(grid, 0), "......");
}

TEST(Grid, RotatingMovesRowsNotCells) {
  Grid grid(4, 1);
  for (int r = 0; r < 4; r++) write(grid, r, std::string(1, static_cast<char>('a' + r)));
  const Cell* const cells = grid.row(2).cells;
  grid.rotate_up(1, 3, 1);
  EXPECT_EQ(text(grid, 0) + text(grid, 1) + text(grid, 2) + text(grid, 3), "acdb");
  EXPECT_EQ(grid.row(1).cells, cells);
  grid.rotate_down(0, 2, 2);
  EXPECT_EQ(text(grid, 0) + text(grid, 1) + text(grid, 2) + text(grid, 3), "cdab");
}

TEST(Grid, CopyCellsRepairsWhatItCuts) {
  Grid grid(2, 6);
  write(grid, 1, "uvwxyz");
  write_wide(grid, 0, 1);
  grid.copy_cells(grid.row(0), grid.row(1), 2, 4);
  EXPECT_EQ(text(grid, 1), "uv...z");
  grid.copy_cells(grid.row(0), grid.row(1), 0, 1);
  EXPECT_EQ(text(grid, 1), ".....z");
  grid.copy_cells(grid.row(0), grid.row(1), 0, 2);
  EXPECT_EQ(text(grid, 1), ".<>..z");
}

TEST(Grid, AssignCopiesEverything) {
  Grid grid(2, 3);
  write(grid, 0, "abc", 5);
  grid.row(0).set(Row::kWrapped);
  grid.rotate_up(0, 1, 1);
  Grid copy(1, 1);
  copy.assign(grid);
  EXPECT_EQ(text(copy, 1), "abc");
  EXPECT_TRUE(copy.row(1).has(Row::kWrapped));
  write(grid, 1, "xyz");
  EXPECT_EQ(text(copy, 1), "abc");
}

TEST(Grid, BlankWideTakesBothHalves) {
  Cell cells[] = {{'a', 0}, Cell::of(U'漢', CellKind::Wide, 2), Cell::of(0, CellKind::WideTail, 2)};
  blank_wide(cells, 3);
  EXPECT_EQ(cells[0].content, uint32_t{'a'});
  EXPECT_EQ(cells[1], (Cell{0, 2}));
  EXPECT_EQ(cells[2], (Cell{0, 2}));
}

}  // namespace
}  // namespace ttyward::vt
