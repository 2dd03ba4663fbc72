// Writing JSON by hand where a library would cost more than it gives: quoting, and an object being built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::base {

// "text", escaped. Ill-formed UTF-8 becomes U+FFFD: the result is always valid JSON.
std::string json_quoted(std::string_view text);
// The same, at the end of `out`.
void append_json_quoted(std::string& out, std::string_view text);

// {"a":1,"b":"x"} — members in the order they are added.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value) { return raw(name, json_quoted(value)); }
  JsonObject& number(std::string_view name, int64_t value) { return raw(name, std::to_string(value)); }
  JsonObject& boolean(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }
  JsonObject& null(std::string_view name) { return raw(name, "null"); }
  // `json` is JSON already.
  JsonObject& raw(std::string_view name, std::string_view json) {
    out_ += out_.size() > 1 ? "," : "";
    out_ += json_quoted(name);
    out_ += ':';
    out_ += json;
    return *this;
  }
  std::string str() const { return out_ + "}"; }

 private:
  std::string out_ = "{";
};

}  // namespace ttyward::base
