// How much each line matters, for output of any tool.
#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

const RE2& summary_pattern() {
  static const RE2 kPattern(
      R"((?i)(^|[\s:(,=\[])\d[\d,.]*%? +(\w+ +)?(passed|passing|failed|failing|failures?|errors?|warnings?|problems?|skipped|pending|ignored|tests?( ran| run)?|suites?|files? changed|insertions?|deletions?|packages?|upgraded|newly installed|added|removed|changed|vulnerabilities|directories|matches|total|succeeded|to add|to change|to destroy|items?|images|rows|done|issues?)\b)"
      R"(|\b[1-5]\d\d (OK|Not Found|Created|Accepted|No Content|Bad|Found|Moved|Forbidden|Unauthorized|Internal|Service|Gateway)\b|^\W*(total|summary|results?|tests?|test files|snapshots?|ran|build|finished|done|ok|pass|failed|passed|success|successfully|completed?|duration|status|result|conclusion|stopped|stopping|aborted|killed|terminated)\b)"
      R"(|(?i)\b(timed? ?out|out of memory|segmentation fault|core dumped|killed|aborted|refused|unreachable|cannot|can't|could not|couldn't|unable to|no such|does not|did not|mismatch|invalid|undefined reference|unresolved|missing|expected|received|actual|conflict|rejected|refusing|corrupt|damaged|lost|deprecated|vulnerab\w+|severity|unhandled|uncaught|traceback|abort|stopped|premature)\b)");
  return kPattern;
}

// "0 upgraded, 3 newly installed", "2 passed; 4 failed": how it went.
bool counts_outcomes(std::string_view text) {
  static const RE2 kCounts(
      R"((?i)\b\d[\d,.]* +(newly )?(passed|passing|failed|failing|failures?|errors?|warnings?|skipped|ignored|upgraded|installed|to remove|not upgraded|added|removed|changed|insertions?|deletions?|files? changed|succeeded|to add|to change|to destroy|tests|examples)\b.*\b\d[\d,.]* +(newly )?(passed|failed|failures?|errors?|warnings?|skipped|ignored|upgraded|installed|to remove|not upgraded|added|removed|changed|insertions?|deletions?|total|succeeded|to add|to change|to destroy|pending)\b)");
  return text.size() < 200 && RE2::PartialMatch(text, kCounts);
}

// Words that say that it went wrong as clearly as "error" does.
bool is_grave(std::string_view text) {
  static const RE2 kGrave(
      R"((?i)\b(undefined reference|multiple definition|out of memory|segmentation fault|core dumped|connection refused|timed out|merge conflict|unable to locate|cannot connect)\b)");
  return text.size() < 400 && RE2::PartialMatch(text, kGrave);
}

bool is_warning(std::string_view text) {
  return contains_word(text, "warning") || contains_word(text, "warn") || contains_word(text, "critical") ||
         contains_word(text, "severe");
}

// A line of a log that only informs, whatever words are in it.
bool is_heading(std::string_view text) {
  return text.size() < 80 && ((text.back() == ':' && text[0] != ' ') || text.starts_with("==") ||
                              text.starts_with("--") || text.starts_with("##"));
}

// A closing bracket, a lone bar: nothing to read.
bool says_nothing(std::string_view text) {
  return text.size() < 80 && std::none_of(
                                 text.begin(), text.end(),
                                 [](char c) {
                                   return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                          (c >= 'A' && c <= 'Z') || static_cast<uint8_t>(c) >= 0x80;
                                 });
}

// Only marks: "=====", "[INFO] -----".
bool is_ruler(std::string_view text) {
  if (text.starts_with("[INFO] ")) text.remove_prefix(7);
  if (text.size() < 3 || text.find("\xE2\x9C") != std::string_view::npos) return false;
  while (text.starts_with("\xE2\x94") || text.starts_with("\xE2\x95"))
    text.remove_prefix(std::min<size_t>(3, text.size()));
  return text.find_first_not_of("=-_*~#^! \t") == std::string_view::npos;
}

