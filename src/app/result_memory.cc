#include "app/result_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace ttyward::app {
namespace {

constexpr size_t kLeastChars = 500;  // shorter texts are sent again
constexpr size_t kPart = 2;          // a difference of more than this part of the text is none

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "ms", "s", "sec": the length of a unit of time at the beginning of the text; 0: none is there.
size_t unit_at(std::string_view text) {
  for (const std::string_view unit :
       {"milliseconds", "seconds", "second", "minutes", "secs", "sec", "min", "ms", "us", "ns", "s", "m"}) {
    if (text.starts_with(unit) && (text.size() == unit.size() || !is_letter(text[unit.size()])))
      return unit.size();
  }
  return 0;
}

// The line without what is different each time.
std::string lasting(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size();) {
    const bool inside = i > 0 && is_letter(line[i - 1]);
    if (line.substr(i).starts_with("0x")) {
      for (i += 2; i < line.size() && is_hex(line[i]);) ++i;
      out += "0x";
      continue;
    }
    if (inside || !is_digit(line[i])) {
      out += line[i++];
      continue;
    }
    size_t end = i;
    bool clock = false;
    while (end < line.size() && (is_digit(line[end]) || ((line[end] == '.' || line[end] == ':') &&
                                                         end + 1 < line.size() && is_digit(line[end + 1])))) {
      clock = clock || line[end] == ':';
      ++end;
    }
    const size_t blank = end < line.size() && line[end] == ' ' ? 1 : 0;
    const size_t unit = unit_at(line.substr(end + blank));
    if (unit > 0 || (clock && end - i >= 5)) {
      out += '#';
    } else {
      out += line.substr(i, end - i);
    }
    i = end;
  }
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

// The line, as far as a difference in it counts.
std::string counting(std::string_view line, bool exact) {
  return exact ? std::string(line) : lasting(line);
}

// Those lines of `of` that `other` does not have, each as often as it is missing.
std::vector<std::string_view> only_in(const std::vector<std::string_view>& of,
                                      const std::vector<std::string_view>& other, bool exact) {
  std::map<std::string, size_t> there;
  for (const std::string_view line : other) ++there[counting(line, exact)];
  std::vector<std::string_view> only;
  for (const std::string_view line : of) {
    const auto found = there.find(counting(line, exact));
    if (found == there.end() || found->second == 0) {
      only.push_back(line);
    } else {
      --found->second;
    }
  }
  return only;
}

}  // namespace

std::string difference(const ResultMemory::Given& before, const ResultMemory::Given& now) {
  if (now.text.size() < kLeastChars) return now.text;
  const bool exact = before.exact || now.exact;
  const std::vector<std::string_view> old_lines = lines_of(before.text);
  const std::vector<std::string_view> new_lines = lines_of(now.text);
  const std::vector<std::string_view> gone = only_in(old_lines, new_lines, exact);
  const std::vector<std::string_view> come = only_in(new_lines, old_lines, exact);
  // What is not shown may be different, too: nothing is said of it unless it is known.
  const bool same = now.fingerprint != 0 && now.fingerprint == before.fingerprint && now.text == before.text;
  const char* but = !gone.empty() || !come.empty() ? ", but for:"
                    : now.text != before.text      ? ", but for times and addresses"
                    : !same                        ? ", other lines differ"
                                                   : "";
  std::string text = same ? fmt::format("[as command {} printed before", before.command_id)
                          : fmt::format("[shown lines as of command {}{}", before.command_id, but);
  text += fmt::format(" (all of it: read_output {}, view digest)]\n", now.command_id);
  if (same) return text;
  for (const std::string_view line : gone) text += fmt::format("- {}\n", line);
  for (const std::string_view line : come) text += fmt::format("+ {}\n", line);
  return text.size() * kPart > now.text.size() ? now.text : text;
}

std::string ResultMemory::since_last(const std::string& reader, const std::string& line,
                                     const std::string& cwd, Given now) {
  const std::string key = reader + '\0' + cwd + '\0' + line;
  std::string text = now.text;
  if (const auto found = index_.find(key); found != index_.end()) {
    text = difference(found->second->given, now);
    kept_.erase(found->second);
    index_.erase(found);
  }
  kept_.push_front({key, std::move(now)});
  index_[key] = kept_.begin();
  if (kept_.size() > kMost) {
    index_.erase(kept_.back().key);
    kept_.pop_back();
  }
  return text;
}

}  // namespace ttyward::app
