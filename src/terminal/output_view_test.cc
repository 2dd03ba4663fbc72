#include "terminal/output_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/utf8.h"

namespace ttyward::terminal {
namespace {

Transcript of(const std::vector<std::string>& lines) {
  Transcript transcript;
  for (const std::string& line : lines) transcript.append(line);
  return transcript;
}

Transcript counted(uint64_t n) {
  Transcript transcript;
  for (uint64_t i = 1; i <= n; i++) transcript.append(std::to_string(i));
  return transcript;
}

uint64_t chars(std::string_view text) {
  return static_cast<uint64_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(OutputView, presets_are_known_by_name) {
  EXPECT_EQ(view_preset_names(), "default, digest, head, tail, full, void, roo, gemini");
  EXPECT_EQ(view_preset("default"), ViewLimits());
  EXPECT_EQ(view_preset("roo")->lines, 500u);
  EXPECT_EQ(view_preset("roo")->chars, 50'000u);
  EXPECT_EQ(view_preset("gemini")->chars, 16u << 20);
  EXPECT_EQ(view_preset("nonesuch"), std::nullopt);
}

TEST(OutputView, a_digest_says_what_lines_say_and_counts_the_rest) {
  std::vector<std::string> lines(400, "");
  for (size_t i = 0; i < lines.size(); i++) lines[i] = "copied block " + std::to_string(i) + " of the disk";
  lines[250] = "cannot read block 250";
  const Transcript transcript = of(lines);
  const ViewLimits limits = *view_preset("digest");
  const View view = make_view(transcript, limits, {"dd", 1});
  EXPECT_NE(view.text.find("cannot read block 250"), std::string::npos);
  EXPECT_LT(view.text.size(), 200u);
  ASSERT_TRUE(view.omitted);
  EXPECT_GT(view.omitted->lines, 390u);
  EXPECT_EQ(view.omitted->last_line, 400u);
  const View part = make_view(transcript, limits, 301, 400);
  EXPECT_NE(part.text.find("301–400"), std::string::npos) << part.text;

  // A slice at a time it is the same.
  DigestReader reader(limits, 1);
  size_t slices = 1;
  while (!reader.read(transcript, 400, [] { return true; })) slices++;
  EXPECT_GT(slices, 1u);
  // Made early, it stays as it was.
  reader.make({"dd", 1});
  EXPECT_TRUE(reader.read(transcript, 401));
  EXPECT_EQ(reader.finish({"dd", 1}).text, view.text);
}

TEST(OutputView, what_fits_is_shown_whole) {
  EXPECT_EQ(make_view(of({}), {}).text, "");
  const View view = make_view(of({"a", "", "b"}), {});
  EXPECT_EQ(view.text, "a\n\nb\n");
  EXPECT_FALSE(view.omitted);
  EXPECT_FALSE(make_view(counted(500), {}).omitted);
  EXPECT_TRUE(make_view(counted(501), {}).omitted);
}

TEST(OutputView, too_many_lines_lose_their_middle) {
  const View view = make_view(counted(1000), {.lines = 10, .chars = 0});
  EXPECT_EQ(view.text,
            "1\n2\n[… 990 lines (2866 bytes) left out: lines 3 to 992 …]\n"
            "993\n994\n995\n996\n997\n998\n999\n1000\n");
  EXPECT_EQ(view.omitted, (Omitted{2866, 990, 3, 992}));
}

TEST(OutputView, too_many_characters_are_cut_between_lines) {
  const View view = make_view(counted(1000), {.lines = 0, .chars = 50});
  EXPECT_EQ(view.text.substr(0, 10), "1\n2\n3\n4\n5\n");
  EXPECT_EQ(view.text.substr(view.text.size() - 13), "998\n999\n1000\n");
  EXPECT_EQ(view.omitted->first_line, 6u);
  EXPECT_EQ(view.omitted->last_line, 991u);  // 992 to 1000: 9 * 4 characters and one more, within 40
}

TEST(OutputView, head_and_tail_shares_are_kept) {
  EXPECT_EQ(make_view(counted(100), {.lines = 4, .chars = 0, .head_percent = 0}).text.find("[…"), 0u);
  const View head_only = make_view(counted(100), {.lines = 4, .chars = 0, .head_percent = 100});
  EXPECT_EQ(head_only.text.substr(0, 8), "1\n2\n3\n4\n");
  EXPECT_EQ(head_only.omitted->last_line, 100u);
}

TEST(OutputView, void_preset_has_exact_character_counts) {
  std::mt19937 random(7);
  std::string all;
  Transcript transcript;
  while (all.size() < 3'000'000) {
    std::string line(random() % 300, static_cast<char>('a' + random() % 26));
    if (random() % 5 == 0) line += "äöü€😀";
    transcript.append(line);
    all += line + "\n";
  }
  const View view = make_view(transcript, *view_preset("void"));
  const std::string notice = "\n\n[output truncated]\n\n";
  const size_t at = view.text.find(notice);
  ASSERT_NE(at, std::string::npos);
  const std::string head = view.text.substr(0, at);
  const std::string tail = view.text.substr(at + notice.size());
  EXPECT_EQ(chars(head), 734'003u);
  EXPECT_EQ(chars(tail), 314'523u);
  EXPECT_TRUE(all.starts_with(head));
  EXPECT_TRUE(all.ends_with(tail));
  const auto text_bytes = [](const std::string& text) {
    return text.size() - static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  EXPECT_EQ(view.omitted->bytes + text_bytes(head) + text_bytes(tail), transcript.bytes());
}

TEST(OutputView, void_preset_shows_one_mebibyte_whole_and_cuts_a_single_line) {
  EXPECT_FALSE(make_view(of({std::string(1'048'575, 'x')}), *view_preset("void")).omitted);
  const View view = make_view(of({std::string(1'048'576, 'x')}), *view_preset("void"));
  ASSERT_TRUE(view.omitted);
  // The tail's last character is the line's end.
  EXPECT_EQ(view.text,
            std::string(734'003, 'x') + "\n\n[output truncated]\n\n" + std::string(314'522, 'x') + "\n");
  EXPECT_EQ(view.omitted, (Omitted{1'048'576 - 734'003 - 314'522, 0, 1, 1}));
}

TEST(OutputView, a_giant_line_is_cut_in_itself) {
  const View view = make_view(of({"before", std::string(100'000, 'x') + "END", "after"}), {});
  EXPECT_TRUE(view.text.starts_with("before\nxxx"));
  EXPECT_TRUE(view.text.ends_with("END\nafter\n"));
  EXPECT_LT(chars(view.text), 50'200u);
  EXPECT_EQ(view.omitted->lines, 0u);
  EXPECT_EQ(view.omitted->first_line, 2u);
  EXPECT_EQ(view.omitted->last_line, 2u);
  EXPECT_NE(view.text.find("bytes of line 2 left out"), std::string::npos);
}

TEST(OutputView, cuts_fall_between_characters) {
  std::string line;
  for (int i = 0; i < 100'000; i++) line += "é€😀";
  for (uint64_t limit = 20; limit < 60; limit++) {
    for (const auto cut : {ViewLimits::Cut::Lines, ViewLimits::Cut::Characters}) {
      const View view = make_view(of({line}), {.lines = 0, .chars = limit, .cut = cut});
      EXPECT_TRUE(base::is_valid_utf8(view.text));
      EXPECT_TRUE(view.omitted);
    }
  }
}

TEST(OutputView, equal_lines_are_folded) {
  std::vector<std::string> lines{"a", "a", "a", "b"};
  for (int i = 0; i < 1000; i++) lines.push_back("same");
  lines.push_back("end");
  const View view = make_view(of(lines), {});
  EXPECT_EQ(view.text, "a\na\na\nb\nsame\n[the line above 1000 times]\nend\n");
  EXPECT_FALSE(view.omitted);
  EXPECT_EQ(make_view(of(lines), *view_preset("full")).text.size(), 3u * 2 + 2 + 1000 * 5 + 4);
}

TEST(OutputView, a_range_is_viewed_with_the_transcripts_own_numbers) {
  const Transcript transcript = counted(1000);
  EXPECT_EQ(make_view(transcript, {}, 998, 1000).text, "998\n999\n1000\n");
  EXPECT_EQ(make_view(transcript, {}, 998, 1000).omitted, std::nullopt);
  ViewLimits limits;
  limits.lines = 5;
  const View view = make_view(transcript, limits, 101, 200);
  EXPECT_EQ(view.text, "101\n[… 95 lines (285 bytes) left out: lines 102 to 196 …]\n197\n198\n199\n200\n");
  EXPECT_EQ(view.omitted, (Omitted{285, 95, 102, 196}));
  EXPECT_EQ(make_view(of({"a", "same", "same", "same", "b"}), {}, 3, 4).text, "same\nsame\n");
}

TEST(OutputView, lines_the_transcript_dropped_are_omitted_lines) {
  Transcript transcript({.memory = 100'000, .quota = 500'000, .spill_folder = "/tmp"});
  for (int i = 0; i < 200'000; i++) transcript.append(std::to_string(i));
  ASSERT_GT(transcript.dropped_lines(), 0u);
  const View view = make_view(transcript, *view_preset("full"));
  ASSERT_TRUE(view.omitted);
  EXPECT_EQ(view.omitted->lines, transcript.dropped_lines());
  EXPECT_EQ(view.omitted->bytes, transcript.dropped_bytes());
  EXPECT_NE(view.text.find("lines were dropped here"), std::string::npos);
}

// Every line is a word of its own, so what is shown can be counted in the text.
TEST(OutputView, shown_and_omitted_add_up) {
  std::mt19937 random(11);
  const std::string gap = "<<<gap>>>";
  for (int round = 0; round < 3000; round++) {
    Transcript transcript;
    const uint64_t n = random() % 60;
    for (uint64_t i = 1; i <= n; i++) {
      std::string line = "#" + std::to_string(i) + ":";
      line.append(random() % 10 == 0 ? random() % 400 : random() % 12, 'x');
      if (random() % 4 == 0) line += "é";
      transcript.append(line);
    }
    ViewLimits limits;
    limits.lines = random() % 3 == 0 ? 0 : 1 + random() % 40;
    limits.chars = random() % 3 == 0 ? 0 : 1 + random() % 600;
    limits.head_percent = static_cast<unsigned>(random() % 101);
    limits.gap = gap;
    limits.cut = random() % 2 == 0 ? ViewLimits::Cut::Lines : ViewLimits::Cut::Characters;
    const View view = make_view(transcript, limits);
    ASSERT_TRUE(base::is_valid_utf8(view.text));
    std::string text = view.text;
    if (const size_t at = text.find(gap); at != std::string::npos) {
      ASSERT_TRUE(view.omitted);
      text.erase(at, gap.size());
    } else {
      ASSERT_FALSE(view.omitted);
    }
    const uint64_t ends = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
    const uint64_t shown_bytes = text.size() - ends;
    const uint64_t omitted_bytes = view.omitted ? view.omitted->bytes : 0;
    const uint64_t omitted_lines = view.omitted ? view.omitted->lines : 0;
    ASSERT_EQ(shown_bytes + omitted_bytes, transcript.bytes()) << view.text;
    // Lines of which something is seen: everyone's number is unique, and a tail's cut may hide it.
    uint64_t whole = 0;
    transcript.forward(1, [&](const Transcript::Entry& entry) {
      whole += text.find(entry.text + "\n") != std::string::npos ? 1 : 0;
      return true;
    });
    ASSERT_LE(whole, n - omitted_lines);
    ASSERT_GE(whole + 2, n - omitted_lines);
    if (limits.lines > 0) {
      ASSERT_LE(ends, limits.lines + 1);
    }
    if (limits.chars > 0) {
      ASSERT_LE(chars(text), limits.chars + 1);
    }
    if (view.omitted && view.omitted->lines > 0) {
      ASSERT_LE(view.omitted->first_line, view.omitted->last_line);
      ASSERT_GE(view.omitted->last_line - view.omitted->first_line + 1, view.omitted->lines);
    }
  }
}

}  // namespace
}  // namespace ttyward::terminal
