// Keys a person presses in a full-screen view of ours.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ttyward::cli {

struct PersonKey {
  enum class Kind : uint8_t { Character, Enter, Escape, Up, Down, PageUp, PageDown, Home, End, Other };
  Kind kind = Kind::Other;
  char character = 0;  // of Character; ASCII

  bool operator==(const PersonKey&) const = default;
};

// What was typed, key by key. A sequence comes in one read; half of one is an Escape and what follows it.
std::vector<PersonKey> person_keys(std::string_view bytes);

}  // namespace ttyward::cli
