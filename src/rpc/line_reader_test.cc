#include "rpc/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ttyward::rpc {
namespace {

// Every line, with "!" for one that was too long, however the bytes were split.
std::vector<std::string> lines(std::string_view bytes, size_t piece, size_t largest) {
  LineReader reader(largest);
  std::vector<std::string> found;
  const auto add = [&](const LineReader::Line& line) { found.emplace_back(line.too_long ? "!" : line.text); };
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.push(bytes.substr(at, piece));
    while (const auto line = reader.next()) add(*line);
    EXPECT_LE(reader.held(), largest);
  }
  while (const auto line = reader.rest()) add(*line);
  return found;
}

TEST(LineReader, lines_are_the_same_however_the_bytes_are_split) {
  const std::string bytes = "one\r\n\n  \ntwo \nxxxxxxxxxxxx\nthree\nyyyyyyyyyyyyyyyyyyyyyy\r\nlast";
  const std::vector<std::string> expected = {"one", "two", "!", "three", "!", "last"};
  for (size_t piece = 1; piece <= bytes.size(); piece++) EXPECT_EQ(lines(bytes, piece, 8), expected) << piece;
}

TEST(LineReader, a_line_of_exactly_the_limit_is_taken) {
  EXPECT_EQ(lines("12345678\n123456789\n", 3, 8), (std::vector<std::string>{"12345678", "!"}));
}

TEST(LineReader, a_last_line_that_is_too_long_is_reported_once) {
  EXPECT_EQ(lines("0123456789abcdef", 2, 8), (std::vector<std::string>{"!"}));
  EXPECT_EQ(lines("0123456789abcdef", 16, 8), (std::vector<std::string>{"!"}));
}

TEST(LineReader, a_long_message_is_not_scanned_again_for_every_piece) {
  LineReader reader(size_t{64} << 20);
  const std::string piece(64 << 10, 'x');
  for (int i = 0; i < 512; i++) {
    reader.push(piece);
    EXPECT_FALSE(reader.next());
  }
  reader.push("\n");
  EXPECT_EQ(reader.next()->text.size(), size_t{32} << 20);
  EXPECT_EQ(reader.held(), 0u);
}

}  // namespace
}  // namespace ttyward::rpc
