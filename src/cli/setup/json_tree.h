// JSON with comments, read together with where everything stands in the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::cli::setup {

struct JsonMember;

struct JsonNode {
  enum class Kind : uint8_t { Object, Array, String, Other };
  Kind kind = Kind::Other;
  size_t begin = 0;
  size_t end = 0;                   // behind its last character
  std::string text;                 // of a string: decoded; of a number, true, false or null: as written
  std::vector<JsonMember> members;  // of an object; of an array, with empty keys

  // The last member of that name, which is the one that counts; null if there is none.
  const JsonMember* member(std::string_view key) const;
  size_t index_of(std::string_view key) const;
};

inline constexpr size_t kNone = static_cast<size_t>(-1);

struct JsonMember {
  std::string key;
  size_t begin = 0;      // of the key; in an array, of the value
  size_t comma = kNone;  // the comma behind it
  JsonNode value;
};

// The error says where the text stops being JSON.
base::Result<JsonNode> read_json(std::string_view text);
// One line, no blanks.
std::string compact_json(const JsonNode& node);

}  // namespace ttyward::cli::setup
