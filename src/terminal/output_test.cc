#include "terminal/output.h"

#include <gtest/gtest.h>

#include <random>

namespace ttyward::terminal {
namespace {

using Source = BinarySniffer::Source;
using Lines = std::vector<std::string>;

Lines lines_of(const Transcript& transcript) {
  Lines out;
  transcript.forward(1, [&](const Transcript::Entry& entry) {
    for (uint64_t i = 0; i < entry.repeat; i++) out.push_back(entry.text);
    return true;
  });
  return out;
}

Lines shown(std::string_view bytes, Source source = Source::Terminal, int cols = 80, int rows = 24) {
  Output output({.cols = cols, .rows = rows, .source = source, .transcript = {}});
  output.feed(bytes);
  output.finish();
  return lines_of(output.transcript());
}

// What was fed, to be read again.
struct Fed final : KeptBytes {
  bool read(uint64_t offset, std::span<char> into) override {
    reads++;
    if (gone || offset + into.size() > bytes.size()) return false;
    bytes.copy(into.data(), into.size(), offset);
    return true;
  }
  std::string bytes;
  size_t reads = 0;
  bool gone = false;
};

TEST(Output, lines_end_up_in_order) {
  EXPECT_EQ(shown("one\r\ntwo\r\n\r\nthree"), (Lines{"one", "two", "", "three"}));
  EXPECT_EQ(shown("one\ntwo\n", Source::Pipe), (Lines{"one", "two"}));
  EXPECT_EQ(shown("one\r\ntwo\r\n", Source::Pipe), (Lines{"one", "two"}));
  EXPECT_EQ(shown(""), Lines{});
  EXPECT_EQ(shown("\r\n\r\n"), Lines{});
}

TEST(Output, lines_from_a_pipe_are_what_was_written) {
  EXPECT_EQ(shown("a\tb  \n  c\t\n", Source::Pipe), (Lines{"a\tb  ", "  c\t"}));
  EXPECT_EQ(shown("a\tb  \r\n\n\nend\t", Source::Pipe), (Lines{"a\tb  ", "", "", "end\t"}));
  EXPECT_EQ(shown("gr\xc3\xbc\xc3\x9f\t\xe2\x82\xac \n", Source::Pipe),
            (Lines{"gr\xc3\xbc\xc3\x9f\t\xe2\x82\xac "}));
  EXPECT_EQ(shown(std::string(200, 'x') + "\t\n", Source::Pipe), (Lines{std::string(200, 'x') + "\t"}));
  // What is written for a screen is still made by one.
  EXPECT_EQ(shown("10%\r20%\r100%\nthen\tplain\n", Source::Pipe), (Lines{"100%", "then\tplain"}));
  EXPECT_EQ(shown("a\t\n\x1b[31mred\x1b[m\nb\t\n", Source::Pipe), (Lines{"a\t", "red", "b\t"}));
  EXPECT_EQ(shown("one\t\n\n\n", Source::Pipe), (Lines{"one\t"}));
}

TEST(Output, lines_from_a_pipe_do_not_depend_on_how_they_were_cut) {
  std::string bytes;
  for (int i = 0; i < 200; i++)
    bytes += std::to_string(i) + (i % 3 == 0    ? "\tcolumn  \n"
                                  : i % 7 == 0  ? "%\rdone\n"
                                  : i % 11 == 0 ? "\n\n"
                                                : " \r\n");
  bytes += "last\t";
  const Lines whole = shown(bytes, Source::Pipe);
  EXPECT_EQ(whole.front(), "0\tcolumn  ");
  EXPECT_EQ(whole.back(), "last\t");
  for (size_t size : {1, 2, 3, 5, 64, 1000}) {
    Output output({.source = Source::Pipe, .transcript = {}});
    for (size_t at = 0; at < bytes.size(); at += size) output.feed(std::string_view(bytes).substr(at, size));
    EXPECT_TRUE(output.ends_in_line());
    EXPECT_EQ(output.cursor_line(), "last\t");
    output.as_if_finished([&](const Transcript& now) { EXPECT_EQ(lines_of(now), whole) << size; });
    output.finish();
    EXPECT_EQ(lines_of(output.transcript()), whole) << size;
    EXPECT_NE(output.screen().line(output.screen().cursor().row).text.find("last"), std::string::npos);
  }
}

TEST(Output, plain_lines_on_a_terminal_are_what_was_written) {
  EXPECT_EQ(shown("a\tb  \r\n  c\t\r\nd\r\n"), (Lines{"a\tb  ", "  c\t", "d"}));
  EXPECT_EQ(shown("a\tb  \r\nend  "), (Lines{"a\tb  ", "end"}));  // it may go on
  EXPECT_EQ(shown("gr\xc3\xbc\xc3\x9f\t\xe2\x82\xac \r\n"), (Lines{"gr\xc3\xbc\xc3\x9f\t\xe2\x82\xac "}));
  // Wider than the screen.
  EXPECT_EQ(shown(std::string(100, 'x') + "  \r\nend\r\n"), (Lines{std::string(100, 'x') + "  ", "end"}));
  EXPECT_EQ(shown(std::string(79, 'x') + "    \r\n"), (Lines{std::string(79, 'x') + "    "}));
}

TEST(Output, lines_made_by_a_screen_end_without_blanks) {
  EXPECT_EQ(shown("10%  \r20%  \r\n"), (Lines{"20%"}));
  EXPECT_EQ(shown("\x1b[31mred  \x1b[m\r\n"), (Lines{"red"}));
  EXPECT_EQ(shown("a\tb\r\n\x1b[A\x1b[2Kc\r\n"), (Lines{"c"}));         // written over
  EXPECT_EQ(shown("a\tb\r\n\x1b[AX\r\n"), (Lines{"X       b"}));        // in part
  EXPECT_EQ(shown("\x1b[3g\x1b[5G\x1bH\ra\tb\r\n"), (Lines{"a   b"}));  // other tab stops
}

TEST(Output, what_was_written_does_not_depend_on_how_it_came) {
  std::mt19937 random(7);
  const std::string pieces[] = {
      "plain",    "\t",     "  ", "\r\n", "\r\n", "\x1b[32m", "\x1b[m", "x\r", std::string(90, 'w'),
      "\xc3\xa4", "\x1b[A", "\n"};
  for (int round = 0; round < 200; round++) {
    std::string text;
    for (int i = 0; i < 60; i++) text += pieces[random() % std::size(pieces)];
    for (int i = 0; i < 40; i++) text += "blanks  \r\ntab\tbed " + std::string(random() % 90, 'y') + " \r\n";
    const Lines whole = shown(text, Source::Terminal, 80, 5);
    Output output({.cols = 80, .rows = 5, .source = Source::Terminal, .transcript = {}});
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 300;
      output.feed(std::string_view(text).substr(at, n));
      at += n;
    }
    output.finish();
    ASSERT_EQ(lines_of(output.transcript()), whole) << round;
  }
}

TEST(Output, a_flood_on_a_terminal_keeps_its_blanks) {
  std::string text;
  Lines wanted;
  for (int i = 0; i < 3000; i++) {
    wanted.push_back("line " + std::to_string(i) + "  ");
    text += wanted.back() + "\r\n";
  }
  EXPECT_EQ(shown(text), wanted);
}

TEST(Output, a_flood_from_a_pipe_keeps_its_blanks) {
  std::string bytes;
  for (int i = 0; i < 5000; i++) bytes += "line " + std::to_string(i) + (i % 2 == 0 ? "  \n" : "\n");
  Fed fed;
  fed.bytes = bytes;
  Output output({.source = Source::Pipe, .transcript = {.kept = &fed}});
  output.feed(bytes, 0);
  output.finish();
  const Lines lines = lines_of(output.transcript());
  ASSERT_EQ(lines.size(), 5000u);
  EXPECT_EQ(lines[0], "line 0  ");
  EXPECT_EQ(lines[4999], "line 4999");
  EXPECT_EQ(lines[2500], "line 2500  ");
}

TEST(Output, a_progress_bar_is_its_last_state) {
  std::string bytes = "start\r\n";
  for (int i = 0; i <= 100; i++)
    bytes += "\r" + std::to_string(i) + "% [" + std::string(static_cast<size_t>(i / 5), '#') + "]";
  EXPECT_EQ(shown(bytes + "\r\ndone\r\n"), (Lines{"start", "100% [####################]", "done"}));
}

TEST(Output, backspace_and_erasure_are_resolved) {
  EXPECT_EQ(shown("abc\b\bX\r\n"), (Lines{"aXc"}));
  EXPECT_EQ(shown("secret\r\x1b[Kshown\r\n"), (Lines{"shown"}));
  EXPECT_EQ(shown("one\r\ntwo\r\n\x1b[2J\x1b[Hthree\r\n").back(), "three");
}

TEST(Output, lines_rewritten_from_below_have_their_last_form) {
  EXPECT_EQ(shown("a: 0%\r\nb: 0%\r\n\x1b[2Aa: 50%\x1b[K\r\nb: 70%\x1b[K\r\n\x1b[2A\x1b[Ka: done\r\n\x1b[Kb: "
                  "done\r\n"),
            (Lines{"a: done", "b: done"}));
}

TEST(Output, colours_and_titles_leave_no_trace) {
  EXPECT_EQ(shown("\x1b]0;title\x07\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n"),
            (Lines{"red link"}));
}

TEST(Output, the_alternate_screen_is_not_output) {
  EXPECT_EQ(shown("before\r\n\x1b[?1049h\x1b[Hfull screen\r\nmore\x1b[?1049l"
                  "after\r\n"),
            (Lines{"before", "after"}));
  EXPECT_EQ(shown("before\r\n\x1b[?1049h\x1b[Hkilled in vim"), (Lines{"before"}));
}

TEST(Output, soft_wrapped_lines_are_one_line) {
  const std::string line(1000, 'x');
  EXPECT_EQ(shown("a\r\n" + line + "\r\nb\r\n"), (Lines{"a", line, "b"}));
  EXPECT_EQ(shown(line), (Lines{line}));
  std::string many;
  for (int i = 0; i < 100; i++) many += line + std::to_string(i) + "\r\n";
  const Lines lines = shown(many);
  ASSERT_EQ(lines.size(), 100u);
  EXPECT_EQ(lines[57], line + "57");
}

TEST(Output, blanks_inside_a_wrapped_line_stay) {
  const std::string line = std::string(75, 'x') + std::string(20, ' ') + "y";
  EXPECT_EQ(shown(line + "\r\n"), (Lines{line}));
  std::string many;
  for (int i = 0; i < 500; i++) many += line + "\r\n";
  EXPECT_EQ(shown(many), Lines(500, line));
}

TEST(Output, a_line_without_end_costs_bounded_memory) {
  Output output({.cols = 80, .rows = 24, .source = Source::Pipe, .transcript = {}});
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 40; i++) output.feed(piece);
  output.finish();
  EXPECT_EQ(output.transcript().bytes(), 40u << 20);
  EXPECT_GE(output.transcript().size(), 3u);
}

