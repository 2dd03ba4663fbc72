#include "policy/escaped_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/text_screen.h"

namespace ttyward::policy {

std::string escape_text(std::string_view text, bool multiline) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0;
    const size_t length = decode_utf8(text, at, c);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      ++at;
      continue;
    }
    if (c == '\n' || c == '\t') {
      if (multiline) {
        out.push_back(static_cast<char>(c));
      } else {
        out += c == '\n' ? "\\n" : "\\t";
      }
    } else if (c == '\r') {
      out += "\\r";
    } else if (c < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(c));
    } else if (c >= 0x80 && is_deceptive(c)) {
      out += c > 0xFFFF ? fmt::format("\\U{:08x}", static_cast<uint32_t>(c))
                        : fmt::format("\\u{:04x}", static_cast<uint32_t>(c));
    } else {
      out.append(text.substr(at, length));
    }
    at += length;
  }
  return out;
}

std::string show_command(std::string_view command, size_t limit) {
  const auto boundary = [&](size_t at) {  // never cut a character
    while (at > 0 && at < command.size() && (static_cast<unsigned char>(command[at]) & 0xC0U) == 0x80) --at;
    return at;
  };
  if (command.size() <= limit) return escape_text(command, true);
  // The end matters as much as the beginning: that is where things are hidden.
  const size_t head = boundary(limit / 2);
  const size_t tail = boundary(command.size() - limit / 2);
  const std::string_view hidden = command.substr(head, tail - head);
  size_t characters = 0;
  for (const char c : hidden) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
  const auto lines = std::count(hidden.begin(), hidden.end(), '\n');
  const auto blanks =
      std::count_if(hidden.begin(), hidden.end(), [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  return escape_text(command.substr(0, head), true) +
         fmt::format("\n[+{} characters not shown, {} of them blank, {} line ends]\n", characters, blanks,
                     lines) +
         escape_text(command.substr(tail), true);
}

}  // namespace ttyward::policy
