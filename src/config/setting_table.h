// The one table of settings: parsing, checking, `config show` and
// docs/configuration.md all come from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace ttyward::config {

// A choice is the number of the word in Setting::choices; bytes are a number.
using Value = std::variant<bool, int64_t, Milliseconds, std::string, std::vector<std::string>>;

enum class Kind : uint8_t { Bool, Number, Bytes, Duration, Choice, Text, List };

// What a project's file may do with a setting, so that it can only tighten.
enum class Tighten : uint8_t {
  Never,    // not the project's business
  Lower,    // a smaller value; 0 where it means "no limit" is the largest
  True,     // switch it on
  False,    // switch it off
  Earlier,  // a word further to the front of the choices
  Add,      // add to the list
  Narrow,   // folders below those that are listed; any, if none are
};

struct Setting {
  const char* section;
  const char* name;
  Kind kind;
  const char* unit;  // of bare numbers; empty: none
  int64_t least;
  int64_t most;
  bool zero_is_none;  // 0 stands for "no limit" and is allowed whatever `least` says
  std::span<const char* const> choices;
  Tighten tighten;
  const char* doc;
  Value (*get)(const Settings&);
  void (*set)(Settings&, const Value&);

  std::string full_name() const { return std::string(section) + "." + name; }
};

std::span<const Setting> setting_table();
const Setting* find_setting(std::string_view section, std::string_view name);
bool is_section(std::string_view name);

// A value as a file would hold it: true, 500, "60s", "256MiB", ["a", "b"].
std::string to_toml(const Setting& setting, const Value& value);
std::string to_json(const Setting& setting, const Value& value);
// What may be written there, for messages and the reference: "a time from 0 to 24h, such as \"60s\"".
std::string allowed(const Setting& setting);

// The error says what is allowed.
base::Result<Value> value_from_text(const Setting& setting, std::string_view text);
base::Result<Value> value_from_number(const Setting& setting, int64_t number);
// Limits and choices; for lists and texts, what their words must look like.
base::Result<Value> checked(const Setting& setting, Value value);

}  // namespace ttyward::config
