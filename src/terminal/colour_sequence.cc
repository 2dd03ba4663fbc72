#include "terminal/colour_sequence.h"

#include <algorithm>
#include <cstring>

namespace ttyward::terminal {
namespace {

// Longer ones exist only to be a nuisance: a screen may know what they do.
constexpr size_t kLongest = 64;

}  // namespace

ColourSequence colour_sequence(std::string_view text) {
  if (text.size() < 3 || text[1] != '[') return {};
  size_t at = 2;
  bool zero = true;  // no parameter, or one that is 0
  while (at < text.size() && at < kLongest) {
    const char c = text[at];
    const bool digit = c >= '0' && c <= '9';
    if (!digit && c != ';' && c != ':') break;
    zero = zero && c == '0';
    at++;
  }
  if (at == text.size()) return {};
  using Kind = ColourSequence::Kind;
  if (text[at] == 'm') return {zero ? Kind::Reset : Kind::Style, at + 1};
  if (text[at] == 'K' && zero) return {Kind::EraseRight, at + 1};
  return {};
}

bool has_only_colours(std::string_view text) {
  for (size_t at = text.find('\x1b'); at != std::string_view::npos; at = text.find('\x1b', at)) {
    const size_t length = colour_sequence(text.substr(at)).length;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

size_t take_out_colours(std::span<char> text) {
  const std::string_view all(text.data(), text.size());
  size_t to = all.find('\x1b');
  if (to == std::string_view::npos) return all.size();
  for (size_t at = to; at < all.size();) {
    at += std::max<size_t>(colour_sequence(all.substr(at)).length, 1);
    const size_t next = std::min(all.find('\x1b', at), all.size());
    std::memmove(text.data() + to, text.data() + at, next - at);
    to += next - at;
    at = next;
  }
  return to;
}

}  // namespace ttyward::terminal
