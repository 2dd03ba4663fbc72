// An option that takes one of some words.
#pragma once

#include <string>
#include <vector>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

namespace ttyward::cli {

// The words become its type, a|b|c, from which help and completion are made.
inline CLI::Option* choose(CLI::Option* option, const std::vector<std::string>& words) {
  std::string type;
  for (const std::string& word : words) type += (type.empty() ? "" : "|") + word;
  return option->type_name(type)->check(CLI::IsMember(words).description(""));
}

}  // namespace ttyward::cli
