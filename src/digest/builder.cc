// Bounded memory: the first lines and the last lines as they are, and kinds of lines for what lies between.
#include <algorithm>
#include <utility>
#include <vector>

#include "digest/digest.h"
#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr size_t kHeadLines = 2000;
constexpr size_t kHeadBytes = 1 << 20;
constexpr size_t kTailLines = 2000;
constexpr size_t kTailBytes = 1 << 20;
constexpr size_t kKinds = 2048;
constexpr size_t kSlots = 8 * kKinds;  // a power of two, far more than there are kinds
constexpr size_t kLongestLine = 16 << 10;
constexpr size_t kLongestExample = 2 << 10;

// Beginning and end, and what stands around an alarm between them.
std::string shorten(std::string_view line, size_t most) {
  if (line.size() <= most) return std::string(line);
  std::string out(head_of(line, most / 2));
  const size_t alarm = find_alarm(line);
  out += "…";
  if (alarm != std::string_view::npos && alarm + 16 > most / 2) {
    size_t begin = alarm > most / 16 ? alarm - most / 16 : 0;
    while (begin < alarm && (static_cast<uint8_t>(line[begin]) & 0xC0) == 0x80) ++begin;
    out += head_of(line.substr(begin), most / 8);
    out += "…";
  }
  out += tail_of(line, most / 4);
  return out;
}

// Lines of one kind in the middle of a flood.
struct Kind {
  Line example;
  uint64_t lines = 0;
  uint64_t last = 0;
  bool alarm = false;
};

}  // namespace

struct Builder::State {
  Options options;
  std::vector<Line> head;
  size_t head_bytes = 0;
  bool head_full = false;
  // A ring: a line that comes in a flood takes the memory of the oldest.
  std::vector<Line> tail;
  size_t oldest = 0;
  size_t in_tail = 0;
  size_t tail_bytes = 0;
  std::vector<Kind> kinds;                           // in the order they were first seen
  std::vector<std::pair<uint64_t, uint32_t>> slots;  // a hash table: key and 1 + index of the kind; 0: free
  uint64_t lines = 0;
  uint64_t bytes = 0;
  uint64_t fingerprint = 0;

