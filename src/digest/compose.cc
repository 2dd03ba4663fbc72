// From ranked and folded lines to the text: what fits is shown, the rest is counted.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr size_t kGapCost = 9;
constexpr size_t kNoteCost = 32;   // of the last line, which says what was cut
constexpr uint64_t kSmallGap = 5;  // so few lines are only counted at the end
constexpr size_t kLongPlain = 200;
constexpr size_t kLongAlarm = 600;

size_t soft_budget(const Page& page) {
  if (page.small()) return page.chars;
  const size_t hard = page.options.max_chars;
  if (page.content) return hard;
  const bool diff =
      std::any_of(page.lines.begin(), page.lines.end(), [](const Line& l) { return l.shielded; });
  if (diff) return std::min<size_t>(hard, std::max<size_t>(2500, page.chars / 4));
  return std::min<size_t>(hard, std::clamp<size_t>(250 + page.chars / 10, 400, 3000));
}

// A long line keeps its beginning, its end, and what stands around an alarm.
std::string shown_text(const Line& line, bool whole) {
  std::string_view text = line.text;
  const size_t most = whole ? std::string_view::npos : line.rank >= Rank::Warning ? kLongAlarm : kLongPlain;
  if (text.size() <= most + 40 || most == std::string_view::npos) {
    if (line.whole_bytes > text.size() + 64) {
      return fmt::format("{} [line of {} bytes, cut]", head_of(text, 4000), line.whole_bytes);
    }
    return std::string(text);
  }
  const size_t alarm = line.alarm ? find_alarm(text) : 0;
  std::string_view head = head_of(text, most * 2 / 3);
  std::string_view tail = tail_of(text, most / 3);
  std::string middle;
  if (line.alarm && alarm > head.size() && alarm + 20 < text.size() - tail.size()) {
    size_t begin = alarm > 60 ? alarm - 60 : 0;
    begin = std::max(begin, head.size());
    while (begin < text.size() && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) ++begin;
    middle = fmt::format("…{}", head_of(text.substr(begin), 160));
  }
  const size_t cut = text.size() - std::min(text.size(), head.size() + tail.size() + middle.size());
  return fmt::format("{}{}…[+{} chars]…{}", head, middle,
                     cut + (line.whole_bytes > text.size() ? line.whole_bytes - text.size() : 0), tail);
}

bool is_ruler(std::string_view c) {
  return c.size() > 1 || std::string_view("=-_*.#~!+").find(c[0]) != std::string_view::npos;
}

size_t bytes_of_character(std::string_view text, size_t at) {
  size_t bytes = 1;
  while (at + bytes < text.size() && bytes < 4 && (static_cast<uint8_t>(text[at + bytes]) & 0xC0) == 0x80)
    ++bytes;
  return bytes;
}

// Rulers and padding say nothing: three characters of a ruler and two blanks are left of them.
std::string squeeze(std::string text) {
  std::string out;
  const size_t start = text.find_first_not_of(' ');
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = bytes_of_character(text, i);
    const std::string_view character = std::string_view(text).substr(i, bytes);
    size_t j = i + bytes;
    while (text.compare(j, bytes, character) == 0) j += bytes;
    size_t keep = (j - i) / bytes;
    if (is_ruler(character) && keep > 8) keep = 3;
    if (text[i] == ' ' && i > start && keep > 2) keep = 2;
    if (text[i] == ' ' && i <= start && keep > 4) keep = std::min<size_t>(4 + (keep - 4) / 4, 8);
    out.append(text, i, keep * bytes);
    i = j;
  }
  return out;
}

// "  [×12 build steps, 3–14; also a.c, b.c]"
std::string fold_note(const Fold& fold) {
  if (fold.quiet) return {};
  if (fold.same) return fmt::format("  [×{}]", fold.lines);
  return fmt::format("  [×{}{}{}, {}–{}{}{}]", fold.lines, fold.noun.empty() ? "" : " ", fold.noun,
                     fold.first, fold.last, fold.others.empty() ? "" : "; also ", fold.others);
}

bool visible(const Line& line) {
  return !line.blank && (line.fold < 0 || line.example);
}

// About the characters it takes, without padding.
size_t cost_of(const Line& line) {
  constexpr size_t kMost = 260;
  size_t size = line.text.size();
  for (size_t i = 2; i < std::min(line.text.size(), kMost); ++i)
    size -= line.text[i] == ' ' && line.text[i - 1] == ' ' && line.text[i - 2] == ' ' ? 1 : 0;
  return std::min(size, kMost) + 1 + (line.fold >= 0 ? 26 : 0);
}

// It belongs to a line that is not shown.
bool orphaned(const Page& page, const Line& line) {
  return line.under >= 0 && !page.lines[static_cast<size_t>(line.under)].shown;
}

