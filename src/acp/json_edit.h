// JSON text, looked at and changed without making values of it.
//
// A proxy must not alter what it does not understand: numbers, unknown members and their order stay as they
// are. So a message is scanned once, its members are found as pieces of the text, and a change replaces one
// piece.
//
// The scan is a complete check of the syntax. It refuses an object that has a member twice: one reader takes
// the first and another the last, so a message could look harmless to us and do something else to its
// receiver. (That is checked for the members of the object itself, not for those of its values.)
//
// Pure: text in, text out.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::acp {

inline constexpr size_t kDeepest = 512;  // objects and arrays inside each other

// The members of one object. Views are into the text it was made of.
class Outline {
 public:
  // nullopt: the text is not exactly one JSON object, or a member is there twice.
  static std::optional<Outline> of(std::string_view text);

  // The text of a member's value; nullopt: there is none.
  std::optional<std::string_view> value(std::string_view name) const;
  // The same if it is a string, unescaped.
  std::optional<std::string> text(std::string_view name) const;
  size_t size() const { return members_.size(); }

 private:
  struct Member {
    std::string name;
    std::string_view value;
  };
  std::vector<Member> members_;
};

// A JSON string's text, unescaped; nullopt: it is not a JSON string.
std::optional<std::string> string_of(std::string_view json);
// Text as a JSON string. Bytes that are not UTF-8 become U+FFFD.
std::string quoted(std::string_view text);

// `object` with the value at `path` replaced by `value`, which is JSON text. Members that are missing on the
// way, or are no objects, become objects. nullopt: `object` is none.
std::optional<std::string> with_value(std::string_view object, std::span<const std::string_view> path,
                                      std::string_view value);
std::optional<std::string> with_value(std::string_view object, std::initializer_list<std::string_view> path,
                                      std::string_view value);

}  // namespace ttyward::acp
