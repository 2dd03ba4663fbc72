// Folding: lines of one kind become examples with a count. Lines that stand out among their kind are kept.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "digest/line_scan.h"
#include "digest/page.h"

namespace ttyward::digest {
namespace {

constexpr size_t kColumns = 24;
constexpr size_t kValues = 8;  // of a column that may have odd ones

struct Column {
  std::map<std::string_view, size_t> values;
  bool many = false;
};

// A number with a unit at most: 812, 91%, 3.2s, 14M. Negative: it is none.
double quantity_of(std::string_view word) {
  while (!word.empty() && (word.front() == '(' || word.front() == '[' || word.front() == '='))
    word.remove_prefix(1);
  if (const size_t equals = word.rfind('='); equals != std::string_view::npos) word.remove_prefix(equals + 1);
  double value = 0;
  double part = 0;  // of a digit behind the point
  size_t i = 0;
  for (; i < word.size() && i < 15; ++i) {
    if (word[i] == '.' && part == 0) {
      part = 1;
    } else if (word[i] >= '0' && word[i] <= '9') {
      if (part > 0) {
        part /= 10;
        value += part * (word[i] - '0');
      } else {
        value = value * 10 + (word[i] - '0');
      }
    } else {
      break;
    }
  }
  if (i == 0 || word.size() - i > 3) return -1;
  const std::string_view unit = word.substr(i);
  if (unit.find_first_of("0123456789:/.-") != std::string_view::npos) return -1;
  if (unit.starts_with("K") || unit.starts_with("k")) value *= 1e3;
  if (unit.starts_with("M")) value *= 1e6;
  if (unit.starts_with("G")) value *= 1e9;
  if (unit == "s" || unit == "s)" || unit == "s,") value *= 1e3;  // beside ms
  return value;
}

// Members with a number far above that of nearly all others: 8123 ms among 20 ms.
void add_outliers(const std::vector<std::vector<std::string_view>>& words, size_t width,
                  const std::vector<size_t>& members, std::vector<size_t>& odd) {
  constexpr size_t kMostOutliers = 3;
  constexpr double kFar = 6;
  for (size_t c = 0; c < width; ++c) {
    std::vector<double> values;
    for (const auto& row : words) {
      values.push_back(quantity_of(row[c]));
      if (values.back() < 0) break;
    }
    if (values.size() != words.size() || values.back() < 0) continue;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double usual = sorted[sorted.size() * 9 / 10 - (sorted.size() >= 20 ? 1 : 0)];
    const double least = kFar * usual + 10;
    const auto beyond = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), least);
    if (beyond == 0 || beyond > static_cast<std::ptrdiff_t>(kMostOutliers)) continue;
    for (size_t m = 0; m < values.size(); ++m) {
      if (values[m] > least) odd.push_back(members[m]);
    }
  }
}

// The first member with each value of a column that has few of them: "ops" among "dev".
void add_categories(const std::vector<Column>& columns,
                    const std::vector<std::vector<std::string_view>>& words, size_t width,
                    const std::vector<size_t>& members, std::vector<size_t>& odd) {
  constexpr size_t kMost = 6;
  constexpr size_t kEnough = 5;
  for (size_t c = 0; c < width; ++c) {
    const Column& column = columns[c];
    if (column.many || column.values.size() < 2 || column.values.size() > kMost || odd.size() > kEnough)
      continue;
    // Values that differ only in numbers are of one kind.
    const uint64_t shape = shape_of(column.values.begin()->first);
    if (std::all_of(column.values.begin(), column.values.end(),
                    [&](const auto& value) { return shape_of(value.first) == shape; }))
      continue;
    for (const auto& [value, count] : column.values) {
      if (count * 2 > members.size() || value == words[0][c]) continue;
      for (size_t m = 0; m < members.size(); ++m) {
        if (words[m][c] != value) continue;
        odd.push_back(members[m]);
        break;
      }
    }
  }
}

