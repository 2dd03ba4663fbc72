// A recording shows what the terminal showed: bytes through a recording, an asciicast and back leave the same
// screen as the bytes themselves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../support/dump.h"
#include "../vt/grammar.h"
#include "record/asciicast.h"
#include "record/film.h"
#include "record/recording.h"

namespace ttyward::test {
namespace {

using record::CastVersion;

// What is seen: cells with their looks, cursor, title, and the text above. Modes of keyboard and mouse and
// the marks of shells are no part of a recording.
std::string picture(vt::Screen& screen) {
  std::string out =
      fmt::format("{}x{} cursor {},{} {} {} {}\n", screen.cols(), screen.rows(), screen.cursor().row,
                  screen.cursor().col, screen.cursor_visible(), screen.is_alternate(), screen.title());
  for (int row = 0; row < screen.rows(); row++) {
    const vt::Line line = screen.line(row);
    out += line.wrapped ? "+" : "|";
    for (const vt::Span& span : line.spans) {
      vt::Style style = span.style;
      const std::string link = style.link == 0 ? "" : screen.link(style.link).uri;
      style.link = 0;
      out += fmt::format(" {}:{}[{}]({:x} {:x} {:x} {:x} {})", span.col, span.cols,
                         escaped(line.text_of(span)), style.attributes, style.foreground.raw(),
                         style.background.raw(), style.underline_color.raw(), link);
    }
    out += "\n";
  }
  return out + history_text(screen);
}

struct Step {
  std::string bytes;
  record::Size size{0, 0};  // another one, after the bytes
};

std::string directly(const std::vector<Step>& steps, int cols, int rows) {
  vt::Screen screen(sized(cols, rows));
  for (const Step& step : steps) {
    screen.feed(step.bytes);
    if (step.size.cols > 0) screen.resize(step.size.cols, step.size.rows);
  }
  return picture(screen);
}

std::string recorded(const std::vector<Step>& steps, int cols, int rows, CastVersion version, size_t piece) {
  record::Header header;
  header.size = {cols, rows};
  record::Maker maker(header, record::LineFeeds::AsTheyAre);
  uint64_t at = 0;
  for (const Step& step : steps) {
    for (size_t begin = 0; begin < step.bytes.size(); begin += piece)
      EXPECT_TRUE(maker.output(at += 10, std::string_view(step.bytes).substr(begin, piece)).has_value());
    if (step.size.cols > 0) maker.resize(at, step.size);
  }
  std::string cast;
  record::write_asciicast(maker.finish(), version, [&](std::string_view text) { cast += text; });
  record::CastReader reader;
  std::optional<vt::Screen> screen;
  const auto show = [&](const record::Event& event) -> base::Result<void> {
    if (!screen) screen.emplace(sized(reader.header()->size.cols, reader.header()->size.rows));
    if (event.kind == record::Event::Kind::Output) screen->feed(event.text);
    if (event.kind == record::Event::Kind::Resize) screen->resize(event.size.cols, event.size.rows);
    return {};
  };
  const auto read = reader.feed(cast, show);
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
  EXPECT_TRUE(reader.finish(show).has_value());
  if (!screen) screen.emplace(sized(cols, rows));
  return picture(*screen);
}

class RoundTrip : public testing::TestWithParam<unsigned> {};

TEST_P(RoundTrip, of_anything_the_screen_understands) {
  Grammar grammar(GetParam());
  // What a recording leaves out must change nothing.
  constexpr const char* kLeftOut[] = {"\033[c", "\033[6n",        "\033]52;c;YQ==\a",
                                      "\a",     "\033P$qm\033\\", "\033[?1000h"};
  for (int round = 0; round < 40; round++) {
    std::vector<Step> steps;
    for (int i = 0; i < 4; i++) {
      Step step{grammar.output(12) + kLeftOut[grammar.below(6)] + grammar.output(6), {0, 0}};
      if (grammar.below(3) == 0) step.size = {4 + grammar.below(20), 2 + grammar.below(10)};
      steps.push_back(std::move(step));
    }
    const std::string expected = directly(steps, 12, 6);
    const auto version = grammar.below(2) == 0 ? CastVersion::V2 : CastVersion::V3;
    const size_t piece = 1 + static_cast<size_t>(grammar.below(40));
    std::string all;
    for (const Step& step : steps)
      all += escaped(step.bytes) + fmt::format(" [{}x{}] ", step.size.cols, step.size.rows);
    ASSERT_EQ(recorded(steps, 12, 6, version, piece), expected) << all;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip, testing::Range(1U, 26U));

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream out;
  out << file.rdbuf();
  return out.str();
}

TEST(RoundTripOf, what_real_programs_printed) {
  int count = 0;
  for (const auto& folder : std::filesystem::directory_iterator(TTYWARD_SOURCE_DIR "/tests/recordings")) {
    if (!folder.is_directory()) continue;
    const std::vector<Step> steps = {{contents(folder.path().string() + "/input"), {0, 0}}};
    const std::string expected = directly(steps, 80, 24);
    for (const size_t piece : {size_t{1}, size_t{100}, size_t{65536}})
      EXPECT_EQ(recorded(steps, 80, 24, CastVersion::V3, piece), expected) << folder.path();
    count++;
  }
  EXPECT_GT(count, 0);
}

// The bytes that scripts of the emulator's tests push.
TEST(RoundTripOf, the_scripts_of_the_emulator) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(TTYWARD_SOURCE_DIR "/tests/vt")) {
    if (file.path().extension() != ".vts") continue;
    std::ifstream script(file.path());
    std::vector<Step> steps;
    for (std::string line; std::getline(script, line);) {
      const size_t quote = line.find('"');
      if (!line.starts_with("push") && !line.starts_with("feed")) continue;
      if (quote == std::string::npos || line.rfind('"') == quote) continue;
      steps.push_back(
          {unescaped(std::string_view(line).substr(quote + 1, line.rfind('"') - quote - 1)), {0, 0}});
    }
    EXPECT_EQ(recorded(steps, 80, 25, CastVersion::V3, 17), directly(steps, 80, 25)) << file.path();
    count += static_cast<int>(steps.size());
  }
  EXPECT_GT(count, 50);
}

}  // namespace
}  // namespace ttyward::test
