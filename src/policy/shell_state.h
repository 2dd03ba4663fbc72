// The state of the shell as far as it is known while reading a line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/words.h"

namespace ttyward::policy {

// Every value it can have is a number.
inline bool is_number(const Value& value) {
  return value.size() == 1 && !value[0].empty() &&
         value[0].find_first_not_of("0123456789\x03") == std::string::npos;
}

struct ShellState {
  // Where the shell may be; empty: nobody knows.
  std::vector<std::string> cwds;
  std::vector<std::pair<std::string, Value>> variables;                   // an empty Value: may be anything
  std::vector<std::pair<std::string, const syntax::Command*>> functions;  // defined in this line
  // Values a variable may have besides what `variables` says: set on one way and not on another.
  std::vector<std::pair<std::string, std::string>> possible;
  std::string poisoned;  // why names no longer mean what they seem; empty: they do

  const Value* find(std::string_view name) const {
    for (const auto& [key, value] : variables) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    for (auto& [key, held] : variables) {
      if (key == name) {
        held = std::move(value);
        return;
      }
    }
    variables.emplace_back(std::string(name), std::move(value));
  }

  void forget(std::string_view name) {
    std::erase_if(variables, [&](const auto& variable) { return variable.first == name; });
  }

  // The state when either of two ways was taken.
  void merge(const ShellState& other) {
    if (cwds.empty() || other.cwds.empty()) {
      cwds.clear();
    } else {
      for (const std::string& cwd : other.cwds) {
        if (std::find(cwds.begin(), cwds.end(), cwd) == cwds.end()) cwds.push_back(cwd);
      }
      if (cwds.size() > 6) cwds.clear();
    }
    const auto note = [&](const std::string& key, const Value& value) {
      const bool constant =
          value.size() == 1 && value[0].find(kAny) == std::string::npos && !value[0].empty();
      if (constant && possible.size() < 16) possible.emplace_back(key, value[0]);
    };
    for (auto& [key, value] : variables) {
      const Value* theirs = other.find(key);
      if (theirs != nullptr && *theirs == value) continue;
      note(key, value);
      if (theirs != nullptr) note(key, *theirs);
      const bool numbers = theirs != nullptr && is_number(value) && is_number(*theirs);
      value = {std::string(1, numbers ? kDigits : kAny)};
    }
    for (const auto& [key, value] : other.variables) {
      if (find(key) != nullptr) continue;
      note(key, value);
      variables.emplace_back(key, Value{std::string(1, kAny)});
    }
    for (const auto& value : other.possible) {
      if (possible.size() < 16 && std::find(possible.begin(), possible.end(), value) == possible.end())
        possible.push_back(value);
    }
    for (const auto& function : other.functions) {
      if (std::find(functions.begin(), functions.end(), function) == functions.end())
        functions.push_back(function);
    }
    if (poisoned.empty()) poisoned = other.poisoned;
  }
};

}  // namespace ttyward::policy
