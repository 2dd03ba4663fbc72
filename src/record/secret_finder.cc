#include "record/secret_finder.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/mask_secrets.h"
#include "base/utf8.h"
#include "record/visible.h"
#include "vt/width.h"

namespace ttyward::record {
namespace {

vt::ScreenOptions options_of(Size size) {
  vt::ScreenOptions options;
  options.cols = size.cols;
  options.rows = size.rows;
  options.scrollback.lines = 0;
  return options;
}

// The first number of a CSI sequence that Visible wrote.
int number_in(std::string_view all, int usual) {
  const size_t begin = all.find_first_of("0123456789");
  int number = 0;
  if (begin != std::string_view::npos) std::from_chars(all.data() + begin, all.data() + all.size(), number);
  return number == 0 ? usual : number;
}

}  // namespace

// Passes the tokens of a text on, with their places.
struct FinderTokens {
  SecretFinder& finder;
  uint64_t at;

  void text(std::string_view characters) {
    finder.text(characters, at);
    at += characters.size();
  }
  void control(char c) {
    finder.control(c);
    at++;
  }
  void sequence(std::string_view all, char final) {
    finder.sequence(all, final);
    at += all.size();
  }
  void string(std::string_view all) {
    finder.pass(all);
    at += all.size();
  }
};

SecretFinder::SecretFinder(Size size) : screen_(options_of(size)) {}

void SecretFinder::feed(std::string_view text, uint64_t at) {
  FinderTokens tokens{*this, at};
  for_each_token(text, tokens);
  search();
}

void SecretFinder::resize(Size size) {
  search();
  screen_.resize(size.cols, size.rows);
  forget();
}

std::vector<Mask> SecretFinder::take() {
  search();
  std::sort(masks_.begin(), masks_.end(), [](const Mask& a, const Mask& b) { return a.begin < b.begin; });
  masks_.erase(std::unique(masks_.begin(), masks_.end()), masks_.end());
  return std::move(masks_);
}

// Answers and events are of no use here.
void SecretFinder::pass(std::string_view bytes) {
  screen_.feed(bytes);
  screen_.take_replies();
  screen_.take_events();
}

SecretFinder::Row& SecretFinder::row_at(vt::StableRow number) {
  if (rows_.empty() || number < first_) {
    rows_.clear();
    first_ = number;
  }
  while (first_ + rows_.size() <= number) rows_.emplace_back();
  while (rows_.size() > kMostRows && first_ + kMostRows <= number) {
    rows_.pop_front();
    first_++;
  }
  Row& row = rows_[number - first_];
  row.cells.resize(static_cast<size_t>(screen_.cols()));
  return row;
}

void SecretFinder::text(std::string_view characters, uint64_t at) {
  dirty_ = true;
  size_t done = 0;
  while (done < characters.size()) {
    if (const size_t n = ascii(characters.substr(done), at + done); n > 0) {
      done += n;
      continue;
    }
    const size_t begin = done;
    const char32_t character = base::decode_utf8(characters, done);
    one(character, characters.substr(begin, done - begin), at + begin);
  }
}

// A run that stays within its row is put there at once. Returns its length; 0: there is none.
size_t SecretFinder::ascii(std::string_view characters, uint64_t at) {
  const vt::Cursor before = screen_.cursor();
  const int room = screen_.cols() - 1 - before.col;
  if (before.pending_wrap || room <= 0) return 0;
  size_t n = 0;
  const size_t most = std::min(characters.size(), static_cast<size_t>(room));
  while (n < most && static_cast<unsigned char>(characters[n]) < 0x7F) n++;
  if (n == 0) return 0;
  pass(characters.substr(0, n));
  const vt::Cursor after = screen_.cursor();
  if (after.row != before.row || after.col != before.col + static_cast<int>(n)) {
    forget();  // margins, rows of double width: what stands where is not worth following
    return n;
  }
  Row& row = row_at(screen_.stable_row(after.row));
  for (size_t i = 0; i < n; i++) {
    const auto col = static_cast<size_t>(before.col) + i;
    row.cells[col] = {static_cast<char32_t>(characters[i]), at + i, 1, 1, false};
  }
  return n;
}

void SecretFinder::one(char32_t character, std::string_view bytes, uint64_t at) {
  const vt::Cursor before = screen_.cursor();
  const vt::StableRow row_before = screen_.stable_row(before.row);
  pass(bytes);
  const int columns = vt::char_width(character);
  if (columns == 0) return;
  const vt::Cursor after = screen_.cursor();
  const vt::StableRow number = screen_.stable_row(after.row);
  const int col = after.pending_wrap ? after.col - columns + 1 : after.col - columns;
  if (number == row_before && before.pending_wrap && after.row == before.row && col < before.col) {
    forget();  // it wrapped, and the rows moved below a name that does not: not the main screen
  } else if (number == row_before + 1) {
    row_at(row_before).continues = true;
  }
  if (col < 0 || col >= screen_.cols()) return;
  row_at(number).cells[static_cast<size_t>(col)] = {character, at, static_cast<uint8_t>(bytes.size()),
                                                    static_cast<uint8_t>(columns), false};
}

void SecretFinder::control(char c) {
  if (c != '\t' && c != '\016' && c != '\017') search();
  const vt::Cursor before = screen_.cursor();
  const vt::StableRow row_before = screen_.stable_row(before.row);
  pass({&c, 1});
  if (c != '\n' && c != '\v' && c != '\f') return;
  const bool scrolled = screen_.cursor().row == before.row && screen_.stable_row(before.row) == row_before;
  if (scrolled) return forget();
  row_at(row_before).continues = false;
  if (key_lines_ > 0) key_lines_--;
}

void SecretFinder::sequence(std::string_view all, char final) {
  if (final == 'm') return pass(all);  // colours
  search();
  // During synchronized output the screen shows its last frame, but text goes on.
  if (all == "\033[?2026h") return;
  const vt::Cursor cursor = screen_.cursor();
  pass(all);
  erased(all, final, cursor);
}

// What the sequence did to the cells.
void SecretFinder::erased(std::string_view all, char final, const vt::Cursor& cursor) {
  constexpr std::string_view kMoves = "ABCDEFGHIZ`adefgsuhlbqWtp";
  const bool plain =
      all.size() > 2 && all[1] == '[' && all.find_first_of("?$*'\"#! ") == std::string_view::npos;
  const auto col = static_cast<size_t>(cursor.col);
  const vt::StableRow number = screen_.stable_row(cursor.row);
  const auto clear = [&](size_t from, size_t to) {
    Row& row = row_at(number);
    const auto begin = row.cells.begin();
    from = std::min(from, row.cells.size());
    std::fill(begin + static_cast<std::ptrdiff_t>(from),
              begin + static_cast<std::ptrdiff_t>(std::clamp(to, from, row.cells.size())), Cell{});
  };
  if (final == '\0') {  // an escape: saving, restoring and charsets change no cell
    if (std::string_view("78NOno|}~HVW").find(all[1]) != std::string_view::npos && all.size() == 2) return;
    if (all.size() == 3 && all[1] != '#') return;
    return forget();
  }
  const auto count = static_cast<size_t>(number_in(all, 1));
  if (plain && final == 'K') {
    const int how = number_in(all, 0);
    if (how == 0) {
      clear(col, SIZE_MAX);
      row_at(number).continues = false;
    } else {
      clear(0, how == 1 ? col + 1 : SIZE_MAX);
    }
  } else if (plain && final == 'X') {
    clear(col, col + count);
  } else if (plain && (final == 'P' || final == '@')) {
    Row& row = row_at(number);
    if (col >= row.cells.size()) return;
    const auto here = row.cells.begin() + static_cast<std::ptrdiff_t>(col);
    const auto n = static_cast<std::ptrdiff_t>(std::min(count, row.cells.size() - col));
    if (final == 'P') {
      row.cells.erase(here, here + n);
    } else {
      row.cells.insert(here, static_cast<size_t>(n), Cell{});
    }
    row.cells.resize(static_cast<size_t>(screen_.cols()));
  } else if (plain && final == 'J' && number_in(all, 0) == 0) {
    clear(col, SIZE_MAX);
    row_at(number).continues = false;
    while (first_ + rows_.size() > number + 1) rows_.pop_back();
  } else if (kMoves.find(final) == std::string_view::npos || final == 'J' ||
             all.find("1049") != std::string_view::npos || all.find("47") != std::string_view::npos) {
    forget();
  }
}

void SecretFinder::mask(Cell& cell) {
  if (cell.masked || cell.character == 0) return;
  cell.masked = true;
  masks_.push_back({cell.at, cell.bytes, cell.columns});
}

// The line that the cursor is in, over the rows it wraps.
void SecretFinder::search() {
  if (!dirty_) return;
  dirty_ = false;
  const vt::StableRow number = screen_.stable_row(screen_.cursor().row);
  if (rows_.empty() || number < first_ || number >= first_ + rows_.size()) return;
  size_t begin = number - first_;
  size_t end = begin + 1;
  while (begin > 0 && rows_[begin - 1].continues) begin--;
  while (end < rows_.size() && rows_[end - 1].continues) end++;

  std::string text;
  std::vector<Cell*> cells;  // of each byte of it
  for (size_t r = begin; r < end; r++) {
    size_t skip = 0;  // columns that belong to the character before
    for (Cell& cell : rows_[r].cells) {
      if (skip > 0) {
        skip--;
        continue;
      }
      base::append_utf8(text, cell.character == 0 ? U' ' : cell.character);
      cells.resize(text.size(), &cell);
      skip = cell.character == 0 ? 0 : cell.columns - 1U;
    }
  }
  const size_t used = text.find_last_not_of(' ') + 1;
  text.resize(used);
  cells.resize(used);

  if (text.find("-----END ") != std::string::npos) {
    key_lines_ = 0;
  } else if (key_lines_ > 0) {
    for (Cell* cell : cells) mask(*cell);
  }
  // A secret has a name before it, or is long; most lines of a flood have neither.
  constexpr size_t kShortestToken = 20;
  if (text.size() < kShortestToken && text.find_first_of("=-:") == std::string::npos) return;
  for (const base::SecretSpan& span : base::secret_spans(text))
    for (size_t i = span.begin; i < span.end; i++) mask(*cells[i]);
  const size_t key = text.find("PRIVATE KEY-----");
  if (key != std::string::npos && text.find("-----BEGIN ") < key &&
      text.find("-----END ") == std::string::npos)
    key_lines_ = kMostKeyLines;
}

}  // namespace ttyward::record
