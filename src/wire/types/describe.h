// How the values of the protocol are described.
//
// Every call, answer, object and event is a plain struct. It names its fields once, in a function template
// that hands each of them to a visitor:
//
//   struct ResizeRequest {
//     std::string terminal;
//     int64_t cols = 80;
//     template <class V>
//     static void describe(V& v, auto& self) {
//       v.field("terminal", self.terminal, "its id or name", kRequired);
//       v.field("cols", self.cols, "columns", Range{1, 1000});
//     }
//   };
//
// The visitors are wire/encoder.h (to JSON text), wire/decoder.h (from JSON, with errors that say what to
// write), wire/reference.h (the tables of docs/protocol/socket.md) and wire/schema.h (JSON Schema). A field's
// default is the value of a fresh struct. No JSON library is included here, so app/ can use these types.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ttyward::wire {

// What the encoder does with a value that is empty: no text, no elements, not set, false.
enum class IfEmpty : uint8_t { Write, Null, LeaveOut };

inline constexpr int64_t kNoLeast = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoMost = std::numeric_limits<int64_t>::max();

struct Field {
  std::string_view name;
  std::string_view about;
  bool required = false;  // of a request; text must not be empty then
  IfEmpty if_empty = IfEmpty::Write;
  int64_t least = kNoLeast;  // of numbers and durations
  int64_t most = kNoMost;
  std::string_view words;  // of texts: the ones there are, separated by '|'; empty: any
  std::string_view usual;  // the default, where the configuration or the caller decides it
};

struct Required {};
struct NullIfEmpty {};
struct LeftOutIfEmpty {};
struct Range {
  int64_t least;
  int64_t most = kNoMost;
};
struct OneOf {
  std::string_view words;
};
struct Usual {
  std::string_view text;
};
inline constexpr Required kRequired;
inline constexpr NullIfEmpty kNull;
inline constexpr LeftOutIfEmpty kLeftOut;

namespace internal {
constexpr void apply(Field& to, Required) {
  to.required = true;
}
constexpr void apply(Field& to, NullIfEmpty) {
  to.if_empty = IfEmpty::Null;
}
constexpr void apply(Field& to, LeftOutIfEmpty) {
  to.if_empty = IfEmpty::LeaveOut;
}
constexpr void apply(Field& to, Range range) {
  to.least = range.least;
  to.most = range.most;
}
constexpr void apply(Field& to, OneOf words) {
  to.words = words.words;
}
constexpr void apply(Field& to, Usual usual) {
  to.usual = usual.text;
}
}  // namespace internal

template <class... Options>
constexpr Field field_of(std::string_view name, std::string_view about, Options... options) {
  Field made;
  made.name = name;
  made.about = about;
  (internal::apply(made, options), ...);
  return made;
}

// --- kinds of values that have no type of their own in the language

// A moment: RFC 3339 in UTC with milliseconds on the wire, "2026-11-16T03:37:00.123Z".
struct Time {
  int64_t ms = 0;  // since the epoch
  auto operator<=>(const Time&) const = default;
};

// 0 means that it never happened, or is not known.
inline std::optional<Time> time_or_none(int64_t ms) {
  return ms != 0 ? std::optional<Time>(Time{ms}) : std::nullopt;
}

// Bytes that need not be text: base64 on the wire.
struct Bytes {
  std::string bytes;
  bool operator==(const Bytes&) const = default;
};

// {"NAME":"value"} on the wire, NAME=value here.
struct Variables {
  std::vector<std::string> entries;
  bool operator==(const Variables&) const = default;
};

// A T that somebody else has written as JSON text. Empty: none.
template <class T>
struct Encoded {
  std::string json;
  bool operator==(const Encoded&) const = default;
};

using NumberOrName = std::variant<int64_t, std::string>;

// --- what kind of value a member is

// An enumeration with names_of(E) that lists the words in the order of its values.
template <class T>
concept Words = std::is_enum_v<T> && requires(T value) { names_of(value).size(); };

template <Words T>
constexpr std::string_view name_of(T value) {
  return names_of(value)[static_cast<size_t>(value)];
}

// The value of that name; nullopt: there is none.
template <Words T>
std::optional<T> word_named(std::string_view name) {
  const auto names = names_of(T{});
  for (size_t i = 0; i < names.size(); i++) {
    if (names[i] == name) return static_cast<T>(i);
  }
  return std::nullopt;
}

namespace internal {
struct AnyVisitor {
  template <class M, class... O>
  void field(std::string_view, M&, std::string_view, O...) {}
};
}  // namespace internal

template <class T>
concept Described = requires(internal::AnyVisitor& v, T& self) { T::describe(v, self); };

// An object that other objects refer to by its name.
template <class T>
concept Named = Described<T> && requires {
  { T::kName } -> std::convertible_to<std::string_view>;
};

// An answer that says nothing but that it was done.
struct Nothing {
  template <class V>
  static void describe(V&, auto&) {}
};

// Whether a client may send a call again when it cannot know whether the daemon saw it: only if doing it
// twice is as good as doing it once, for the terminals and for the caller. A request says so with
//
//   static constexpr Repeat kRepeat = Repeat::Yes;
//
// or, where its arguments decide, with `static bool repeatable(const Request&)` and kRepeat = Repeat::Some,
// and kRepeatIf says in words what they have to be. Without any of it: never.
enum class Repeat : uint8_t { No, Some, Yes };

// What a client adds to a call so that it can be sent again: in `field` an id that it chooses, which begins
// with `id`; or, if that is 0, true.
struct RepeatAid {
  std::string_view field;
  char id = 0;
};

// Longest duration that may be asked for: a year.
inline constexpr int64_t kLongestMs = int64_t{1000} * 3600 * 24 * 365;

}  // namespace ttyward::wire
