#include "libvterm_script.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "../support/dump.h"
#include "base/utf8.h"

namespace ttyward::test {
namespace {

using namespace ttyward::vt;

std::string trim(std::string text) {
  text.erase(text.find_last_not_of(" \t") + 1);
  text.erase(0, text.find_first_not_of(" \t"));
  return text;
}

// The string expressions of the scripts: "…" with escapes, joined by ".", repeated by "x N".
std::string evaluate(std::string_view text) {
  std::string out;
  std::string last;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '"') {
      last.clear();
      for (i++; i < text.size() && text[i] != '"'; i++) {
        if (text[i] != '\\') {
          last += text[i];
          continue;
        }
        i++;
        if (text[i] == 'x' && text[i + 1] == '{') {
          const size_t close = text.find('}', i);
          last += static_cast<char>(std::stoi(std::string(text.substr(i + 2, close - i - 2)), nullptr, 16));
          i = close;
        } else if (text[i] == 'x') {
          last += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
          i += 2;
        } else {
          last += unescaped(std::string("\\") + text[i]);
        }
      }
      out += last;
    } else if (text[i] == 'x') {
      const int times = std::stoi(std::string(text.substr(i + 1)));
      for (int n = 1; n < times; n++) out += last;
      i = text.find_first_not_of(" 0123456789", i + 1);
      if (i == std::string_view::npos) break;
      i--;
    }
  }
  return out;
}

// "0x41,0x301" or "\"text\"" as UTF-8.
std::string text_value(const std::string& value) {
  if (value.starts_with("\"")) return evaluate(value);
  std::string out;
  std::istringstream codes(value);
  std::string code;
  while (std::getline(codes, code, ',')) {
    if (!trim(code).empty()) base::append_utf8(out, static_cast<char32_t>(std::stoul(code, nullptr, 16)));
  }
  return out;
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> out;
  std::istringstream in(text);
  std::string part;
  while (std::getline(in, part, ',')) out.push_back(std::stoi(part));
  return out;
}

std::vector<int> hex_numbers(const std::string& text) {
  std::vector<int> out;
  std::istringstream in(text);
  std::string part;
  while (std::getline(in, part, ',')) out.push_back(std::stoi(part, nullptr, 16));
  return out;
}

// libvterm's palette.
std::string rgb_of(Color color, const char* fallback) {
  static constexpr const char* kColors[16] = {
      "rgb(0,0,0)",       "rgb(224,0,0)",    "rgb(0,224,0)",    "rgb(224,224,0)",
      "rgb(0,0,224)",     "rgb(224,0,224)",  "rgb(0,224,224)",  "rgb(224,224,224)",
      "rgb(128,128,128)", "rgb(255,64,64)",  "rgb(64,255,64)",  "rgb(255,255,64)",
      "rgb(64,64,255)",   "rgb(255,64,255)", "rgb(64,255,255)", "rgb(255,255,255)"};
  if (color.is_default()) return fallback;
  if (color.kind() == Color::Kind::Palette) return color.index() < 16 ? kColors[color.index()] : "palette";
  return fmt::format("rgb({},{},{})", color.rgb_value() >> 16, color.rgb_value() >> 8 & 255,
                     color.rgb_value() & 255);
}

std::string pen_color(Color color, const char* fallback) {
  if (color.kind() == Color::Kind::Palette) return fmt::format("idx({})", color.index());
  return rgb_of(color, fallback);
}

// Collects what the decoder makes of bytes.
struct CodePoints {
  std::string out;
  void add(char32_t c) { out += fmt::format("{}0x{:x}", out.empty() ? "" : ",", static_cast<uint32_t>(c)); }
  void print_ascii(const uint8_t* text, size_t n) {
    for (size_t i = 0; i < n; i++) add(text[i]);
  }
  void print_text(const char32_t* text, size_t n) {
    for (size_t i = 0; i < n; i++) add(text[i]);
  }
  void execute(uint8_t) {}
  void esc_dispatch(const Sequence&) {}
  void csi_dispatch(const Sequence&) {}
  void osc_dispatch(std::string_view, Terminator, uint64_t, uint64_t) {}
  void dcs_dispatch(const Sequence&, std::string_view) {}
};

}  // namespace

