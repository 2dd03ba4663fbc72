#include "record/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "vt/screen.h"
#include "vt/serialize/looks.h"

namespace ttyward::record {
namespace {

vt::ScreenOptions options_of(Size size) {
  vt::ScreenOptions options;
  options.cols = size.cols;
  options.rows = size.rows;
  options.scrollback.lines = 0;
  return options;
}

class Camera {
 public:
  Camera(const Recording& recording, uint64_t interval_us, const FilmLimits& limits)
      : recording_(recording),
        interval_us_(interval_us),
        limits_(limits),
        screen_(options_of(recording.header().size)) {
    film_.lines.emplace_back();
    lines_.emplace("", 0);
    film_.largest = recording.header().size;
    film_.duration_us = recording.duration_us();
    const vt::Looks plain = vt::looks_of(vt::Style{}, screen_);
    film_.foreground = plain.foreground;
    film_.background = plain.background;
  }

  // Nothing: the limits were reached.
  std::optional<Film> run() {
    take(0);
    std::optional<uint64_t> since;  // of what is not in a frame yet
    recording_.for_each([&](const Event& event) {
      if (since && event.at_us - *since >= interval_us_) {
        take(*since);
        since.reset();
        if (too_much()) return false;
      }
      if (event.kind == Event::Kind::Marker) film_.markers.push_back({event.at_us, event.text});
      if (event.kind == Event::Kind::Output) screen_.feed(event.text);
      if (event.kind == Event::Kind::Resize) screen_.resize(event.size.cols, event.size.rows);
      screen_.take_replies();
      screen_.take_events();
      const bool seen = event.kind == Event::Kind::Output || event.kind == Event::Kind::Resize;
      if (seen && !since) since = event.at_us;
      return true;
    });
    if (since) {
      screen_.end_synchronized_output();
      take(*since);
    }
    if (too_much()) return std::nullopt;
    return std::move(film_);
  }

 private:
  bool too_much() const { return film_.frames.size() > limits_.frames || bytes_ > limits_.bytes; }

  void take(uint64_t at_us) {
    Film::Frame frame;
    frame.at_us = at_us;
    frame.size = {screen_.cols(), screen_.rows()};
    const bool resized = frame.size != size_;
    if (resized) shown_.assign(static_cast<size_t>(frame.size.rows), 0);
    size_ = frame.size;
    film_.largest.cols = std::max(film_.largest.cols, size_.cols);
    film_.largest.rows = std::max(film_.largest.rows, size_.rows);
    for (int row = 0; row < size_.rows; row++) {
      const uint32_t line = line_of(row);
      uint32_t& shown = shown_[static_cast<size_t>(row)];
      if (line == shown) continue;
      shown = line;
      frame.rows.emplace_back(row, line);
    }
    const vt::Cursor cursor = screen_.cursor();
    frame.cursor = screen_.cursor_visible();
    frame.cursor_row = cursor.row;
    frame.cursor_col = std::min(cursor.col, size_.cols - 1);
    const bool moved = !film_.frames.empty() && (frame.cursor != film_.frames.back().cursor ||
                                                 frame.cursor_row != film_.frames.back().cursor_row ||
                                                 frame.cursor_col != film_.frames.back().cursor_col);
    if (!film_.frames.empty() && frame.rows.empty() && !moved && !resized) return;
    bytes_ += 24 + 8 * frame.rows.size();
    film_.frames.push_back(std::move(frame));
  }

  uint32_t look_of(const vt::Style& style) {
    const vt::Looks looks = vt::looks_of(style, screen_);
    const Film::Look look{looks.foreground,
                          looks.background,
                          style.has(vt::Style::kBold),
                          style.has(vt::Style::kItalic),
                          style.underline() != vt::Underline::None,
                          style.has(vt::Style::kStrike)};
    const auto found = std::find(film_.looks.begin(), film_.looks.end(), look);
    if (found != film_.looks.end()) return static_cast<uint32_t>(found - film_.looks.begin());
    // A picture in all colours has more looks than anybody should search through.
    if (film_.looks.size() >= kMostLooks) return 0;
    film_.looks.push_back(look);
    bytes_ += 32;
    return static_cast<uint32_t>(film_.looks.size() - 1);
  }

  uint32_t line_of(int row) {
    vt::Line line = screen_.line(row);
    line.trim();
    Film::Line made;
    std::string key;
    for (const vt::Span& span : line.spans) {
      const uint32_t look = look_of(span.style);
      const std::string_view text = line.text_of(span);
      if (!made.empty() && made.back().look == look) {
        made.back().cols += span.cols;
        made.back().text += text;
        key += text;
        continue;
      }
      made.push_back({span.col, span.cols, look, std::string(text)});
      key += fmt::format("\n{}:", look);
      key += text;
    }
    const auto [found, is_new] = lines_.emplace(std::move(key), static_cast<uint32_t>(film_.lines.size()));
    if (is_new) {
      bytes_ += 16 + found->first.size() + 16 * made.size();
      film_.lines.push_back(std::move(made));
    }
    return found->second;
  }

  static constexpr size_t kMostLooks = 4096;

  const Recording& recording_;
  uint64_t interval_us_;
  FilmLimits limits_;
  vt::Screen screen_;
  Size size_{0, 0};
  std::vector<uint32_t> shown_;  // line of each row
  std::unordered_map<std::string, uint32_t> lines_;
  size_t bytes_ = 0;
  Film film_;
};

}  // namespace

Film make_film(const Recording& recording, const FilmLimits& limits) {
  for (uint64_t interval = std::max<uint64_t>(limits.interval_us, 1);; interval *= 2) {
    // With one frame for all of it there is nothing left to save.
    const bool last = interval > recording.duration_us();
    FilmLimits these = limits;
    if (last) these.frames = these.bytes = SIZE_MAX;
    if (auto film = Camera(recording, interval, these).run()) return std::move(*film);
  }
}

}  // namespace ttyward::record
