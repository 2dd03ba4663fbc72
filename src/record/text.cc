#include "record/writers.h"
#include "vt/screen.h"
#include "vt/serialize/serialize.h"

namespace ttyward::record {
namespace {

constexpr size_t kMostLines = 1'000'000;  // of the newest

}  // namespace

void write_text(const Recording& recording, const Sink& sink) {
  vt::ScreenOptions options;
  options.cols = recording.header().size.cols;
  options.rows = recording.header().size.rows;
  options.scrollback.lines = kMostLines;
  vt::Screen screen(options);
  recording.for_each([&](const Event& event) {
    if (event.kind == Event::Kind::Output) screen.feed(event.text);
    if (event.kind == Event::Kind::Resize) screen.resize(event.size.cols, event.size.rows);
    screen.take_replies();
    screen.take_events();
    return true;
  });
  screen.end_synchronized_output();
  std::string last;
  vt::write_text(screen, vt::WithHistory::Yes, [&](std::string_view piece) {
    if (piece.empty()) return;
    last = piece.back();
    sink(piece);
  });
  if (!last.empty() && last != "\n") sink("\n");
}

}  // namespace ttyward::record