std::map<std::string, std::string> LibvtermScript::run(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    line_number_++;
    if (trim(line).empty() || trim(line)[0] == '#' || line[0] == '!') continue;
    if (line[0] == ' ' || line[0] == '\t' || line[0] == '?') {
      expectation(trim(line));
    } else {
      finish_step();
      directive(line);
    }
  }
  finish_step();
  return differences_;
}

void LibvtermScript::expect(const std::string& wanted, const std::string& got) {
  checks_++;
  if (wanted != got) {
    differences_[std::to_string(line_number_)] =
        fmt::format("expected \"{}\", got \"{}\"", escaped(wanted), escaped(got));
  }
}

void LibvtermScript::forget_step() {
  wanted_output_.clear();
  wanted_cursor_.clear();
  wanted_pushes_.clear();
  glyphs_.clear();
  wanted_code_points_.clear();
  got_code_points_.clear();
  output_line_ = encout_line_ = 0;
  left_out_ = false;
  step_line_ = line_number_;
  history_before_ = screen_ ? screen_->history_size() : 0;
}

void LibvtermScript::finish_step() {
  if (!screen_) return;
  const int now = line_number_;
  const std::string output = screen_->take_replies();
  if (!left_out_ && !wants_parser_) {
    if (!wanted_output_.empty() || !output.empty()) {
      line_number_ = output_line_ != 0 ? output_line_ : step_line_;
      expect(wanted_output_, output);
    }
    if (!wanted_cursor_.empty()) {
      line_number_ = movecursor_line_;
      expect(wanted_cursor_, fmt::format("{},{}", screen_->cursor().row, screen_->cursor().col));
    }
    for (const auto& [at, glyph] : glyphs_) {  // the last one written to each position
      const bool wide = screen_->cell(at[0], at[1]).kind() == CellKind::Wide;
      line_number_ = glyph.first;
      expect(glyph.second, cell_text(at[0], at[1]) + (wide ? " 2" : " 1"));
    }
    if (wants_history_) {
      const size_t pushed = screen_->history_size() - std::min(history_before_, screen_->history_size());
      for (size_t i = 0; i < std::max(pushed, wanted_pushes_.size()); i++) {
        std::string got = "no push";
        if (i < pushed) {
          got.clear();
          std::string text = screen_->history_line(history_before_ + i).text;
          text.erase(text.find_last_not_of(' ') + 1);
          for (const char c : text) got += fmt::format("{:02X} ", static_cast<unsigned char>(c));
        }
        line_number_ = i < wanted_pushes_.size() ? wanted_pushes_[i].first : step_line_;
        expect(i < wanted_pushes_.size() ? trim(wanted_pushes_[i].second) : "no push", trim(got));
      }
    }
  }
  if (!wanted_code_points_.empty() || !got_code_points_.empty()) {
    line_number_ = encout_line_ != 0 ? encout_line_ : step_line_;
    expect(wanted_code_points_, got_code_points_);
  }
  line_number_ = now;
  forget_step();
}

