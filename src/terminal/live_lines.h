// Output as plain lines while it arrives, for a reader that is not a terminal.
//
// A line is handed on when the cursor leaves it, in the form it has then: carriage
// returns, backspaces and erasures are resolved, escape sequences are gone. What
// moves up to rewrite older lines cannot be shown this way and is left out; the
// transcript has the final form.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "terminal/text_decoder.h"
#include "vt/screen.h"

namespace ttyward::terminal {

class LiveLines final : private vt::RowSink {
 public:
  using Emit = std::function<void(std::string_view line)>;  // with its line end

  LiveLines(int cols, BinarySniffer::Source source, Emit emit);
  void feed(std::string_view bytes);
  // The last line, if it has no end.
  void finish();

 private:
  void row_left(const vt::Line& line) override;

  Emit emit_;
  TextDecoder decoder_;
  vt::Screen screen_;
  std::string partial_;
};

}  // namespace ttyward::terminal
