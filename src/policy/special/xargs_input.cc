#include "policy/special/xargs_input.h"

namespace ttyward::policy::special {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

void split_by_byte(std::string_view text, char delimiter, std::vector<std::string>& out) {
  while (!text.empty()) {
    const size_t end = text.find(delimiter);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

bool split_xargs_input(std::string_view text, XargsSplit split, std::vector<std::string>& out) {
  if (split.by == XargsSplit::By::Byte) {
    split_by_byte(text, split.delimiter, out);
    return true;
  }
  std::string argument;
  bool begun = false;
  const auto finish = [&] {
    if (begun) out.push_back(std::move(argument));
    argument.clear();
    begun = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      finish();
    } else if (is_blank(c) && (split.by == XargsSplit::By::Words || !begun)) {
      finish();
    } else if (c == '\'' || c == '"') {
      const size_t end = text.find_first_of(c == '"' ? "\"\n" : "'\n", i + 1);
      if (end == std::string_view::npos || text[end] == '\n') return false;
      argument += text.substr(i + 1, end - i - 1);
      begun = true;
      i = end;
    } else {
      if (c == '\\') {
        if (++i == text.size()) return false;
      }
      argument.push_back(text[i]);
      begun = true;
    }
  }
  finish();
  return true;
}

}  // namespace ttyward::policy::special
