#include "mcp/tools/visible_text.h"

#include <fmt/format.h>

#include "base/ids.h"
#include "base/utf8.h"

namespace ttyward::mcp::tools {
namespace {

constexpr size_t kMarkLength = 12;

bool is_emoji(char32_t c) {
  return c >= 0x1F000 || (c >= 0x2190 && c <= 0x2BFF) || c == 0x00A9 || c == 0x00AE || c == 0x203C ||
         c == 0x2049 || (c >= 0x3030 && c <= 0x3299);
}

bool takes_emoji_form(char32_t before) {
  return is_emoji(before) || (before >= '0' && before <= '9') || before == '#' || before == '*';
}

bool is_variation(char32_t c) {
  return (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF);
}

bool is_hidden(char32_t c) {
  return c == 0x00AD || c == 0x034F || c == 0x061C || c == 0x115F || c == 0x1160 || c == 0x17B4 ||
         c == 0x17B5 || (c >= 0x180B && c <= 0x180F) || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0x3164 || c == 0xFEFF ||
         c == 0xFFA0 || (c >= 0xFFF0 && c <= 0xFFFB) || (c >= 0x1D173 && c <= 0x1D17A) ||
         (c >= 0xE0000 && c <= 0xE0FFF) || is_variation(c);
}

// Past an escape sequence that begins at `pos` (the ESC is behind it already).
void skip_escape(std::string_view text, size_t& pos) {
  if (pos >= text.size()) return;
  const char kind = text[pos];
  if (kind == '[') {
    for (pos++; pos < text.size(); pos++) {
      const auto byte = static_cast<unsigned char>(text[pos]);
      if (byte >= 0x40 && byte <= 0x7E) {
        pos++;
        return;
      }
      if (byte < 0x20 || byte > 0x7E) return;
    }
  } else if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
    for (pos++; pos < text.size(); pos++) {
      if (text[pos] == '\a') {
        pos++;
        return;
      }
      if (text[pos] == '\x1b' || text[pos] == '\n') return;
    }
  } else if (kind >= 0x20 && kind <= 0x7E) {
    pos++;
  }
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char32_t before = 0;
  for (size_t pos = 0; pos < text.size();) {
    const size_t begin = pos;
    const char32_t c = base::decode_utf8(text, pos);
    char32_t next = 0;
    if (size_t peek = pos; peek < text.size()) next = base::decode_utf8(text, peek);
    if (c == 0x1B) {
      skip_escape(text, pos);
    } else if (c == '\r' && next == '\n') {
      continue;
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
      out += fmt::format("<{:02X}>", static_cast<uint32_t>(c));
    } else if ((c == 0xFE0F || c == 0xFE0E) && takes_emoji_form(before) && !is_variation(next)) {
      out += text.substr(begin, pos - begin);
    } else if (c == 0x200D && (is_emoji(before) || before == 0xFE0F) && is_emoji(next)) {
      out += text.substr(begin, pos - begin);
    } else if (is_hidden(c)) {
      out += fmt::format("<U+{:04X}>", static_cast<uint32_t>(c));
    } else if (c == base::kReplacementCharacter) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(begin, pos - begin);
    }
    before = c;
  }
  return out;
}

std::string visible_line(std::string_view text, size_t most) {
  std::string out;
  size_t characters = 0;
  const std::string shown = visible_text(text);
  for (size_t pos = 0; pos < shown.size(); characters++) {
    if (characters == most) return out + "…";
    const size_t begin = pos;
    const char32_t c = base::decode_utf8(shown, pos);
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "⏎" : " ";
    } else {
      out += std::string_view(shown).substr(begin, pos - begin);
    }
  }
  return out;
}

std::string sentence(std::string text) {
  if (text.empty()) return text;
  // What stands in quotes, and paths, stay as they are.
  if (text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
  const bool ended = text.ends_with('.') || text.ends_with('!') || text.ends_with('?') || text.ends_with("…");
  if (!ended) text += '.';
  return text;
}

Fence::Fence() : mark_(base::random_nonce().substr(0, kMarkLength)) {}

std::string Fence::around(std::string_view what, std::string_view text) const {
  const bool ended = text.empty() || text.back() == '\n';
  return fmt::format("--- {} {} ---\n{}{}--- end {} ---\n", what, mark_, text, ended ? "" : "\n", mark_);
}

}  // namespace ttyward::mcp::tools
