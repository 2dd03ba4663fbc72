#include "engine/read.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "engine/line_scan.h"

namespace ttyward::engine {
namespace {

using terminal::LineNumber;
using terminal::Transcript;

// Lines on the screen that have ended: those above the one the cursor is on.
uint64_t lines_above_cursor(const vt::Screen& screen) {
  uint64_t lines = 0;
  for (int r = 0; r < screen.cursor().row; r++) lines += screen.line(r).wrapped ? 0 : 1;
  return lines;
}

void view_into(ReadResult& result, const OutputSource& source, const Transcript& lines, LineNumber from,
               LineNumber to, const terminal::ViewLimits& limits) {
  terminal::View view = make_view(lines, limits, from, to, source.subject());
  result.text = std::move(view.text);
  result.omitted = view.omitted;
  result.first_line = from;
  result.last_line = to;
}

// What every way of reading begins with. True: there are lines to look at.
bool begin_result(const OutputSource& source, ReadResult& result) {
  result.total_bytes = source.total_bytes();
  result.binary = source.binary();
  if (!result.binary) return true;
  result.text = fmt::format("[binary output: {} bytes, not shown]\n", result.total_bytes);
  return false;
}

}  // namespace

base::Result<OutputSource> OutputSource::find(Terminal& terminal, const std::string& command_id) {
  if (command_id.empty()) return OutputSource(terminal, nullptr);
  Command* command = terminal.find(command_id);
  if (command == nullptr) {
    return base::fail(base::ErrorCode::NotFound,
                      "terminal " + terminal.id() + " has no command " + command_id);
  }
  return OutputSource(terminal, command);
}

base::Result<void> OutputSource::check_styled() const {
  if (total_bytes() <= kMostStyledBytes) return {};
  return base::fail(
      base::ErrorCode::Exhausted,
      fmt::format("{} bytes are too many to read with colours: read them without colours, or raw",
                  total_bytes()));
}

OutputSource OutputSource::with(std::shared_ptr<terminal::Output> styled) const {
  OutputSource source = *this;
  source.styled_ = std::move(styled);
  return source;
}

terminal::Subject OutputSource::subject() const {
  if (command_ == nullptr) return {};
  return {command_->facts.command, ended() ? command_->facts.exit_code : std::nullopt};
}

const std::string& OutputSource::id() const {
  return command_ != nullptr ? command_->facts.command_id : terminal_->id();
}

bool OutputSource::ended() const {
  return command_ != nullptr ? command_->over() : !terminal_->live();
}

bool OutputSource::has_output() const {
  return command_ == nullptr || command_->started_seen || terminal_->spec().temporary();
}

bool OutputSource::binary() const {
  if (command_ == nullptr) return terminal_->output().is_binary();
  if (command_->over()) return command_->facts.binary;
  return has_output() && terminal_->output_of(*command_).is_binary();
}

uint64_t OutputSource::begin() const {
  return command_ == nullptr || terminal_->spec().temporary() ? 0 : command_->range().begin;
}

uint64_t OutputSource::total_bytes() const {
  if (command_ == nullptr || terminal_->spec().temporary()) return terminal_->read_to();
  return terminal_->facts(*command_).total_bytes;
}

void OutputSource::with_lines(const std::function<void(const Lines&)>& use) const {
  if (!has_output()) {
    const Transcript none;
    return use({none, 0, 0});
  }
  // Lines are added for the time of the call only: nobody else sees a change.
  auto& output = styled_ ? *styled_
                         : const_cast<terminal::Output&>(
                               command_ == nullptr ? terminal_->output() : terminal_->output_of(*command_));
  const LineNumber settled = output.transcript().size();
  output.as_if_finished([&](const Transcript& all) {
    const LineNumber complete =
        ended() ? all.size() : std::min(all.size(), settled + lines_above_cursor(output.screen()));
    use({all, ended() ? all.size() : settled, complete});
  });
}

base::Result<ReadResult> read_range(const OutputSource& source, LineNumber from, LineNumber to,
                                    const terminal::ViewLimits& view) {
  if (from == 0 || to < from) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      fmt::format("{} to {} is not a range of lines: lines are numbered from 1, and the "
                                  "first number must not be above the second",
                                  from, to));
  }
  ReadResult result;
  if (!begin_result(source, result)) return result;
  source.with_lines([&](const OutputSource::Lines& lines) {
    result.total_lines = lines.all.size();
    result.more = to < result.total_lines;
    if (from <= result.total_lines)
      view_into(result, source, lines.all, from, std::min(to, result.total_lines), view);
  });
  return result;
}