// How deep a line stands in an outline or a drawn tree.
size_t depth_of(std::string_view text) {
  size_t depth = 0;
  while (!text.empty()) {
    size_t bytes = 0;
    if (text[0] == ' ' || text[0] == '|' || text[0] == '`' || text[0] == '+' || text[0] == '-') bytes = 1;
    if (text[0] == '\t') bytes = 1, depth += 7;
    if (text.starts_with("\xE2\x94") || text.starts_with("\xE2\x95")) bytes = 3;  // box drawing
    if (text.starts_with("\xC2\xA0")) bytes = 2;
    if (bytes == 0 || bytes > text.size()) break;
    text.remove_prefix(bytes);
    ++depth;
  }
  return depth;
}

// In an outline the outermost lines say what the others belong to.
void rank_outline(Page& page) {
  std::map<size_t, size_t> levels;
  size_t lines = 0;
  for (const Line& line : page.lines) {
    if (line.blank || line.shielded || line.fold >= 0) continue;
    ++levels[depth_of(line.text)];
    ++lines;
  }
  size_t outer = 0;
  size_t deepest = 0;
  bool any = false;
  for (const auto& [depth, count] : levels) {
    if ((outer + count) * 4 > lines || outer + count > 60) break;
    outer += count;
    deepest = depth;
    any = true;
  }
  if (!any) return;
  for (Line& line : page.lines) {
    if (line.rank == Rank::Plain && !line.blank && !line.shielded && !line.settled &&
        depth_of(line.text) <= deepest)
      line.rank = Rank::Heading;
  }
}

// "cancelled 0", "indirectly lost: 0 bytes in 0 blocks": nothing of that kind.
bool counts_nothing(std::string_view text) {
  static const RE2 kNothing(R"(^\W*[A-Za-z_ ]+[:=]?\s+0(\s+\w+ in 0 \w+)?\s*$)");
  return text.size() < 60 && RE2::FullMatch(text, kNothing);
}

// Only a place: what it is about stands below.
bool is_place(std::string_view text) {
  static const RE2 kPlace(R"(^\s*(In |at |File )?\S* ?line \d+:?$|^\s*[\w./+-]+\.\w{1,5}:\d+(:\d+)?:?$)");
  return text.size() < 120 && RE2::FullMatch(text, kPlace);
}

// What the command line names is what the reader asked about, unless it is everywhere.
void rank_asked(Page& page) {
  constexpr size_t kMost = 4;
  for (size_t w = 1; w < page.argv.size() && w < 40; ++w) {
    const std::string& word = page.argv[w];
    if (word.size() < 4 || word[0] == '-' || word.find('=') != std::string::npos) continue;
    std::vector<size_t> found;
    for (size_t i = 0; i < page.lines.size() && found.size() <= kMost; ++i) {
      const Line& line = page.lines[i];
      if (line.blank || line.shielded || line.text.size() > 400) continue;
      if (line.text.find(word) != std::string::npos) found.push_back(i);
    }
    if (found.size() > kMost) continue;
    for (const size_t i : found) {
      Line& line = page.lines[i];
      if (!line.settled && line.fold < 0 && line.rank > Rank::Quote)
        line.rank = std::max(line.rank, Rank::Hint);
    }
  }
}

const RE2& lint_code() {
  static const RE2 kPattern(R"(\b(SC|TS|CS|CA|MSB|E|W|F|C|D|N|PLR|PLW|RUF|DL)\d{3,5}\b)");
  return kPattern;
}

// "CMake Warning at CMakeLists.txt:6 (message):": what it warns of comes next, after a blank line perhaps.
void raise_detail(Page& page, size_t index) {
  if (!page.lines[index].text.ends_with(':')) return;
  size_t next = index + 1;
  if (next < page.lines.size() && page.lines[next].blank) ++next;
  if (next >= page.lines.size()) return;
  Line& line = page.lines[next];
  if (line.blank || line.settled || line.shielded || line.fold >= 0 || line.rank <= Rank::Quote) return;
  line.rank = std::max(line.rank, Rank::Warning);
}

