#include "terminal/output_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace ttyward::terminal {
namespace {

// Fewer equal lines than this are shown as they are.
constexpr uint64_t kFoldFrom = 4;
// Set aside for the gap's text where characters are counted exactly.
constexpr uint64_t kGapChars = 50;
// What agents get unless they ask for more.
constexpr uint64_t kAgentChars = 8000;
// Lines between two looks at the clock.
constexpr uint64_t kLinesAtOnce = 256;

using Cut = ViewLimits::Cut;
using Form = ViewLimits::Form;

struct Preset {
  std::string_view name;
  ViewLimits limits;
};

const std::vector<Preset>& presets() {
  static const std::vector<Preset> kPresets = {
      {"default", {}},
      {"digest", {0, kAgentChars, 20, true, "", Cut::Lines, Form::Digest, false, false}},
      {"head", {0, kAgentChars, 100, true, "", Cut::Lines, Form::Ends, false, false}},
      {"tail", {0, kAgentChars, 0, true, "", Cut::Lines, Form::Ends, false, false}},
      {"full", {0, 0, 50, false, "", Cut::Lines, Form::Ends, false, false}},
      // 1 MiB, 70 % head; 50 characters are set aside for the notice.
      {"void",
       {0, 1'048'576, 70, false, "\n\n[output truncated]\n\n", Cut::Characters, Form::Ends, false, false}},
      {"roo", {500, 50'000, 20, true, "", Cut::Lines, Form::Ends, false, false}},
      {"gemini", {0, 16u << 20, 0, false, "", Cut::Lines, Form::Ends, false, false}},
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
    piece.text = fmt::format("[{} lines were dropped here: a quota was reached, or the disk was full]\n", n);
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

std::string view_preset_names(std::string_view separator) {
  std::string out;
  for (const Preset& preset : presets()) out.append(out.empty() ? "" : separator).append(preset.name);
  return out;
}

namespace {

// A view in the making: lines taken from the front, lines taken from the back, and what was cut in two.
class Composer {
 public:
  Composer(const Transcript& transcript, const ViewLimits& limits, LineNumber from, LineNumber to,
           uint64_t bytes)
      : transcript_(transcript),
        limits_(limits),
        from_(from),
        to_(to),
        bytes_(bytes),
        exact_(limits.cut == Cut::Characters),
        next_(from) {}

  View compose();

 private:
  using Visit = std::function<bool(const Transcript::Entry&)>;
  void forward(const Visit& visit) const;
  void backward(const Visit& visit) const;
  bool take_all(Budget budget);
  void take_head(Budget budget, uint64_t tail_chars);
  void take_tail(Budget budget, uint64_t most_chars);
  void note_shown(const Transcript::Entry& entry, const Piece& piece);
  Omitted count_omitted() const;

  const Transcript& transcript_;
  const ViewLimits& limits_;
  LineNumber from_;
  LineNumber to_;
  uint64_t bytes_;  // of these lines
  bool exact_;

  std::string head_;
  std::string cut_head_;           // the beginning of line `next_`
  LineNumber next_;                // first line not wholly shown by the head
  std::vector<std::string> tail_;  // last line first
  std::string cut_tail_;           // the end of line `before_`
  LineNumber before_ = 0;          // last line not wholly shown by the tail
  uint64_t shown_bytes_ = 0;
  uint64_t shown_lines_ = 0;
  LineNumber first_dropped_ = 0;
  LineNumber last_dropped_ = 0;
};

// The part of a stretch that lies in [from, to].
std::optional<Transcript::Entry> clip(const Transcript::Entry& entry, LineNumber from, LineNumber to) {
  const LineNumber first = std::max(entry.first, from);
  const LineNumber last = std::min(entry.first + entry.repeat - 1, to);
  if (first > last) return std::nullopt;
  return Transcript::Entry{first, last - first + 1, entry.text, entry.dropped};
}

void Composer::forward(const Visit& visit) const {
  transcript_.forward(from_, [&](const Transcript::Entry& entry) {
    const auto clipped = clip(entry, from_, to_);
    return clipped && visit(*clipped);
  });
}

void Composer::backward(const Visit& visit) const {
  transcript_.backward(to_, [&](const Transcript::Entry& entry) {
    const auto clipped = clip(entry, from_, to_);
    return clipped && visit(*clipped);
  });
}

void Composer::note_shown(const Transcript::Entry& entry, const Piece& piece) {
  if (entry.dropped) {
    first_dropped_ = first_dropped_ == 0 ? piece.first : std::min(first_dropped_, piece.first);
    last_dropped_ = std::max(last_dropped_, piece.last);
    return;
  }
  shown_bytes_ += piece.bytes;
  shown_lines_ += piece.last - piece.first + 1;
}

bool Composer::take_all(Budget budget) {
  bool fits = true;
  forward([&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits_.fold_repeats);
    for (uint64_t i = 0; i < entry.repeat && fits; i += step) {
      const Piece piece = piece_of(entry, entry.first + i, entry.first + i + step - 1, limits_.fold_repeats);
      fits = budget.fits(piece);
      if (!fits) break;
      budget.take(piece);
      head_ += piece.text;
      note_shown(entry, piece);
    }
    return fits;
  });
  return fits;
}

void Composer::take_head(Budget budget, uint64_t tail_chars) {
  bool going = true;
  forward([&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits_.fold_repeats);
    for (uint64_t i = 0; i < entry.repeat && going; i += step) {
      const Piece piece = piece_of(entry, entry.first + i, entry.first + i + step - 1, limits_.fold_repeats);
      if (!budget.fits(piece)) {
        going = false;
        // A line too long for any budget is cut; an ordinary one waits for the tail.
        if (!entry.dropped && budget.lines > 0 && (exact_ || piece.shown_chars > tail_chars)) {
          cut_head_ = entry.text.substr(0, prefix_bytes(entry.text, budget.chars));
        }
        break;
      }
      budget.take(piece);
      head_ += piece.text;
      note_shown(entry, piece);
      next_ = piece.last + 1;
    }
    return going;
  });
}

void Composer::take_tail(Budget budget, uint64_t most_chars) {
  before_ = to_;
  bool going = before_ >= next_;
  backward([&](const Transcript::Entry& entry) {
    const uint64_t step = step_of(entry, limits_.fold_repeats);
    const LineNumber lowest = std::max(entry.first, next_);
    for (LineNumber last = entry.first + entry.repeat - 1; last >= lowest && going; last -= step) {
      const LineNumber first = last - lowest + 1 > step ? last - step + 1 : lowest;
      const Piece piece = piece_of(entry, first, last, limits_.fold_repeats);
      if (!budget.fits(piece)) {
        going = false;
        if (!entry.dropped && budget.lines > 0 && budget.chars > 0 &&
            (exact_ || tail_.empty() || piece.shown_chars > most_chars)) {
          // Not even one line fits, or the line is longer than the limit: show its end.
          cut_tail_ = entry.text.substr(suffix_begin(entry.text, budget.chars - 1));
          // With room for the line end alone there is nothing of the line.
          if (exact_ && cut_tail_.empty()) tail_.emplace_back("\n");
        }
        break;
      }
      budget.take(piece);
      tail_.push_back(piece.text);
      note_shown(entry, piece);
      before_ = first - 1;
    }
    return going && before_ >= next_;
  });
  // The two ends of one line must not overlap.
  if (next_ == before_ && !cut_head_.empty()) {
    const auto line = transcript_.line(next_);
    if (line && cut_head_.size() + cut_tail_.size() > line->size()) cut_head_.clear();
  }
}

Omitted Composer::count_omitted() const {
  Omitted omitted;
  omitted.first_line = next_;
  omitted.last_line = before_;
  if (first_dropped_ != 0) {
    const bool has_gap = before_ >= next_;
    omitted.first_line = has_gap ? std::min(next_, first_dropped_) : first_dropped_;
    omitted.last_line = has_gap ? std::max(before_, last_dropped_) : last_dropped_;
  }
  // Of a line shown in part only, the part that is missing counts as bytes.
  omitted.bytes = bytes_ - shown_bytes_ - cut_head_.size() - cut_tail_.size();
  const bool same_line = next_ == before_ && !cut_head_.empty() && !cut_tail_.empty();
  const uint64_t partly = (cut_head_.empty() ? 0u : 1u) + (cut_tail_.empty() || same_line ? 0u : 1u);
  omitted.lines = to_ - from_ + 1 - shown_lines_ - partly;
  return omitted;
}

View Composer::compose() {
  const uint64_t most_lines = limits_.lines == 0 ? kNoLimit : limits_.lines;
  const uint64_t most_chars = limits_.chars == 0 ? kNoLimit : limits_.chars;
  View view;
  if (take_all({most_lines, most_chars})) {
    view.text = std::move(head_);
    if (first_dropped_ != 0) {
      next_ = to_ + 1;
      before_ = 0;
      view.omitted = count_omitted();
    }
    return view;
  }
  head_.clear();
  shown_bytes_ = shown_lines_ = first_dropped_ = last_dropped_ = 0;

  const Budget head{most_lines * limits_.head_percent / 100, most_chars * limits_.head_percent / 100};
  const uint64_t rest = most_chars - head.chars;
  const Budget tail{most_lines - head.lines, exact_ ? rest - std::min(rest, kGapChars) : rest};
  take_head(head, tail.chars);
  take_tail(tail, most_chars);

  view.omitted = count_omitted();
  const std::string line_end = exact_ ? "" : "\n";
  view.text = std::move(head_);
  if (!cut_head_.empty()) view.text += cut_head_ + line_end;
  view.text += gap_text(limits_, *view.omitted);
  if (!cut_tail_.empty()) view.text += cut_tail_ + "\n";
  for (auto piece = tail_.rbegin(); piece != tail_.rend(); ++piece) view.text += *piece;
  return view;
}

}  // namespace

DigestReader::DigestReader(const ViewLimits& limits, LineNumber first)
    : first_(first), next_(first), builder_([&] {
        digest::Options options;
        options.max_chars = limits.chars == 0 ? kNoLimit : limits.chars;
        options.max_lines = limits.lines;
        options.first_line = first;
        return options;
      }()) {}

bool DigestReader::read(const Transcript& transcript, LineNumber last, const std::function<bool()>& stop) {
  if (made_ || next_ > last) return true;
  uint64_t looked = 0;
  transcript.forward(next_, [&](const Transcript::Entry& entry) {
    const LineNumber end = std::min(entry.first + entry.repeat - 1, last);
    const uint64_t count = end + 1 - next_;
    if (entry.dropped) {
      builder_.add_lost(count);
    } else {
      builder_.add(entry.text, count);
    }
    next_ = end + 1;
    if (next_ > last) return false;
    return !stop || ++looked % kLinesAtOnce != 0 || !stop();
  });
  return next_ > last;
}

void DigestReader::make(const Subject& subject) {
  if (!made_) made_ = finish(subject);
}

View DigestReader::finish(const Subject& subject) {
  if (made_) return *made_;
  builder_.describe(subject.command, subject.exit_status);
  digest::Digest made = builder_.finish();
  View view;
  view.text = made.text();
  view.facts = std::move(made.facts);
  view.fingerprint = made.fingerprint;
  view.exact = made.exact;
  if (made.cut_lines == 0) return view;
  Omitted omitted;
  omitted.lines = made.cut_lines;
  omitted.bytes = made.total_bytes - std::min(made.total_bytes, made.shown_bytes);
  omitted.first_line = first_;
  omitted.last_line = next_ - 1;
  view.omitted = omitted;
  return view;
}

namespace {

View digest_of(const Transcript& transcript, const ViewLimits& limits, LineNumber first, LineNumber last,
               const Subject& subject) {
  DigestReader reader(limits, first);
  reader.read(transcript, last);
  return reader.finish(subject);
}

}  // namespace

View make_view(const Transcript& transcript, const ViewLimits& limits, const Subject& subject) {
  if (limits.form == Form::Digest) return digest_of(transcript, limits, 1, transcript.size(), subject);
  return Composer(transcript, limits, 1, transcript.size(), transcript.bytes()).compose();
}

View make_view(const Transcript& transcript, const ViewLimits& limits, LineNumber first, LineNumber last,
               const Subject& subject) {
  if (limits.form == Form::Digest) return digest_of(transcript, limits, first, last, subject);
  uint64_t bytes = 0;
  transcript.forward(first, [&](const Transcript::Entry& entry) {
    const auto clipped = clip(entry, first, last);
    if (clipped && !clipped->dropped) bytes += clipped->repeat * clipped->text.size();
    return clipped.has_value();
  });
  return Composer(transcript, limits, first, last, bytes).compose();
}

}  // namespace ttyward::terminal
