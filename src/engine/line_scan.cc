#include "engine/line_scan.h"

#include <re2/re2.h>

#include <algorithm>

namespace ttyward::engine {
namespace {

// A line is searched up to here: patterns are not meant for lines that fill many screens.
constexpr size_t kLongestLine = 64 * 1024;

// What a line costs grows with the pattern, and with what its repetitions multiply to.
constexpr size_t kLongestPattern = 1000;
constexpr int kLargestProgram = 4000;

}  // namespace

// Rows joined where they wrap. The beginning of a line that has left the screen is not among it.
std::vector<LineScan::ScreenLine> LineScan::screen_lines(const vt::Screen& screen) {
  std::vector<ScreenLine> lines;
  ScreenLine line;
  const vt::Cursor cursor = screen.cursor();
  for (int r = 0; r < screen.rows(); r++) {
    const vt::Line row = screen.line(r);
    if (line.text.size() < kLongestLine) line.text += row.text;
    line.changed = std::max(line.changed, screen.row_changed(r));
    line.has_cursor = line.has_cursor || r == cursor.row;
    if (row.wrapped && r + 1 < screen.rows()) continue;
    const size_t text = line.text.find_last_not_of(' ') + 1;
    const size_t blanks = line.text.size() - text;
    // A question ends with a blank as a rule: blanks before the cursor were written.
    const size_t text_columns = row.columns() - std::min<size_t>(row.columns(), blanks);
    const size_t column = r == cursor.row ? static_cast<size_t>(cursor.col) : 0;
    line.text.resize(text + std::min(blanks, column - std::min(column, text_columns)));
    lines.push_back(std::move(line));
    line = {};
  }
  while (!lines.empty() && lines.back().text.empty()) lines.pop_back();
  return lines;
}

void LineScan::mark_all(const terminal::Output& output, Finished finished) {
  const vt::Screen& screen = output.screen();
  next_ = output.transcript().size() + 1;
  main_ = {next_, {}, false};
  alternate_ = {};
  marked_ = screen.seq();
  seen_ = 0;
  if (finished == Finished::Yes) return;
  Known& known = screen.is_alternate() ? alternate_ : main_;
  for (ScreenLine& line : screen_lines(screen)) {
    known.open = line.has_cursor;
    known.lines.push_back(std::move(line.text));
  }
}

void LineScan::mark(const terminal::Output& output, const Line& line, size_t end) {
  marked_ = output.screen().seq();
  seen_ = 0;
  const std::string head(line.text.substr(0, end));
  if (!line.index) {
    next_ = line.number;
    main_ = {line.number, {head}, true};
    return;
  }
  Known& known = line.number == 0 ? alternate_ : main_;
  known = {line.number - std::min<terminal::LineNumber>(line.number, *line.index), {}, true};
  const std::vector<ScreenLine> lines = screen_lines(output.screen());
  for (size_t i = 0; i < *line.index && i < lines.size(); i++) known.lines.push_back(lines[i].text);
  known.lines.push_back(head);
}

LineScan::Place LineScan::end_of(const terminal::Output& output, Finished finished) {
  Place place{output.transcript().size() + 1, {}};
  if (finished == Finished::Yes || output.screen().is_alternate()) return place;
  std::vector<ScreenLine> lines = screen_lines(output.screen());
  if (lines.empty()) return place;
  place.line += lines.size() - 1;
  place.text = std::move(lines.back().text);
  return place;
}

void LineScan::mark_place(const Place& place) {
  next_ = place.line;
  main_ = {place.line, {place.text}, true};
  alternate_ = {};
  marked_ = 0;
  seen_ = 0;
}

size_t LineScan::known_of(const Known& known, size_t index, std::string_view text, bool touched) {
  if (index >= known.lines.size()) return 0;
  const std::string& old = known.lines[index];
  if (known.open && index + 1 == known.lines.size()) {
    if (text.starts_with(old)) return old.size();
    // Blanks at its end go when the line ends.
    return text == std::string_view(old).substr(0, old.find_last_not_of(' ') + 1) ? text.size() : 0;
  }
  // Written again, and the same: that is news.
  return text == old && !touched ? text.size() : 0;
}

bool LineScan::scan(const terminal::Output& output, Finished finished,
                    const std::function<bool(const Line&)>& visit,
                    std::chrono::steady_clock::time_point until) {
  constexpr size_t kAskAfter = 16 * 1024;  // bytes that were looked at
  const terminal::Transcript& final_lines = output.transcript();
  bool going = true;
  bool time_over = false;
  size_t looked_at = 0;
  const auto look = [&](const Line& line) {
    if (line.known < line.text.size() || line.text.empty()) going = visit(line);
  };
  if (final_lines.size() >= next_) {
    final_lines.forward(next_, [&](const terminal::Transcript::Entry& entry) {
      const terminal::LineNumber number = std::max(entry.first, next_);
      next_ = entry.first + entry.repeat;
      if (entry.dropped) return true;
      const size_t index = number >= main_.first ? number - main_.first : SIZE_MAX;
      look({number, entry.text, known_of(main_, index, entry.text, false), std::nullopt});
      // Of equal lines only the first can be known.
      if (going && next_ > number + 1 && index < main_.lines.size()) look({number + 1, entry.text, 0, {}});
      looked_at += entry.text.size() + 1;
      if (going && looked_at >= kAskAfter) {
        looked_at = 0;
        time_over = next_ <= final_lines.size() && std::chrono::steady_clock::now() >= until;
      }
      return going && !time_over;
    });
  }
  if (time_over) return false;
  if (!going || finished == Finished::Yes) return true;

  const vt::Screen& screen = output.screen();
  const bool alternate = screen.is_alternate();
  const Known& known = alternate ? alternate_ : main_;
  // Another screen or size touches every row, whether or not it says something new.
  const bool all = screen.all_changed() > marked_;
  const std::vector<ScreenLine> lines = screen_lines(screen);
  const vt::Seq seen = seen_;
  // Behind a frame that is not complete rows change unseen.
  if (!screen.modes().has(vt::Mode::SynchronizedOutput)) seen_ = screen.seq();
  for (size_t i = 0; i < lines.size() && going; i++) {
    if (lines[i].changed <= seen) continue;
    const terminal::LineNumber number = alternate ? 0 : final_lines.size() + 1 + i;
    if (!alternate && number < known.first) continue;
    const size_t index = alternate ? i : number - known.first;
    const bool touched = !all && lines[i].changed > marked_;
    look({number, lines[i].text, known_of(known, index, lines[i].text, touched), i});
  }
  return true;
}

std::optional<size_t> match_new(const re2::RE2& pattern, const LineScan::Line& line) {
  re2::StringPiece found;
  size_t from = 0;
  while (from <= line.text.size() && pattern.Match(re2::StringPiece(line.text.data(), line.text.size()), from,
                                                   line.text.size(), re2::RE2::UNANCHORED, &found, 1)) {
    const auto begin = static_cast<size_t>(found.data() - line.text.data());
    const size_t end = begin + found.size();
    if (end > line.known || line.known == 0) return end;
    from = std::max(end, begin + 1);
  }
  return std::nullopt;
}

base::Result<std::unique_ptr<re2::RE2>> compile_pattern(const std::string& pattern) {
  if (pattern.size() > kLongestPattern) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the pattern has " + std::to_string(pattern.size()) + " bytes; at most " +
                          std::to_string(kLongestPattern) + " are allowed: search for a part of it");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "'" + pattern + "' is not a regular expression (RE2 syntax): " + compiled->error());
  }
  if (compiled->ProgramSize() > kLargestProgram) {
    return base::fail(
        base::ErrorCode::InvalidArgument,
        "'" + pattern +
            "' takes too much work for each line (counted repetitions multiply): use a simpler pattern");
  }
  return compiled;
}

}  // namespace ttyward::engine
