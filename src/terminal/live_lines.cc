#include "terminal/live_lines.h"

namespace ttyward::terminal {
namespace {

// So much of a line that has not ended is shown as it comes.
constexpr size_t kLongestWait = 64 * 1024;

vt::ScreenOptions one_row(int cols, BinarySniffer::Source source, vt::RowSink* sink) {
  vt::ScreenOptions options;
  options.cols = cols;
  options.rows = 1;
  options.scrollback.lines = 0;
  options.lf_is_crlf = source == BinarySniffer::Source::Pipe;
  options.sink = sink;
  return options;
}

}  // namespace

LiveLines::LiveLines(int cols, BinarySniffer::Source source, Emit emit)
    : emit_(std::move(emit)), screen_(one_row(cols, source, this)) {}

void LiveLines::row_left(const vt::Line& line) {
  partial_ += line.text;
  if (line.wrapped) {
    if (partial_.size() < kLongestWait) return;
    emit_(partial_);
    partial_.clear();
    return;
  }
  partial_.erase(partial_.find_last_not_of(' ') + 1);
  partial_ += '\n';
  emit_(partial_);
  partial_.clear();
}

void LiveLines::feed(std::string_view bytes) {
  screen_.feed(decoder_.decode(bytes));
  screen_.take_replies();
  screen_.take_events();
}

void LiveLines::finish() {
  screen_.feed(decoder_.finish());
  if (screen_.is_alternate()) screen_.feed("\x18\x1b[?1049l");
  vt::Line last = screen_.line(0);
  last.wrapped = false;
  last.text = partial_ + last.text;
  partial_.clear();
  if (last.text.find_first_not_of(' ') != std::string::npos) row_left(last);
}

}  // namespace ttyward::terminal