// Members that differ from nearly all others in a column in which nearly all agree: a 503 among 200s.
std::vector<size_t> odd_members(const Page& page, const std::vector<size_t>& members, bool table) {
  std::vector<size_t> odd;
  if (members.size() < 12) return odd;
  std::vector<Column> columns(kColumns);
  std::vector<std::vector<std::string_view>> words;
  words.reserve(members.size());
  const size_t width = words_of(page.lines[members[0]].text, kColumns).size();
  for (const size_t i : members) {
    words.push_back(words_of(page.lines[i].text, kColumns));
    if (words.back().size() != width) return odd;
    for (size_t c = 0; c < width; ++c) {
      Column& column = columns[c];
      if (column.many) continue;
      ++column.values[words.back()[c]];
      if (column.values.size() > kValues) column.many = true;
    }
  }
  const size_t few = std::max<size_t>(1, std::min<size_t>(4, members.size() / 10));
  for (size_t m = 0; m < members.size(); ++m) {
    for (size_t c = 0; c < width; ++c) {
      const Column& column = columns[c];
      if (column.many || column.values.size() < 2) continue;
      size_t rare = 0;  // members with a value that few have
      for (const auto& [value, count] : column.values) rare += count <= few ? count : 0;
      if (rare > few * 2 || column.values.at(words[m][c]) > few) continue;
      odd.push_back(members[m]);
      break;
    }
  }
  if (table) add_categories(columns, words, width, members, odd);
  add_outliers(words, width, members, odd);
  std::sort(odd.begin(), odd.end());
  odd.erase(std::unique(odd.begin(), odd.end()), odd.end());
  if (odd.size() > 10) odd.clear();
  return odd;
}

bool foldable(const Line& line) {
  return line.fold < 0 && !line.shielded && !line.blank && !line.settled && !line.lost &&
         line.rank != Rank::Summary;
}

struct Rule {
  size_t least;  // so many before a fold is worth it
  size_t examples;
  bool with_last;
  bool table = false;
};

constexpr size_t kContentLines = 40;    // of a text that somebody reads: so many alike, and
constexpr size_t kContentChars = 2000;  // so many characters, before any of it is folded

Rule rule_for(const Page& page, bool data) {
  if (!page.content) return {3, 1, false};
  return {data ? 12 : kContentLines, 3, true};
}

// Rows of values, such as a CSV file: every line has as many commas, semicolons or tabs.
bool is_data(const Page& page) {
  size_t marks = 0;
  for (const Line& line : page.lines) {
    if (line.blank) continue;
    const auto count = static_cast<size_t>(std::count_if(
        line.text.begin(), line.text.end(), [](char c) { return c == ',' || c == ';' || c == '\t'; }));
    if (count < 2 || (marks != 0 && count != marks)) return false;
    marks = count;
  }
  return marks != 0;
}

using Groups = std::vector<std::vector<size_t>>;

