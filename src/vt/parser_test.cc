#include "vt/parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace ttyward::vt {
namespace {

using testing::ElementsAre;

// Every call as one line of text; neighbouring runs of text are joined, since only their content is promised.
struct Actions {
  std::vector<std::string> list;

  void text(const std::string& more) {
    if (!list.empty() && list.back().starts_with("print ")) {
      list.back() += more;
    } else {
      list.push_back("print " + more);
    }
  }
  void print_ascii(const uint8_t* chars, size_t n) {
    text(std::string(reinterpret_cast<const char*>(chars), n));
  }
  void print_text(const char32_t* chars, size_t n) {
    std::string out;
    for (size_t i = 0; i < n; i++) base::append_utf8(out, chars[i]);
    text(out);
  }
  void execute(uint8_t control) { list.push_back(fmt::format("execute {:02x}", control)); }
  static std::string header(const Sequence& s) {
    std::string out;
    if (s.prefix != 0) out += s.prefix;
    for (unsigned i = 0; i < s.params.size(); i++) {
      if (i > 0) out += s.params.is_sub(i) ? ':' : ';';
      out += std::to_string(s.params[i]);
    }
    for (const char c : s.intermediates) {
      if (c != 0) out += c;
    }
    return out + s.final;
  }
  void esc_dispatch(const Sequence& s) { list.push_back("esc " + header(s)); }
  void csi_dispatch(const Sequence& s) { list.push_back("csi " + header(s)); }
  void osc_dispatch(std::string_view data, Terminator terminator, uint64_t begin, uint64_t end) {
    const std::string shown = data.size() > 40 ? fmt::format("<{} bytes>", data.size()) : std::string(data);
    list.push_back(
        fmt::format("osc {} {} {}-{}", shown, terminator == Terminator::Bel ? "bel" : "st", begin, end));
  }
  void dcs_dispatch(const Sequence& s, std::string_view data) {
    list.push_back("dcs " + header(s) + " " + std::string(data));
  }
};

std::vector<std::string> parse(std::string_view bytes, size_t chunk = SIZE_MAX) {
  Parser parser;
  Actions actions;
  for (size_t at = 0; at < bytes.size(); at += std::min(chunk, bytes.size() - at)) {
    parser.feed(bytes.substr(at, chunk), actions);
  }
  return actions.list;
}

TEST(Parser, TextAndControls) {
  EXPECT_THAT(parse("ab\r\nc"), ElementsAre("print ab", "execute 0d", "execute 0a", "print c"));
  EXPECT_THAT(parse("a\x7f"
                    "b\x18\x1a"
                    "c"),
              ElementsAre("print abc"));
}

TEST(Parser, ControlSequences) {
  EXPECT_THAT(parse("\033[A"), ElementsAre("csi A"));
  EXPECT_THAT(parse("\033[1;22;333m"), ElementsAre("csi 1;22;333m"));
  EXPECT_THAT(parse("\033[?25h\033[>c\033[=1u\033[<2u"),
              ElementsAre("csi ?25h", "csi >c", "csi =1u", "csi <2u"));
  EXPECT_THAT(parse("\033[4:3m\033[38:2::1:2:3;1m"), ElementsAre("csi 4:3m", "csi 38:2:0:1:2:3;1m"));
  EXPECT_THAT(parse("\033[;5H\033[;H"), ElementsAre("csi 0;5H", "csi 0;0H"));
  EXPECT_THAT(parse("\033[2 q\033[!p\033[?1$p"), ElementsAre("csi 2 q", "csi !p", "csi ?1$p"));
}

TEST(Parser, WhatDoesNotBelongMakesTheSequenceUnheard) {
  EXPECT_THAT(parse("\033[1?2hx"), ElementsAre("print x"));  // a prefix after a digit
  EXPECT_THAT(parse("\033[??1hx"), ElementsAre("print x"));  // two prefixes
  EXPECT_THAT(parse("\033[ 1mx"), ElementsAre("print x"));   // a digit after an intermediate
  EXPECT_THAT(parse("\033[!!!px"), ElementsAre("print x"));  // too many intermediates
}

TEST(Parser, ControlsInsideASequenceActAtOnce) {
  EXPECT_THAT(parse("\033[1\n;2H"), ElementsAre("execute 0a", "csi 1;2H"));
  EXPECT_THAT(parse("\033\r[A"), ElementsAre("execute 0d", "csi A"));
  EXPECT_THAT(parse("\033[1\x7f;2H"), ElementsAre("csi 1;2H"));
}

TEST(Parser, CancelAndEscapeAbortASequence) {
  EXPECT_THAT(parse("\033[1\x18m"), ElementsAre("print m"));
  EXPECT_THAT(parse("\033[1\x1am"), ElementsAre("print m"));
  EXPECT_THAT(parse("\033[1\033[2m"), ElementsAre("csi 2m"));
  EXPECT_THAT(parse("\033\033c"), ElementsAre("esc c"));
  EXPECT_THAT(parse("\033P1\x18z"), ElementsAre("print z"));
}

TEST(Parser, HighBytesEndASequenceAndAreText) {
  EXPECT_THAT(parse("\033[1\xc3\xa9m"), ElementsAre("print ém"));
  EXPECT_THAT(parse("\033\xc3\xa9"), ElementsAre("print é"));
}

TEST(Parser, Parameters) {
  EXPECT_THAT(parse("\033[65535;65536;999999999999m"), ElementsAre("csi 65535;65535;65535m"));
  std::string many = "\033[1";
  for (int i = 0; i < 40; i++) many += ";2";
  std::string kept = "csi 1";
  for (unsigned i = 1; i < Params::kMax; i++) kept += ";2";
  EXPECT_THAT(parse(many + "m"), ElementsAre(kept + "m"));
  EXPECT_THAT(parse("\033[" + std::string(1'000'000, '9') + "A"), ElementsAre("csi 65535A"));
  EXPECT_EQ(parse("\033[" + std::string(1'000'000, ';') + "A").size(), 1u);
}

TEST(Parser, Escapes) {
  EXPECT_THAT(parse("\0337\033(0\033#8\033 F"), ElementsAre("esc 7", "esc (0", "esc #8", "esc  F"));
}

TEST(Parser, Strings) {
  EXPECT_THAT(parse("\033]0;t\007x"), ElementsAre("osc 0;t bel 0-6", "print x"));
  EXPECT_THAT(parse("\033]0;t\033\\x"), ElementsAre("osc 0;t st 0-7", "print x"));
  EXPECT_THAT(parse("ab\033]2;\xe6\xbc\xa2\007"), ElementsAre("print ab", "osc 2;漢 bel 2-10"));
  EXPECT_THAT(parse("\033P$qm\033\\"), ElementsAre("dcs $q m"));
  EXPECT_THAT(parse("\033P1;2|a\007b\033\\"), ElementsAre("dcs 1;2| a\007b"));
  EXPECT_THAT(parse("\033_apc\033\\\033^pm\033\\\033Xsos\033\\\033kname\033\\x"), ElementsAre("print x"));
  EXPECT_THAT(parse("\033_with\007bel\033\\x"), ElementsAre("print x"));
}

TEST(Parser, WhatEndsAStringEarlyDropsIt) {
  EXPECT_THAT(parse("\033]0;t\033[1m"), ElementsAre("csi 1m"));
  EXPECT_THAT(parse("\033]0;t\x18x"), ElementsAre("print x"));
  EXPECT_THAT(parse("\033P$qm\x1ax"), ElementsAre("print x"));
  EXPECT_THAT(parse("\033]0;t\033\033\\x"), ElementsAre("esc \\", "print x"));
}

TEST(Parser, LongStringsAreSwallowedWhole) {
  const std::string full(Parser::kMaxStringBytes, 'a');
  EXPECT_THAT(parse("\033]" + full + "\007x"),
              ElementsAre(fmt::format("osc <{} bytes> bel 0-{}", full.size(), full.size() + 3), "print x"));
  EXPECT_THAT(parse("\033]" + full + "a\007x"), ElementsAre("print x"));
  EXPECT_THAT(parse("\033P|" + full + "a\033\\x"), ElementsAre("print x"));
  EXPECT_THAT(parse("\033]" + full + "a\007x", 1000), ElementsAre("print x"));
}

TEST(Parser, Utf8) {
  EXPECT_THAT(parse("\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"), ElementsAre("print é漢😀"));
  EXPECT_THAT(parse("\xc3("), ElementsAre("print \xef\xbf\xbd("));
  EXPECT_THAT(parse("\xe6\xbc"), ElementsAre());  // still waiting
  EXPECT_THAT(parse("\xe6\xbc\033[A"), ElementsAre("print \xef\xbf\xbd", "csi A"));
  EXPECT_THAT(parse("\x80\xff"), ElementsAre("print \xef\xbf\xbd\xef\xbf\xbd"));
  EXPECT_THAT(parse("a\xc2\x9b"
                    "b"),
              ElementsAre("print ab"));  // C1 is not obeyed
}

TEST(Parser, IsGroundOnlyBetweenSequences) {
  Parser parser;
  Actions actions;
  for (const auto& [bytes, ground] : std::vector<std::pair<std::string, bool>>{
           {"a", true}, {"\xc3", false}, {"\xa9", true}, {"\033", false}, {"[", false}, {"A", true}}) {
    parser.feed(bytes, actions);
    EXPECT_EQ(parser.is_ground(), ground) << bytes;
  }
  EXPECT_EQ(parser.offset(), 6u);
}

TEST(Parser, AnyChunkingGivesTheSameActions) {
  std::mt19937 random(7);
  const std::string_view pieces[] = {"text",
                                     "\xe6\xbc\xa2",
                                     "\033[1;31m",
                                     "\033]8;;http://a\033\\",
                                     "\033P$qm\033\\",
                                     "\xc3",
                                     "\033",
                                     "\n",
                                     "\x18",
                                     "\033[",
                                     "?25h",
                                     "\033_x\033\\",
                                     "\xf0\x9f",
                                     "a long stretch of plain text that takes the fast path",
                                     "\007",
                                     "\033]0;",
                                     "\\"};
  for (int round = 0; round < 500; round++) {
    std::string input;
    for (int i = 0; i < 12; i++) input += pieces[random() % std::size(pieces)];
    const auto whole = parse(input);
    for (const size_t chunk : {1, 2, 3, 7, 16, 17}) EXPECT_EQ(parse(input, chunk), whole) << input;
  }
}

// Noise, and good text after it: a byte at a time nothing is decoded in blocks.
TEST(Parser, NoiseGivesTheSameActionsInAnyChunks) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; round++) {
    std::string input;
    for (int i = 0; i < 400; i++) input += static_cast<char>(random());
    for (int i = 0; i < 60; i++) input += "\xe6\xbc\xa2z\xc3\xa9";
    const auto bytes = parse(input, 1);
    for (const size_t chunk : {16, 17, 18, 50, 1000})
      EXPECT_EQ(parse(input, chunk), bytes) << "round " << round;
  }
}

}  // namespace
}  // namespace ttyward::vt
