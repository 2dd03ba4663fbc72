#include "engine/feed.h"

#include <algorithm>
#include <utility>

#include "base/count_newlines.h"
#include "terminal/colour_sequence.h"

namespace ttyward::engine {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
// Fed to the screen at once: so little that its list of events cannot overflow, and no mark is lost in it;
// less if that turns out to be much work.
constexpr size_t kPieceBytes = 12 * 1024;
constexpr size_t kSmallestPiece = 256;
constexpr std::chrono::microseconds kLongPiece{2000};
constexpr std::chrono::microseconds kShortPiece{500};

// Where the first "print the last character again, a hundred times or more" (CSI n b) ends: each of them can
// fill the screen.
size_t first_long_repeat(std::string_view piece) {
  for (size_t at = piece.find('b', 3); at != std::string_view::npos; at = piece.find('b', at + 1)) {
    size_t digits = 0;
    while (digits < at && piece[at - digits - 1] >= '0' && piece[at - digits - 1] <= '9') digits++;
    if (digits >= 3 && (digits == at || piece[at - digits - 1] == '[')) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

Feed::Feed(terminal::OutputOptions options, Marks marks, Sink& sink) : sink_(sink), marks_(marks) {
  begin_again(std::move(options));
}

void Feed::begin_again(terminal::OutputOptions options) {
  options.transcript.kept = &kept_;
  output_ = std::make_unique<terminal::Output>(options);
}

bool Feed::read(uint64_t limit, const Budget& budget) {
  char buffer[kReadBytes];
  const uint64_t start = read_to_;
  const Clock::time_point begun = Clock::now();
  const auto time_over = [&] { return Clock::now() - begun >= budget.time; };
  // Others may have read elsewhere since: the reader counts from here on.
  if (newlines_exact_ && read_to_ < limit) reader_->know_newlines(read_to_, newlines_);
  while (read_to_ < limit) {
    if (read_to_ - start >= budget.bytes || (read_to_ != start && time_over())) return false;
    const size_t most = std::min<uint64_t>(kReadBytes, limit - read_to_);
    const auto chunk = reader_->read(read_to_, std::as_writable_bytes(std::span(buffer, most)));
    if (!chunk || (chunk->bytes == 0 && chunk->gap == 0)) {
      // Not readable: counted as lost, so that the rest is not taken for the whole output.
      unreadable_.push_back({read_to_, limit});
      read_to_ = limit;
      break;
    }
    if (chunk->gap > 0) {
      skip_gap(*chunk, limit);
    } else if (!feed_chunk(std::string_view(buffer, chunk->bytes), time_over)) {
      return false;
    }
  }
  return true;
}

bool Feed::Kept::read(uint64_t offset, std::span<char> into) {
  while (!into.empty()) {
    const auto chunk = reader ? reader->read(offset, std::as_writable_bytes(into))
                              : base::Result<journal::Reader::Chunk>(journal::Reader::Chunk{});
    if (!chunk || chunk->bytes == 0) return false;
    offset += chunk->bytes;
    into = into.subspan(chunk->bytes);
  }
  return true;
}

// Text without escape sequences, or with none but colours, has no marks, and its lines skip the screen: the
// more at once, the more of them.
std::string_view Feed::next_piece(std::string_view bytes, size_t most) {
  if (most == kPieceBytes && bytes.size() > most && terminal::has_only_colours(bytes)) return bytes;
  const std::string_view piece = bytes.substr(0, most);
  return piece.substr(0, first_long_repeat(piece));
}

// What follows the mark of a command's start is its output: the screen stands right at the mark when it is
// told.
std::string_view Feed::up_to_start_mark(std::string_view piece) const {
  if (marks_ == Marks::Ignore) return piece;
  for (size_t at = piece.find("\x1b]"); at != std::string_view::npos; at = piece.find("\x1b]", at + 2)) {
    const std::string_view code = piece.substr(at + 2, 5);
    if (code != "633;C" && code != "133;C") continue;
    const size_t end = piece.find_first_of("\x07\x1b", at + 2);
    if (end == std::string_view::npos) return piece;
    return piece.substr(0, end + (piece[end] == '\x1b' ? 2 : 1));
  }
  return piece;
}

// In pieces whose size follows from how long the one before took.
bool Feed::feed_chunk(std::string_view bytes, const std::function<bool()>& time_over) {
  while (!bytes.empty()) {
    const std::string_view piece = up_to_start_mark(next_piece(bytes, piece_bytes_));
    const Clock::time_point before = Clock::now();
    feed(piece);
    const auto took = Clock::now() - before;
    if (took > kLongPiece) {
      piece_bytes_ = std::max(kSmallestPiece, piece_bytes_ / 4);
    } else if (took < kShortPiece) {
      piece_bytes_ = std::min(kPieceBytes, piece_bytes_ * 2);
    }
    bytes.remove_prefix(piece.size());
    if (!bytes.empty() && time_over()) return false;
  }
  return true;
}

void Feed::skip_gap(const journal::Reader::Chunk& chunk, uint64_t limit) {
  const uint64_t gap = std::min(chunk.gap, limit - read_to_);
  unfed_bytes_ += gap;
  read_to_ += gap;
  // Where in the gap its lines ended is not known: they count at its end.
  const bool all = gap == chunk.gap;
  const uint64_t newlines = all ? chunk.newlines.value_or(0) : 0;
  if (all && !chunk.newlines) newlines_exact_ = false;
  if (!all) reader_->know_newlines(read_to_, newlines_);
  newlines_ += newlines;
  output_->skip_lost(newlines);
  sink_.feed_gap(newlines);
}

void Feed::feed(std::string_view piece) {
  const uint64_t base = read_to_;
  piece_ = piece;
  piece_at_ = base;
  sink_.feed_bytes(base, piece);
  output_->feed(piece, base);
  size_t passed = 0;
  const auto within = [&](uint64_t offset) {
    return offset <= base ? 0 : static_cast<size_t>(std::min<uint64_t>(offset - base, piece.size()));
  };
  const auto pass_up_to = [&](uint64_t offset) {
    const size_t upto = within(offset);
    if (upto <= passed) return;
    sink_.feed_output(base + passed, piece.substr(passed, upto - passed));
    passed = upto;
  };
  for (vt::Event& event : output_->take_events()) {
    auto* mark = std::get_if<vt::ShellMark>(&event);
    if (mark == nullptr || marks_ == Marks::Ignore) {
      sink_.feed_event(event);
      continue;
    }
    mark->begin += unfed_bytes_;
    mark->end += unfed_bytes_;
    // The mark itself is nobody's output; but whoever got its beginning, with the piece before, gets its end,
    // or would take what follows for a part of it.
    pass_up_to(mark->begin < base ? mark->end : mark->begin);
    passed = std::max(passed, within(mark->end));
    read_to_ = base + within(mark->end);
    sink_.feed_mark(*mark);
  }
  pass_up_to(base + piece.size());
  read_to_ = base + piece.size();
  newlines_ += base::count_newlines(piece.data(), piece.size());
  piece_ = {};
  piece_at_ = read_to_;
  if (std::string replies = output_->take_replies(); !replies.empty()) sink_.feed_replies(std::move(replies));
}

std::optional<uint64_t> Feed::newlines_below(uint64_t offset) const {
  if (offset < piece_at_ || offset > piece_at_ + piece_.size()) return std::nullopt;
  return newlines_ + base::count_newlines(piece_.data(), offset - piece_at_);
}

uint64_t Feed::lost_bytes() const {
  const auto status = reader_ ? reader_->status() : base::Result<journal::Status>(journal::Status{});
  uint64_t lost = status ? status->dropped : 0;
  for (const journal::Range& range : unreadable_) lost += range.end - range.begin;
  return lost;
}

uint64_t Feed::lost_in(journal::Range range) const {
  const auto missing = reader_ ? reader_->missing(range) : base::Result<uint64_t>(0);
  uint64_t lost = missing.value_or(0);
  for (const journal::Range& bad : unreadable_) {
    const uint64_t from = std::max(bad.begin, range.begin);
    const uint64_t to = std::min(bad.end, range.end);
    if (to > from) lost += to - from;
  }
  return std::min(lost, range.end - range.begin);
}

base::Result<std::string> Feed::raw(uint64_t offset, size_t most, uint64_t* next) {
  if (!reader_) return base::fail(base::ErrorCode::Unavailable, "the terminal has no journal");
  std::string bytes(most, '\0');
  auto chunk = reader_->read(offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
  if (!chunk) return tl::unexpected(chunk.error());
  bytes.resize(chunk->bytes);
  *next = offset + chunk->bytes + chunk->gap;
  return bytes;
}

Feed::Again::Again(Feed& feed, journal::Range range, std::optional<uint64_t> newlines_before)
    : feed_(&feed), at_(range.begin), end_(range.end), newlines_(newlines_before) {}

bool Feed::Again::step(terminal::Output& output, const Budget& budget) {
  if (!feed_->reader_) return true;
  journal::Reader& reader = *feed_->reader_;
  if (newlines_) reader.know_newlines(at_, *newlines_);
  const Clock::time_point begun = Clock::now();
  const uint64_t start = at_;
  const auto used_up = [&] {
    return at_ - start >= budget.bytes || (at_ != start && Clock::now() - begun >= budget.time);
  };
  char buffer[kReadBytes];
  while (at_ < end_) {
    if (used_up()) return false;
    const size_t most = std::min<uint64_t>(end_ - at_, kReadBytes);
    const auto chunk = reader.read(at_, std::as_writable_bytes(std::span(buffer, most)));
    if (!chunk || (chunk->bytes == 0 && chunk->gap == 0)) return true;
    if (chunk->gap > 0) {
      end_missing_ = chunk->gap > end_ - at_;
      if (!end_missing_) output.skip_lost(chunk->newlines.value_or(0));
      newlines_ = newlines_ && chunk->newlines ? std::optional(*newlines_ + *chunk->newlines) : std::nullopt;
      at_ += chunk->gap;
      continue;
    }
    std::string_view bytes(buffer, chunk->bytes);
    while (!bytes.empty() && (bytes.size() == chunk->bytes || !used_up())) {
      const std::string_view piece = next_piece(bytes, kPieceBytes);
      output.feed(piece, at_);
      if (newlines_) *newlines_ += base::count_newlines(piece.data(), piece.size());
      at_ += piece.size();
      bytes.remove_prefix(piece.size());
    }
  }
  return true;
}

}  // namespace ttyward::engine
