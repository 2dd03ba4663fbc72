// Bytes to parser to screen to everything that can be read: no crash, no broken
// cell, and the same result however the input was cut.
//
// The first byte chooses the screen and the cuts; the rest is terminal output.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "../tests/support/dump.h"
#include "vt/screen.h"
#include "vt/serialize/serialize.h"

namespace {

using ttyward::vt::Screen;
using ttyward::vt::ScreenOptions;

ScreenOptions options_for(uint8_t choice) {
  static constexpr int kCols[] = {10, 80, 1, 2, 5, 33, 16, 132};
  static constexpr int kRows[] = {4, 1, 24, 3};
  ScreenOptions options;
  options.cols = kCols[choice & 7];
  options.rows = kRows[choice >> 3 & 3];
  options.scrollback.lines = (choice & 0x20) != 0 ? 5 : 200;
  options.conformance = (choice & 0x40) != 0;
  return options;
}

[[noreturn]] void fail(std::string_view what, std::string_view one, std::string_view other) {
  std::cerr << what << "\n" << one << "\n---\n" << other << "\n";
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t choice = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  Screen whole(options_for(choice));
  Screen cut(options_for(choice));
  whole.feed(input);
  size_t step = 1 + (data[1] & 3);
  for (size_t at = 0; at < input.size(); at += step) cut.feed(input.substr(at, step));
  if (const std::string broken = ttyward::test::broken_invariant(whole); !broken.empty()) {
    fail("broken:", broken, ttyward::test::dump(whole));
  }
  const std::string one = ttyward::test::dump(whole);
  const std::string other = ttyward::test::dump(cut);
  if (one != other) fail("cutting the input changes the result", one, other);

  // Every way to read it out.
  using ttyward::vt::Format;
  using ttyward::vt::WithHistory;
  for (const Format format : {Format::Text, Format::Ansi, Format::Json, Format::Html, Format::Svg}) {
    for (const WithHistory history : {WithHistory::No, WithHistory::Yes}) {
      (void)ttyward::vt::screen_as(whole, format, history);
    }
  }
  return 0;
}