TEST(Output, binary_is_counted_and_not_shown) {
  Output output({.cols = 80, .rows = 24, .source = Source::Pipe, .transcript = {}});
  output.feed(
      std::string("\x7f"
                  "ELF\0\0\0\0",
                  8));
  output.feed("text after it\n");
  output.finish();
  EXPECT_TRUE(output.is_binary());
  EXPECT_EQ(output.total_bytes(), 22u);
  EXPECT_EQ(output.transcript().size(), 0u);
}

TEST(Output, the_cursors_line_is_what_a_waiting_program_asked) {
  Output output({});
  output.feed("hello\r\nPassword: ");
  EXPECT_EQ(output.cursor_line(), "Password:");
}

TEST(Output, marks_tell_their_place_in_the_output) {
  std::string plain;
  for (int i = 0; i < 20'000; i++) plain += "line " + std::to_string(i) + "\r\n";
  const std::string mark = "\x1b]133;D;0\x07";
  const std::string bytes = plain + mark + "half a line" + plain + mark + plain + mark;
  for (const size_t piece : {size_t{1000}, size_t{70'000}, bytes.size()}) {
    Output output({});
    std::vector<uint64_t> places;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      output.feed(std::string_view(bytes).substr(at, piece));
      for (const vt::Event& event : output.take_events()) {
        if (const auto* found = std::get_if<vt::ShellMark>(&event)) places.push_back(found->begin);
      }
    }
    EXPECT_EQ(places, (std::vector<uint64_t>{plain.size(), 2 * plain.size() + mark.size() + 11,
                                             3 * plain.size() + 2 * mark.size() + 11}));
  }
}

TEST(Output, an_unfinished_character_at_the_end_is_not_lost) {
  EXPECT_EQ(shown("ab\xE2\x82"), (Lines{"ab\xEF\xBF\xBD"}));
}

// As compilers, grep and tests do; now and then with a colour that outlives the line.
void colour(std::string& line, std::mt19937& random) {
  const char* begins[] = {"\x1b[31m", "\x1b[01;31m\x1b[K", "\x1b[48;5;22m", "\x1b[m", "\x1b[K"};
  const char* ends[] = {"\x1b[m", "\x1b[0m", "\x1b[m\x1b[K", "\x1b[0m   "};
  for (int i = static_cast<int>(random() % 3); i >= 0; i--) {
    line.insert(random() % (line.size() + 1), begins[random() % std::size(begins)]);
  }
  if (random() % 200 != 0) line += ends[random() % std::size(ends)];
}

// Output of any kind, with long stretches of plain lines in it: there the shortcut is taken.
std::string random_output(std::mt19937& random, Source source) {
  const std::string end = source == Source::Terminal ? "\r\n" : "\n";
  std::string out;
  const int parts = 1 + static_cast<int>(random() % 6);
  for (int part = 0; part < parts; part++) {
    switch (random() % 14) {
      case 0: {
        const char* sequences[] = {"\x1b[31m",
                                   "\x1b[0m",
                                   "\x1b[2A",
                                   "\x1b[5;5H",
                                   "\x1b[K",
                                   "\x1b[J",
                                   "\x1b[3b",
                                   "\x1b"
                                   "7",
                                   "\x1b"
                                   "8",
                                   "\x1b[4h",
                                   "\x1b[4l",
                                   "\x1b[?7l",
                                   "\x1b[?7h",
                                   "\x1b[2;6r",
                                   "\x1b[r",
                                   "\x1b(0",
                                   "\x1b(B",
                                   "\x1b[?6h",
                                   "\x1b[?6l",
                                   "\x0e",
                                   "\x0f",
                                   "\x1b[20h",
                                   "\x1b[20l",
                                   "\x1b[3S",
                                   "\x1b[2T",
                                   "\x1b[2L",
                                   "\x1b[1M",
                                   "\x1bM",
                                   "\x1b[?1049h",
                                   "\x1b[?1049l",
                                   "\x1b[42m",
                                   "\x1b#3",
                                   "\x1b#6",
                                   "\x1b[!p",
                                   "\x1bN",
                                   "\x1b]133;A\x07",
                                   "\x1b[2J",
                                   "\x1b[3J",
                                   "\x1b#8",
                                   "\x1b"
                                   "c"};
        out += sequences[random() % std::size(sequences)];
        break;
      }
      case 1:
        out += "tab\there\t";
        break;
      case 2:
        out += "\r";
        break;
      case 3:
        out += "back\b\b";
        break;
      case 4:
        out += "héllo wörld €😀日本" + end;
        break;
      case 5:
        out += "\n";
        break;
      case 6:
        out += "unfinished";
        break;
      case 7:
        out += std::string(80, '=') + end;
        break;
      case 8:
        out += "e\xCC\x81";  // a combining mark
        break;
      default: {
        const int n = 20 + static_cast<int>(random() % 900);
        const bool coloured = random() % 2 == 0;
        for (int i = 0; i < n; i++) {
          std::string line = std::to_string(i);
          const uint32_t kind = random() % 8;
          if (kind == 0) line.append(random() % 400, 'x');
          if (kind == 1) line.append(random() % 100, ' ');
          if (kind == 2) line.clear();
          if (kind == 3) line = std::string(random() % 90, ' ') + "y";
          if (coloured && random() % 2 == 0) colour(line, random);
          out += line + end;
        }
      }
    }
  }
  return out;
}

TEST(Output, any_chunking_gives_the_same_transcript_and_screen) {
  for (uint32_t seed = 0; seed < 300; seed++) {
    std::mt19937 random(seed);
    const Source source = seed % 2 == 0 ? Source::Terminal : Source::Pipe;
    const OutputOptions options{.cols = 20 + static_cast<int>(random() % 80),
                                .rows = 2 + static_cast<int>(random() % 30),
                                .source = source,
                                .transcript = {}};
    const std::string bytes = random_output(random, source) + random_output(random, source);
    Output slow(options);
    for (size_t at = 0; at < bytes.size(); at += 1000) slow.feed(std::string_view(bytes).substr(at, 1000));
    Fed fed;
    fed.bytes = bytes;
    OutputOptions by_reference = options;
    by_reference.transcript.kept = seed % 3 == 0 ? nullptr : &fed;
    Output fast(by_reference);
    for (size_t at = 0; at < bytes.size();) {
      const size_t piece = random() % 3 == 0 ? 1 + random() % 100 : 1 + random() % 60'000;
      fast.feed(std::string_view(bytes).substr(at, piece), at);
      at += piece;
    }
    for (int r = 0; r < options.rows; r++) {
      ASSERT_EQ(fast.screen().line(r), slow.screen().line(r)) << "seed " << seed << " row " << r;
    }
    ASSERT_EQ(fast.screen().cursor().row, slow.screen().cursor().row) << "seed " << seed;
    ASSERT_EQ(fast.screen().cursor().col, slow.screen().cursor().col) << "seed " << seed;
    // What comes next must find both in the same state.
    for (Output* output : {&slow, &fast}) {
      output->feed(
          "\x1b[3bnext\r\n\x1b"
          "8more\x1b[?1049lend");
      output->finish();
    }
    ASSERT_EQ(lines_of(fast.transcript()), lines_of(slow.transcript())) << "seed " << seed;
  }
}

TEST(Output, one_byte_at_a_time_is_the_same_too) {
  for (uint32_t seed = 0; seed < 100; seed++) {
    std::mt19937 random(seed + 5000);
    const std::string bytes = random_output(random, Source::Terminal);
    Output slow({});
    for (const char c : bytes) slow.feed({&c, 1});
    slow.finish();
    ASSERT_EQ(shown(bytes), lines_of(slow.transcript())) << "seed " << seed;
  }
}

TEST(Output, lines_that_are_kept_elsewhere_read_as_those_that_are_not) {
  for (const Source source : {Source::Terminal, Source::Pipe}) {
    const std::string end = source == Source::Terminal ? "\r\n" : "\n";
    Fed fed;
    for (int i = 0; i < 40'000; i++) {
      fed.bytes += "line " + std::to_string(i / (i % 1000 < 100 ? 100 : 1)) +
                   std::string(static_cast<size_t>(i % 3), ' ') + end;
      if (i % 5000 == 0) fed.bytes += "\x1b[31mcolour\x1b[m \xc3\xa9" + end;
      if (i > 20'000 && i < 30'000) fed.bytes += "again" + end;
    }
    OutputOptions options{.cols = 80, .rows = 24, .source = source, .transcript = {}};
    Output plain(options);
    options.transcript.kept = &fed;
    Output by_reference(options);
    for (size_t at = 0, n = 0; at < fed.bytes.size(); at += n) {
      n = std::min<size_t>(100'003, fed.bytes.size() - at);
      plain.feed(std::string_view(fed.bytes).substr(at, n));
      by_reference.feed(std::string_view(fed.bytes).substr(at, n), at);
    }
    plain.finish();
    by_reference.finish();
    EXPECT_EQ(by_reference.transcript().size(), plain.transcript().size());
    EXPECT_EQ(by_reference.transcript().bytes(), plain.transcript().bytes());
    EXPECT_LT(by_reference.transcript().memory(), plain.transcript().memory() / 2);
    EXPECT_EQ(fed.reads, 0u);
    EXPECT_EQ(lines_of(by_reference.transcript()), lines_of(plain.transcript()));
    EXPECT_GT(fed.reads, 0u);
    EXPECT_EQ(by_reference.transcript().line(12'345), plain.transcript().line(12'345));

    fed.gone = true;  // the journal has reached its quota
    uint64_t dropped = 0;
    by_reference.transcript().forward(1, [&](const Transcript::Entry& entry) {
      dropped += entry.dropped ? entry.repeat : 0;
      return true;
    });
    EXPECT_GT(dropped, 20'000u);
  }
}

TEST(Output, lines_in_colours_by_the_screenful_hardly_pass_the_screen) {
  for (const Source source : {Source::Terminal, Source::Shell, Source::Pipe}) {
    const std::string end = source == Source::Pipe ? "\n" : "\r\n";
    Fed fed;
    Lines expected;
    for (int i = 0; i < 20'000; i++) {
      const std::string number = std::to_string(i);
      fed.bytes +=
          "\x1b[1m" + number + ".cc:\x1b[m \x1b[01;31m\x1b[Kerror:\x1b[m\x1b[K no " + number + "  " + end;
      expected.push_back(number + ".cc: error: no " + number);
    }
    OutputOptions options{.cols = 80, .rows = 24, .source = source, .transcript = {}};
    options.transcript.kept = &fed;
    Output output(options);
    constexpr size_t kPiece = 60'000;
    for (size_t at = 0; at < fed.bytes.size(); at += kPiece)
      output.feed(std::string_view(fed.bytes).substr(at, kPiece), at);
    EXPECT_LT(output.emulated_bytes(), output.total_bytes() / 10);
    const vt::Style red = output.screen().line(output.screen().cursor().row - 1).spans.at(2).style;
    EXPECT_NE(red, vt::Style{});
    output.finish();
    EXPECT_EQ(lines_of(output.transcript()), expected);

    // Who wants the colours gets them.
    options.with_styles = true;
    options.transcript.kept = nullptr;
    Output styled(options);
    styled.feed(fed.bytes);
    styled.finish();
    EXPECT_NE(styled.transcript().line(777)->find("error:\x1b[m"), std::string::npos);
  }
}

TEST(Output, a_line_over_and_over_is_one_entry_however_it_comes_in) {
  for (const size_t chunk : {4096u, 100'003u, 1u << 20}) {
    Fed fed;
    for (int i = 0; i < 300'000; i++) fed.bytes += "y\n";
    OutputOptions options{.cols = 80, .rows = 24, .source = Source::Pipe, .transcript = {}};
    options.transcript.kept = &fed;
    Output output(options);
    for (size_t at = 0; at < fed.bytes.size(); at += chunk)
      output.feed(std::string_view(fed.bytes).substr(at, chunk), at);
    output.finish();
    size_t entries = 0;
    output.transcript().forward(1, [&](const Transcript::Entry& entry) {
      EXPECT_EQ(entry.text, "y");
      entries++;
      return true;
    });
    EXPECT_EQ(output.transcript().size(), 300'000u);
    EXPECT_EQ(entries, 1u);
  }
}

TEST(Output, marks_tell_their_place_in_an_old_encoding_too) {
  std::string bytes;
  std::vector<uint64_t> expected;
  for (int i = 0; i < 50; i++) {
    bytes +=
        "Die Gr\xf6\xdf"
        "e der L\xf6sung \xfc"
        "bersteigt die zul\xe4ssige L\xe4nge f\xfcr das Ger\xe4t.\r\n";
    expected.push_back(bytes.size());
    bytes += "\x1b]633;D;0\x07";
  }
  for (const size_t chunk : {size_t{7}, size_t{64}, bytes.size()}) {
    Output output({.cols = 80, .rows = 24, .source = Source::Terminal, .transcript = {}});
    std::vector<uint64_t> places;
    for (size_t at = 0; at < bytes.size(); at += chunk) {
      output.feed(std::string_view(bytes).substr(at, chunk));
      for (const vt::Event& event : output.take_events()) {
        if (const auto* mark = std::get_if<vt::ShellMark>(&event)) places.push_back(mark->begin);
      }
    }
    EXPECT_EQ(places, expected) << chunk << " " << output.encoding();
  }
}

}  // namespace
}  // namespace ttyward::terminal
