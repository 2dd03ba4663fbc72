#include "terminal/text_decoder.h"

#include <gtest/gtest.h>
#include <iconv.h>

#include <random>

#include "base/utf8.h"

namespace ttyward::terminal {
namespace {

using Source = BinarySniffer::Source;

std::string encoded(std::string text, const char* encoding) {
  const iconv_t converter = ::iconv_open(encoding, "UTF-8");
  std::string out(text.size() * 4, '\0');
  char* in = text.data();
  size_t in_left = text.size();
  char* to = out.data();
  size_t to_left = out.size();
  EXPECT_NE(::iconv(converter, &in, &in_left, &to, &to_left), static_cast<size_t>(-1));
  ::iconv_close(converter);
  out.resize(out.size() - to_left);
  return out;
}

std::string decoded(std::string_view bytes, size_t piece, std::string* encoding = nullptr) {
  TextDecoder decoder;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece) out += decoder.decode(bytes.substr(at, piece));
  out += decoder.finish();
  if (encoding != nullptr) *encoding = decoder.encoding();
  return out;
}

TEST(BinarySniffer, a_nul_among_the_first_bytes_of_a_pipe_is_binary) {
  EXPECT_TRUE(BinarySniffer(Source::Pipe).look(std::string_view("ab\0cd", 5)));
  const std::string text(4095, 'x');
  EXPECT_TRUE(BinarySniffer(Source::Pipe).look(text + std::string(1, '\0')));
  EXPECT_FALSE(BinarySniffer(Source::Pipe).look(text + "x" + std::string(1, '\0')));
  EXPECT_FALSE(BinarySniffer(Source::Pipe).look("plain text\n"));
}

TEST(BinarySniffer, a_terminal_may_be_padded_with_nuls) {
  const std::string padded = std::string(200, 'x') + std::string(10, '\0') + std::string(300, 'x');
  EXPECT_FALSE(BinarySniffer(Source::Terminal).look(padded));
  EXPECT_TRUE(BinarySniffer(Source::Terminal).look(std::string(40, '\0')));
  EXPECT_FALSE(BinarySniffer(Source::Terminal).look(std::string(512, 'x') + std::string(4000, '\0')));
}

TEST(BinarySniffer, noise_is_binary_on_a_terminal_too) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; round++) {
    std::string noise;
    for (int i = 0; i < 512; i++) noise += static_cast<char>(random());
    EXPECT_TRUE(BinarySniffer(Source::Terminal).look(noise));
  }
}

TEST(BinarySniffer, escape_sequences_and_other_encodings_are_text) {
  std::string tui;
  while (tui.size() < 600) tui += "\x1b[1;31mred\x1b[0m\x1b]0;title\x07\b\b\t\r\n\x0e\x0f";
  EXPECT_FALSE(BinarySniffer(Source::Terminal).look(tui));
  std::string japanese;
  while (japanese.size() < 600) japanese += encoded("日本語の文章です。", "SHIFT_JIS");
  EXPECT_FALSE(BinarySniffer(Source::Terminal).look(japanese));
}

TEST(BinarySniffer, the_answer_does_not_depend_on_the_pieces) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; round++) {
    std::string bytes;
    for (int i = 0; i < 700; i++) bytes += random() % 10 == 0 ? '\0' : 'x';
    BinarySniffer whole(Source::Terminal);
    BinarySniffer split(Source::Terminal);
    whole.look(bytes);
    for (const char c : bytes) split.look({&c, 1});
    EXPECT_EQ(whole.is_binary(), split.is_binary());
  }
}

TEST(TextDecoder, utf8_passes_unchanged_however_it_is_split) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < 20'000) {
    const char32_t points[] = {'a', 0xE9, 0x20AC, 0x1F600, '\n', 0x1B};
    base::append_utf8(text, points[random() % 6]);
  }
  for (const size_t piece : {1u, 2u, 3u, 5u, 1000u, 30'000u}) {
    std::string encoding;
    EXPECT_EQ(decoded(text, piece, &encoding), text);
    EXPECT_EQ(encoding, "UTF-8");
  }
}

TEST(TextDecoder, a_character_that_never_ends_becomes_a_replacement_at_the_end) {
  EXPECT_EQ(decoded("abc\xE2\x82", 100), "abc\xEF\xBF\xBD");
  EXPECT_EQ(decoded("abc\xE2\x82", 1), "abc\xEF\xBF\xBD");
}

struct Sample {
  const char* name;
  const char* text;
};

TEST(TextDecoder, other_encodings_are_recognised_and_converted) {
  const std::string german =
      "Die Größe der Lösung übersteigt die zulässige Länge für das Gerät. Ärger über Öl.\n";
  const std::string french =
      "L’élève a été très étonné de voir à quel point la forêt était brûlée. Ça va? — Déjà vu…\n";
  const std::string japanese =
      "これは日本語の文章です。文字コードの判定を確認しています。よろしくお願いします。\n";
  const std::string chinese = "这是一个中文句子，用来检查字符编码的检测是否正确。谢谢大家的帮助，再见。\n";
  const Sample samples[] = {{"ISO-8859-1", german.c_str()},
                            {"WINDOWS-1252", french.c_str()},
                            {"SHIFT_JIS", japanese.c_str()},
                            {"GB18030", chinese.c_str()},
                            {"EUC-JP", japanese.c_str()}};
  for (const Sample& sample : samples) {
    std::string text;
    for (int i = 0; i < 20; i++) text += sample.text;
    const std::string bytes = encoded(text, sample.name);
    std::string encoding;
    EXPECT_EQ(decoded(bytes, bytes.size(), &encoding), text) << sample.name << " taken for " << encoding;
    EXPECT_NE(encoding, "UTF-8");
    // Split in the middle of characters, once the encoding could be guessed.
    EXPECT_EQ(decoded(bytes, 777), text) << sample.name;
  }
}

TEST(TextDecoder, plain_text_before_the_first_foreign_byte_is_untouched) {
  std::string text(10'000, 'a');
  std::string bytes = text;
  for (int i = 0; i < 20; i++) bytes += encoded("Größe, Länge und Öl über Ärger für Häuser\n", "ISO-8859-1");
  const std::string out = decoded(bytes, bytes.size());
  EXPECT_TRUE(out.starts_with(text));
  EXPECT_TRUE(base::is_valid_utf8(out));
}

TEST(TextDecoder, bytes_without_meaning_do_not_stop_it) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; round++) {
    std::string noise;
    for (int i = 0; i < 3000; i++) noise += static_cast<char>(random());
    TextDecoder decoder;
    size_t out = 0;
    for (size_t at = 0; at < noise.size(); at += 61)
      out += decoder.decode(std::string_view(noise).substr(at, 61)).size();
    EXPECT_GT(out, 1000u);
  }
}

}  // namespace
}  // namespace ttyward::terminal
