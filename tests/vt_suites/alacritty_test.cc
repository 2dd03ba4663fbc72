// Alacritty's recordings, one test each: the bytes are fed, and every cell, its
// attributes and the wrapped flags are compared with the recorded grid.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../support/dump.h"
#include "deviations.h"
#include "json.h"
#include "vt/screen.h"

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

std::vector<std::string> recordings() {
  std::vector<std::string> names;
  if (suites_folder().empty()) return {"absent"};
  for (const auto& folder : std::filesystem::directory_iterator(suites_folder() + "/alacritty")) {
    names.push_back(folder.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string color_of(const Json& color) {
  if (color.has("Named")) {
    static const std::vector<std::string> kNames = {
        "Black",      "Red",           "Green",       "Yellow",     "Blue",        "Magenta",
        "Cyan",       "White",         "BrightBlack", "BrightRed",  "BrightGreen", "BrightYellow",
        "BrightBlue", "BrightMagenta", "BrightCyan",  "BrightWhite"};
    const auto at = std::find(kNames.begin(), kNames.end(), color["Named"].string);
    return at == kNames.end() ? "-" : std::to_string(at - kNames.begin());
  }
  if (color.has("Indexed")) return std::to_string(color["Indexed"].integer());
  const Json& rgb = color["Spec"];
  return fmt::format("#{:02x}{:02x}{:02x}", rgb["r"].integer(), rgb["g"].integer(), rgb["b"].integer());
}

std::string color_of(Color color) {
  if (color.kind() == Color::Kind::Palette) return std::to_string(color.index());
  return color.is_default() ? "-" : fmt::format("#{:06x}", color.rgb_value());
}

std::string wanted_cell(const Json& cell) {
  const std::string flags = " | " + cell["flags"].string + " | ";
  const auto has = [&](const char* name) {
    return flags.find(fmt::format(" {} ", name)) != std::string::npos;
  };
  std::string out = cell["c"].string == "\t" ? " " : cell["c"].string;
  const Json& extra = cell["extra"];
  if (extra.kind == Json::Kind::Object) {
    for (const Json& mark : extra["zerowidth"].array) out += mark.string;
  }
  out += fmt::format(" {} {}", color_of(cell["fg"]), color_of(cell["bg"]));
  if (has("BOLD")) out += " bold";
  if (has("DIM")) out += " dim";
  if (has("ITALIC")) out += " italic";
  if (has("INVERSE")) out += " inverse";
  if (has("HIDDEN")) out += " hidden";
  if (has("STRIKEOUT")) out += " strike";
  if (has("UNDERLINE")) out += " underline1";
  if (has("DOUBLE_UNDERLINE")) out += " underline2";
  if (has("UNDERCURL")) out += " underline3";
  if (has("DOTTED_UNDERLINE")) out += " underline4";
  if (has("DASHED_UNDERLINE")) out += " underline5";
  if (has("WIDE_CHAR")) out += " wide";
  if (extra.kind == Json::Kind::Object && extra["hyperlink"].kind == Json::Kind::Object) {
    out += " " + extra["hyperlink"]["inner"]["uri"].string;
  }
  return out;
}

std::string got_cell(const Screen& screen, int row, int col) {
  const Cell cell = screen.cell(row, col);
  const Style& style = screen.style(cell.style);
  std::string out;
  if (cell.is_empty()) {
    out = " ";
  } else {
    screen.append_glyph(cell, out);
  }
  out += fmt::format(" {} {}", color_of(style.foreground), color_of(style.background));
  if (style.has(Style::kBold)) out += " bold";
  if (style.has(Style::kDim)) out += " dim";
  if (style.has(Style::kItalic)) out += " italic";
  if (style.has(Style::kInverse)) out += " inverse";
  if (style.has(Style::kHidden)) out += " hidden";
  if (style.has(Style::kStrike)) out += " strike";
  if (style.underline() != Underline::None)
    out += fmt::format(" underline{}", static_cast<int>(style.underline()));
  if (cell.kind() == CellKind::Wide) out += " wide";
  if (style.link != 0) out += " " + screen.link(style.link).uri;
  return out;
}

std::vector<int> row_map(const std::string& text) {
  std::vector<int> rows;
  std::istringstream numbers(text);
  for (std::string number; std::getline(numbers, number, ',');) rows.push_back(std::stoi(number));
  return rows;
}

// Place ("row:col" on our screen) -> what is different there. `rows` says which row of the recording each of
// ours is; behind its last one they go on in step, and where the recording has no more, ours must be blank.
std::map<std::string, std::string> compare(const Screen& screen, const Json& grid,
                                           const std::vector<int>& rows) {
  const std::vector<Json>& ring = grid["raw"]["inner"].array;
  const auto zero = static_cast<size_t>(grid["raw"]["zero"].integer());
  std::map<std::string, std::string> differences;
  for (int r = 0; r < screen.rows(); r++) {
    const int last = static_cast<int>(rows.size()) - 1;
    const int theirs = r <= last ? rows[static_cast<size_t>(r)] : rows.back() + r - last;
    const bool exists = theirs < screen.rows();
    // The ring holds the bottom row first.
    const size_t index = (zero + static_cast<size_t>(exists ? screen.rows() - 1 - theirs : 0)) % ring.size();
    const std::vector<Json>& cells = ring[index]["inner"].array;
    for (int c = 0; c < screen.cols(); c++) {
      const Json& cell = cells[static_cast<size_t>(c)];
      if (exists && cell["flags"].string.find("SPACER") != std::string::npos) continue;
      const std::string wanted = exists ? wanted_cell(cell) : "  - -";
      const std::string got = got_cell(screen, r, c);
      if (wanted != got)
        differences[fmt::format("{}:{}", r, c)] = fmt::format("expected [{}], got [{}]", wanted, got);
    }
    const bool wrapped = exists && cells.back()["flags"].string.find("WRAPLINE") != std::string::npos;
    if (wrapped != screen.line(r).wrapped)
      differences[fmt::format("{}:wrapped", r)] = wrapped ? "expected a wrapped row" : "a wrapped row";
  }
  return differences;
}

class Alacritty : public testing::TestWithParam<std::string> {};

TEST_P(Alacritty, Recording) {
  if (GetParam() == "absent")
    GTEST_SKIP()
        << "the recordings are not part of this repository, and the folder next to it does not have them";
  const std::string folder = suites_folder() + "/alacritty/" + GetParam();
  const Json size = Json::parse(contents(folder + "/size.json"));
  const Json grid = Json::parse(contents(folder + "/grid.json"));
  ScreenOptions options;
  options.cols = size["columns"].integer();
  options.rows = size["screen_lines"].integer();
  options.scrollback.lines =
      static_cast<size_t>(Json::parse(contents(folder + "/config.json"))["history_size"].integer());
  const std::string name = "alacritty/" + GetParam();
  const std::string bytes = contents(folder + "/alacritty.recording");
  Screen screen(options);
  screen.feed(unescaped(adjustment_of(name, "before").value_or("")));
  screen.feed(bytes);
  const auto differences = compare(screen, grid, row_map(adjustment_of(name, "rows").value_or("0")));
  if (const std::string wrong = judge(name, differences); !wrong.empty()) ADD_FAILURE() << wrong;

  if (adjustment_of(name, "before") || adjustment_of(name, "rows")) {
    Screen unadjusted(options);
    unadjusted.feed(bytes);
    EXPECT_FALSE(compare(unadjusted, grid, {0}).empty()) << name << " needs no adjustment any more";
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, Alacritty, testing::ValuesIn(recordings()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ttyward::test
