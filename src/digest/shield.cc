// Diffs and quoted text are shown as they are or left out whole: a digit in them is never a detail.
#include <re2/re2.h>

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

// "3c3", "10,12d9": where `diff` without options says what changed.
bool begins_plain_hunk(const Page& page, size_t index) {
  static const RE2 kPlace(R"(^\d+(,\d+)?[acd]\d+(,\d+)?$)");
  return index + 1 < page.lines.size() &&
         (page.lines[index + 1].text.starts_with("< ") || page.lines[index + 1].text.starts_with("> ")) &&
         RE2::FullMatch(page.lines[index].text, kPlace);
}

// Changed lines in a row that differ only in numbers: the first and the last say what they are.
void fold_changes(Page& page, size_t begin, size_t end) {
  constexpr size_t kLeast = 8;
  for (size_t i = begin; i < end;) {
    if (!is_change(page.lines[i])) {
      ++i;
      continue;
    }
    const uint64_t shape = shape_of(page.lines[i].text);
    std::vector<size_t> members;
    for (; i < end && is_change(page.lines[i]) && shape_of(page.lines[i].text) == shape; ++i)
      members.push_back(i);
    if (members.size() >= kLeast) fold_lines(page, members, 1, true, "");
  }
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

// A log is searched rather than read, whichever program prints it.
bool is_log(const Page& page) {
  static const RE2 kBegin(
      R"(^\W?(\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |\d{1,3}(\.\d{1,3}){3} |(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b|\[ *\d+\.\d{3,}\] ))");
  size_t lines = 0;
  size_t stamped = 0;
  for (const Line& line : page.lines) {
    if (line.blank || line.lost) continue;
    if (++lines > 2000) break;
    stamped += RE2::PartialMatch(head_of(line.text, 60), kBegin) ? 1 : 0;
  }
  return lines >= 10 && stamped * 10 >= lines * 6;
}

}  // namespace

void shield_quotes(Page& page) {
  page.content = (page.content && !is_log(page)) || is_settings(page);
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const std::string_view text = page.lines[i].text;
    const bool old_new = text.starts_with("--- ") && i + 2 < page.lines.size() &&
                         page.lines[i + 1].text.starts_with("+++ ") &&
                         page.lines[i + 2].text.starts_with("@@");
    if (page.lines[i].fold < 0 && begins_plain_hunk(page, i)) {
      page.lines[i].rank = Rank::Detail;
      page.lines[i].shielded = page.lines[i].settled = true;
      for (; i + 1 < page.lines.size() && page.lines[i + 1].fold < 0 &&
             (page.lines[i + 1].text.starts_with("< ") || page.lines[i + 1].text.starts_with("> ") ||
              page.lines[i + 1].text == "---");
           ++i) {
        Line& line = page.lines[i + 1];
        line.rank = line.text == "---" ? Rank::Noise : Rank::Detail;
        line.shielded = line.settled = true;
      }
      continue;
    }
    if ((!begins_hunk(text) && !old_new) || page.lines[i].fold >= 0) continue;
    const size_t begin = i;
    bool named = false;  // by the line above
    for (; i < page.lines.size() && in_diff(page.lines[i].text) && page.lines[i].fold < 0; ++i) {
      Line& line = page.lines[i];
      line.shielded = true;
      const bool change =
          !line.text.empty() && (line.text[0] == '+' || line.text[0] == '-' || line.text[0] == '@');
      line.rank = change ? Rank::Detail : Rank::Heading;
      const bool name = line.text.starts_with("--- ") || line.text.starts_with("+++ ");
      if (line.text.starts_with("diff --")) named = true;
      if (line.text.starts_with("@@")) named = false;
      if (line.text.starts_with("diff ") || line.text.starts_with("+++ ")) line.rank = Rank::Warning;
      if (line.text.starts_with("index ") || (named && name)) line.rank = Rank::Noise;
      // What did not change is in the file.
      if (line.text.starts_with(" ")) line.rank = page.small() ? Rank::Plain : Rank::Noise;
      line.settled = true;
    }
    fold_changes(page, begin, i);
    --i;
  }
}

}  // namespace ttyward::digest
