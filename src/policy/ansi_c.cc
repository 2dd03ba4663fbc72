#include "policy/ansi_c.h"

#include "base/hex.h"

namespace ttyward::policy {
namespace {

// Reads up to `most` digits of `radix` at `at`; returns how many there were.
size_t read_number(std::string_view body, size_t at, int radix, size_t most, char32_t& value) {
  size_t count = 0;
  value = 0;
  while (count < most && at + count < body.size()) {
    const int digit = base::hex_digit(body[at + count]);
    if (digit < 0 || digit >= radix) break;
    value = value * static_cast<char32_t>(radix) + static_cast<char32_t>(digit);
    ++count;
  }
  return count;
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6U));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12U));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | ((c >> 18U) & 0x07U));
    put(0x80U | ((c >> 12U) & 0x3FU));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

bool decode_ansi_c(std::string_view body, std::string& out) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      out.push_back(body[i]);
      continue;
    }
    const char c = body[++i];
    char32_t value = 0;
    switch (c) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case '\\':
      case '\'':
      case '"':
      case '?':
        out.push_back(c);
        break;
      case 'x': {
        const size_t count = read_number(body, i + 1, 16, 2, value);
        if (count == 0) return false;
        i += count;
        out.push_back(static_cast<char>(static_cast<unsigned char>(value)));
        break;
      }
      case 'u':
      case 'U': {
        const size_t count = read_number(body, i + 1, 16, c == 'u' ? 4 : 8, value);
        if (count == 0 || value > 0x10FFFF) return false;
        i += count;
        append_utf8(out, value);
        break;
      }
      default: {
        const size_t count = read_number(body, i, 8, 3, value);
        if (count == 0) return false;
        i += count - 1;
        out.push_back(static_cast<char>(static_cast<unsigned char>(value & 0xFFU)));
      }
    }
    const auto last = static_cast<unsigned char>(out.back());
    if ((last < 0x20 && last != '\n' && last != '\t') || last == 0x7F) return false;
  }
  return true;
}

}  // namespace ttyward::policy
