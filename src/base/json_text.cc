#include "base/json_text.h"

#include <cstdio>

#include "base/utf8.h"

namespace ttyward::base {

namespace {

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char32_t c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      if (c < 0x20 || c == 0x7F) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
        out += escape;
      } else {
        append_utf8(out, c);
      }
  }
}

}  // namespace

void append_json_quoted(std::string& out, std::string_view text) {
  out.reserve(out.size() + text.size() + 2);
  out += '"';
  for (size_t at = 0; at < text.size();) {
    // Most text is plain ASCII: it is copied in runs.
    size_t end = at;
    while (end < text.size() && is_plain(text[end])) end++;
    out.append(text, at, end - at);
    at = end;
    if (at < text.size()) append_escaped(out, decode_utf8(text, at));
  }
  out += '"';
}

std::string json_quoted(std::string_view text) {
  std::string out;
  append_json_quoted(out, text);
  return out;
}

}  // namespace ttyward::base