// The example that carries the count of a fold with alarms stands for them.
bool must_show(const Page& page, size_t index) {
  const Line& line = page.lines[index];
  return line.alarm || (line.fold >= 0 && page.folds[static_cast<size_t>(line.fold)].alarms > 0 &&
                        page.folds[static_cast<size_t>(line.fold)].anchor == index);
}

// Alarms that do not fit are folded by their first words; their examples are shown.
void fold_harder(Page& page, size_t room) {
  size_t used = 0;
  std::vector<size_t> rest;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (!visible(line) || !line.alarm) continue;
    used += cost_of(line);
    if (used > room && line.fold < 0) rest.push_back(i);
  }
  if (rest.size() < 3) return;
  // The last ones often say the most.
  if (rest.size() > 8) rest.resize(rest.size() - 4);
  fold_lines(page, rest, 1, true, "with such words");
}

// For lines that explain others, beside the `must` characters that are shown in any case.
size_t rooms(const Page& page, Rank rank, size_t must) {
  return rank == Rank::Detail ? must + std::clamp<size_t>(page.chars * 3 / 10, 350, 1800)
                              : must + std::clamp<size_t>(page.chars * 4 / 10, 650, 2200);
}

void select(Page& page) {
  const size_t hard = page.options.max_chars;
  const size_t soft = soft_budget(page);
  size_t alarms = 0;
  for (const Line& line : page.lines) {
    if (visible(line) && line.alarm) alarms += cost_of(line);
  }
  if (alarms > hard * 3 / 4) fold_harder(page, hard * 3 / 4);

  size_t used = 0;
  size_t used_lines = 0;
  const size_t most_lines = page.options.max_lines == 0 ? SIZE_MAX : page.options.max_lines;
  std::vector<size_t> order;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (!visible(line)) continue;
    if (must_show(page, i)) {
      line.shown = true;
      used += cost_of(line);
      ++used_lines;
    } else {
      order.push_back(i);
    }
  }
  const size_t must = used;
  // Within a rank, one example of each fold comes first: it says what most of the lines are.
  const auto order_of = [&](size_t i) {
    const Line& line = page.lines[i];
    const int side = line.fold < 0 ? 1 : page.folds[static_cast<size_t>(line.fold)].anchor == i ? 2 : 0;
    return std::pair(line.rank, line.rank == Rank::Plain ? side : 0);
  };
  if (!page.tiny()) std::erase_if(order, [&](size_t i) { return page.lines[i].rank == Rank::Noise; });
  std::sort(order.begin(), order.end(), [&](size_t l, size_t r) {
    const auto left = order_of(l);
    const auto right = order_of(r);
    return left != right ? left > right : l < r;
  });
  for (size_t at = 0; at < order.size();) {
    const auto key = order_of(order[at]);
    const Rank rank = key.first;
    size_t end = at;
    while (end < order.size() && order_of(order[end]) == key) ++end;
    const size_t room = page.small() || rank >= Rank::Warning ? hard
                        : rank >= Rank::Hint ? std::min(hard, std::max(soft, rooms(page, rank, must)))
                                             : soft;
    // Within a rank, two thirds from the front and one third from the back.
    size_t front = at;
    size_t back = end;
    while (front < back && used + kGapCost <= room && used_lines < most_lines) {
      const size_t i = front - at > 2 * (end - back) + 2 ? --back : front++;
      Line& line = page.lines[order[i]];
      if (used + cost_of(line) > room || orphaned(page, line)) continue;
      line.shown = true;
      used += cost_of(line);
      ++used_lines;
    }
    at = end;
  }
  // A gap costs a line of its own: short lines alone in one are shown instead.
  std::vector<size_t> seen;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    if (visible(page.lines[i])) seen.push_back(i);
  }
  for (size_t s = 0; s < seen.size(); ++s) {
    Line& line = page.lines[seen[s]];
    const bool before = s == 0 || page.lines[seen[s - 1]].shown;
    const bool after = s + 1 == seen.size() || page.lines[seen[s + 1]].shown;
    if (!line.shown && line.rank > Rank::Quote && before && after && line.text.size() <= kGapCost &&
        line.fold < 0 && used_lines < most_lines && !orphaned(page, line))
      line.shown = true;
  }
}

struct Gap {
  uint64_t lines = 0;
  uint64_t first = 0;
  uint64_t last = 0;
  bool quiet = true;  // only quotes and noise: counted at the end only

  void add(uint64_t count, uint64_t from, uint64_t to, Rank rank) {
    quiet = quiet && rank <= Rank::Quote;
    if (lines == 0) first = from;
    lines += count;
    last = std::max(last, to);
  }
};

size_t chars_of(const std::vector<Piece>& pieces) {
  size_t chars = 0;
  for (const Piece& piece : pieces) chars += characters(piece.text) + 1;
  return chars;
}

