// The difference of two texts by lines, and how it is written (the unified format of diff -u and git).
//
// Myers' algorithm in linear space. The work is bounded: texts that differ too much become one block that is
// removed and one that is added, which is a correct difference but not the shortest. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::changes {

// Lines with their newline; the last may lack it.
std::vector<std::string_view> split_lines(std::string_view text);

// Whether a text has lines that a person can read: no NUL in it.
bool is_text(std::string_view text);

struct LineDiff {
  std::vector<bool> removed;  // by line of the old text
  std::vector<bool> added;    // by line of the new text
  int64_t removed_count = 0;
  int64_t added_count = 0;
};
LineDiff diff_lines(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after);

// The hunks, with three lines of context. Empty if the texts are equal.
std::string unified_hunks(std::string_view before, std::string_view after);

// A path for a line of output: as it is, or in double quotes with escapes, as git does.
std::string quoted_path(std::string_view path);

}  // namespace ttyward::changes
