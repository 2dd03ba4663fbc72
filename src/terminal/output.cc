#include "terminal/output.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "terminal/colour_sequence.h"
#include "vt/fill.h"
#include "vt/sgr_text.h"
#include "vt/width.h"

namespace ttyward::terminal {
namespace {

// A stretch of plain lines shorter than this is not worth looking for.
constexpr size_t kWorthSkipping = 2 * 1024;
// So much goes through the screen before plain lines are looked for again.
constexpr size_t kLookAgainAfter = 4 * 1024;

// A longer line on a terminal loses the blanks at its end.
constexpr size_t kLongestWritten = 16 << 10;

// A line that never ends goes to the transcript in pieces of this size, so that it costs no more memory.
constexpr size_t kLongestLine = 16 << 20;

vt::ScreenOptions screen_options(const OutputOptions& options, vt::RowSink* sink) {
  vt::ScreenOptions out;
  out.cols = options.cols;
  out.rows = options.rows;
  out.scrollback.lines = 0;  // the transcript is our history
  out.lf_is_crlf = options.bare_lines || options.source == BinarySniffer::Source::Pipe;
  out.sink = sink;
  return out;
}

Transcript::Limits transcript_limits(const OutputOptions& options) {
  Transcript::Limits limits = options.transcript;
  limits.blanks_up_to = options.source == BinarySniffer::Source::Pipe ? SIZE_MAX : kLongestWritten;
  return limits;
}

// How often the `period` bytes before `p` come again from there on.
size_t repetitions(const uint8_t* p, const uint8_t* end, size_t period) {
  const auto left = static_cast<size_t>(end - p);
  if (left < period || std::memcmp(p, p - period, period) != 0) return 0;
  constexpr size_t kAtOnce = 64;
  size_t same = period;
  while (same + kAtOnce <= left && std::memcmp(p + same, p + same - period, kAtOnce) == 0) same += kAtOnce;
  while (same < left && p[same] == (p + same)[-static_cast<ptrdiff_t>(period)]) same++;
  return same / period;
}

// Text without anything that moves a cursor or changes how text looks. A carriage return may end it.
bool is_plain_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return std::all_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// A line that a screen would show otherwise than it was written. A carriage return may end it.
bool loses_on_screen(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.ends_with(' ') || line.find('\t') != std::string_view::npos;
}

constexpr size_t kTabStop = 8;

// Whether `line` looks like `shown`, which has no blanks at its end, on a screen with the usual tab stops.
bool shows_as(std::string_view line, std::string_view shown) {
  size_t column = 0;
  size_t at_shown = 0;
  const auto blank = [&] { return at_shown >= shown.size() || shown[at_shown] == ' '; };
  for (size_t at = 0; at < line.size();) {
    if (line[at] == '\t') {
      for (size_t n = kTabStop - column % kTabStop; n > 0; n--, column++, at_shown++)
        if (!blank()) return false;
      at++;
      continue;
    }
    const size_t begin = at;
    const char32_t character = base::decode_utf8(line, at);
    column += vt::char_width(character);
    if (character == ' ') {
      if (!blank()) return false;
      at_shown++;
      continue;
    }
    const std::string_view bytes = line.substr(begin, at - begin);
    if (at_shown > shown.size() || shown.substr(at_shown, bytes.size()) != bytes) return false;
    at_shown += bytes.size();
  }
  return at_shown >= shown.size();
}

// Of ASCII text. A carriage return may end it.
bool fills_one_row(std::string_view line, int cols) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  size_t columns = 0;
  for (const char c : line) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
    columns += c == '\t' ? kTabStop - columns % kTabStop : 1;
  }
  return columns <= static_cast<size_t>(cols);
}

}  // namespace

Output::Output(const OutputOptions& options)
    : options_(options),
      sniffer_(options.source),
      screen_(screen_options(options, this)),
      transcript_(transcript_limits(options)) {
  if (options.source == BinarySniffer::Source::Pipe) pipe_screen_.emplace(screen_options(options, nullptr));
}

// With styles: what is blank stays blank, so that lines have the same numbers with and without.
std::string Output::text_of(const vt::Line& line) const {
  if (!options_.with_styles) return line.text;
  const size_t end = line.wrapped ? line.text.size() : without_trailing_blanks(line.text).size();
  std::string out;
  for (const vt::Span& span : line.spans) {
    if (span.begin >= end) break;
    vt::Style style = span.style;
    style.link = 0;
    style.clear(vt::Style::kProtected);
    const std::string_view text = line.text_of(span).substr(0, end - span.begin);
    if (style == vt::Style{}) {
      out += text;
    } else {
      out += "\033[" + vt::sgr_text(style, vt::ColorForm::Semicolons) + "m";
      out += text;
      out += "\033[m";
    }
  }
  return out;
}

