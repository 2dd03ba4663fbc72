// JSON to values of wire/types, with errors that name the field and say what to write.
//
// The first thing that is wrong is told. A field that is null counts as left out. Unknown fields are refused
// in what a client asks, so that a slip of the pen is noticed, and ignored in what a daemon answers, so that
// a newer daemon can say more.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <tl/expected.hpp>

#include "wire/json.h"
#include "wire/types/describe.h"

namespace ttyward::wire {

enum class Unknown : uint8_t { Refuse, Ignore };

class Decoder {
 public:
  // `place` is the path of the object itself, "size." for its members; empty for the outermost.
  Decoder(const boost::json::object& from, Unknown unknown, std::string place, std::string& error)
      : from_(from), unknown_(unknown), place_(std::move(place)), error_(error) {}

  template <class M, class... O>
  void field(std::string_view name, M& member, std::string_view about, O... options) {
    const Field field = field_of(name, about, options...);
    const boost::json::value* value = take(name);
    if (value != nullptr) read(*value, member, field);
    // An answer that says null where it may also say nothing means it.
    if constexpr (requires { member->has_value(); }) {
      if (value == nullptr && from_.contains(name)) member.emplace();
    }
    if (!field.required) return;
    if constexpr (std::is_same_v<M, std::string>) {
      if (member.empty()) wrong("'" + path(name) + "' is missing or empty");
    } else {
      if (value == nullptr) wrong("'" + path(name) + "' is missing");
    }
  }

  // After all fields: complains about those that nobody described.
  void finish();

 private:
  template <class T>
  void read(const boost::json::value& value, T& into, const Field& field) {
    if constexpr (std::is_same_v<T, bool>) {
      truth(value, into, field);
    } else if constexpr (std::integral<T>) {
      into = static_cast<T>(number(value, static_cast<int64_t>(into), field, std::numeric_limits<T>::min(),
                                   std::numeric_limits<T>::max()));
    } else if constexpr (Words<T>) {
      into = static_cast<T>(word(value, static_cast<size_t>(into), field, names_of(into)));
    } else if constexpr (requires { into.has_value(); }) {
      if (value.is_null()) return into.reset();
      typename T::value_type inner{};
      if constexpr (Words<typename T::value_type> || !Described<typename T::value_type>) {
        read(value, inner, field);
      } else {
        read_object(value, inner, field);
      }
      into = std::move(inner);
    } else if constexpr (Described<T>) {
      read_object(value, into, field);
    } else {
      get(value, into, field);
    }
  }

  template <class T>
  void read_object(const boost::json::value& value, T& into, const Field& field) {
    if (!value.is_object()) return wrong("'" + path(field.name) + "' must be an object");
    Decoder inner(value.get_object(), unknown_, path(field.name) + ".", error_);
    T::describe(inner, into);
    inner.finish();
  }

  template <class T>
  void get(const boost::json::value& value, std::vector<T>& into, const Field& field) {
    if (!value.is_array()) return wrong("'" + path(field.name) + "' must be a list");
    const std::string name(field.name);
    for (size_t i = 0; i < value.get_array().size() && error_.empty(); i++) {
      const std::string item = name + "[" + std::to_string(i) + "]";
      Field each = field;
      each.name = item;
      T made{};
      read(value.get_array()[i], made, each);
      into.push_back(std::move(made));
    }
  }
  template <class T>
  void get(const boost::json::value& value, Encoded<T>& into, const Field& field) {
    object_text(value, into.json, field);
  }
  void get(const boost::json::value& value, std::string& into, const Field& field);
  void get(const boost::json::value& value, std::chrono::milliseconds& into, const Field& field);
  void get(const boost::json::value& value, Time& into, const Field& field);
  void get(const boost::json::value& value, Bytes& into, const Field& field);
  void get(const boost::json::value& value, Variables& into, const Field& field);
  void get(const boost::json::value& value, NumberOrName& into, const Field& field);
  void get(const boost::json::value& value, std::array<int64_t, 2>& into, const Field& field);

  template <size_t N>
  size_t word(const boost::json::value& value, size_t otherwise, const Field& field,
              const std::array<std::string_view, N>& names) {
    return word_of(value, otherwise, field, names.data(), names.size());
  }
  size_t word_of(const boost::json::value& value, size_t otherwise, const Field& field,
                 const std::string_view* names, size_t count);
  int64_t number(const boost::json::value& value, int64_t otherwise, const Field& field, int64_t least,
                 uint64_t most);
  void truth(const boost::json::value& value, bool& into, const Field& field);
  void object_text(const boost::json::value& value, std::string& into, const Field& field);

  // The member of that name; null: it is not there, or is null.
  const boost::json::value* take(std::string_view name);
  std::string path(std::string_view name) const { return place_ + std::string(name); }
  void wrong(std::string message);

  const boost::json::object& from_;
  Unknown unknown_;
  std::string place_;
  std::string& error_;
  std::vector<std::string_view> known_;
};

// The error is one sentence for whoever sent it.
template <class T>
tl::expected<T, std::string> decode(const boost::json::object& from, Unknown unknown = Unknown::Refuse) {
  std::string error;
  T made{};
  Decoder decoder(from, unknown, {}, error);
  T::describe(decoder, made);
  decoder.finish();
  if (!error.empty()) return tl::unexpected(std::move(error));
  return made;
}

// What somebody has written as JSON text; none if it is empty or cannot be read.
template <class T>
std::optional<T> decode(const Encoded<T>& text) {
  const auto object = parse_object(text.json);
  auto made = object ? decode<T>(*object, Unknown::Ignore) : tl::unexpected(object.error());
  return made ? std::optional<T>(std::move(*made)) : std::nullopt;
}

}  // namespace ttyward::wire
