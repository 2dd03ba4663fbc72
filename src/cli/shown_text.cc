#include "cli/shown_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "base/utf8.h"
#include "vt/width.h"

namespace ttyward::cli {
namespace {

constexpr std::string_view kCut = "…";

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);  // and those that reorder text
}

struct Character {
  size_t begin;
  size_t end;
  size_t width;
};

std::vector<Character> characters(std::string_view text) {
  std::vector<Character> all;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = base::decode_utf8(text, at);
    all.push_back({begin, at, vt::char_width(c)});
  }
  return all;
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  char bytes[4];
  for (size_t at = 0; at < text.size();) {
    const char32_t c = base::decode_utf8(text, at);
    if (c == U'\x1B') {
      out += "^[";
    } else if (is_control(c)) {
      out += ' ';
    } else {
      out.append(bytes, base::encode_utf8(c, bytes));
    }
  }
  return out;
}

size_t shown_width(std::string_view text) {
  size_t width = 0;
  for (const Character& each : characters(text)) width += each.width;
  return width;
}

std::string cut_to(std::string_view text, size_t width, Cut where) {
  if (shown_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  const std::vector<Character> all = characters(text);
  size_t room = width - 1;
  if (where == Cut::End) {
    size_t end = 0;
    for (const Character& each : all) {
      if (each.width > room) break;
      room -= each.width;
      end = each.end;
    }
    return std::string(text.substr(0, end)) + std::string(kCut);
  }
  size_t begin = text.size();
  for (auto each = all.rbegin(); each != all.rend() && each->width <= room; ++each) {
    room -= each->width;
    begin = each->begin;
  }
  return std::string(kCut) + std::string(text.substr(begin));
}

std::string pad_to(std::string_view text, size_t width, Cut where) {
  std::string out = cut_to(text, width, where);
  const size_t has = shown_width(out);
  if (has < width) out.append(width - has, ' ');
  return out;
}

std::string age_text(int64_t milliseconds) {
  const int64_t seconds = milliseconds < 0 ? 0 : milliseconds / 1000;
  if (seconds < 100) return fmt::format("{}s", seconds);
  if (seconds < 100 * 60) return fmt::format("{}m", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86'400);
}

std::string short_path(const std::string& path) {
  const char* home = std::getenv("HOME");
  const std::string folder = home != nullptr ? home : "";
  if (folder.size() < 2 || path.compare(0, folder.size(), folder) != 0) return path;
  if (path.size() > folder.size() && path[folder.size()] != '/') return path;
  return "~" + path.substr(folder.size());
}

}  // namespace ttyward::cli