void Output::row_left(const vt::Line& line) {
  const uint64_t row = left_rows_++;
  if (pipe_blanks_ > 0) transcript_.append("", std::exchange(pipe_blanks_, 0));
  if (line.wrapped) {
    if (partial_.empty()) partial_row_ = row;
    partial_ += text_of(line);
    if (partial_.size() >= kLongestLine) {
      transcript_.append(partial_);
      partial_.clear();
    }
    return;
  }
  if (partial_.empty()) {
    transcript_.append(as_written(row, text_of(line)));
  } else {
    partial_ += text_of(line);
    transcript_.append(as_written(partial_row_, partial_));
    partial_.clear();
  }
  written_.erase(written_.begin(), written_.upper_bound(row));
}

std::string_view Output::as_written(uint64_t row, std::string_view shown) const {
  const std::string_view text = without_trailing_blanks(shown);
  if (written_.empty()) return text;
  const auto found = written_.find(row);
  if (found == written_.end()) return text;
  return shows_as(found->second, text) ? std::string_view(found->second) : text;
}

// The cursor is at the beginning of a line, and text would look as it is written.
bool Output::text_shows_as_written() const {
  const vt::Screen& s = screen_;
  const vt::Cursor cursor = s.cursor();
  const vt::Screen::Margins margins = s.margins();
  return cursor.col == 0 && !cursor.pending_wrap && !s.is_alternate() && s.is_ground() &&
         s.modes() == vt::ModeSet::initial() && margins.top == 0 && margins.bottom == s.rows() - 1 &&
         s.active_charset() == 0 && s.charsets()[0] == vt::Charset::Ascii && s.pen() == vt::Style{} &&
         s.nothing_below_cursor();
}

bool Output::at_rest() const {
  return partial_.empty() && text_shows_as_written();
}

// Printable ASCII from `begin` on, and unless colours are wanted, what colours it.
Output::LineText Output::scan_line(const uint8_t* begin, const uint8_t* end) const {
  LineText line{vt::find_non_printable(begin, end)};
  size_t columns = static_cast<size_t>(line.end - begin);
  while (line.end < end && *line.end == '\x1b' && !options_.with_styles) {
    using Kind = ColourSequence::Kind;
    const auto left = static_cast<size_t>(end - line.end);
    const ColourSequence found = colour_sequence({reinterpret_cast<const char*>(line.end), left});
    if (found.kind == Kind::None) break;
    // In a row that is full the cursor stands on the last character, and erases it.
    const bool full = columns > 0 && columns % static_cast<size_t>(screen_.cols()) == 0;
    if (found.kind == Kind::EraseRight && full) break;
    if (found.kind != Kind::EraseRight) line.starts_over = found.kind == Kind::Reset;
    line.coloured = true;
    const uint8_t* const text = line.end + found.length;
    line.end = vt::find_non_printable(text, end);
    columns += static_cast<size_t>(line.end - text);
  }
  return line;
}