bool is_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/._-+@%").find(c) != std::string_view::npos;
}

// Calls `found` with the beginning and the end of every absolute path.
template <typename Found>
void each_path(std::string_view text, Found found) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '/' || !is_path_char(text[i + 1]) || text[i + 1] == '/') continue;
    const bool begins =
        i == 0 || std::string_view(" \t\"'`([<=,").find(text[i - 1]) != std::string_view::npos;
    size_t end = i + 1;
    while (end < text.size() && is_path_char(text[end])) ++end;
    if (begins) found(i, end);
    i = end;
  }
}

// The folder that is named so often that saying it once is shorter; it is "…/" in the text then.
std::string shorten_folder(std::vector<Piece>& pieces, const std::vector<size_t>& alterable) {
  constexpr size_t kLeast = 8;  // characters of a folder
  constexpr size_t kGain = 20;  // so many must be saved
  std::unordered_map<std::string, size_t> folders;
  for (const size_t p : alterable) {
    const std::string& text = pieces[p].text;
    each_path(text, [&](size_t begin, size_t end) {
      for (size_t slash = text.find('/', begin + kLeast); slash < end; slash = text.find('/', slash + 1))
        ++folders[text.substr(begin, slash + 1 - begin)];
    });
  }
  std::string best;
  size_t gain = 0;
  for (const auto& [folder, count] : folders) {
    const size_t costs = folder.size() + 8 + 2 * count;
    const size_t saves = folder.size() * count;
    if (saves < costs + kGain) continue;
    if (saves - costs > gain || (saves - costs == gain && folder < best)) {
      gain = saves - costs;
      best = folder;
    }
  }
  if (best.empty()) return best;
  for (const size_t p : alterable) {
    std::string& text = pieces[p].text;
    std::string out;
    size_t done = 0;
    each_path(text, [&](size_t begin, size_t end) {
      if (end - begin < best.size() || text.compare(begin, best.size(), best) != 0) return;
      out.append(text, done, begin - done);
      out += "…/";
      done = begin + best.size();
    });
    if (done > 0) text = out.append(text, done);
  }
  return best;
}

// All lines as they are: where leaving some out gains nothing.
void show_whole(const Page& page, Digest& digest) {
  digest.pieces.clear();
  digest.shown_lines = digest.total_lines;
  digest.shown_bytes = digest.total_bytes;
  for (const Line& line : page.lines) {
    Piece piece{Piece::Kind::Text, line.number, line.number + line.repeat - 1, line.text,
                line.alarm ? line.repeat : 0};
    for (uint64_t i = 1; i < line.repeat; ++i) piece.text += "\n" + line.text;
    digest.pieces.push_back(std::move(piece));
  }
}

// Whether the page still has all that was printed.
bool is_whole(const Page& page) {
  return !page.altered && page.replacement.empty() && page.options.max_lines == 0 &&
         page.chars <= page.options.max_chars &&
         std::none_of(page.lines.begin(), page.lines.end(), [](const Line& line) {
           return line.lost || line.whole_bytes > line.text.size() + 64 || line.repeat > 100;
         });
}

}  // namespace

