#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/asciicast.h"
#include "record/film.h"
#include "record/recording.h"
#include "record/visible.h"
#include "record/writers.h"
#include "vt/screen.h"
#include "vt/serialize/serialize.h"

namespace ttyward::record {
namespace {

// Put together here so that no scanner takes this file for a leak.
const std::string kToken = std::string("ghp") + "_0123456789abcdefghijABCDEFGHIJ012345";
const std::string kStars(36, '*');  // what follows the prefix

Header sized(int cols, int rows) {
  Header header;
  header.size = {cols, rows};
  return header;
}

std::string visible(std::string_view bytes, LineFeeds line_feeds = LineFeeds::AsTheyAre) {
  Visible filter(line_feeds);
  std::string out;
  filter.feed(bytes, out);
  return out;
}

std::vector<Event> events_of(const Recording& recording) {
  std::vector<Event> events;
  recording.for_each([&](const Event& event) {
    events.push_back(event);
    return true;
  });
  return events;
}

std::string output_of(const Recording& recording) {
  std::string all;
  for (const Event& event : events_of(recording))
    if (event.kind == Event::Kind::Output) all += event.text;
  return all;
}

// Each piece an event, a millisecond apart.
Recording made_of(const std::vector<std::string>& pieces, Header header = {}) {
  Maker maker(std::move(header), LineFeeds::AsTheyAre);
  uint64_t at = 0;
  for (const std::string& piece : pieces) EXPECT_TRUE(maker.output(at += 1000, piece).has_value());
  return maker.finish();
}

std::vector<std::string> bytes_of(std::string_view text) {
  std::vector<std::string> out;
  for (const char c : text) out.emplace_back(1, c);
  return out;
}

std::string written(const Recording& recording, CastVersion version = CastVersion::V3) {
  std::string out;
  write_asciicast(recording, version, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string screen_after(const Recording& recording) {
  vt::ScreenOptions options;
  options.cols = recording.header().size.cols;
  options.rows = recording.header().size.rows;
  vt::Screen screen(options);
  for (const Event& event : events_of(recording)) {
    if (event.kind == Event::Kind::Output) screen.feed(event.text);
    if (event.kind == Event::Kind::Resize) screen.resize(event.size.cols, event.size.rows);
  }
  return vt::screen_as(screen, vt::Format::Text);
}

TEST(Visible, keeps_what_is_seen) {
  for (const char* text :
       {"plain text\r\n", "\033[1;31mred\033[0m", "\033[2J\033[1;1H", "\033[?1049h", "\033[?25l", "\033[2;5r",
        "\0337\0338", "\033(0qqq\033(B", "\033]2;a title\033\\", "\ttab\b",
        "\033]8;;https://example.org\033\\link\033]8;;\033\\", "h\xC3\xA9llo \xF0\x9F\x98\x80",
        "\033[38;2;1;2;3mx", "\033[4:3mx", "\033[38:2::1:2:3mx"})
    EXPECT_EQ(visible(text), text);
}

TEST(Visible, leaves_out_questions_marks_and_modes_of_input) {
  for (const char* text : {"\033[c",
                           "\033[>c",
                           "\033[6n",
                           "\033[?6n",
                           "\033[?25$p",
                           "\033[>q",
                           "\033[?u",
                           "\033[14t",
                           "\033[8;10;10t",
                           "\033[x",
                           "\033P$qm\033\\",
                           "\033]52;c;c2VjcmV0\a",
                           "\033]633;E;ls;abcdef\a",
                           "\033]133;C\a",
                           "\033]7;file://host/tmp\a",
                           "\033]9;hello\a",
                           "\033]777;notify;a;b\a",
                           "\033]10;?\a",
                           "\033]4;1;?\a",
                           "\a",
                           "\005",
                           "\033[?1000h",
                           "\033[?2004h",
                           "\033[?1h",
                           "\033=",
                           "\033[>1u",
                           "\033[>4;2m",
                           "\033[5i",
                           "\033Z",
                           "\033_secret\033\\",
                           "\033^secret\033\\",
                           "\033ktitle\033\\",
                           "\033[99z",
                           "\033]1337;File=:AAAA\a"})
    EXPECT_EQ(visible(text), "") << std::string(text).substr(1);
  EXPECT_EQ(visible("\033[?25;1000;7l"), "\033[?25l\033[?7l");
  // REP repeats a character right before it, and nothing else.
  EXPECT_EQ(visible("a\033[3b"), "a\033[3b");
  EXPECT_EQ(visible("a\033[c\033[3b"), "a");
}

TEST(Visible, is_always_valid_utf8_in_whole_pieces) {
  EXPECT_EQ(visible("a\xFF\xC3"), "a\xEF\xBF\xBD");
  Visible filter(LineFeeds::AsTheyAre);
  std::string out;
  filter.feed("\xE2\x82", out);
  filter.feed("\033", out);
  EXPECT_EQ(out, "\xEF\xBF\xBD");
  filter.feed("[3", out);
  EXPECT_EQ(out, "\xEF\xBF\xBD");
  filter.feed("1mx", out);
  EXPECT_EQ(out, "\xEF\xBF\xBD\033[31mx");
  EXPECT_EQ(visible("a\nb\n", LineFeeds::ReturnTheCarriage), "a\r\nb\r\n");
}

TEST(Secrets, are_masked_within_one_event) {
  EXPECT_EQ(output_of(made_of({"PASSWORD=hunter2 ./run\r\n"})), "PASSWORD=******* ./run\r\n");
  EXPECT_EQ(output_of(made_of({"the token " + kToken + " is mine\r\n"})),
            "the token ghp_" + kStars + " is mine\r\n");
  EXPECT_EQ(output_of(made_of({"don't\r\nPASSWORD='a b' x\r\n"})), "don't\r\nPASSWORD='***' x\r\n");
}

TEST(Secrets, are_masked_over_any_events) {
  EXPECT_EQ(output_of(made_of(bytes_of("x " + kToken + " y\r\n"))), "x ghp_" + kStars + " y\r\n");
  EXPECT_EQ(output_of(made_of({"x " + kToken.substr(0, 9), kToken.substr(9) + " y\r\n"})),
            "x ghp_" + kStars + " y\r\n");
}

TEST(Secrets, are_masked_under_colours) {
  std::string coloured;
  for (const char c : kToken) coloured += std::string("\033[31m") + c;
  const std::string out = output_of(made_of({coloured + "\033[0m\r\n"}));
  EXPECT_EQ(out.find("0123"), std::string::npos);
  std::string seen;
  for (size_t i = 0; i < out.size(); i++) {
    if (out[i] == '\033')
      i = out.find('m', i);
    else if (out[i] >= ' ')
      seen += out[i];
  }
  EXPECT_EQ(seen, "ghp_" + kStars);
}

TEST(Secrets, are_masked_over_the_margin) {
  EXPECT_EQ(output_of(made_of({"TOKEN=" + kToken + "\r\n"}, sized(20, 5))), "TOKEN=****" + kStars + "\r\n");
  // As readline wraps a line that it edits.
  const std::string line = "export TOKEN=" + kToken;
  EXPECT_EQ(
      output_of(made_of({"$ " + line.substr(0, 18), line.substr(18, 1) + " \r" + line.substr(19), "\r\n"},
                        sized(20, 5)))
          .find("789"),
      std::string::npos);
}

TEST(Secrets, are_masked_where_they_are_overwritten_at_once) {
  EXPECT_EQ(output_of(made_of({"PASSWORD=hunter2\r\033[Kok\r\n"})), "PASSWORD=*******\r\033[Kok\r\n");
}

TEST(Secrets, wide_characters_keep_their_columns) {
  EXPECT_EQ(output_of(made_of({"PASSWORD=\xE6\xBC\xA2x end"})), "PASSWORD=*** end");
}

TEST(Secrets, keys_are_masked_over_their_lines) {
  const std::string begin = std::string("-----BEGIN OPENSSH ") + "PRIVATE KEY-----";
  const std::string end = std::string("-----END OPENSSH ") + "PRIVATE KEY-----";
  EXPECT_EQ(output_of(made_of({begin + "\r\nabcd\r\nefgh\r\n" + end + "\r\nafter\r\n"})),
            begin + "\r\n****\r\n****\r\n" + end + "\r\nafter\r\n");
}

TEST(Secrets, are_masked_in_titles_and_labels) {
  Header header;
  header.command = "TOKEN=abc run";
  Maker maker(header, LineFeeds::AsTheyAre);
  maker.marker(0, "TOKEN=abc run");
  ASSERT_TRUE(maker.output(0, "\033]2;TOKEN=abc\a").has_value());
  const Recording recording = maker.finish();
  EXPECT_EQ(recording.header().command, "TOKEN=*** run");
  EXPECT_EQ(written(recording).find("abc"), std::string::npos);
}

TEST(Secrets, harmless_text_stays) {
  for (const char* text :
       {"total 12\r\n", "tokens: 5\r\n", "PATH=/usr/bin\r\n", "password: \r\n", "a=b c:d\r\n"})
    EXPECT_EQ(output_of(made_of({text})), text);
}

TEST(Recording, resizes_and_times) {
  Maker maker(sized(80, 24), LineFeeds::AsTheyAre);
  ASSERT_TRUE(maker.output(1'500'000, "a").has_value());
  maker.resize(2'000'000, {100, 30});
  maker.resize(2'000'000, {100, 30});
  ASSERT_TRUE(maker.output(1'000'000, "b").has_value());  // time never goes back
  maker.marker(12'000'000, "$ make");
  maker.exit(12'000'000, "3");
  Recording recording = maker.finish();
  EXPECT_EQ(written(recording),
            "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24,\"type\":\"xterm-256color\"}}\n"
            "[1.500000, \"o\", \"a\"]\n[0.500000, \"r\", \"100x30\"]\n[0.000000, \"o\", \"b\"]\n"
            "[10.000000, \"m\", \"$ make\"]\n[0.000000, \"x\", \"3\"]\n");
  EXPECT_EQ(written(recording, CastVersion::V2),
            "{\"version\":2,\"width\":80,\"height\":24,\"duration\":12.000000,\"env\":{\"TERM\":\"xterm-"
            "256color\"}}\n"
            "[1.500000, \"o\", \"a\"]\n[2.000000, \"r\", \"100x30\"]\n[2.000000, \"o\", \"b\"]\n"
            "[12.000000, \"m\", \"$ make\"]\n");
  recording.limit_idle(1);
  EXPECT_EQ(recording.duration_us(), 2'500'000U);
}

TEST(Recording, a_gap_is_marked_and_what_was_before_it_scrolls_away) {
  Maker maker(sized(20, 4), LineFeeds::AsTheyAre);
  ASSERT_TRUE(maker.output(0, "one\r\ntwo\r\nthr\033[3").has_value());
  maker.gap(10, 1234, 7);
  ASSERT_TRUE(maker.output(20, "1m after").has_value());
  const Recording recording = maker.finish();
  EXPECT_EQ(events_of(recording)[1].text, "1234 bytes are missing: they were not kept");
  EXPECT_EQ(screen_after(recording), "1m after\n");
}

TEST(Recording, a_gap_without_lines_leaves_the_screen) {
  Maker maker(sized(20, 4), LineFeeds::AsTheyAre);
  ASSERT_TRUE(maker.output(0, "one").has_value());
  maker.gap(10, 3, 0);
  ASSERT_TRUE(maker.output(20, "two").has_value());
  EXPECT_EQ(screen_after(maker.finish()), "onetwo\n");
}

// --- reading

struct Read {
  std::vector<Event> events;
  std::optional<Header> header;
  std::string error;
};

Read read(const std::string& text, size_t piece = SIZE_MAX) {
  Read out;
  CastReader reader;
  const auto take = [&](const Event& event) -> base::Result<void> {
    out.events.push_back(event);
    return {};
  };
  for (size_t at = 0; at < text.size(); at += std::min(piece, text.size())) {
    if (auto fed = reader.feed(std::string_view(text).substr(at, piece), take); !fed) {
      out.error = fed.error().message;
      return out;
    }
  }
  if (auto ended = reader.finish(take); !ended) out.error = ended.error().message;
  out.header = reader.header();
  return out;
}

TEST(CastReader, reads_what_was_written) {
  Header header = sized(90, 20);
  header.title = "a \"title\"";
  header.command = "make";
  header.started_at_ms = 1'700'000'000'000;
  header.idle_limit_s = 2.5;
  Maker maker(header, LineFeeds::AsTheyAre);
  ASSERT_TRUE(maker.output(1, "\033[1mx\xE2\x82\xAC\"\\\r\n").has_value());
  maker.marker(1'000'001, "$ ls");
  maker.resize(1'000'002, {91, 21});
  maker.exit(2'000'000, "0");
  const Recording recording = maker.finish();
  for (const size_t piece : {SIZE_MAX, size_t{1}, size_t{7}}) {
    const Read got = read(written(recording), piece);
    EXPECT_EQ(got.error, "");
    std::vector<Event> expected = events_of(recording);
    for (Event& event : expected)
      if (event.kind != Event::Kind::Resize) event.size = {};
    std::vector<Event> events = got.events;
    for (Event& event : events)
      if (event.kind != Event::Kind::Resize) event.size = {};
    EXPECT_EQ(events, expected);
    EXPECT_EQ(*got.header, recording.header());
  }
  EXPECT_EQ(read(written(recording, CastVersion::V2)).events.size(), 3U);
}

TEST(CastReader, passes_over_input_comments_and_what_is_not_known) {
  const Read got = read(
      "{\"version\":3,\"term\":{\"cols\":5,\"rows\":5}}\n# a "
      "comment\n[0.1,\"i\",\"typed\"]\n\n[0.1,\"z\",\"?\"]\n"
      "[0.1,\"o\",\"x\"]\r\n");
  ASSERT_EQ(got.error, "");
  ASSERT_EQ(got.events.size(), 1U);
  EXPECT_EQ(got.events[0].at_us, 300'000U);
}

TEST(CastReader, says_what_is_wrong_and_where) {
  const std::string good = "{\"version\":2,\"width\":80,\"height\":24}\n";
  const std::pair<std::string, const char*> cases[] = {
      {"", "it is empty"},
      {"hello\n", "line 1: the header is not a JSON object"},
      {"[1,2]\n", "line 1: the header is not a JSON object"},
      {"{}\n", "line 1: the header has no version"},
      {"{\"version\":1,\"width\":80,\"height\":24}\n", "line 1: version 1"},
      {"{\"version\":2,\"width\":80}\n", "line 1: the header has no size"},
      {"{\"version\":3,\"width\":80,\"height\":2}\n", "line 1: the header has no \"term\""},
      {"{\"version\":2,\"width\":0,\"height\":24}\n", "line 1: a screen of 0x24"},
      {"{\"version\":2,\"width\":99999999,\"height\":24}\n", "line 1: a screen of"},
      {good + "oops\n", "line 2: an event is"},
      {good + "[1,\"o\"]\n", "line 2: an event is"},
      {good + "[-1,\"o\",\"x\"]\n", "line 2: the time"},
      {good + "[\"1\",\"o\",\"x\"]\n", "line 2: the time"},
      {good + "[1e300,\"o\",\"x\"]\n", "line 2: the time"},
      {good + "[1,\"o\",\"x\"]\n[1,2,3]\n", "line 3: the kind"},
      {good + "[1,\"r\",\"80\"]\n", "line 2: the size"},
      {good + "[1,\"r\",\"0x5\"]\n", "line 2: the size"},
      {good + "[1,\"o\",\"x\"", "line 2: an event is"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(read(text).error.find(message), std::string::npos) << text << read(text).error;
}

// --- pages and pictures

std::string as(const Recording& recording, void (*write)(const Recording&, const Sink&)) {
  std::string out;
  write(recording, [&](std::string_view piece) { out += piece; });
  return out;
}

TEST(Html, hostile_output_stays_text) {
  Header header;
  header.title = "</title><script>alert(1)</script>";
  Maker maker(header, LineFeeds::AsTheyAre);
  maker.marker(0, "</script><img src=x onerror=alert(1)>");
  ASSERT_TRUE(maker.output(1, "</script><script>alert(1)</script><!-- \xE2\x80\xA8 ]]>\r\n").has_value());
  const std::string page = as(maker.finish(), &write_html);
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
}

TEST(Svg, hostile_output_stays_text_and_size_is_bounded) {
  Maker maker(sized(100, 40), LineFeeds::AsTheyAre);
  ASSERT_TRUE(maker.output(0, "</text><script>alert(1)</script>&\r\n").has_value());
  for (int i = 0; i < 20'000; i++)
    ASSERT_TRUE(maker
                    .output(static_cast<uint64_t>(i) * 50'000, "line \033[3" + std::to_string(i % 8) + "m" +
                                                                   std::to_string(i * 7919) +
                                                                   " of a flood\r\n")
                    .has_value());
  const std::string picture = as(maker.finish(), &write_svg);
  EXPECT_EQ(picture.find("<script"), std::string::npos);
  EXPECT_LT(picture.size(), size_t{4} << 20);
  EXPECT_NE(picture.find("@keyframes"), std::string::npos);
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
}

TEST(Film, ends_with_the_last_screen) {
  const Film film = make_film(made_of({"one\r\n", "two\r\n", "\033[1mthree"}), {});
  ASSERT_FALSE(film.frames.empty());
  std::vector<std::string> rows(24);
  for (const Film::Frame& frame : film.frames)
    for (const auto& [row, line] : frame.rows) {
      rows[static_cast<size_t>(row)].clear();
      for (const Film::Run& run : film.lines[line]) rows[static_cast<size_t>(row)] += run.text;
    }
  EXPECT_EQ(rows[0], "one");
  EXPECT_EQ(rows[2], "three");
  EXPECT_EQ(film.frames.back().cursor_col, 5);
}

TEST(Text, has_all_lines) {
  std::string all;
  for (int i = 0; i < 100; i++) all += std::to_string(i) + "\r\n";
  const std::string text = as(made_of({all}, sized(20, 5)), &write_text);
  EXPECT_TRUE(text.starts_with("0\n1\n2\n"));
  EXPECT_TRUE(text.ends_with("98\n99\n"));
}

TEST(Json, is_one_object) {
  const std::string json = as(made_of({"a\r\n"}), &write_json);
  EXPECT_NE(json.find("\"events\":[\n{\"at_ms\":1.000,\"kind\":\"output\",\"text\":\"a\\r\\n\"}\n]}"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace ttyward::record
