#include "terminal/output_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ttyward::terminal {
namespace {

// Fewer equal lines than this are shown as they are.
constexpr uint64_t kFoldFrom = 4;

struct Preset {
  std::string_view name;
  ViewLimits limits;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets = {
      {"default", {}},
      // 1 MiB, 70 % head; 50 characters are set aside for the notice.
      {"void", {0, 1'048'576, 70, false, "\n\n[output truncated]\n\n"}},
      {"roo", {500, 50'000, 20, true, ""}},
      {"gemini", {0, 16u << 20, 0, false, ""}},
      {"full", {0, 0, 50, false, ""}},
  };
  return kPresets;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Code points in a valid UTF-8 text.
uint64_t count_chars(std::string_view text) {
  return static_cast<uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// Byte length of the first n code points.
size_t prefix_bytes(std::string_view text, uint64_t n) {
  size_t at = 0;
  while (at < text.size() && n > 0) {
    at++;
    while (at < text.size() && is_continuation(text[at])) at++;
    n--;
  }
  return at;
}

// Byte offset at which the last n code points begin.
size_t suffix_begin(std::string_view text, uint64_t n) {
  size_t at = text.size();
  while (at > 0 && n > 0) {
    at--;
    while (at > 0 && is_continuation(text[at])) at--;
    n--;
  }
  return at;
}

// Lines as they will be shown, and which of the transcript's lines they stand for.
struct Piece {
  std::string text;
  LineNumber first = 0;
  LineNumber last = 0;
  uint64_t shown_lines = 0;
  uint64_t shown_chars = 0;
  uint64_t bytes = 0;  // of the transcript
};

Piece piece_of(const Transcript::Entry& entry, LineNumber first, LineNumber last, bool fold) {
  Piece piece{"", first, last, 0, 0, 0};
  const uint64_t n = last - first + 1;
  if (entry.dropped) {
    piece.text = fmt::format("[{} lines were dropped here: the transcript's quota was reached]\n", n);
    piece.shown_lines = 1;
  } else if (fold && n >= kFoldFrom) {
    piece.text = fmt::format("{}\n[the line above {} times]\n", entry.text, n);
    piece.shown_lines = 2;
  } else {
    for (uint64_t i = 0; i < n; i++) piece.text += entry.text + "\n";
    piece.shown_lines = n;
  }
  piece.shown_chars = count_chars(piece.text);
  piece.bytes = entry.dropped ? 0 : n * entry.text.size();
  return piece;
}

struct Budget {
  uint64_t lines;
  uint64_t chars;

  bool fits(const Piece& piece) const { return piece.shown_lines <= lines && piece.shown_chars <= chars; }
  void take(const Piece& piece) {
    lines -= piece.shown_lines;
    chars -= piece.shown_chars;
  }
};

constexpr uint64_t kNoLimit = UINT64_MAX / 4;

// Pieces of a stretch small enough to be taken one by one: folded whole, or single lines.
uint64_t step_of(const Transcript::Entry& entry, bool fold) {
  return entry.dropped || (fold && entry.repeat >= kFoldFrom) ? entry.repeat : 1;
}

std::string gap_text(const ViewLimits& limits, const Omitted& omitted) {
  if (!limits.gap.empty()) return limits.gap;
  if (omitted.lines == 0)
    return fmt::format("[… {} bytes of line {} left out …]\n", omitted.bytes, omitted.first_line);
  return fmt::format("[… {} lines ({} bytes) left out: lines {} to {} …]\n", omitted.lines, omitted.bytes,
                     omitted.first_line, omitted.last_line);
}

}  // namespace

std::optional<ViewLimits> view_preset(std::string_view name) {
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset.limits;
  }
  return std::nullopt;
}

std::string view_preset_names() {
  std::string out;
  for (const Preset& preset : presets()) out += (out.empty() ? "" : ", ") + std::string(preset.name);
  return out;
}

View make_view(const Transcript& transcript, const ViewLimits& limits) {
  const uint64_t most_lines = limits.lines == 0 ? kNoLimit : limits.lines;
  const uint64_t most_chars = limits.chars == 0 ? kNoLimit : limits.chars;
  View view;

  // All of it, if it fits.
  Budget all{most_lines, most_chars};
  bool fits = true;
  transcript.forward(1, [&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits.fold_repeats);
    for (uint64_t i = 0; i < entry.repeat && fits; i += step) {
      const Piece piece = piece_of(entry, entry.first + i, entry.first + i + step - 1, limits.fold_repeats);
      fits = all.fits(piece);
      if (fits) {
        all.take(piece);
        view.text += piece.text;
      }
    }
    return fits;
  });
  if (fits) return view;

  // The head…
  const uint64_t notice = limits.gap.empty() ? 0 : 50;
  Budget head{most_lines * limits.head_percent / 100, most_chars * limits.head_percent / 100};
  Budget tail{most_lines - head.lines, most_chars - head.chars - std::min(notice, most_chars - head.chars)};
  view.text.clear();
  LineNumber next = 1;  // first line not shown by the head
  std::string cut_head;
  uint64_t shown_bytes = 0;
  bool going = true;
  transcript.forward(1, [&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits.fold_repeats);
    for (uint64_t i = 0; i < entry.repeat && going; i += step) {
      const Piece piece = piece_of(entry, entry.first + i, entry.first + i + step - 1, limits.fold_repeats);
      if (!head.fits(piece)) {
        going = false;
        // A line too long for any budget is cut; an ordinary one waits for the tail.
        if (!entry.dropped && head.lines > 0 && piece.shown_chars > tail.chars) {
          cut_head = entry.text.substr(0, prefix_bytes(entry.text, head.chars));
        }
        break;
      }
      head.take(piece);
      view.text += piece.text;
      shown_bytes += piece.bytes;
      next = piece.last + 1;
    }
    return going;
  });