void LibvtermScript::directive(const std::string& line) {
  if (line.starts_with("$REP") || line.starts_with("$SEQ")) {
    // $REP 3: STEP, and $SEQ 1 9: STEP with the running number for \#
    const size_t colon = line.find(':');
    std::istringstream bounds(line.substr(4, colon - 4));
    int first = 1;
    int last = 0;
    bounds >> (line[1] == 'R' ? last : first);
    if (line[1] == 'S') bounds >> last;
    for (int n = first; n <= last; n++) {
      std::string step = trim(line.substr(colon + 1));
      for (size_t at = step.find("\\#"); at != std::string::npos; at = step.find("\\#")) {
        step.replace(at, 2, std::to_string(n));
      }
      step[0] == '?' ? expectation(step) : directive(step);
    }
    return;
  }
  const std::string word = line.substr(0, line.find(' '));
  const std::string rest = line.size() > word.size() ? trim(line.substr(word.size())) : "";
  forget_step();
  for (const std::string_view name : kNotInterpreted) left_out_ |= word == name;
  if (word == "INIT") {
    screen_ = std::make_unique<Screen>(sized(80, 25));
  } else if (word == "WANTSCREEN") {
    if (rest.find('b') != std::string::npos) wants_history_ = rest[0] != '-';
  } else if (word == "WANTPARSER") {
    wants_parser_ = true;
  } else if (word == "RESET") {
    screen_->feed("\033c");
    screen_->take_replies();
    history_before_ = 0;
  } else if (word == "RESIZE") {
    const std::vector<int> size = numbers(rest);
    screen_->resize(size[1], size[0]);
  } else if (word == "PUSH") {
    screen_->feed(evaluate(rest));
  } else if (word == "ENCIN") {
    CodePoints points;
    decoder_.feed(evaluate(rest), points);
    got_code_points_ = points.out;
  }
}

void LibvtermScript::expectation(const std::string& line) {
  if (left_out_ || wants_parser_) return;
  if (line[0] == '?') return query(line.substr(1));
  const std::string word = line.substr(0, line.find(' '));
  const std::string rest = line.size() > word.size() ? trim(line.substr(word.size())) : "";
  if (word == "output") {
    wanted_output_ += evaluate(rest);
    output_line_ = line_number_;
  } else if (word == "movecursor") {
    wanted_cursor_ = rest;
    movecursor_line_ = line_number_;
  } else if (word == "sb_pushline" && wants_history_) {
    wanted_pushes_.emplace_back(line_number_, rest.substr(rest.find('=') + 1));
  } else if (word == "encout") {
    for (const int code : hex_numbers(rest)) {
      wanted_code_points_ += fmt::format("{}0x{:x}", wanted_code_points_.empty() ? "" : ",", code);
    }
    encout_line_ = line_number_;
  } else if (word == "putglyph") {
    std::istringstream words(rest);
    std::string codes, width, position;
    words >> codes >> width >> position;
    const std::vector<int> at = numbers(position);
    glyphs_[at] = {line_number_, text_value(codes) + " " + width};
  }
}

void LibvtermScript::query(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string left = trim(text.substr(0, equals));
  const std::string value = trim(text.substr(equals + 1));
  const std::string name = left.substr(0, left.find(' '));
  const std::string args = left.size() > name.size() ? trim(left.substr(name.size())) : "";
  const auto without_end_blanks = [](std::string row) {
    row.erase(row.find_last_not_of(' ') + 1);
    return row;
  };
  if (name == "cursor") {
    expect(value, fmt::format("{},{}", screen_->cursor().row, screen_->cursor().col));
  } else if (name == "screen_row") {
    expect(without_end_blanks(text_value(value)), row_text(*screen_, std::stoi(args)));
  } else if (name == "screen_chars") {
    expect(without_end_blanks(text_value(value)), screen_chars(args));
  } else if (name == "screen_text") {
    std::string bytes;
    std::istringstream codes(value);
    std::string code;
    while (std::getline(codes, code, ',')) bytes += static_cast<char>(std::stoi(code, nullptr, 16));
    expect(bytes, screen_chars(args));
  } else if (name == "screen_cell") {
    const std::vector<int> at = numbers(args);
    expect(value, cell_description(at[0], at[1]));
  } else if (name == "screen_eol") {
    const std::vector<int> at = numbers(args);
    const bool empty = static_cast<int>(row_text(*screen_, at[0]).size()) <= at[1];
    expect(value, empty ? "1" : "0");
  } else if (name == "screen_attrs_extent") {
    const std::vector<int> at = numbers(args);
    expect(value, attributes_extent(at[0], at[1]));
  } else if (name == "pen") {
    expect(value, pen_value(args));
  } else if (name == "lineinfo") {
    expect(value, line_info(std::stoi(args)));
  } else {
    expect("a known query", "?" + name);
  }
}