Groups groups_by(const Page& page, uint64_t (*key_of)(std::string_view), Rank up_to) {
  Groups groups;
  std::unordered_map<uint64_t, size_t> index;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (!foldable(line) || line.rank > up_to) continue;
    const uint64_t key =
        key_of(line.text) * 31 + (line.rank >= Rank::Warning ? static_cast<uint64_t>(line.rank) : 0);
    const auto [found, added] = index.emplace(key, groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  return groups;
}

constexpr size_t kOthersChars = 60;  // of what the members of a fold differ in
constexpr size_t kAlarmChars = 400;  // the same for those that matter
constexpr size_t kManyChars = 120;   // the same for many of them

bool is_number(std::string_view word) {
  return word.find_first_not_of("0123456789.,:;-+[]()/x#%") == std::string_view::npos;
}

bool is_count(std::string_view word) {
  return word.find_first_not_of("0123456789.,") == std::string_view::npos;
}

// A time, an address, a process: nobody looks for the line by it.
bool is_passing(std::string_view word) {
  if (is_count(word)) return true;
  const size_t colons = static_cast<size_t>(std::count(word.begin(), word.end(), ':'));
  if (colons >= 2 && word.find_first_not_of("0123456789:.,TZ+-[]") == std::string_view::npos) return true;
  return word.find("0x") != std::string_view::npos;
}

// Without the folder it shares with the example's word.
std::string_view without_folder(std::string_view word, std::string_view beside) {
  size_t same = 0;
  while (same < word.size() && same < beside.size() && word[same] == beside[same]) ++same;
  const size_t slash = same == 0 ? std::string_view::npos : word.rfind('/', same - 1);
  return slash == std::string_view::npos || slash < 6 ? word : word.substr(slash + 1);
}

struct Differences {
  std::string text;
  bool all = true;  // it says of every member in what it differs
};

// "ts/src/m3.ts:2:42, m4.ts:2:42 'x'": for each member but the first, the words in which it differs.
Differences differences(const Page& page, const std::vector<size_t>& members, size_t most_words,
                        size_t most_chars) {
  const std::vector<std::string_view> first = words_of(page.lines[members[0]].text);
  Differences out;
  std::vector<std::string> told;
  for (size_t m = 1; m < members.size(); ++m) {
    const std::vector<std::string_view> words = words_of(page.lines[members[m]].text);
    if (words.size() != first.size()) return {{}, false};
    std::string found;
    size_t differing = 0;
    for (size_t c = 0; c < words.size(); ++c) {
      if (words[c] == first[c] || is_passing(words[c])) continue;
      std::string_view word = without_folder(words[c], first[c]);
      while (!word.empty() && (word.back() == ':' || word.back() == ',')) word.remove_suffix(1);
      if (++differing > most_words || word.size() > 60) {
        out.all = false;
        break;
      }
      found += (found.empty() ? "" : " ") + std::string(word);
    }
    if (found.empty() || std::find(told.begin(), told.end(), found) != told.end()) continue;
    if (out.text.size() + found.size() > most_chars) {
      out.text += ", …";
      out.all = false;
      return out;
    }
    out.text += (out.text.empty() ? "" : ", ") + found;
    told.push_back(std::move(found));
  }
  return out;
}

// Whether all members have a word in common, in the same place: they are of one kind, not just alike in form.
bool share_word(const Page& page, const std::vector<size_t>& members) {
  std::vector<std::string_view> common = words_of(page.lines[members[0]].text);
  for (const size_t i : members) {
    const std::vector<std::string_view> words = words_of(page.lines[i].text);
    common.resize(std::min(common.size(), words.size()));
    for (size_t c = 0; c < common.size(); ++c) {
      if (common[c] != words[c]) common[c] = {};
    }
  }
  return std::any_of(common.begin(), common.end(),
                     [](std::string_view word) { return word.size() > 1 && !is_number(word); });
}

// Of lines that begin with a count or a size, the largest say the most.
void keep_largest(Page& page, std::vector<size_t>& members) {
  std::vector<std::pair<double, size_t>> sizes;
  for (const size_t i : members) {
    const std::vector<std::string_view> words = words_of(page.lines[i].text, 1);
    if (words.empty() || words[0].size() > 15 ||
        words[0].find_first_not_of("0123456789") != std::string_view::npos)
      return;
    double size = 0;
    for (const char c : words[0]) size = size * 10 + (c - '0');
    sizes.emplace_back(size, i);
  }
  std::sort(sizes.begin(), sizes.end(), [](const auto& l, const auto& r) {
    return l.first != r.first ? l.first > r.first : l.second < r.second;
  });
  if (sizes.size() < 8 || sizes[0].first < 2 * sizes[sizes.size() / 2].first) return;
  for (size_t k = 0; k < 3; ++k) {
    Line& line = page.lines[sizes[k].second];
    line.settled = true;
    line.rank = std::max(line.rank, Rank::Hint);
    std::erase(members, sizes[k].second);
  }
}

constexpr size_t kHeads = 8;  // lines that end with a colon, before they are folded

// True: they are one fold now, the last.
bool fold_group(Page& page, std::vector<size_t> members, const Rule& rule) {
  if (members.size() < rule.least) return false;
  const std::vector<size_t> odd = odd_members(page, members, rule.table);
  if (!odd.empty()) {
    for (const size_t i : odd) {
      page.lines[i].settled = true;
      page.lines[i].rank = std::max(page.lines[i].rank, Rank::Warning);
    }
    std::erase_if(members, [&](size_t i) { return std::binary_search(odd.begin(), odd.end(), i); });
  }
  if (members.size() < rule.least) return false;
  // Each stands above lines of its own.
  if (page.lines[members[0]].rank >= Rank::Hint && members.size() < kHeads &&
      page.lines[members[0]].text.ends_with(':'))
    return false;
  const bool matters = page.lines[members[0]].rank >= Rank::Hint;
  constexpr size_t kFew = 8;    // so few are named
  constexpr size_t kMany = 12;  // of so many, the first and the last say which they are
  Differences others;
  if (matters) {
    others = differences(page, members, 3, members.size() > kMany ? kManyChars : kAlarmChars);
    // A few that each say something of their own are shown.
    if (!others.all && members.size() < kFew) return false;
  } else if (members.size() <= kFew && !page.content) {
    others = differences(page, members, 1, kOthersChars);
  }
  size_t saved = 0;
  for (size_t m = rule.examples; m < members.size(); ++m) saved += page.lines[members[m]].text.size() + 1;
  if (saved < others.text.size() + 30) return false;
  const bool range = members.size() >= kMany && page.lines[members.back()].text.size() <= 120;
  fold_lines(page, members, rule.examples, rule.with_last || range, "");
  page.folds.back().others = std::move(others.text);
  return true;
}

// What the middle of a flood had of a kind belongs to the last fold, which is of that kind.
void join_kind(Page& page, size_t index) {
  Line& line = page.lines[index];
  const Fold& kind = page.folds[static_cast<size_t>(line.fold)];
  Fold& fold = page.folds.back();
  fold.lines += kind.lines;
  fold.alarms += kind.alarms;
  fold.first = std::min(fold.first, kind.first);
  fold.last = std::max(fold.last, kind.last);
  line.fold = static_cast<int32_t>(page.folds.size()) - 1;
  line.example = false;
}

}  // namespace

