// Values of settings: from text, to text, and whether they are allowed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "base/http_endpoint.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "config/setting_table.h"

namespace ttyward::config {
namespace {

struct Unit {
  std::string_view name;
  int64_t size;
};
constexpr std::array<Unit, 5> kTimes = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 6> kSizes = {{{"TiB", int64_t{1} << 40},
                                         {"GiB", int64_t{1} << 30},
                                         {"MiB", int64_t{1} << 20},
                                         {"KiB", int64_t{1} << 10},
                                         {"B", 1},
                                         {"bytes", 1}}};

// "90s", "1.5h", "256 MiB": digits, perhaps a fraction, a unit.
template <size_t N>
std::optional<int64_t> with_unit(std::string_view text, const std::array<Unit, N>& units) {
  int64_t whole = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  auto [at, error] = std::from_chars(begin, end, whole);
  if (error != std::errc() || whole < 0) return std::nullopt;
  int64_t fraction = 0;
  int64_t scale = 1;
  if (at != end && *at == '.') {
    const char* first = ++at;
    for (; at != end && *at >= '0' && *at <= '9' && scale < 1'000'000; ++at, scale *= 10)
      fraction = fraction * 10 + (*at - '0');
    if (at == first) return std::nullopt;
  }
  while (at != end && *at == ' ') ++at;
  const std::string_view name(at, static_cast<size_t>(end - at));
  for (const Unit& unit : units) {
    if (name != unit.name) continue;
    if (whole > std::numeric_limits<int64_t>::max() / unit.size - 1) return std::nullopt;
    if (fraction != 0 && unit.size == 1) return std::nullopt;
    return whole * unit.size + fraction * (unit.size / scale) + fraction * (unit.size % scale) / scale;
  }
  return std::nullopt;
}

// In the largest unit that needs no fraction.
template <size_t N>
std::string in_units(int64_t value, const std::array<Unit, N>& units) {
  if (value == 0) return "0";
  for (const Unit& unit : units)
    if (value % unit.size == 0) return fmt::format("{}{}", value / unit.size, unit.name);
  return std::to_string(value);
}

std::string shown(const Setting& setting, int64_t number) {
  if (setting.kind == Kind::Duration) return in_units(number, kTimes);
  if (setting.kind == Kind::Bytes) return in_units(number, kSizes);
  return std::to_string(number);
}

tl::unexpected<base::Error> not_allowed(const Setting& setting, std::string_view given) {
  return base::fail(base::ErrorCode::InvalidArgument,
                    fmt::format("{} is {}, not {}", setting.full_name(), allowed(setting), given));
}

std::string toml_string(std::string_view text) {
  return base::json_quoted(text);  // what JSON escapes, TOML's basic strings understand
}

bool is_absolute(std::string_view path) {
  return path.starts_with("/");
}

// A rough check against typing errors; the program that uses the URL reports anything else.
bool is_web_address(std::string_view text) {
  const size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || text.size() == scheme) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c != 0x7F; });
}

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

// What the words of a list have to look like. Empty: this one will do.
std::string objection(const Setting& setting, std::string_view word) {
  if (word.find('\0') != std::string_view::npos) return "it contains a NUL character";
  const std::string_view name = setting.name;
  if (name == "allowed_roots" || name == "add_to_path") {
    if (!is_absolute(word)) return "write a full path that begins with /";
    if (name == "add_to_path" && word.find(':') != std::string_view::npos)
      return "a folder in PATH cannot contain a colon";
  }
  if (name == "environment_add") {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || !is_variable_name(word.substr(0, equals)))
      return "write NAME=value";
  }
  if (name == "environment_keep" || name == "environment_drop") {
    const std::string_view bare = word.ends_with('*') ? word.substr(0, word.size() - 1) : word;
    if (!is_variable_name(bare)) return "write a variable's name, or its beginning and *";
  }
  return {};
}

}  // namespace

std::string allowed(const Setting& setting) {
  const auto range = [&] {
    return fmt::format("from {} to {}", shown(setting, setting.least), shown(setting, setting.most)) +
           (setting.zero_is_none && setting.least > 0 ? ", or 0 for no limit" : "");
  };
  switch (setting.kind) {
    case Kind::Bool:
      return "true or false";
    case Kind::Number:
      return "a whole number " + range();
    case Kind::Bytes:
      return "a size " + range() + R"(, as a number of bytes or such as "64MiB")";
    case Kind::Duration:
      return "a time " + range() +
             fmt::format(R"(, as a number of {} or such as "90s")",
                         std::string_view(setting.unit) == "s" ? "seconds" : "milliseconds");
    case Kind::Choice: {
      std::string words;
      for (size_t i = 0; i < setting.choices.size(); ++i) {
        const char* joint = i == 0 ? "" : i + 1 == setting.choices.size() ? " or " : ", ";
        words += fmt::format("{}\"{}\"", joint, setting.choices[i]);
      }
      return words;
    }
    case Kind::Text:
      return "a text";
    case Kind::List:
      return "a list of strings";
  }
  return {};
}

