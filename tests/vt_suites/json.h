// Just enough JSON to read a recorded grid: a tree of values, no writing, no errors but a failed check.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"

namespace ttyward::test {

struct Json {
  enum class Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Kind::Null;
  double number = 0;
  std::string string;
  std::vector<Json> array;
  std::map<std::string, Json> object;

  const Json& operator[](const std::string& key) const { return object.at(key); }
  bool has(const std::string& key) const { return object.contains(key); }
  int integer() const { return static_cast<int>(number); }

  static Json parse(std::string_view text) {
    size_t at = 0;
    return value(text, at);
  }

 private:
  static char next(std::string_view text, size_t& at) {
    while (at < text.size() && std::string_view(" \t\r\n,:").find(text[at]) != std::string_view::npos) at++;
    TTYWARD_CHECK(at < text.size());
    return text[at];
  }

  static std::string quoted(std::string_view text, size_t& at) {
    std::string out;
    for (at++; text[at] != '"'; at++) {
      if (text[at] != '\\') {
        out += text[at];
        continue;
      }
      const char c = text[++at];
      if (c == 'u') {
        base::append_utf8(
            out, static_cast<char32_t>(std::stoul(std::string(text.substr(at + 1, 4)), nullptr, 16)));
        at += 4;
      } else {
        out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
    }
    at++;
    return out;
  }

  static Json value(std::string_view text, size_t& at) {
    Json json;
    const char c = next(text, at);
    if (c == '"') {
      json.kind = Kind::String;
      json.string = quoted(text, at);
    } else if (c == '[') {
      json.kind = Kind::Array;
      for (at++; next(text, at) != ']';) json.array.push_back(value(text, at));
      at++;
    } else if (c == '{') {
      json.kind = Kind::Object;
      for (at++; next(text, at) != '}';) {
        const std::string key = quoted(text, at);
        json.object[key] = value(text, at);
      }
      at++;
    } else if (c == 't' || c == 'f' || c == 'n') {
      json.kind = c == 'n' ? Kind::Null : Kind::Bool;
      json.number = c == 't' ? 1 : 0;
      at += c == 'f' ? 5 : 4;
    } else {
      json.kind = Kind::Number;
      const std::string digits(text.substr(at, text.find_first_not_of("+-0123456789.eE", at) - at));
      json.number = std::strtod(digits.c_str(), nullptr);
      at += digits.size();
      TTYWARD_CHECK(!digits.empty());
    }
    return json;
  }
};

}  // namespace ttyward::test
