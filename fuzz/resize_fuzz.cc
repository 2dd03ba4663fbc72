// Resize storms between bytes: no crash, no broken cell, and text that goes there
// and back is still there.
//
// Input: 0xFF cols rows resizes; everything else is terminal output.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "../tests/support/dump.h"
#include "vt/screen.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ttyward::vt::Screen;
  ttyward::vt::ScreenOptions options;
  options.cols = 12;
  options.rows = 5;
  options.scrollback.lines = 400;
  Screen screen(options);
  const auto check = [&](const char* after) {
    const std::string broken = ttyward::test::broken_invariant(screen);
    if (broken.empty()) return;
    std::cerr << after << ": " << broken << "\n" << ttyward::test::dump(screen);
    std::abort();
  };
  std::string bytes;
  const auto flush = [&] {
    screen.feed(bytes);
    bytes.clear();
    check("fed");
  };
  int resizes = 0;
  for (size_t i = 0; i < size; i++) {
    if (data[i] != 0xFF || i + 2 >= size) {
      bytes += static_cast<char>(data[i]);
      continue;
    }
    flush();
    if (++resizes > 64) break;
    const int cols = 1 + data[i + 1] % 40;
    const int rows = 1 + data[i + 2] % 20;
    screen.resize(cols, rows);
    check("resized");
    i += 2;
  }
  flush();
  // Wider and back must not lose a character: there is room for every line at each step.
  if (!screen.is_alternate() && !screen.modes().has(ttyward::vt::Mode::SynchronizedOutput) &&
      screen.history_size() < 100) {
    // Blanks may come and go where a wrapped row was not full, and blank rows at the end.
    const auto letters = [&] {
      std::string text = ttyward::test::logical_text(screen);
      std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
      return text;
    };
    const std::string before = letters();
    const int cols = screen.cols();
    const int rows = screen.rows();
    screen.resize(cols + 7, rows);
    const std::string wide = letters();
    screen.resize(cols, rows);
    const std::string after = letters();
    if (before != wide || before != after) {
      std::cerr << "resizing lost text\n" << before << "\n---\n" << wide << "\n---\n" << after << "\n";
      std::abort();
    }
  }
  (void)ttyward::test::dump(screen);
  return 0;
}
