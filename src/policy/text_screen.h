// The first look at a command: its bytes, before any parser sees them.
//
// A command that cannot be shown faithfully to a person, or that two programs
// could read differently (NUL, broken UTF-8, carriage returns, bidirectional
// overrides, invisible characters), is never approved automatically.
#pragma once

#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::policy {

// Longer commands are judged but never allowed without a person: nobody can look over them.
inline constexpr size_t kMaxQuietLength = 4096;
// Longer commands are not even parsed.
inline constexpr size_t kMaxLength = 256 * 1024;
// So many equal or blank characters in a row push the rest out of sight.
inline constexpr size_t kPaddingRun = 200;

struct TextProblem {
  std::string what;
  Span span;
  Risk risk;
  bool unparsable;  // no parser may be trusted with these bytes
};

std::vector<TextProblem> screen_text(std::string_view text);

// U+202E and its kin, zero-width characters, tags, variation selectors: drawn as nothing or out of order.
bool is_deceptive(char32_t code_point);

// Decodes one code point at `at`; returns its length in bytes, or 0 if the bytes are not UTF-8.
size_t decode_utf8(std::string_view text, size_t at, char32_t& code_point);

}  // namespace ttyward::policy
