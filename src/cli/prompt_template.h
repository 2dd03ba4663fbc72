// A prompt with commands in it: text, `!{command}`, and `{{args}}` in either.
//
// Braces inside a command nest: !{awk '{print $1}' file} is one command. What was
// given as arguments is put in only after the text was taken apart, so nothing in
// it can become a command: raw in the text, as one quoted word in a command.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::cli {

struct PromptPiece {
  enum class Kind : uint8_t { Text, Command };
  Kind kind = Kind::Text;
  std::string text;  // {{args}} not yet replaced
  size_t line = 1;   // where it begins

  bool operator==(const PromptPiece&) const = default;
};

// The error names the line: a command that is not closed, or one with {{args}} in quotes of its own.
base::Result<std::vector<PromptPiece>> parse_prompt(std::string_view text);

std::string fill_arguments(const PromptPiece& piece, std::string_view arguments);

}  // namespace ttyward::cli