// Handles as many whole plain lines at the start of `bytes` as can no longer be reached by the cursor
// once the rest is fed, and returns how many bytes that was.
size_t Output::skip_plain_lines(std::string_view bytes, std::optional<uint64_t> kept_at) {
  const vt::Screen& s = screen_;
  // From a pipe: the end of a long line is still on the screen, which nobody sees, and nothing will change
  // it.
  if (from_pipe() && !partial_.empty() && !pipe_line_on_screen_ && text_shows_as_written())
    screen_.scroll_out();
  if (writing_ != Writing::Nothing || pipe_line_on_screen_ || !at_rest() || !pipe_line_.empty()) return 0;

  // Plain or coloured lines from the start on, ended by LF, or CR LF as a terminal has them. A colour that
  // outlives its line is for the screen.
  const auto* const begin = reinterpret_cast<const uint8_t*>(bytes.data());
  const uint8_t* const end = begin + bytes.size();
  const bool wants_cr = wants_return();
  const uint8_t* p = begin;
  size_t lines = 0;
  skipped_.clear();
  while (p < end) {
    const uint8_t* const start = p;
    const LineText text = scan_line(start, end);
    const uint8_t* const stop = p = text.end;
    if (p < end && *p == '\r') {
      p++;
    } else if (wants_cr) {
      break;
    }
    if (p == end || *p != '\n' || !text.starts_over) break;
    if (static_cast<size_t>(stop - start) >= kLongestLine) break;
    p++;
    const auto period = static_cast<size_t>(p - start);
    const size_t count = 1 + repetitions(p, end, period);
    p += (count - 1) * period;
    lines += count;
    skipped_.push_back({static_cast<uint32_t>(start - begin), static_cast<uint32_t>(stop - start),
                        static_cast<uint32_t>(period), static_cast<uint32_t>(count), text.coloured});
  }
  auto kept = static_cast<size_t>(s.rows());  // the screen's own
  if (lines <= kept) return 0;
  lines -= kept;
  while (skipped_.back().count <= kept) {
    kept -= skipped_.back().count;
    skipped_.pop_back();
  }
  skipped_.back().count -= static_cast<uint32_t>(kept);

  screen_.scroll_out();
  const PlainLine& last = skipped_.back();
  const size_t after = last.at + size_t{last.bytes} * last.count;
  hand_over(bytes, kept_at, {kept_at.value_or(0), after, lines, 0});
  return after;
}

// The lines that were found go to the transcript: by reference where they are kept and are not much the same
// line over and over, which the transcript has a shorter form for.
void Output::hand_over(std::string_view bytes, std::optional<uint64_t> kept_at, Transcript::KeptLines lines) {
  if (pipe_blanks_ > 0) transcript_.append("", std::exchange(pipe_blanks_, 0));
  std::string without_colours;
  const auto kept_text = [&](const PlainLine& line) {
    const std::string_view text = bytes.substr(line.at, line.length);
    if (line.coloured) {
      without_colours = text;
      without_colours.resize(take_out_colours(without_colours));
      return without_trailing_blanks(without_colours);
    }
    return from_pipe() || text.size() <= kLongestWritten ? text : without_trailing_blanks(text);
  };
  if (kept_at && options_.transcript.kept != nullptr && skipped_.size() > lines.lines / 2) {
    for (const PlainLine& line : skipped_) lines.text_bytes += line.count * kept_text(line).size();
    return transcript_.append_kept(lines);
  }
  for (const PlainLine& line : skipped_) transcript_.append(kept_text(line), line.count);
}

void Output::feed(std::string_view bytes, std::optional<uint64_t> kept_at) {
  total_bytes_ += bytes.size();
  taken_bytes_ = total_bytes_ - bytes.size();
  if (sniffer_.look(bytes)) return;
  const auto take = [&](size_t n) {
    bytes.remove_prefix(n);
    taken_bytes_ += n;
    if (kept_at) *kept_at += n;
  };
  // The first piece ends with the line a former read has left unfinished.
  size_t least = 0;
  while (bytes.size() >= kWorthSkipping && decoder_.passes_ascii()) {
    const size_t skipped = skip_plain_lines(bytes, kept_at);
    decoder_.note_passed(bytes.substr(0, skipped));
    take(skipped);
    const size_t line_end = bytes.find('\n', std::min(least, bytes.size()));
    if (line_end == std::string_view::npos) break;
    feed_text(bytes.substr(0, line_end + 1));
    take(line_end + 1);
    least = kLookAgainAfter;
  }
  feed_text(bytes);
}

void Output::skip_lost(uint64_t newlines) {
  if (sniffer_.is_binary()) return;
  if (!pipe_line_.empty()) feed_screen(std::exchange(pipe_line_, {}), pipe_line_at_);
  pipe_line_on_screen_ = false;
  // What was cut off is over: a sequence whose end went missing must not swallow what follows.
  feed_screen("\x18", taken_bytes_);
  if (newlines == 0 || screen_.is_alternate()) return;
  const vt::Cursor cursor = screen_.cursor();
  const bool begun = cursor.col > 0 || !partial_.empty();
  // The line that had begun ended in there, as the first of them.
  if (begun) feed_screen("\r\n", taken_bytes_);
  screen_.scroll_out();
  transcript_.append_dropped(newlines - (begun ? 1 : 0));
}

void Output::count_lost_end(uint64_t lines) {
  if (lines > transcript_.size()) transcript_.append_dropped(lines - transcript_.size());
}

