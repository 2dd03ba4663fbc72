// Changes to somebody else's configuration file that leave the rest of it as it is.
//
// An edit names a place in the file and what belongs there. Applying it changes
// the text only where it must: comments, order, indentation and line ends stay.
// Each edit that changed something gives a Revert, which takes exactly that out again,
// also after the file was changed elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ttyward::cli::setup {

using KeyPath = std::vector<std::string>;

struct Edit {
  enum class Kind : uint8_t {
    Set,  // the value at the path
    Add,  // one more element of the list at the path, unless the list has it
  };
  Kind kind = Kind::Set;
  KeyPath path;
  std::string value;  // JSON

  bool operator==(const Edit&) const = default;
};

struct Revert {
  Edit edit;
  std::optional<std::string> previous;  // what stood there, as it was written
  size_t kept = 0;                      // how many parts of the path were there before

  bool operator==(const Revert&) const = default;
};

struct Edited {
  std::string text;
  std::vector<Revert> reverts;  // in the order of the edits
};

// How files of one format are changed. An empty text is a file that is not there yet.
class Editor {
 public:
  virtual ~Editor() = default;
  virtual base::Result<Edited> apply(std::string text, const std::vector<Edit>& edits) const = 0;
  // A value that somebody has changed since stays as they left it, unless its last key is our own name.
  virtual base::Result<std::string> revert(std::string text, const std::vector<Revert>& reverts) const = 0;
  // The value at a path as compact JSON; null if there is none.
  virtual base::Result<std::optional<std::string>> at(const std::string& text, const KeyPath& path) const = 0;
  // Nothing is left in it: a file that we made can go.
  virtual bool is_empty(const std::string& text) const = 0;
};

inline constexpr const char* kOurName = "ttyward";

const Editor& json_editor();  // JSON, with comments and trailing commas
const Editor& toml_editor();  // TOML; Add is not supported

// "line 3, column 7", counted from 1.
std::string place_in(std::string_view text, size_t offset);
std::string joined(const KeyPath& path);  // a.b.c, for messages

}  // namespace ttyward::cli::setup
