#include "cli/screen_copy.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

namespace ttyward::cli {
namespace {

constexpr std::string_view kUnderlines[] = {"", "single", "double", "curly", "dotted", "dashed"};

// Cells hold no control characters; should one ever, it must not act on the person's terminal.
std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1) {
      out += '?';
      i += c1 ? 1 : 0;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What is not a colour is the usual one.
vt::Color colour_of(std::string_view text) {
  uint32_t value = 0;
  const bool rgb = text.starts_with('#');
  const char* const end = text.data() + text.size();
  const auto [stopped, wrong] =
      rgb ? std::from_chars(text.data() + 1, end, value, 16) : std::from_chars(text.data(), end, value);
  if (wrong != std::errc() || stopped != end) return {};
  if (rgb && text.size() == 7)
    return vt::Color::rgb(static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8),
                          static_cast<uint8_t>(value));
  return !rgb && value < 256 ? vt::Color::palette(static_cast<uint8_t>(value)) : vt::Color();
}

vt::Style style_of(const wire::ScreenRun& run) {
  vt::Style style;
  style.foreground = colour_of(run.fg);
  style.background = colour_of(run.bg);
  style.underline_color = colour_of(run.underline_colour);
  const auto underline = std::find(std::begin(kUnderlines), std::end(kUnderlines), run.underline);
  if (underline != std::end(kUnderlines))
    style.set_underline(static_cast<vt::Underline>(underline - std::begin(kUnderlines)));
  const auto set = [&](bool on, uint16_t attribute) {
    if (on) style.set(attribute);
  };
  set(run.bold, vt::Style::kBold);
  set(run.dim, vt::Style::kDim);
  set(run.italic, vt::Style::kItalic);
  set(run.blink, vt::Style::kBlink);
  set(run.inverse, vt::Style::kInverse);
  set(run.hidden, vt::Style::kHidden);
  set(run.strike, vt::Style::kStrike);
  set(run.overline, vt::Style::kOverline);
  return style;
}

}  // namespace

void ScreenCopy::apply(const wire::ScreenDelta& delta) {
  if (delta.reset) lines_.clear();
  cols_ = static_cast<int>(delta.cols);
  rows_ = static_cast<int>(delta.rows);
  first_row_ = delta.first_row;
  for (const wire::ScreenRow& row : delta.lines) {
    vt::Line& line = lines_[row.row];
    line.clear();
    for (const wire::ScreenRun& run : row.runs)
      line.add(shown(run.text), static_cast<uint32_t>(std::max<int64_t>(run.cols, 0)), style_of(run));
  }
  lines_.erase(lines_.begin(), lines_.lower_bound(first_row_));
  lines_.erase(lines_.lower_bound(first_row_ + static_cast<uint64_t>(std::max(rows_, 0))), lines_.end());
  cursor_ = delta.cursor;
  modes_ = vt::ModeSet();
  for (const int64_t number : delta.modes) {
    const vt::ModeRow* const mode =
        number > 0 && number <= UINT16_MAX ? vt::find_mode(static_cast<uint16_t>(number), true) : nullptr;
    if (mode != nullptr) modes_.assign(mode->mode, true);
  }
  kitty_flags_ = static_cast<int>(delta.kitty_keyboard);
  modify_other_keys_ = static_cast<int>(delta.modify_other_keys);
}

const vt::Line& ScreenCopy::line(int row) const {
  static const vt::Line kBlank;
  const auto found = lines_.find(first_row_ + static_cast<uint64_t>(row));
  return found != lines_.end() ? found->second : kBlank;
}

}  // namespace ttyward::cli
