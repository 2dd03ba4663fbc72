// Looking at one line: does it say that something went wrong, and which lines are of its kind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::digest {

// Contains error, fail, panic, fatal, exception, denied or "not found", in any case. Where: npos if not.
size_t find_alarm(std::string_view line);
inline bool is_alarm(std::string_view line) {
  return find_alarm(line) != std::string_view::npos;
}

// A number for the bytes as they are.
uint64_t hash_of(std::string_view text);
// A number that lines share if they differ only in numbers, times, addresses and hashes.
uint64_t shape_of(std::string_view line);
// The same for lines that begin with the same word and then differ in words, too, but not in punctuation.
uint64_t skeleton_of(std::string_view line);

// The shape of a line whose quoted parts are left out: 'p' is too short, 'q' is too short.
uint64_t unquoted_shape_of(std::string_view line);

bool is_blank(std::string_view line);
std::vector<std::string_view> words_of(std::string_view line, size_t most = 64);
// At most `most` bytes of `text`, cut between characters.
std::string_view head_of(std::string_view text, size_t most);
std::string_view tail_of(std::string_view text, size_t most);
// How many characters a reader sees.
size_t characters(std::string_view text);
bool contains_word(std::string_view line, std::string_view lower_case_word);

}  // namespace ttyward::digest