  // …and the tail, collected backwards.
  std::vector<std::string> pieces;
  LineNumber before = transcript.size();  // last line not shown by the tail
  std::string cut_tail;
  going = true;
  transcript.backward(transcript.size(), [&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits.fold_repeats);
    const LineNumber end = entry.first + entry.repeat - 1;
    for (LineNumber last = end; last >= entry.first && last >= next && going; last -= step) {
      const LineNumber first = std::max<LineNumber>(last - step + 1, std::max(entry.first, next));
      const Piece piece = piece_of(entry, first, last, limits.fold_repeats);
      if (!tail.fits(piece)) {
        going = false;
        if (!entry.dropped && tail.lines > 0 && (pieces.empty() || piece.shown_chars > most_chars)) {
          // Not even one line fits, or one that never could: its end is worth having.
          const uint64_t room = tail.chars > 0 ? tail.chars - 1 : 0;
          cut_tail = entry.text.substr(suffix_begin(entry.text, room));
        }
        break;
      }
      tail.take(piece);
      pieces.push_back(piece.text);
      shown_bytes += piece.bytes;
      before = first - 1;
      if (last < step) return false;
    }
    return going && before >= next;
  });

  Omitted omitted;
  omitted.first_line = next;
  omitted.last_line = before;
  // Of a line shown in part only, the part that is missing counts as bytes.
  shown_bytes += cut_head.size() + cut_tail.size();
  omitted.bytes = transcript.bytes() - shown_bytes;
  const uint64_t partly = (next == before && (!cut_head.empty() || !cut_tail.empty()))
                              ? 1
                              : (cut_head.empty() ? 0u : 1u) + (cut_tail.empty() ? 0u : 1u);
  omitted.lines = before >= next ? before - next + 1 - partly : 0;
  if (!cut_head.empty()) view.text += cut_head + "\n";
  view.text += gap_text(limits, omitted);
  if (!cut_tail.empty()) view.text += cut_tail + "\n";
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) view.text += *piece;
  view.omitted = omitted;
  return view;
}

}  // namespace ttyward::terminal
