#include "config/edit.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <string_view>
#include <vector>

#include "config/load.h"

namespace ttyward::config {
namespace {

using base::ErrorCode;
using base::fail;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  if (!lines.empty() && !lines.back().ends_with('\n')) lines.back() += '\n';
  return lines;
}

// What stands behind a value on its last line: a remark, or nothing.
std::string remark_after(std::string_view line, const toml::source_region& value) {
  // Columns count characters.
  size_t at = 0;
  for (size_t column = 1; column < value.end.column && at < line.size(); ++column) {
    do {
      ++at;
    } while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80);
  }
  std::string_view rest = line.substr(at);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  const size_t first = rest.find_first_not_of(" \t");
  return first != std::string_view::npos && rest[first] == '#' ? std::string(rest) : std::string();
}

// Where a setting stands. Lines count from 0.
struct Place {
  bool has_section = false;
  size_t section = 0;  // the line of [section]
  bool has_setting = false;
  size_t first = 0;
  size_t last = 0;
  std::string remark;
};

Place find_place(const toml::table& file, const Setting& setting, const std::vector<std::string>& lines) {
  Place place;
  const toml::table* const section = file[setting.section].as_table();
  if (section == nullptr) return place;
  place.has_section = true;
  place.section = section->source().begin.line - 1;
  for (const auto& [key, node] : *section) {
    if (key.str() != setting.name) continue;
    place.has_setting = true;
    place.first = key.source().begin.line - 1;
    place.last = std::max<size_t>(place.first, node.source().end.line - 1);
    if (place.last < lines.size()) place.remark = remark_after(lines[place.last], node.source());
  }
  return place;
}

std::string edited(std::vector<std::string> lines, const Place& place, const Setting& setting,
                   const std::optional<Value>& value) {
  const std::string line =
      value ? fmt::format("{} = {}{}\n", setting.name, to_toml(setting, *value), place.remark) : "";
  const auto at = [&](size_t number) { return lines.begin() + static_cast<std::ptrdiff_t>(number); };
  if (place.has_setting) {
    lines.erase(at(place.first), at(place.last + 1));
    if (value) lines.insert(at(place.first), line);
  } else if (value && place.has_section) {
    lines.insert(at(place.section + 1), line);
  } else if (value) {
    if (!lines.empty()) lines.emplace_back("\n");
    lines.push_back(fmt::format("[{}]\n", setting.section));
    lines.push_back(line);
  }
  std::string text;
  for (const std::string& each : lines) text += each;
  return text;
}

// The new text says what it is meant to say, and everything else as before.
bool is_right(const std::string& before, const std::string& after, const Setting& setting,
              const std::optional<Value>& value) {
  Loaded old;
  Loaded now;
  apply_toml(old, before, "", FileLevel::Person);
  apply_toml(now, after, "", FileLevel::Person);
  if (now.has_errors()) return false;
  for (const Setting& each : setting_table()) {
    const bool changed = &each == &setting;
    const Value wanted = !changed ? each.get(old.settings) : value ? *value : each.get(Settings{});
    if (each.get(now.settings) != wanted) return false;
    const Source source = !changed ? old.origin(each).source : value ? Source::File : Source::Default;
    if (now.origin(each).source != source) return false;
  }
  return old.settings.agents.size() == now.settings.agents.size();
}

}  // namespace

base::Result<std::string> with_setting(const std::string& text, const Setting& setting,
                                       const std::optional<Value>& value, const std::string& shown_name) {
  const toml::parse_result parsed = toml::parse(text, shown_name);
  Loaded old;
  apply_toml(old, text, shown_name, FileLevel::Person);
  if (!parsed || old.has_errors()) {
    return fail(ErrorCode::InvalidArgument,
                "config.toml has an error; fix it first: " +
                    (old.problems.empty() ? shown_name : old.problems.front().shown()));
  }
  const std::vector<std::string> lines = lines_of(text);
  const Place place = find_place(parsed.table(), setting, lines);
  std::string made = edited(lines, place, setting, value);
  if (!is_right(text, made, setting, value)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is written in {} in a way that only a person can change: edit it by hand",
                            setting.full_name(), shown_name));
  }
  return made;
}

}  // namespace ttyward::config