base::Result<ReadResult> read_tail(const OutputSource& source, uint64_t count,
                                   const terminal::ViewLimits& view) {
  ReadResult result;
  if (!begin_result(source, result)) return result;
  source.with_lines([&](const OutputSource::Lines& lines) {
    const uint64_t total = result.total_lines = lines.all.size();
    result.more = count < total;
    if (count > 0 && total > 0)
      view_into(result, source, lines.all, total - std::min(count, total) + 1, total, view);
  });
  return result;
}

base::Result<ReadResult> read_all(const OutputSource& source, terminal::DigestReader& digest) {
  ReadResult result;
  if (!begin_result(source, result)) return result;
  source.with_lines([&](const OutputSource::Lines& lines) {
    result.total_lines = lines.all.size();
    digest.read(lines.all, result.total_lines);
    terminal::View view = digest.finish(source.subject());
    result.text = std::move(view.text);
    result.omitted = view.omitted;
    result.first_line = 1;
    result.last_line = result.total_lines;
  });
  return result;
}

namespace {

// Matches with the lines around them, as grep -n prints them.
class GrepText {
 public:
  GrepText(uint64_t context, const terminal::ViewLimits& view)
      : context_(context),
        lines_left_(view.lines == 0 ? UINT64_MAX : view.lines),
        chars_left_(view.chars == 0 ? UINT64_MAX : view.chars) {}

  // False: no room for it.
  bool add(const Transcript& lines, const Transcript::Match& match) {
    const LineNumber from = std::max(next_, match.line - std::min(match.line - 1, context_));
    std::string piece = !text_.empty() && context_ > 0 && from > next_ ? "--\n" : "";
    uint64_t count = append(lines, piece, from, match.line - 1);
    piece += match.repeat > 1 ? fmt::format("{}:{} [{} times]\n", match.line, match.text, match.repeat)
                              : fmt::format("{}:{}\n", match.line, match.text);
    count++;
    if (count > lines_left_ || piece.size() > chars_left_) return false;
    take(piece, count);
    if (first_ == 0) first_ = from;
    next_ = match.line + match.repeat;
    return true;
  }
  // The context behind the last match, up to the one that follows.
  void close(const Transcript& lines, LineNumber before) {
    if (context_ == 0 || text_.empty()) return;
    std::string piece;
    const LineNumber last = std::min({next_ + context_ - 1, before - 1, lines.size()});
    const uint64_t count = append(lines, piece, next_, last);
    if (count > lines_left_ || piece.size() > chars_left_) return;
    take(piece, count);
    next_ = std::max(next_, last + 1);
  }

  LineNumber first() const { return first_; }
  LineNumber last() const { return next_ - 1; }
  std::string take_text() { return std::move(text_); }

 private:
  static uint64_t append(const Transcript& lines, std::string& piece, LineNumber from, LineNumber to) {
    uint64_t count = 0;
    if (from > to) return 0;
    lines.forward(from, [&](const Transcript::Entry& entry) {
      for (LineNumber n = std::max(entry.first, from); n < entry.first + entry.repeat && n <= to; n++) {
        piece += fmt::format("{}-{}\n", n, entry.text);
        count++;
      }
      return entry.first + entry.repeat <= to;
    });
    return count;
  }
  void take(const std::string& piece, uint64_t count) {
    text_ += piece;
    lines_left_ -= count;
    chars_left_ -= piece.size();
  }

  uint64_t context_;
  uint64_t lines_left_;
  uint64_t chars_left_;
  LineNumber first_ = 0;
  LineNumber next_ = 1;  // after what was shown
  std::string text_;
};

}  // namespace

