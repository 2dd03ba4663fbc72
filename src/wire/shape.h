// The shape of a value of wire/types, as data: what the reference and the JSON Schema are written from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/encoder.h"
#include "wire/types/describe.h"

namespace ttyward::wire {

struct ShapeField;

struct Shape {
  enum class Kind : uint8_t {
    Text,
    Truth,
    Number,
    Duration,  // a number of milliseconds
    Moment,
    Base64,
    Texts,   // an object of texts
    Either,  // a number or a name
    Pair,    // a list of two numbers
    List,
    Object,
  };
  Kind kind = Kind::Object;
  int64_t least = kNoLeast;
  int64_t most = kNoMost;
  std::vector<std::string> words;  // of a text: the ones there are
  std::vector<Shape> items;        // of a list: one, that of its elements
  std::string name;                // of an object that others refer to
  std::string about;               // of the same
  std::vector<ShapeField> fields;  // of an object
};

struct ShapeField {
  std::string name;
  std::string about;
  Shape shape;
  bool required = false;
  bool nullable = false;
  bool left_out = false;  // when there is nothing to say
  std::string usual;      // the default in words, where something else decides it
  std::string otherwise;  // the default as JSON
};

std::vector<std::string> words_of(std::string_view separated);

template <class T>
Shape shape_of(const Field& field = {});

// Collects the fields of a struct.
class ShapeVisitor {
 public:
  explicit ShapeVisitor(std::vector<ShapeField>& into) : into_(into) {}

  template <class M, class... O>
  void field(std::string_view name, const M& member, std::string_view about, O... options) {
    const Field described = field_of(name, about, options...);
    ShapeField made;
    made.name = name;
    made.about = about;
    made.shape = shape_of<M>(described);
    made.required = described.required;
    made.left_out = described.if_empty == IfEmpty::LeaveOut;
    made.nullable = described.if_empty == IfEmpty::Null || can_be_null(member);
    made.usual = described.usual;
    Encoder(made.otherwise, Nulls::Write).write(member);
    made.otherwise.erase(0, 1);  // the bracket with which an encoder begins
    into_.push_back(std::move(made));
  }

 private:
  template <class M>
  static bool can_be_null(const M&) {
    return requires(const M& each) { each.has_value(); } || requires(const M& each) { each.json; };
  }

  std::vector<ShapeField>& into_;
};

namespace internal {

template <class T>
struct Element;
template <class T>
struct Element<std::vector<T>> {
  using Type = T;
};
template <class T>
struct Element<std::optional<T>> {
  using Type = T;
};
template <class T>
struct Element<Encoded<T>> {
  using Type = T;
};
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

}  // namespace internal

template <class T>
Shape shape_of(const Field& field) {
  Shape made;
  made.least = field.least;
  made.most = field.most;
  if constexpr (requires(const T& each) { each.has_value(); } || requires(const T& each) { each.json; }) {
    return shape_of<typename internal::Element<T>::Type>(field);
  } else if constexpr (std::is_same_v<T, bool>) {
    made.kind = Shape::Kind::Truth;
  } else if constexpr (std::integral<T>) {
    made.kind = Shape::Kind::Number;
  } else if constexpr (Words<T>) {
    made.kind = Shape::Kind::Text;
    for (const std::string_view word : names_of(T{})) made.words.emplace_back(word);
  } else if constexpr (std::is_same_v<T, std::string>) {
    made.kind = Shape::Kind::Text;
    made.words = words_of(field.words);
  } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
    made.kind = Shape::Kind::Duration;
  } else if constexpr (std::is_same_v<T, Time>) {
    made.kind = Shape::Kind::Moment;
  } else if constexpr (std::is_same_v<T, Bytes>) {
    made.kind = Shape::Kind::Base64;
  } else if constexpr (std::is_same_v<T, Variables>) {
    made.kind = Shape::Kind::Texts;
  } else if constexpr (std::is_same_v<T, NumberOrName>) {
    made.kind = Shape::Kind::Either;
  } else if constexpr (std::is_same_v<T, std::array<int64_t, 2>>) {
    made.kind = Shape::Kind::Pair;
  } else if constexpr (internal::kIsVector<T>) {
    made.kind = Shape::Kind::List;
    made.items.push_back(shape_of<typename internal::Element<T>::Type>(field));
  } else {
    made.kind = Shape::Kind::Object;
    if constexpr (Named<T>) {
      made.name = T::kName;
      made.about = T::kAbout;
    }
    const T fresh{};
    ShapeVisitor visitor(made.fields);
    T::describe(visitor, fresh);
  }
  return made;
}

}  // namespace ttyward::wire
