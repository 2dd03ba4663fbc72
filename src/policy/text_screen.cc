#include "policy/text_screen.h"

namespace ttyward::policy {

size_t decode_utf8(std::string_view text, size_t at, char32_t& code_point) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  if (lead < 0x80) {
    code_point = lead;
    return 1;
  }
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return 0;
  char32_t value = lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return 0;
    value = (value << 6U) | (byte(at + i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
  code_point = value;
  return length;
}

bool is_deceptive(char32_t c) {
  return (c >= 0x80 && c <= 0xA0) || c == 0xAD || c == 0x34F || c == 0x61C || c == 0x115F || c == 0x1160 ||
         c == 0x1680 || c == 0x17B4 || c == 0x17B5 || (c >= 0x180B && c <= 0x180F) ||
         (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) ||
         c == 0x2800 || c == 0x3000 || c == 0x3164 || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF ||
         c == 0xFFA0 || (c >= 0xFFF0 && c <= 0xFFFB) || (c >= 0xE000 && c <= 0xF8FF) ||
         (c >= 0x1D173 && c <= 0x1D17A) || (c >= 0xE0000 && c <= 0xE0FFF) || c >= 0xF0000;
}

std::vector<TextProblem> screen_text(std::string_view text) {
  std::vector<TextProblem> problems;
  const auto add = [&](std::string what, size_t begin, size_t end, Risk risk, bool unparsable) {
    if (problems.size() < 16) {
      problems.push_back(
          {std::move(what), {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}, risk, unparsable});
    }
  };
  if (text.size() > kMaxLength) {
    add("the command is too long to be judged", 0, kMaxLength, Risk::High, true);
    return problems;
  }
  if (text.size() > kMaxQuietLength) {
    add("the command is too long for a person to review", kMaxQuietLength, text.size(), Risk::High, false);
  }
  size_t run = 0;
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0;
    const size_t length = decode_utf8(text, at, c);
    if (length == 0) {
      add("bytes that are not UTF-8", at, at + 1, Risk::High, true);
      ++at;
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    const bool same =
        at > 0 && (text[at] == text[at - 1] || (blank && (text[at - 1] == ' ' || text[at - 1] == '\n')));
    run = same ? run + 1 : 1;
    if (run == kPaddingRun)
      add("padding pushes part of the command out of sight", at, at + 1, Risk::High, false);
    if (c == 0) {
      add("a NUL byte ends the command early for some programs", at, at + 1, Risk::High, true);
    } else if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F) {
      add("a control character can hide what runs", at, at + 1, Risk::High, true);
    } else if (c >= 0x80 && is_deceptive(c)) {
      add("an invisible or direction-changing character can hide what runs", at, at + length, Risk::High,
          true);
    }
    at += length;
  }
  return problems;
}

}  // namespace ttyward::policy