void fold_lines(Page& page, const std::vector<size_t>& members, size_t examples, bool with_last,
                std::string noun) {
  if (members.empty()) return;
  Fold fold;
  fold.noun = std::move(noun);
  fold.first = page.lines[members.front()].number;
  examples = std::min(examples, members.size());
  Rank rank = Rank::Noise;
  for (size_t m = 0; m < members.size(); ++m) {
    Line& line = page.lines[members[m]];
    line.fold = static_cast<int32_t>(page.folds.size());
    line.example = m < examples || (with_last && m + 1 == members.size());
    fold.lines += line.repeat;
    fold.last = line.number + line.repeat - 1;
    rank = std::max(rank, line.rank);
    fold.alarms += line.alarm ? line.repeat : 0;
  }
  fold.anchor = members[examples > 0 ? examples - 1 : with_last ? members.size() - 1 : 0];
  // One that tells of an error stands for those that do.
  if (fold.alarms > 0 && !page.lines[fold.anchor].alarm)
    fold.anchor =
        *std::find_if(members.begin(), members.end(), [&](size_t i) { return page.lines[i].alarm; });
  page.lines[fold.anchor].example = true;
  for (const size_t i : members) {
    if (page.lines[i].example) page.lines[i].rank = rank;
  }
  page.folds.push_back(std::move(fold));
}

