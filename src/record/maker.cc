#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/mask_secrets.h"
#include "record/recording.h"
#include "record/secret_finder.h"
#include "record/visible.h"
#include "vt/sgr_text.h"

namespace ttyward::record {
namespace {

constexpr size_t kLongestEvent = 256 * 1024;  // more is cut into events of the same time

Size possible(Size size) {
  size.cols = std::clamp(size.cols, 1, vt::Screen::kMaxCols);
  size.rows = std::clamp(size.rows, 1, std::min(vt::Screen::kMaxRows, vt::Screen::kMaxCells / size.cols));
  return size;
}

// What is shown where a character is not: as wide as that.
void append_masked(std::string& out, const Mask& mask) {
  out.append(mask.columns, '*');
}

}  // namespace

void Recording::for_each(const std::function<bool(const Event&)>& visit) const {
  Event event;
  auto mask = masks_.begin();
  for (const Entry& entry : entries_) {
    event.kind = entry.kind;
    event.at_us = entry.at_us;
    event.size = entry.size;
    event.text.clear();
    if (entry.kind != Event::Kind::Output) {
      event.text.assign(notes_, entry.begin, entry.end - entry.begin);
    } else {
      uint64_t at = entry.begin;
      for (; mask != masks_.end() && mask->begin < entry.end; ++mask) {
        event.text.append(text_, at, mask->begin - at);
        append_masked(event.text, *mask);
        at = mask->begin + mask->bytes;
      }
      event.text.append(text_, at, entry.end - at);
    }
    if (!visit(event)) return;
  }
}

void Recording::limit_idle(double seconds) {
  const auto most = static_cast<uint64_t>(std::max(seconds, 0.0) * 1e6);
  uint64_t before = 0;  // as it was
  uint64_t now = 0;
  for (Entry& entry : entries_) {
    now += std::min(entry.at_us - before, most);
    before = std::exchange(entry.at_us, now);
  }
}

struct Maker::State {
  State(Header given, LineFeeds line_feeds) : visible(line_feeds), finder(possible(given.size)) {
    given.size = possible(given.size);
    size = given.size;
    recording.header_ = std::move(given);
    recording.header_.command = base::mask_secrets(recording.header_.command);
    recording.header_.title = base::mask_secrets(recording.header_.title);
  }

  void add(Event::Kind kind, uint64_t at_us, uint64_t begin, uint64_t end) {
    now = std::max(now, at_us);
    recording.entries_.push_back({kind, now, begin, end, size});
  }
  void note(Event::Kind kind, uint64_t at_us, std::string_view text) {
    const uint64_t begin = recording.notes_.size();
    recording.notes_ += base::mask_secrets(text);
    add(kind, at_us, begin, recording.notes_.size());
  }
  // Text as Visible makes it.
  void show(uint64_t at_us, std::string_view shown) {
    if (shown.empty()) return;
    const uint64_t begin = recording.text_.size();
    recording.text_ += shown;
    finder.feed(shown, begin);
    add(Event::Kind::Output, at_us, begin, recording.text_.size());
  }

  Visible visible;
  SecretFinder finder;
  Size size;
  uint64_t now = 0;
  Recording recording;
};

Maker::Maker(Header header, LineFeeds line_feeds)
    : state_(std::make_unique<State>(std::move(header), line_feeds)) {}
Maker::Maker(Maker&&) noexcept = default;
Maker& Maker::operator=(Maker&&) noexcept = default;
Maker::~Maker() = default;

base::Result<void> Maker::output(uint64_t at_us, std::string_view bytes) {
  if (state_->recording.text_.size() + bytes.size() > kMostOutputBytes) {
    return base::fail(base::ErrorCode::Exhausted,
                      fmt::format("the output is longer than {} MiB, too long for one recording: export its "
                                  "commands one by one",
                                  kMostOutputBytes >> 20));
  }
  for (size_t at = 0; at < bytes.size(); at += kLongestEvent) {
    std::string shown;
    state_->visible.feed(bytes.substr(at, kLongestEvent), shown, [&] {
      state_->show(at_us, std::exchange(shown, {}));
      const vt::Screen& screen = state_->finder.screen();
      if (screen.cursor().col != screen.margins().left) shown = "\r\033D";
    });
    state_->show(at_us, shown);
  }
  return {};
}

void Maker::resize(uint64_t at_us, Size size) {
  size = possible(size);
  if (size == state_->size) return;
  state_->size = size;
  state_->finder.resize(size);
  state_->add(Event::Kind::Resize, at_us, 0, 0);
}

void Maker::marker(uint64_t at_us, std::string_view label) {
  state_->note(Event::Kind::Marker, at_us, label);
}

void Maker::exit(uint64_t at_us, std::string_view status) {
  state_->note(Event::Kind::Exit, at_us, status);
}

// As terminal::Output::skip_lost() has it: where lines are missing, those before them scroll away.
void Maker::gap(uint64_t at_us, uint64_t bytes, uint64_t newlines) {
  state_->visible.cut();
  marker(at_us, fmt::format("{} bytes are missing: they were not kept", bytes));
  const vt::Screen& screen = state_->finder.screen();
  if (newlines == 0 || screen.is_alternate()) return;
  if (screen.cursor().col > 0) state_->show(at_us, "\r\n");
  const vt::Cursor cursor = screen.cursor();
  if (cursor.row == 0) return;
  const vt::Screen::Margins margins = screen.margins();
  const bool all_rows = margins.top == 0 && margins.bottom == screen.rows() - 1;
  std::string redraw = fmt::format("\033[m\033[r\033[{};1H", screen.rows());
  redraw.append(static_cast<size_t>(cursor.row), '\n');
  if (!all_rows) redraw += fmt::format("\033[{};{}r", margins.top + 1, margins.bottom + 1);
  redraw += fmt::format("\033[{}m\033[1;{}H", vt::sgr_text(screen.pen(), vt::ColorForm::Semicolons),
                        cursor.col + 1);
  state_->show(at_us, redraw);
}

Recording Maker::finish() {
  state_->recording.masks_ = state_->finder.take();
  return std::move(state_->recording);
}

}  // namespace ttyward::record
