#include "vt/osc/fields.h"

#include "base/hex.h"
#include "base/utf8.h"

namespace ttyward::vt {

std::vector<std::string_view> split_fields(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t at = text.find(separator);
    fields.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return fields;
    text.remove_prefix(at + 1);
  }
}

std::string printable(std::string_view text, size_t limit) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    const char32_t c = base::decode_utf8(text, pos);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) continue;
    const size_t before = out.size();
    base::append_utf8(out, c);
    if (out.size() > limit) {
      out.resize(before);
      break;
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    const int byte = text[i] == '%' ? base::hex_byte(text, i + 1) : -1;
    if (byte < 0) {
      out += text[i];
    } else {
      out += static_cast<char>(byte);
      i += 2;
    }
  }
  return out;
}

std::string unescape_633(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] == '\\') {
        out += '\\';
        i++;
        continue;
      }
      const int byte = text[i + 1] == 'x' ? base::hex_byte(text, i + 2) : -1;
      if (byte >= 0) {
        out += static_cast<char>(byte);
        i += 3;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace ttyward::vt