void fold_into(Page& page, size_t member, size_t example) {
  Line& line = page.lines[member];
  if (page.lines[example].fold < 0) {
    fold_lines(page, {example}, 1, false, "");
    page.folds.back().quiet = true;
    page.folds.back().same = true;
  }
  line.fold = page.lines[example].fold;
  line.example = false;
  Fold& fold = page.folds[static_cast<size_t>(line.fold)];
  fold.parts += line.repeat;
  fold.alarms += line.alarm ? line.repeat : 0;
  fold.first = std::min(fold.first, line.number);
  fold.last = std::max(fold.last, line.number + line.repeat - 1);
}

void hide_lines(Page& page, const std::vector<size_t>& members, const char* noun) {
  std::vector<size_t> alarms;
  for (const size_t i : members) {
    Line& line = page.lines[i];
    if (line.alarm) {
      alarms.push_back(i);
    } else {
      line.rank = Rank::Noise;
      line.settled = true;
    }
  }
  if (alarms.size() >= 2) fold_lines(page, alarms, 1, false, noun);
}

namespace {

// Rows of a table have their columns at the same places. 0: not a row.
uint64_t columns_of(std::string_view line) {
  uint64_t key = words_of(line).size();
  size_t columns = 0;
  for (size_t i = 2; i < line.size(); ++i) {
    if (line[i] == ' ' || line[i - 1] != ' ' || line[i - 2] != ' ') continue;
    key = key * 1'000'003 + i;
    ++columns;
  }
  return columns >= 2 && line[0] != ' ' ? key : 0;
}

void fold_tables(Page& page) {
  for (auto& members : groups_by(page, &columns_of, Rank::Heading)) {
    if (members.size() >= 12 && columns_of(page.lines[members[0]].text) != 0)
      fold_group(page, std::move(members), {12, 2, true, true});
  }
}

}  // namespace

namespace {

constexpr size_t kShortEcho = 24;

// What an error says of itself below: indented, and not an error of its own.
std::string_view detail_of(const Page& page, size_t index) {
  for (size_t i = index + 1; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.rank <= Rank::Quote && !line.blank && !line.alarm) continue;
    return line.blank || line.alarm || line.text[0] != ' ' ? std::string_view() : std::string_view(line.text);
  }
  return {};
}

// A line that was said before, wherever: it is shown where it was said first.
void fold_echoes(Page& page) {
  std::unordered_map<std::string_view, std::vector<size_t>> said;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.fold >= 0 || line.shielded || line.blank || line.lost || line.rank == Rank::Noise) continue;
    std::string_view text = line.text;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.size() < kShortEcho) continue;
    said[text].push_back(i);
  }
  // In the order of the lines, so that the same input gives the same digest.
  std::vector<std::vector<size_t>> groups;
  for (auto& [text, members] : said) {
    // The same error about another thing is not the same.
    std::erase_if(members, [&, first = members.front()](size_t i) {
      return page.lines[i].alarm && detail_of(page, i) != detail_of(page, first);
    });
    if (members.size() >= 2) groups.push_back(std::move(members));
  }
  std::sort(groups.begin(), groups.end());
  for (const std::vector<size_t>& members : groups) {
    fold_lines(page, members, 1, false, "");
    page.folds.back().same = true;
  }
}

}  // namespace