struct GrepSearch::State {
  State(Grep grep_for, std::unique_ptr<re2::RE2> compiled, const terminal::ViewLimits& view)
      : grep(std::move(grep_for)),
        pattern(std::move(compiled)),
        text(std::min<uint64_t>(grep.context, 1000), view) {}

  // One slice more; true: it is done.
  bool go_on(const Transcript& lines, const std::function<bool()>& time_over) {
    for (;;) {
      while (!found.empty()) {
        if (result.matches.size() == grep.most) return result.more = true;
        const Transcript::Match& match = found.front();
        text.close(lines, match.line);
        if (!text.add(lines, match)) return result.more = true;
        result.matches.push_back(std::move(found.front()));
        found.pop_front();
        if (time_over()) return false;
      }
      if (next > result.total_lines) break;
      // One more than wanted tells whether there are more.
      const size_t wanted = grep.most + 1 - result.matches.size();
      auto searched = lines.search(*pattern, next, result.total_lines, wanted, time_over);
      const bool stuck = searched.next == next && searched.matches.empty();
      next = searched.next;
      std::move(searched.matches.begin(), searched.matches.end(), std::back_inserter(found));
      if (stuck && !time_over()) break;  // lines that were taken back since
      if (found.empty() && time_over()) return false;
    }
    return true;
  }

  Grep grep;
  std::unique_ptr<re2::RE2> pattern;
  GrepText text;
  ReadResult result;
  bool begun = false;
  LineNumber next = 1;
  std::deque<Transcript::Match> found;  // and not in the text yet
};

GrepSearch::GrepSearch(std::unique_ptr<State> state) : state_(std::move(state)) {}
GrepSearch::GrepSearch(GrepSearch&&) noexcept = default;
GrepSearch::~GrepSearch() = default;

base::Result<GrepSearch> GrepSearch::begin(Grep grep, const terminal::ViewLimits& view) {
  if (grep.pattern.empty()) return base::fail(base::ErrorCode::InvalidArgument, "no pattern to search for");
  auto compiled = compile_pattern(grep.pattern);
  if (!compiled) return tl::unexpected(compiled.error());
  return GrepSearch(std::make_unique<State>(std::move(grep), std::move(*compiled), view));
}

bool GrepSearch::step(const OutputSource& source, std::chrono::steady_clock::duration time) {
  State& state = *state_;
  const bool first = !std::exchange(state.begun, true);
  if (first && !begin_result(source, state.result)) return true;
  const auto begun = std::chrono::steady_clock::now();
  const auto time_over = [&] { return std::chrono::steady_clock::now() - begun >= time; };
  bool done = false;
  source.with_lines([&](const OutputSource::Lines& lines) {
    if (first) state.result.total_lines = lines.all.size();
    done = state.go_on(lines.all, time_over);
    if (done) state.text.close(lines.all, state.result.total_lines + 1);
  });
  return done;
}

ReadResult GrepSearch::take_result() {
  State& state = *state_;
  if (!state.result.matches.empty()) {
    state.result.first_line = state.text.first();
    state.result.last_line = state.text.last();
  }
  if (!state.result.binary) state.result.text = state.text.take_text();
  return std::move(state.result);
}

base::Result<ReadResult> read_raw(const OutputSource& source, uint64_t offset, size_t most) {
  ReadResult result;
  result.total_bytes = source.total_bytes();
  result.binary = source.binary();
  result.next_offset = offset;
  if (offset >= result.total_bytes || most == 0) {
    result.more = offset < result.total_bytes;
    return result;
  }
  const size_t wanted = std::min<uint64_t>({most, kMostRawBytes, result.total_bytes - offset});
  uint64_t next = source.begin() + offset;
  auto bytes = source.terminal().raw(next, wanted, &next);
  if (!bytes) return tl::unexpected(bytes.error());
  result.bytes = std::move(*bytes);
  result.next_offset = next - source.begin();
  result.more = *result.next_offset < result.total_bytes;
  return result;
}

}  // namespace ttyward::engine