  void keep(std::string_view text, uint64_t repeat, bool lost) {
    const uint64_t number = options.first_line + lines;
    lines += repeat;
    bytes += text.size() * repeat;
    fingerprint = (fingerprint ^ hash_of(text) ^ repeat << 48U) * 0x9E3779B97F4A7C15ULL + 1;
    const size_t whole = text.size();
    std::string cut;
    if (text.size() > (head_full ? kLongestExample : kLongestLine)) {
      cut = shorten(text, head_full ? kLongestExample : kLongestLine);
      text = cut;
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    head_full =
        head_full || head.size() >= kHeadLines || head_bytes + text.size() + sizeof(Line) > kHeadBytes;
    Line& line = head_full ? next_in_tail(text.size()) : head.emplace_back();
    (head_full ? tail_bytes : head_bytes) += text.size() + sizeof(Line);
    line.number = number;
    line.repeat = repeat;
    line.whole_bytes = whole;
    line.text.assign(text);
    line.lost = lost;
  }

  Line& next_in_tail(size_t size) {
    if (tail.empty()) tail.resize(kTailLines);
    while (in_tail == kTailLines || (in_tail > 0 && tail_bytes + size + sizeof(Line) > kTailBytes)) {
      Line& line = tail[oldest];
      tail_bytes -= line.text.size() + sizeof(Line);
      count(line);
      oldest = (oldest + 1) % kTailLines;
      --in_tail;
    }
    return tail[(oldest + in_tail++) % kTailLines];
  }

  // Where a kind of this key is, or would be.
  size_t slot_of(uint64_t key) const {
    size_t slot = (key ^ key >> 29U) % kSlots;
    while (slots[slot].second != 0 && slots[slot].first != key) slot = (slot + 1) % kSlots;
    return slot;
  }

  // A line that leaves the tail is from now on one of its kind.
  void count(const Line& line) {
    if (line.text.empty() && !line.lost) return;
    if (slots.empty()) slots.resize(kSlots);
    const bool alarm = is_alarm(line.text);
    uint64_t key = line.lost ? 1 : shape_of(line.text) * 2 + alarm;
    size_t slot = slot_of(key);
    if (slots[slot].second == 0 && kinds.size() >= kKinds) {
      // Too many kinds: coarser ones, by beginning; then one for the rest.
      key = shape_of(std::string_view(line.text).substr(0, 12)) * 4 + 2 + alarm;
      slot = slot_of(key);
      if (slots[slot].second == 0 && kinds.size() >= 2 * kKinds) {
        key = alarm ? 5 : 4;
        slot = slot_of(key);
      }
    }
    const uint64_t last = line.number + line.repeat - 1;
    if (slots[slot].second == 0) {
      kinds.push_back({line, line.repeat, last, alarm});
      slots[slot] = {key, static_cast<uint32_t>(kinds.size())};
      return;
    }
    Kind& kind = kinds[slots[slot].second - 1];
    kind.lines += line.repeat;
    kind.last = last;
  }
};

Builder::Builder(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

void Builder::add(std::string_view line, uint64_t repeat) {
  if (repeat > 0) state_->keep(line, repeat, false);
}

void Builder::add_lost(uint64_t lines) {
  if (lines > 0) state_->keep({}, lines, true);
}

void Builder::describe(std::string command, std::optional<int> exit_status) {
  state_->options.command = std::move(command);
  state_->options.exit_status = exit_status;
}

Digest Builder::finish() {
  State& s = *state_;
  Page page;
  page.options = s.options;
  page.total_lines = s.lines;
  page.total_bytes = s.bytes;
  page.lines = std::move(s.head);
  page.altered = !s.kinds.empty();
  for (Kind& kind : s.kinds) {
    Line line = std::move(kind.example);
    if (kind.lines > line.repeat) {
      line.fold = static_cast<int32_t>(page.folds.size());
      line.example = true;
      line.settled = true;
      line.stands = kind.lines;
      Fold fold;
      fold.lines = kind.lines;
      fold.first = line.number;
      fold.last = kind.last;
      fold.alarms = kind.alarm ? kind.lines : 0;
      fold.anchor = page.lines.size();
      page.folds.push_back(std::move(fold));
      page.kinds.push_back(page.lines.size());
    }
    page.lines.push_back(std::move(line));
  }
  for (size_t i = 0; i < s.in_tail; ++i) page.lines.push_back(std::move(s.tail[(s.oldest + i) % kTailLines]));
  s.tail.clear();
  s.kinds.clear();
  for (Line& line : page.lines) {
    line.blank = is_blank(line.text) && !line.lost;
    line.alarm = is_alarm(line.text);
    page.alarms += line.alarm ? line.repeat : 0;
    page.chars += characters(line.text) + 1;
  }
  read_command(page);
  shield_quotes(page);
  recognise(page);
  rank_lines(page);
  fold_alike(page);
  rank_ends(page);
  fold_parts(page);
  shorten_tables(page);
  check_agreement(page);
  suggest_commands(page);
  Digest digest = compose(page);
  digest.fingerprint = s.fingerprint;
  const std::initializer_list<const char*> kExact = {"grep", "egrep", "rg",  "ag",
                                                     "diff", "jq",    "env", "printenv"};
  digest.exact =
      page.content || page.runs("git", "diff") || page.runs("git", "show") ||
      std::any_of(kExact.begin(), kExact.end(), [&](const char* name) { return page.runs(name); }) ||
      std::any_of(page.lines.begin(), page.lines.end(), [](const Line& line) { return line.shielded; });
  return digest;
}

Digest make_digest(std::string_view text, const Options& options) {
  Builder builder(options);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    builder.add(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return builder.finish();
}

}  // namespace ttyward::digest