// Decoded in pieces: where characters are converted, each escape sequence begins a new one, so that what is
// said about its place is said in bytes of the output.
void Output::feed_text(std::string_view bytes) {
  uint64_t at = taken_bytes_;
  // Many programs print to a terminal that stays open, and one that is not UTF-8 says nothing of the rest.
  if (options_.source == BinarySniffer::Source::Shell) return feed_screen(bytes, at);
  if (sniffer_.is_utf16()) return feed_utf16(bytes, at);
  while (!bytes.empty()) {
    size_t n = decoder_.passes(bytes);
    if (n == 0) n = std::min(bytes.find('\x1b', 1), bytes.size());
    const uint64_t decoded_to = at - decoder_.pending();
    const std::string_view text = decoder_.decode(bytes.substr(0, n), bytes);
    if (options_.source == BinarySniffer::Source::Pipe) {
      feed_pipe(text, decoded_to);
    } else {
      feed_screen(text, decoded_to);
    }
    bytes.remove_prefix(n);
    at += n;
  }
}

// Line by line: plain ones as they are, others by way of the screen.
void Output::feed_pipe(std::string_view text, uint64_t decoded_to) {
  const std::string_view all = text;
  pipe_screen_->feed(text);
  while (!text.empty()) {
    const uint64_t at = decoded_to + (all.size() - text.size());
    const size_t end = text.find('\n');
    const std::string_view piece = text.substr(0, end);
    if (!partial_.empty() && !pipe_line_on_screen_ && text_shows_as_written()) screen_.scroll_out();
    const bool plain = is_plain_line(piece) && pipe_line_.size() + piece.size() < kLongestLine &&
                       !(pipe_line_.ends_with('\r') && !piece.empty());
    if (pipe_line_.empty() && (pipe_line_on_screen_ || !plain || !at_rest())) {
      feed_screen(text.substr(0, end == std::string_view::npos ? end : end + 1), at);
      pipe_line_on_screen_ = end == std::string_view::npos;
    } else if (!plain) {
      feed_screen(std::exchange(pipe_line_, {}), pipe_line_at_);
      pipe_line_on_screen_ = true;
      continue;  // and this piece behind it
    } else if (end == std::string_view::npos) {
      if (pipe_line_.empty()) {
        screen_.scroll_out();
        pipe_line_at_ = at;
      }
      pipe_line_ += piece;
    } else if (pipe_line_.empty()) {
      end_pipe_line(piece);
    } else {
      end_pipe_line(std::exchange(pipe_line_, {}) + std::string(piece));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

void Output::end_pipe_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  screen_.scroll_out();
  if (line.empty()) {
    pipe_blanks_++;
    return;
  }
  if (pipe_blanks_ > 0) transcript_.append("", std::exchange(pipe_blanks_, 0));
  transcript_.append(line);
}

// A terminal puts a carriage return before each byte that looks like a line feed, in the middle of
// characters: it is taken out before they are read, and put back where they are line ends.
void Output::feed_utf16(std::string_view bytes, uint64_t at) {
  const bool terminal = options_.source == BinarySniffer::Source::Terminal && !options_.bare_lines;
  std::string raw = std::exchange(held_return_, {});
  const uint64_t decoded_to = at - decoder_.pending() - raw.size();
  raw += bytes;
  if (terminal) {
    std::string out;
    for (size_t i = 0; i < raw.size(); i++) {
      if (raw[i] == '\r' && i + 1 == raw.size()) {
        held_return_ = "\r";
      } else if (raw[i] != '\r' || raw[i + 1] != '\n') {
        out += raw[i];
      }
    }
    raw = std::move(out);
  }
  std::string text;
  for (const char c : decoder_.decode(raw))
    text += terminal && c == '\n' ? std::string("\r\n") : std::string(1, c);
  feed_screen(text, decoded_to);
}

// Follows where lines begin and end, to note those that do not look as they were written. Costs a search for
// line feeds where there are none of them.
void Output::feed_screen(std::string_view text, uint64_t decoded_to) {
  if (from_pipe()) return feed_cells(text, decoded_to);
  size_t fed = 0;
  const auto feed_to = [&](size_t end) {
    if (end > fed) feed_cells(text.substr(fed, end - fed), decoded_to + fed);
    fed = end;
  };
  // Behind a plain line that fills one row the next one begins in the row below: nothing has to be fed to
  // know.
  bool row_known = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const bool ends = end != std::string_view::npos;
    const std::string_view piece = text.substr(at, ends ? end - at : std::string_view::npos);
    if (writing_ == Writing::Nothing) {
      writing_ = Writing::Other;
      const bool may_count = (!ends || loses_on_screen(piece)) && piece.size() <= kLongestWritten;
      if (may_count && is_plain_line(piece)) {
        if (row_known) {
          line_row_++;
        } else {
          feed_to(at);
          row_known = text_shows_as_written();
          line_row_ = left_rows_ + static_cast<uint64_t>(screen_.cursor().row);
        }
        if (row_known) {
          writing_ = Writing::Plain;
          line_text_ = piece;
        }
      }
    } else if (writing_ == Writing::Plain) {
      line_text_ += piece;
      if (line_text_.size() > kLongestWritten + 1 || !is_plain_line(piece)) writing_ = Writing::Other;
    }
    row_known = false;
    if (ends) {
      if (writing_ == Writing::Plain) {
        note_written();
        const std::string_view line = line_text_;
        row_known = (!wants_return() || line.ends_with('\r')) && fills_one_row(line, screen_.cols());
      }
      writing_ = Writing::Nothing;
    }
    at = ends ? end + 1 : text.size();
  }
  feed_to(text.size());
}

void Output::note_written() {
  std::string_view line = line_text_;
  if (!is_plain_line(line) || !loses_on_screen(line)) return;
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  } else if (wants_return()) {
    return;  // the next line does not begin below its beginning
  }
  if (line.size() <= kLongestWritten) written_.insert_or_assign(written_.end(), line_row_, std::string(line));
}

