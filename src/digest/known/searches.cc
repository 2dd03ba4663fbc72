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
constexpr size_t kText = 120;       // characters of a match

struct Match {
  size_t at;
  std::string row;
  std::string text;
};

struct File {
  std::string path;
  std::vector<Match> matches;
};

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return head_of(text, kText);
}

std::string list_all(const std::vector<File>& files) {
  std::string out;
  for (const File& file : files) {
    out += fmt::format("{}{}", out.empty() ? "" : "\n", file.path);
    for (const Match& match : file.matches) out += fmt::format("\n {}: {}", match.row, trimmed(match.text));
  }
  return out;
}

// "src/a.c (3) 12: int main; 40, 77"
std::string list_first(const std::vector<File>& files) {
  std::string out;
  size_t left = 0;
  for (size_t f = 0; f < files.size(); ++f) {
    const File& file = files[f];
    if (f >= kMostFiles) {
      left += file.matches.size();
      continue;
    }
    out += fmt::format("{}{} ({}) {}: {}", out.empty() ? "" : "\n", file.path, file.matches.size(),
                       file.matches[0].row, trimmed(file.matches[0].text));
    for (size_t m = 1; m < file.matches.size() && m < kMostNumbers; ++m)
      out += fmt::format("{}{}", m == 1 ? "; " : ", ", file.matches[m].row);
    if (file.matches.size() > kMostNumbers) out += ", …";
  }
  if (left > 0) out += fmt::format("\n… {} matches in {} more files", left, files.size() - kMostFiles);
  return out;
}

}  // namespace

void know_searches(Page& page) {
  if (!page.runs("grep") && !page.runs("rg") && !page.runs("ag") && !page.runs("egrep")) return;
  static const RE2 kMatch(R"(^([^\s:][^:]*):(\d+):(.*)$)");
  std::vector<File> files;
  std::unordered_map<std::string, size_t> index;
  std::unordered_set<uint64_t> shapes;
  std::vector<size_t> members;
  size_t lines = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank) continue;
    ++lines;
    Match match{i, {}, {}};
    std::string path;
    if (line.shielded || line.fold >= 0 || line.lost || line.repeat > 1 || line.text.size() > 2000 ||
        !RE2::FullMatch(line.text, kMatch, &path, &match.row, &match.text))
      continue;
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
  std::string text = list_all(files);
  if (text.size() > 1200 || text.size() * 2 > chars) text = list_first(files);
  if (text.size() + 40 > chars) return;
  fold_lines(page, members, 1, false, "matches");
  page.altered = true;
  Line& line = page.lines[members[0]];
  line.text = std::move(text);
  line.whole_bytes = 0;
  line.shielded = true;
  line.settled = true;
  line.rank = Rank::Summary;
}

}  // namespace ttyward::digest