void fold_alike(Page& page) {
  if (page.tiny() || !page.replacement.empty()) return;
  const bool data = page.content && is_data(page);
  if (page.content && !data && page.chars <= kContentChars) return;
  if (!page.content) fold_echoes(page);
  if (!page.content) fold_tables(page);
  std::unordered_map<uint64_t, size_t> kinds;
  for (const size_t i : page.kinds) kinds.emplace(shape_of(page.lines[i].text), i);
  for (auto& members : groups_by(page, &shape_of, Rank::Alarm)) {
    const uint64_t shape = shape_of(page.lines[members[0]].text);
    if (!fold_group(page, std::move(members), rule_for(page, data))) continue;
    if (const auto kind = kinds.find(shape); kind != kinds.end()) {
      join_kind(page, kind->second);
      kinds.erase(kind);
    }
  }
  if (page.content || page.small()) return;
  for (auto& members : groups_by(page, &unquoted_shape_of, Rank::Alarm)) {
    if (page.lines[members[0]].rank >= Rank::Warning) fold_group(page, std::move(members), {3, 1, false});
  }
  for (auto& members : groups_by(page, &skeleton_of, Rank::Hint)) {
    if (members.size() >= 40 || (members.size() >= 6 && share_word(page, members))) {
      keep_largest(page, members);
      fold_group(page, std::move(members), {6, 1, true});
    }
  }
}

namespace {

constexpr size_t kPartsChars = 16'000;  // of a page in which parts are looked for
constexpr size_t kPart = 10;            // characters of a part, at least

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<uint8_t>(c) >= 0x80;
}

// What a line says without marks around it and the time it took: "E   boom", "  ✕ adds (5 ms)".
std::string_view core_of(std::string_view text) {
  if (text.starts_with("E  ")) text.remove_prefix(3);
  if (const size_t time = text.rfind(" ("); time != std::string_view::npos && text.ends_with("ms)"))
    text = text.substr(0, time);
  for (const std::string_view mark : {"[  FAILED  ] ", "✕ ", "× ", "✖ ", "● ", "❯ "}) {
    const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    if (text.substr(begin).starts_with(mark)) text.remove_prefix(begin + mark.size());
  }
  const std::string_view marks = " \t-=_*#>:.,[]()|";
  const size_t begin = std::min(text.find_first_not_of(marks), text.size());
  text.remove_prefix(begin);
  const size_t end = text.find_last_not_of(" \t-=_*#>:.,|");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

// Lines that say a part of what a line says that is shown in any case.
void fold_parts(Page& page) {
  if (page.content || page.tiny() || page.chars > kPartsChars || !page.replacement.empty()) return;
  std::string all;  // of lines that are shown
  std::vector<std::pair<size_t, size_t>> starts;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    const bool anchor = line.fold >= 0 && page.folds[static_cast<size_t>(line.fold)].anchor == i;
    if (line.blank || line.lost || line.shielded || line.text.size() > 1000 || !line.alarm ||
        (line.fold >= 0 && (!anchor || page.folds[static_cast<size_t>(line.fold)].bare)))
      continue;
    starts.emplace_back(all.size(), i);
    all += line.text;
    all += '\n';
  }
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (line.blank || line.lost || line.shielded || line.fold >= 0 || line.rank == Rank::Noise) continue;
    const std::string_view core = core_of(line.text);
    if (core.size() < kPart) continue;
    for (size_t at = all.find(core); at != std::string::npos; at = all.find(core, at + 1)) {
      const size_t end = at + core.size();
      if ((at > 0 && is_word_char(all[at - 1]) && is_word_char(core[0])) || is_word_char(all[end])) continue;
      const auto next = std::upper_bound(starts.begin(), starts.end(), std::pair(at, SIZE_MAX));
      const size_t other = std::prev(next)->second;
      const Line& shown = page.lines[other];
      const bool longer =
          shown.text.size() > line.text.size() || (shown.text.size() == line.text.size() && other < i);
      // A heading above what it stands for stays.
      if (other == i || !longer || (!line.alarm && other > i)) continue;
      // The same about another thing is not the same.
      const std::string_view detail = detail_of(page, i);
      if (line.alarm && !detail.empty() && detail != detail_of(page, other)) continue;
      // A line that was folded away meanwhile is not shown.
      if (shown.fold >= 0 && !shown.example) continue;
      if (line.alarm) {
        fold_into(page, i, other);
      } else {
        line.rank = Rank::Noise;
        line.settled = true;
      }
      break;
    }
  }
}

}  // namespace ttyward::digest