base::Result<Value> checked(const Setting& setting, Value value) {
  const auto in_range = [&](int64_t number) {
    return (number >= setting.least && number <= setting.most) || (number == 0 && setting.zero_is_none);
  };
  if (const auto* number = std::get_if<int64_t>(&value); number != nullptr && !in_range(*number))
    return not_allowed(setting, shown(setting, *number));
  if (const auto* time = std::get_if<Milliseconds>(&value); time != nullptr && !in_range(time->count()))
    return not_allowed(setting, shown(setting, time->count()));
  if (const auto* text = std::get_if<std::string>(&value)) {
    if (text->find('\0') != std::string::npos) return not_allowed(setting, "one with a NUL character");
    if (std::string_view(setting.name) == "path" && !text->empty() && !is_absolute(*text))
      return not_allowed(setting, toml_string(*text) + ": write a full path that begins with /, or nothing");
    if (std::string_view(setting.name) == "webhook" && !text->empty() && !is_web_address(*text))
      return not_allowed(
          setting, toml_string(*text) + ": write a URL that begins with http:// or https://, or nothing");
    if (std::string_view(setting.name) == "endpoint" && !text->empty()) {
      if (const auto endpoint = base::parse_http_endpoint(*text); !endpoint)
        return not_allowed(setting, toml_string(*text) + ": " + endpoint.error().message);
    }
    if (std::string_view(setting.name) == "detach_key" && text->empty())
      return not_allowed(setting, "empty: name a key, such as C-]");
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& word : *list) {
      const std::string problem = objection(setting, word);
      if (!problem.empty())
        return base::fail(
            base::ErrorCode::InvalidArgument,
            fmt::format("{}: {} is not valid: {}", setting.full_name(), toml_string(word), problem));
    }
  }
  return value;
}

base::Result<Value> value_from_number(const Setting& setting, int64_t number) {
  if (setting.kind == Kind::Number || setting.kind == Kind::Bytes) return checked(setting, number);
  if (setting.kind != Kind::Duration) return not_allowed(setting, std::to_string(number));
  const int64_t unit = std::string_view(setting.unit) == "s" ? 1000 : 1;
  if (number < 0 || number > std::numeric_limits<int64_t>::max() / unit)
    return not_allowed(setting, std::to_string(number));
  return checked(setting, Milliseconds(number * unit));
}

base::Result<Value> value_from_text(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::Text:
      return checked(setting, std::string(text));
    case Kind::Choice:
      for (size_t i = 0; i < setting.choices.size(); ++i)
        if (text == setting.choices[i]) return base::Result<Value>(tl::in_place, static_cast<int64_t>(i));
      return not_allowed(setting, toml_string(text));
    case Kind::Duration:
      if (const auto time = with_unit(text, kTimes)) return checked(setting, Milliseconds(*time));
      return not_allowed(setting, toml_string(text));
    case Kind::Bytes:
      if (const auto size = with_unit(text, kSizes)) return checked(setting, *size);
      return not_allowed(setting, toml_string(text));
    default:
      return not_allowed(setting, toml_string(text));
  }
}

std::string to_toml(const Setting& setting, const Value& value) {
  switch (setting.kind) {
    case Kind::Bool:
      return std::get<bool>(value) ? "true" : "false";
    case Kind::Number:
      return std::to_string(std::get<int64_t>(value));
    case Kind::Bytes: {
      const std::string text = shown(setting, std::get<int64_t>(value));
      return text == "0" ? text : toml_string(text);
    }
    case Kind::Duration: {
      const std::string text = shown(setting, std::get<Milliseconds>(value).count());
      return text == "0" ? text : toml_string(text);
    }
    case Kind::Choice:
      return toml_string(setting.choices[static_cast<size_t>(std::get<int64_t>(value))]);
    case Kind::Text:
      return toml_string(std::get<std::string>(value));
    case Kind::List: {
      std::string out;
      for (const std::string& word : std::get<std::vector<std::string>>(value))
        out += (out.empty() ? "" : ", ") + toml_string(word);
      return "[" + out + "]";
    }
  }
  return {};
}

std::string to_json(const Setting& setting, const Value& value) {
  if (setting.kind == Kind::Duration) return std::to_string(std::get<Milliseconds>(value).count());
  if (setting.kind == Kind::Bytes) return std::to_string(std::get<int64_t>(value));
  return to_toml(setting, value);
}

}  // namespace ttyward::config
