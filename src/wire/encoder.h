// Values of wire/types to JSON text, in one pass and without a tree in between.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_text.h"
#include "wire/types/describe.h"

namespace ttyward::wire {

// What is written of values that are null.
enum class Nulls : uint8_t { Write, LeaveOut };

class Encoder {
 public:
  explicit Encoder(std::string& out, Nulls nulls = Nulls::Write) : out_(out), nulls_(nulls) { out_ += '{'; }
  void end() { out_ += '}'; }

  template <class M, class... O>
  void field(std::string_view name, const M& value, std::string_view about, O... options) {
    const Field field = field_of(name, about, options...);
    if (field.if_empty != IfEmpty::Write && is_empty(value)) {
      if (field.if_empty == IfEmpty::Null) null(name);
      return;
    }
    if constexpr (requires { value.has_value(); }) {
      if (!value.has_value()) return null(name);
      this->name(name);
      return write(*value);
    } else if constexpr (requires { value.json; }) {
      if (value.json.empty()) return null(name);
      this->name(name);
      return write(value);
    } else {
      this->name(name);
      write(value);
    }
  }
  // A member that no struct describes: what every event has.
  void number(std::string_view of, uint64_t value) {
    name(of);
    write(value);
  }
  void text(std::string_view of, std::string_view value) {
    name(of);
    write(value);
  }

  template <class T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      out_ += std::to_string(value);
    } else if constexpr (Words<T>) {
      quoted(names_of(value)[static_cast<size_t>(value)]);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      quoted(value);
    } else if constexpr (requires { value.has_value(); }) {
      value.has_value() ? write(*value) : void(out_ += "null");
    } else if constexpr (Described<T>) {
      Encoder inner(out_, nulls_);
      T::describe(inner, value);
      inner.end();
    } else {
      put(value);
    }
  }

 private:
  template <class T>
  static bool is_empty(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return !value;
    } else if constexpr (std::integral<T>) {
      return value == 0;
    } else if constexpr (requires { value.has_value(); }) {
      return !value.has_value();
    } else if constexpr (requires { value.json; }) {
      return value.json.empty();
    } else if constexpr (std::is_same_v<T, Variables>) {
      return value.entries.empty();
    } else if constexpr (std::is_same_v<T, Bytes>) {
      return value.bytes.empty();
    } else if constexpr (requires { value.empty(); }) {
      return value.empty();
    } else {
      return false;
    }
  }

  void put(const Time& value);
  void put(const Bytes& value);
  void put(const Variables& value);
  void put(const NumberOrName& value);
  void put(std::chrono::milliseconds value) { out_ += std::to_string(value.count()); }
  template <class T>
  void put(const Encoded<T>& value) {
    out_ += value.json;
  }
  template <class T>
  void put(const std::vector<T>& values) {
    list(values);
  }
  template <class T, size_t N>
  void put(const std::array<T, N>& values) {
    list(values);
  }
  template <class List>
  void list(const List& values) {
    out_ += '[';
    bool first = true;
    for (const auto& value : values) {
      if (!std::exchange(first, false)) out_ += ',';
      write(value);
    }
    out_ += ']';
  }

  void quoted(std::string_view text) { base::append_json_quoted(out_, text); }
  void name(std::string_view name);
  void null(std::string_view name);

  std::string& out_;
  Nulls nulls_;
  bool first_ = true;
};

// {"command":"make","cwd":null}
template <class T>
std::string json_text(const T& value, Nulls nulls = Nulls::Write) {
  std::string out;
  Encoder encoder(out, nulls);
  T::describe(encoder, value);
  encoder.end();
  return out;
}

template <class T>
std::string json_text(const Encoded<T>& value, Nulls = Nulls::Write) {
  return value.json;
}

// The arguments of a call: what was not set is left out.
template <class Request>
std::string arguments_text(const Request& request) {
  return json_text(request, Nulls::LeaveOut);
}

}  // namespace ttyward::wire