// Where nearly all lines are of a few kinds, those that are of none say what happened.
void rank_rare(Page& page) {
  constexpr size_t kMost = 8;
  size_t lines = 0;
  std::vector<size_t> alone;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank || line.rank <= Rank::Quote) continue;
    ++lines;
    if (line.fold < 0 && line.rank < Rank::Hint && !line.shielded && !line.lost && line.text[0] != ' ')
      alone.push_back(i);
  }
  // Where tools report, the recognisers know what matters.
  if (page.content || page.quotes || !page.facts.tests.empty() || !page.facts.diagnostics.empty()) return;
  if (lines < 12 || alone.size() > kMost || alone.size() * 4 > lines) return;
  for (const size_t i : alone) page.lines[i].rank = Rank::Hint;
}

}  // namespace

void rank_lines(Page& page) {
  for (Line& line : page.lines) {
    if (line.settled || line.blank || line.lost) continue;
    if (!line.alarm && !line.shielded && !page.content && (is_ruler(line.text) || says_nothing(line.text))) {
      line.rank = Rank::Noise;
    } else if (line.alarm) {
      line.rank = std::max(line.rank, Rank::Alarm);
    } else if (is_warning(line.text) ||
               (!page.content && !line.shielded && (is_grave(line.text) || counts_outcomes(line.text)))) {
      line.rank = std::max(line.rank, Rank::Warning);
    } else if (line.rank == Rank::Plain && !page.content && !line.shielded && line.text.size() < 400 &&
               !counts_nothing(line.text) &&
               (RE2::PartialMatch(line.text, summary_pattern()) ||
                RE2::PartialMatch(line.text, lint_code()))) {
      line.rank = Rank::Hint;
    } else if (line.rank == Rank::Plain && !page.content && is_place(line.text)) {
      line.rank = Rank::Detail;
      line.settled = true;  // each stands above lines of its own
    } else if (line.rank == Rank::Plain && is_heading(line.text)) {
      line.rank = Rank::Heading;
    }
  }
  if (!page.content) rank_outline(page);
  if (!page.content && page.chars < 100'000) rank_asked(page);
  // What stands beside an alarm explains it.
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Rank rank = page.lines[i].rank;
    if (rank == Rank::Warning && page.lines[i].fold < 0 && !page.lines[i].shielded && !page.content)
      raise_detail(page, i);
    if (rank < Rank::Alarm || page.lines[i].fold >= 0 || page.lines[i].shielded) continue;
    // "panicked at src/lib.rs:8:62:": what it says comes next.
    if (page.lines[i].text.ends_with(':') && i + 1 < page.lines.size()) {
      Line& next = page.lines[i + 1];
      if (!next.blank && !next.settled && next.fold < 0 && next.rank > Rank::Quote)
        next.rank = std::max(next.rank, Rank::Warning);
    }
    // A failed test explains itself after blank lines, too.
    size_t blanks = rank == Rank::Summary ? 2 : 0;
    size_t left = rank == Rank::Summary ? 5 : 3;
    for (size_t j = i + 1; j < page.lines.size() && left > 0; ++j) {
      Line& line = page.lines[j];
      if (line.blank && blanks-- == 0) break;
      if (line.blank) continue;
      if (line.rank >= Rank::Alarm || line.fold >= 0) break;
      --left;
      if (line.rank > Rank::Quote && line.rank < Rank::Detail && !line.settled) line.rank = Rank::Detail;
    }
    if (i > 0 && !page.lines[i - 1].settled && page.lines[i - 1].rank > Rank::Quote &&
        page.lines[i - 1].rank < Rank::Detail) {
      page.lines[i - 1].rank = Rank::Detail;
    }
  }
}

void rank_ends(Page& page) {
  rank_rare(page);
  // The end says how it went; the beginning says what it was.
  size_t last = 0;
  for (size_t i = page.lines.size(); i-- > 0 && last < 4;) {
    Line& line = page.lines[i];
    if (line.blank) continue;
    ++last;
    if (line.fold >= 0) continue;
    if (line.rank < Rank::Warning && line.rank > Rank::Quote)
      line.rank = last <= 2 ? Rank::Warning : Rank::Detail;
  }
  size_t first = 0;
  for (size_t i = 0; i < page.lines.size() && first < 2; ++i) {
    Line& line = page.lines[i];
    if (line.blank) continue;
    ++first;
    if (line.fold >= 0) continue;
    if (line.rank == Rank::Plain) line.rank = Rank::Heading;
  }
}

}  // namespace ttyward::digest
