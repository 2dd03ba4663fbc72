// Diffs and quoted text are shown as they are or left out whole: a digit in them is never a detail.
#include <algorithm>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

bool begins_hunk(std::string_view text) {
  return text.starts_with("@@ -") || text.starts_with("@@@ ") || text.starts_with("diff --git ") ||
         text.starts_with("diff --cc ");
}

bool in_diff(std::string_view text) {
  if (text.empty()) return true;
  switch (text[0]) {
    case '+':
    case '-':
    case ' ':
    case '\\':
    case '@':
      return true;
    default:
      return text.starts_with("diff ") || text.starts_with("index ") || text.starts_with("new file mode") ||
             text.starts_with("deleted file mode") || text.starts_with("old mode") ||
             text.starts_with("new mode") || text.starts_with("similarity index") ||
             text.starts_with("rename ") || text.starts_with("Binary files ");
  }
}

bool is_change(const Line& line) {
  return !line.text.empty() && (line.text[0] == '+' || line.text[0] == '-');
}

// Of the unchanged lines around a change, the nearest says where it is.
bool far_from_change(const Page& page, size_t index) {
  if (page.small()) return false;
  return !(index > 0 && is_change(page.lines[index - 1])) &&
         !(index + 1 < page.lines.size() && is_change(page.lines[index + 1]));
}

bool is_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  });
}

// An environment, a configuration: every line is one of its own, and was asked for.
bool is_settings(const Page& page) {
  size_t lines = 0;
  size_t assignments = 0;
  for (const Line& line : page.lines) {
    lines += line.blank ? 0 : 1;
    assignments += is_assignment(line.text) ? 1 : 0;
  }
  return assignments >= 6 && assignments * 10 >= lines * 7 && page.chars <= page.options.max_chars;
}

}  // namespace

void shield_quotes(Page& page) {
  page.content = page.content || is_settings(page);
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const std::string_view text = page.lines[i].text;
    const bool old_new = text.starts_with("--- ") && i + 2 < page.lines.size() &&
                         page.lines[i + 1].text.starts_with("+++ ") &&
                         page.lines[i + 2].text.starts_with("@@");
    if ((!begins_hunk(text) && !old_new) || page.lines[i].fold >= 0) continue;
    for (; i < page.lines.size() && in_diff(page.lines[i].text) && page.lines[i].fold < 0; ++i) {
      Line& line = page.lines[i];
      line.shielded = true;
      const bool change =
          !line.text.empty() && (line.text[0] == '+' || line.text[0] == '-' || line.text[0] == '@');
      line.rank = change ? Rank::Detail : Rank::Heading;
      if (line.text.starts_with("diff ") || line.text.starts_with("+++ ")) line.rank = Rank::Warning;
      if (line.text.starts_with("index ")) line.rank = Rank::Noise;
      if (line.text.starts_with(" ")) line.rank = far_from_change(page, i) ? Rank::Noise : Rank::Plain;
      line.settled = true;
    }
    --i;
  }
}

}  // namespace ttyward::digest
