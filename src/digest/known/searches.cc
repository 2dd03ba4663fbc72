// grep, rg, git grep: matches by file, each path said once. Of many matches, where the others are.
#include <fmt/format.h>
#include <re2/re2.h>

#include <unordered_map>
#include <unordered_set>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

constexpr size_t kLeast = 6;
constexpr size_t kMostFiles = 40;
constexpr size_t kMostNumbers = 8;  // of lines in a file that are named
constexpr size_t kText = 90;        // characters of a match
constexpr size_t kTexts = 900;      // characters, before only places are named

struct Match {
  std::string row;
  std::string text;
  bool alarm;
};

struct File {
  std::string path;
  std::vector<Match> matches;
};

// The beginning of a match; of one that tells of an error, where it does.
std::string shortened(const Match& match) {
  std::string_view text = match.text;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.size() <= kText) return std::string(text);
  const size_t alarm = match.alarm ? find_alarm(text) : 0;
  if (alarm + 30 < kText || alarm == std::string_view::npos) return std::string(head_of(text, kText)) + "…";
  size_t begin = alarm - 20;
  while (begin < alarm && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80) ++begin;
  return fmt::format("{}…{}", head_of(text, 20), head_of(text.substr(begin), kText));
}

// "src/a.c:12: int main; 40, 77": of each file the first match, and those that tell of an error where most do
// not. What was said before, but for numbers, is only counted.
std::string list_matches(const std::vector<File>& files, bool alarms_stand_out) {
  std::string out;
  size_t left = 0;
  size_t left_files = 0;
  std::unordered_set<uint64_t> said;
  for (size_t f = 0; f < files.size(); ++f) {
    const File& file = files[f];
    const auto stands_out = [&](const Match& match) {
      return alarms_stand_out && match.alarm && !said.contains(shape_of(match.text));
    };
    if (f >= kMostFiles && !(alarms_stand_out && is_alarm(file.path)) &&
        std::none_of(file.matches.begin(), file.matches.end(), stands_out)) {
      left += file.matches.size();
      ++left_files;
      continue;
    }
    out += fmt::format("{}{}:", out.empty() ? "" : "\n", file.path);
    size_t listed = 0;
    bool rest = false;
    for (const Match& match : file.matches) {
      const bool odd = stands_out(match);
      if (!odd && listed >= kMostNumbers) {
        rest = true;
        continue;
      }
      const bool text = odd || (out.size() < kTexts && !said.contains(shape_of(match.text)) && listed < 2);
      out += fmt::format("{}{}", listed == 0 ? "" : text ? "; " : ", ", match.row);
      if (text) {
        out += ": " + shortened(match);
        said.insert(shape_of(match.text));
      }
      ++listed;
    }
    if (rest) out += fmt::format(", … ({} matches)", file.matches.size());
  }
  if (left > 0) out += fmt::format("\n… {} matches in {} more files", left, left_files);
  return out;
}

}  // namespace

void know_searches(Page& page) {
  if (!page.runs("grep") && !page.runs("rg") && !page.runs("ag") && !page.runs("egrep")) return;
  static const RE2 kMatch(R"(^([^\s:][^:]*):(\d+):(.*)$)");
  static const RE2 kHour(R"((^|[ T])\d\d$)");  // "Nov 03 08:13:15" is a time
  std::vector<File> files;
  std::unordered_map<std::string, size_t> index;
  std::unordered_set<uint64_t> shapes;
  std::vector<size_t> members;
  size_t lines = 0;
  size_t alarms = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank) continue;
    ++lines;
    Match match;
    std::string path;
    if (line.shielded || line.fold >= 0 || line.lost || line.repeat > 1 || line.text.size() > 2000 ||
        !RE2::FullMatch(line.text, kMatch, &path, &match.row, &match.text) || RE2::PartialMatch(path, kHour))
      continue;
    match.alarm = line.alarm;
    alarms += match.alarm ? 1 : 0;
    const auto [found, added] = index.emplace(path, files.size());
    if (added) files.push_back({path, {}});
    files[found->second].matches.push_back(std::move(match));
    members.push_back(i);
    shapes.insert(shape_of(line.text));
  }
  if (members.size() < kLeast || members.size() * 10 < lines * 8) return;
  if (shapes.size() * 4 <= members.size()) return;  // few kinds: a count of each says more
  size_t chars = 0;
  for (const size_t i : members) chars += page.lines[i].text.size() + 1;
  std::string text = list_matches(files, alarms * 2 < members.size());
  if (alarms > 0 && !is_alarm(text)) text = list_matches(files, true);
  if (text.size() + 40 > chars) return;
  fold_lines(page, members, 1, false, "matches");
  page.altered = true;
  Line& line = page.lines[page.folds.back().anchor];
  line.text = std::move(text);
  line.whole_bytes = 0;
  line.shielded = true;
  line.settled = true;
  line.rank = Rank::Summary;
}

}  // namespace ttyward::digest
