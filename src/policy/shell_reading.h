// Which shell will read a line, and what it already has that changes the meaning of names.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "syntax/parse.h"

namespace ttyward::policy {

struct ShellReading {
  syntax::Reading syntax;
  // Why the line cannot be read with certainty in this shell; empty: it can. A shell whose options change
  // the grammar, an unknown locale, a shell that was replaced.
  std::string doubt;
  std::vector<std::pair<std::string, std::string>> aliases;  // name and value
  std::vector<std::string> functions;

  const std::string* alias(std::string_view name) const {
    const auto found =
        std::find_if(aliases.begin(), aliases.end(), [&](const auto& one) { return one.first == name; });
    return found == aliases.end() ? nullptr : &found->second;
  }
  bool has_function(std::string_view name) const {
    return std::find(functions.begin(), functions.end(), name) != functions.end();
  }
};

}  // namespace ttyward::policy
