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
  std::vector<const syntax::Command*> certain;  // bodies of functions that are defined for certain, and last
  // Values a variable may have besides what `variables` says: set on one way and not on another.
  std::vector<std::pair<std::string, std::string>> possible;
  // What files that this line writes, and process substitutions, hold: path and text. Only ever used to find
  // catastrophes.
  std::vector<std::pair<std::string, std::string>> texts;
  std::string poisoned;  // why names no longer mean what they seem; empty: they do

  // `x=$x$x`, over and over, would grow without end. What is this long is not read closely anyway.
  static void bound(Value& value) {
    constexpr size_t kMaxText = 8192;
    constexpr size_t kMaxValues = 1024;
    if (value.size() > kMaxValues) value = {std::string(1, kAnyFields)};
    for (std::string& text : value) {
      if (text.size() > kMaxText) text = std::string(1, kAny);
    }
  }

  const Value* find(std::string_view name) const {
    for (const auto& [key, value] : variables) {
      if (key == name) return &value;
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    bound(value);
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

  const std::string* text_of(std::string_view path) const {
    for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
      if (text->first == path) return &text->second;
    }
    return nullptr;
  }

  void keep_text(std::string path, std::string text) {
    constexpr size_t kMostTexts = 16;
    constexpr size_t kLongestText = 16384;
    if (texts.size() < kMostTexts && text.size() < kLongestText)
      texts.emplace_back(std::move(path), std::move(text));
  }

  void keep_possible(std::string_view name, std::string value) {
    constexpr size_t kMostPossible = 16;
    if (possible.size() < kMostPossible && !value.empty())
      possible.emplace_back(std::string(name), std::move(value));
  }

  // Back to `before`, as after a subshell. Files it wrote stay.
  void leave_subshell(const ShellState& before) {
    std::vector<std::pair<std::string, std::string>> written = std::move(texts);
    *this = before;
    texts = std::move(written);
  }

  // $1, $2 … and $@. From an argument on that may be several or none, nothing is known.
  void set_parameters(const std::vector<std::string>& parameters) {
    for (const char digit : std::string_view("123456789")) forget(std::string_view(&digit, 1));
    bool known = true;
    std::string joined;
    for (size_t i = 0; i < parameters.size(); ++i) {
      known &= parameters[i].find_first_of("\x02\x04\x05\x06") == std::string::npos;
      if (known && i < 9) set(std::to_string(i + 1), {parameters[i]});
      joined += (i == 0 ? "" : " ") + parameters[i];
    }
    // Past the end they are empty.
    for (size_t i = parameters.size(); known && i < 9; ++i) set(std::to_string(i + 1), {""});
    set("@", parameters);
    set("*", {known ? joined : std::string(1, kAny)});
  }

  void shift_parameters(size_t by) {
    const Value* all = find("@");
    const bool known = all != nullptr && by <= all->size() &&
                       std::all_of(all->begin(), all->end(), [](const std::string& one) {
                         return one.find_first_of("\x02\x04\x05\x06") == std::string::npos;
                       });
    if (known) {
      Value rest(all->begin() + static_cast<std::ptrdiff_t>(by), all->end());
      return set_parameters(rest);
    }
    forget_parameters();
  }

  void forget_parameters() {
    for (const char name : std::string_view("123456789@*")) forget(std::string_view(&name, 1));
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
      value = {std::string(1, numbers ? kDigits : key == "@" ? kAnyFields : kAny)};
    }
    for (const auto& [key, value] : other.variables) {
      if (find(key) != nullptr) continue;
      note(key, value);
      variables.emplace_back(key, Value{std::string(1, key == "@" ? kAnyFields : kAny)});
    }
    for (const auto& value : other.possible) {
      if (possible.size() < 16 && std::find(possible.begin(), possible.end(), value) == possible.end())
        possible.push_back(value);
    }
    for (const auto& text : other.texts) {
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) keep_text(text.first, text.second);
    }
    for (const auto& function : other.functions) {
      if (std::find(functions.begin(), functions.end(), function) == functions.end())
        functions.push_back(function);
    }
    std::erase_if(certain, [&](const syntax::Command* body) {
      return std::find(other.certain.begin(), other.certain.end(), body) == other.certain.end();
    });
    if (poisoned.empty()) poisoned = other.poisoned;
  }
};

}  // namespace ttyward::policy