Digest compose(Page& page) {
  Digest digest;
  digest.total_lines = page.total_lines;
  digest.total_bytes = page.total_bytes;
  digest.facts = std::move(page.facts);
  uint64_t left_out = 0;
  uint64_t in_part = 0;
  bool anything_cut = false;
  std::vector<size_t> alterable;  // pieces whose paths may be said shorter
  if (!page.replacement.empty()) {
    digest.pieces.push_back({Piece::Kind::Fold, 1, page.total_lines, page.replacement, page.alarms});
    anything_cut = true;
    left_out = page.total_lines;
  } else {
    select(page);
    Gap gap;
    const auto end_gap = [&] {
      if (gap.lines == 0) return;
      if (!gap.quiet && gap.lines > kSmallGap && gap.last - gap.first < 4 * gap.lines + 20) {
        digest.pieces.push_back({Piece::Kind::Gap, gap.first, gap.last,
                                 gap.last <= gap.first ? fmt::format("… {}", gap.first)
                                                       : fmt::format("… {}–{}", gap.first, gap.last),
                                 0});
      }
      left_out += gap.lines;
      anything_cut = true;
      gap = {};
    };
    std::vector<uint64_t> shown_of(page.folds.size());  // members of each fold
    for (const Line& line : page.lines) {
      if (line.shown && line.fold >= 0) shown_of[static_cast<size_t>(line.fold)] += line.repeat;
    }
    bool blank_before = false;
    for (size_t i = 0; i < page.lines.size(); ++i) {
      const Line& line = page.lines[i];
      const uint64_t last = line.number + line.repeat - 1;
      if (line.blank) {
        blank_before = true;
        digest.shown_lines += line.repeat;
        continue;
      }
      const Fold* fold = line.fold >= 0 ? &page.folds[static_cast<size_t>(line.fold)] : nullptr;
      const bool counted = fold != nullptr && page.lines[fold->anchor].shown;  // by its fold
      if (!line.shown) {
        if (counted) continue;
        gap.add(std::max(line.stands, line.repeat), line.number, last, line.rank);
        continue;
      }
      end_gap();
      if (blank_before && page.tiny() && !digest.pieces.empty())
        digest.pieces.push_back({Piece::Kind::Text, 0, 0, {}, 0});
      blank_before = false;
      Piece piece{Piece::Kind::Text, line.number, last, {}, 0};
      if (fold == nullptr && line.alarm) piece.alarms = line.repeat;
      if (fold != nullptr && fold->anchor == i) piece.alarms = fold->alarms;
      if (line.lost) {
        piece.kind = Piece::Kind::Gap;
        piece.text = fmt::format("… {} lines ({}–{}) are no longer kept", line.repeat, line.number, last);
      } else {
        piece.text = shown_text(line, page.tiny() || line.shielded || page.content);
        in_part += piece.text.size() < line.text.size() || line.whole_bytes > line.text.size() + 64 ? 1 : 0;
        if (!page.tiny() && !line.shielded && !page.content) piece.text = squeeze(std::move(piece.text));
        if (fold == nullptr || !fold->bare) {
          digest.shown_lines += 1;
          digest.shown_bytes += line.text.size();
        }
      }
      if (line.repeat > 1 && !line.lost && fold == nullptr) {
        piece.text += fmt::format("  [×{}]", line.repeat);
        piece.kind = Piece::Kind::Fold;
      }
      if (fold != nullptr && fold->anchor == i) {
        piece.kind = Piece::Kind::Fold;
        piece.first_line = fold->first;
        piece.last_line = fold->last;
        piece.text = fold->bare ? fold_note(*fold).substr(2) : piece.text + fold_note(*fold);
        const uint64_t seen = fold->bare ? 0 : shown_of[static_cast<size_t>(line.fold)];
        left_out += fold->lines - std::min(fold->lines, seen) + fold->parts;
        anything_cut = true;
      }
      if (!line.shielded && !page.content && !page.tiny()) alterable.push_back(digest.pieces.size());
      digest.pieces.push_back(std::move(piece));
    }
    end_gap();
  }
  // Adjacent folds with equal counts are a repeated block: one count for all of them.
  for (size_t i = 0; i + 1 < digest.pieces.size(); ++i) {
    Piece& a = digest.pieces[i];
    const Piece& b = digest.pieces[i + 1];
    if (a.kind != Piece::Kind::Fold || b.kind != Piece::Kind::Fold) continue;
    const size_t at = a.text.rfind("  [×");
    const size_t bt = b.text.rfind("  [×");
    if (at == std::string::npos || bt == std::string::npos) continue;
    if (a.text.find(',', at) == std::string::npos) continue;  // it is as short as can be
    const std::string_view left = std::string_view(a.text).substr(at, a.text.find(',', at) - at);
    const std::string_view right = std::string_view(b.text).substr(bt, b.text.find_first_of(",]", bt) - bt);
    const bool plain = left.find(' ', 3) == std::string_view::npos;
    if (left == right && plain && a.text.find("; also ", at) == std::string::npos)
      a.text = a.text.substr(0, at) + std::string(left) + "]";
  }
  std::string folder = shorten_folder(digest.pieces, alterable);
  if ((anything_cut || in_part > 0 || !folder.empty()) && is_whole(page) &&
      chars_of(digest.pieces) + kNoteCost >= page.chars) {
    show_whole(page, digest);
    anything_cut = false;
    left_out = in_part = 0;
    folder.clear();
  }
  for (Piece& note : page.notes) digest.pieces.push_back(std::move(note));
  digest.cut_lines = left_out;
  std::string note;
  if (anything_cut) note = fmt::format("{} of {} lines cut", left_out, page.total_lines);
  if (in_part > 0)
    note += fmt::format("{}{} long, cut in part (from_column)", anything_cut ? ", " : "", in_part);
  if (!note.empty()) note += ": " + page.options.handle;
  if (!folder.empty()) note += fmt::format("{}…/ is {}", note.empty() ? "" : "; ", folder);
  if (!note.empty()) digest.pieces.push_back({Piece::Kind::Note, 0, 0, fmt::format("[{}]", note), 0});
  return digest;
}

std::string Digest::text() const {
  std::string out;
  for (const Piece& piece : pieces) {
    out += piece.text;
    out += '\n';
  }
  return out;
}

}  // namespace ttyward::digest