// The screen counts the bytes it was given; marks are to count those of the output, of which the text begins
// at `decoded_to`.
void Output::feed_cells(std::string_view text, uint64_t decoded_to) {
  const uint64_t difference = decoded_to - screen_bytes_;  // may wrap, and back again
  screen_bytes_ += text.size();
  screen_.feed(text);
  for (vt::Event& event : screen_.take_events()) {
    if (auto* mark = std::get_if<vt::ShellMark>(&event)) {
      mark->begin += difference;
      mark->end += difference;
    }
    if (events_.size() < vt::Screen::kMaxEvents) events_.push_back(std::move(event));
  }
}

void Output::append_screen(Transcript& transcript, std::string partial) const {
  if (!pipe_line_.empty()) {  // the screen is empty
    if (pipe_blanks_ > 0) transcript.append("", pipe_blanks_);
    const std::string_view line = pipe_line_;
    transcript.append(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    return;
  }
  uint64_t blanks = pipe_blanks_;
  uint64_t begun_in = partial.empty() ? left_rows_ : partial_row_;
  const auto end_line = [&] {
    const std::string_view line = as_written(begun_in, partial);
    if (line.empty()) {
      blanks++;
      return;
    }
    for (; blanks > 0; blanks--) transcript.append("");
    transcript.append(line);
  };
  for (int r = 0; r < screen_.rows(); r++) {
    const vt::Line row = screen_.line(r);
    if (partial.empty()) begun_in = left_rows_ + static_cast<uint64_t>(r);
    partial += text_of(row);
    if (row.wrapped) continue;
    end_line();
    partial.clear();
  }
  if (!partial.empty()) end_line();
}

void Output::finish() {
  if (finished_) return;
  finished_ = true;
  const uint64_t decoded_to = total_bytes_ - decoder_.pending();
  if (!sniffer_.is_binary()) {
    const std::string_view rest = decoder_.finish();
    if (options_.source == BinarySniffer::Source::Pipe) {
      feed_pipe(rest, decoded_to);
    } else {
      feed_screen(rest, decoded_to);
    }
  }
  // A full-screen program that was killed: what it covered is still output, its own picture is not.
  if (screen_.is_alternate()) screen_.feed("\x18\x1b[?1049l");
  append_screen(transcript_, std::move(partial_));
  partial_.clear();
  pipe_blanks_ = 0;
}

void Output::as_if_finished(const std::function<void(const Transcript&)>& use) {
  const uint64_t before = transcript_.size();
  if (!finished_) append_screen(transcript_, partial_);
  use(transcript_);
  transcript_.remove_last(transcript_.size() - before);
}

std::string Output::cursor_line() const {
  if (!pipe_line_.empty()) return std::string(without_trailing_blanks(pipe_line_));
  std::string text = screen_.line(screen_.cursor().row).text;
  return std::string(without_trailing_blanks(text));
}

}  // namespace ttyward::terminal