std::string LibvtermScript::cell_text(int row, int col) const {
  std::string out;
  const Cell cell = screen_->cell(row, col);
  if (!cell.is_empty()) screen_->append_glyph(cell, out);
  return out;
}

std::string LibvtermScript::screen_chars(const std::string& rectangle) const {
  const std::vector<int> r = numbers(rectangle);
  std::string out;
  for (int row = r[0]; row < r[2]; row++) {
    std::string text;
    for (int col = r[1]; col < r[3]; col++) {
      if (screen_->cell(row, col).kind() == CellKind::WideTail) continue;
      const std::string glyph = cell_text(row, col);
      text += glyph.empty() ? " " : glyph;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += (row > r[0] ? "\n" : "") + text;
  }
  return out;
}

std::string LibvtermScript::cell_description(int row, int col) const {
  const Cell cell = screen_->cell(row, col);
  const Style& style = screen_->style(cell.style);
  std::string codes;
  const std::string text = cell_text(row, col);
  for (size_t at = 0; at < text.size();) {
    codes +=
        fmt::format("{}0x{:x}", codes.empty() ? "" : ",", static_cast<uint32_t>(base::decode_utf8(text, at)));
  }
  std::string attributes;
  if (style.has(Style::kBold)) attributes += "B";
  if (style.underline() != Underline::None)
    attributes += fmt::format("U{}", static_cast<int>(style.underline()));
  if (style.has(Style::kItalic)) attributes += "I";
  if (style.has(Style::kBlink)) attributes += "K";
  if (style.has(Style::kInverse) != screen_->modes().has(Mode::ReverseVideo)) attributes += "R";
  std::string size;
  const uint16_t flags = screen_->line(row).flags;
  if ((flags & Row::kDoubleWidth) != 0) size += "dwl ";
  if ((flags & Row::kDoubleTop) != 0) size += "dhl-top ";
  if ((flags & Row::kDoubleBottom) != 0) size += "dhl-bottom ";
  return fmt::format("{{{}}} width={} attrs={{{}}} {}fg={} bg={}", codes,
                     cell.kind() == CellKind::Wide ? 2 : 1, attributes, size,
                     rgb_of(style.foreground, "rgb(240,240,240)"), rgb_of(style.background, "rgb(0,0,0)"));
}

std::string LibvtermScript::pen_value(const std::string& what) const {
  const Style& pen = screen_->pen();
  const auto on = [&](uint16_t attribute) { return pen.has(attribute) ? "on" : "off"; };
  if (what == "bold") return on(Style::kBold);
  if (what == "italic") return on(Style::kItalic);
  if (what == "blink") return on(Style::kBlink);
  if (what == "reverse") return on(Style::kInverse);
  if (what == "strike") return on(Style::kStrike);
  if (what == "conceal") return on(Style::kHidden);
  if (what == "underline") return std::to_string(static_cast<int>(pen.underline()));
  if (what == "foreground") return pen_color(pen.foreground, "rgb(240,240,240,is_default_fg)");
  if (what == "background") return pen_color(pen.background, "rgb(0,0,0,is_default_bg)");
  return "not an attribute of this engine";
}

std::string LibvtermScript::line_info(int row) const {
  std::string out;
  const uint16_t flags = screen_->line(row).flags;
  if ((flags & Row::kDoubleWidth) != 0) out += " dwl";
  if ((flags & Row::kDoubleTop) != 0) out += " dhl-top";
  if ((flags & Row::kDoubleBottom) != 0) out += " dhl-bottom";
  if (row > 0 && screen_->line(row - 1).wrapped) out += " cont";
  return trim(out);
}

std::string LibvtermScript::attributes_extent(int row, int col) const {
  const auto same = [&](int c) {
    return screen_->style(screen_->cell(row, c).style) == screen_->style(screen_->cell(row, col).style);
  };
  int first = col;
  int last = col;
  while (first > 0 && same(first - 1)) first--;
  while (last + 1 < screen_->cols() && same(last + 1)) last++;
  return fmt::format("{},{}-{},{}", row, first, row + 1, last);
}

}  // namespace ttyward::test
