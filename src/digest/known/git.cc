// git: advice and decoration go, states stay; status also comes as data.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

constexpr size_t kMostEntries = 1000;

// "M ", " M", "??", "UU": git status --short.
const char* state_of(char index, char tree) {
  if (index == '?' || tree == '?') return "untracked";
  if (index == '!' || tree == '!') return "ignored";
  if (index == 'U' || tree == 'U' || (index == 'A' && tree == 'A') || (index == 'D' && tree == 'D'))
    return "conflict";
  switch (index == ' ' ? tree : index) {
    case 'A':
      return "new file";
    case 'D':
      return "deleted";
    case 'R':
      return "renamed";
    case 'C':
      return "copied";
    case 'T':
      return "typechange";
    default:
      return "modified";
  }
}

void read_short_status(Page& page) {
  static const RE2 kShort(R"(^([ MADRCTU?!])([ MADRCTU?!]) (\S.*)$)");
  for (const Line& line : page.lines) {
    if (line.blank || line.text.starts_with("## ")) continue;
    std::string index, tree, name;
    if (!RE2::FullMatch(line.text, kShort, &index, &tree, &name) || (index == " " && tree == " ")) {
      page.facts.entries.clear();  // it is something else
      return;
    }
    if (page.facts.entries.size() < kMostEntries)
      page.facts.entries.push_back({name, state_of(index[0], tree[0]), 0});
  }
}

uint64_t small_number(const std::string& digits) {
  uint64_t n = 0;
  for (const char c : digits) {
    if (n < 1'000'000'000) n = n * 10 + static_cast<uint64_t>(c - '0');
  }
  return n;
}

// Files of a diff with their added and removed lines; those of --stat with what it says of them.
void read_diff(Page& page) {
  static const RE2 kBegin(R"(^diff --(?:git a/.* b/|cc )(.+)$)");
  static const RE2 kStat(R"(^ (\S.*?) +\| +(\d+)(?: ([+]*)(-*))?$)");
  std::vector<Entry>& entries = page.facts.entries;
  for (const Line& line : page.lines) {
    std::string name, changes, plus, minus;
    if (RE2::FullMatch(line.text, kBegin, &name)) {
      if (entries.size() >= kMostEntries) return;
      entries.push_back({name, "modified", 0});
    } else if (!line.shielded && RE2::FullMatch(line.text, kStat, &name, &changes, &plus, &minus)) {
      if (entries.size() >= kMostEntries) return;
      Entry entry{name, "modified", 0};
      // With many changes the marks are scaled; then only their number is known.
      if (plus.size() + minus.size() == small_number(changes)) {
        entry.added = plus.size();
        entry.removed = minus.size();
      }
      entries.push_back(std::move(entry));
    } else if (line.shielded && !entries.empty()) {
      Entry& entry = entries.back();
      if (line.text.starts_with("new file mode")) entry.state = "new file";
      if (line.text.starts_with("deleted file mode")) entry.state = "deleted";
      if (line.text.starts_with("rename to ")) entry.state = "renamed";
      if (line.text.starts_with("+") && !line.text.starts_with("+++ ")) entry.added += line.repeat;
      if (line.text.starts_with("-") && !line.text.starts_with("--- ")) entry.removed += line.repeat;
    }
  }
}

void read_log(Page& page) {
  static const RE2 kCommit(R"(^[*|\\/ ]*commit ([0-9a-f]{7,40})\b.*)");
  static const RE2 kOneLine(R"(^[*|\\/_ ]*([0-9a-f]{7,40}) (?:\(.*?\) )?(\S.*)$)");
  static const RE2 kAuthor(R"(^[*|\\/ ]*Author: +(.*)$)");
  static const RE2 kDate(R"(^[*|\\/ ]*(?:Author)?Date: +(.*)$)");
  static const RE2 kSubject(R"(^[|\\/ ]*    (\S.*)$)");
  std::vector<Commit>& commits = page.facts.commits;
  bool whole = false;
  for (const Line& line : page.lines) {
    if (line.blank || line.shielded) continue;
    Commit commit;
    if (RE2::FullMatch(line.text, kCommit, &commit.hash)) {
      if (commits.size() >= kMostEntries) return;
      whole = true;
      commits.push_back(std::move(commit));
    } else if (whole && !commits.empty()) {
      Commit& last = commits.back();
      if (!RE2::FullMatch(line.text, kAuthor, &last.author) &&
          !RE2::FullMatch(line.text, kDate, &last.date) && last.subject.empty())
        RE2::FullMatch(line.text, kSubject, &last.subject);
    } else if (!whole && RE2::FullMatch(line.text, kOneLine, &commit.hash, &commit.subject)) {
      if (commits.size() >= kMostEntries) return;
      commits.push_back(std::move(commit));
    }
  }
}

// Entries of a status that are of one kind: the first, and the names of the others.
void fold_entries(Page& page, const std::vector<size_t>& members) {
  constexpr size_t kMostChars = 300;
  if (page.tiny()) return;
  for (const size_t i : members) {
    page.lines[i].settled = true;
    page.lines[i].rank = Rank::Hint;
  }
  if (members.size() < 3) return;
  std::string others;
  for (size_t m = 1; m < members.size(); ++m) {
    std::string_view name = page.lines[members[m]].text;
    if (const size_t colon = name.find(": "); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    if (others.size() + name.size() > kMostChars) {
      others += ", …";
      break;
    }
    others += (others.empty() ? "" : ", ") + std::string(name);
  }
  fold_lines(page, members, 1, false, "");
  page.folds.back().others = std::move(others);
}

void read_status(Page& page) {
  static const RE2 kState(
      R"(^\t(?:(modified|new file|deleted|renamed|copied|typechange|both modified|both added|deleted by us|deleted by them): +)?(.+)$)");
  std::string_view section;
  std::string run_state;
  std::string_view run_section;
  std::vector<size_t> run;
  const auto end_run = [&] {
    fold_entries(page, run);
    run.clear();
  };
  for (const Line& line : page.lines) {
    std::string_view text = line.text;
    if (text == "Changes to be committed:" || text == "Changes not staged for commit:" ||
        text == "Untracked files:" || text == "Unmerged paths:") {
      section = text;
      continue;
    }
    if (section.empty() || line.blank) continue;
    std::string state;
    std::string name;
    // The tab may have become blanks on the screen.
    std::string tabbed = line.text;
    if (tabbed.starts_with("        ")) tabbed = "\t" + tabbed.substr(8);
    if (!RE2::FullMatch(tabbed, kState, &state, &name) || page.facts.entries.size() >= 1000) continue;
    if (section == "Untracked files:") state = "untracked";
    page.facts.entries.push_back({name, state, 0});
    if (line.fold >= 0 || line.shielded || line.lost) continue;
    // Of the same kind in the same section; never across sections.
    if (state != run_state || section != run_section) end_run();
    run_state = state;
    run_section = section;
    run.push_back(static_cast<size_t>(&line - page.lines.data()));
  }
  end_run();
}

void drop_advice(Page& page) {
  static const RE2 kAdvice(
      R"(^\s+\((use|all conflicts fixed|fix conflicts|commit or discard).*\)$|^hint: .*)");
  for (Line& line : page.lines) {
    if (!line.alarm && !line.blank && RE2::FullMatch(line.text, kAdvice)) line.rank = Rank::Noise;
  }
}

// "Ann ×12, Bob ×3"
std::string list_authors(const std::vector<Commit>& commits) {
  constexpr size_t kMost = 5;
  std::map<std::string, size_t> authors;
  for (const Commit& commit : commits) {
    if (!commit.author.empty()) ++authors[commit.author.substr(0, commit.author.find(" <"))];
  }
  if (authors.size() == 1) return authors.begin()->first;
  std::vector<std::pair<size_t, std::string>> order;
  for (const auto& [name, count] : authors) order.emplace_back(count, name);
  std::sort(order.begin(), order.end(), [](const auto& l, const auto& r) {
    return l.first != r.first ? l.first > r.first : l.second < r.second;
  });
  std::string out;
  for (size_t i = 0; i < order.size() && i < kMost; ++i)
    out += fmt::format("{}{} ×{}", i == 0 ? "" : ", ", order[i].second, order[i].first);
  if (order.size() > kMost) out += fmt::format(", {} more", order.size() - kMost);
  return out;
}

// Of each entry of a log: hash and subject on one line. Who wrote them and when is said once.
void shorten_log(Page& page) {
  static const RE2 kCommit(R"(^commit [0-9a-f]{40}.*)");
  static const RE2 kStat(R"(^ \d+ files? changed.*)");
  static const RE2 kFile(R"(^ (\S.*?) +\| +(?:\d+|Bin).*$)");
  std::string name;
  size_t files = SIZE_MAX;  // the line that names the files of this commit
  const std::vector<Commit>& commits = page.facts.commits;
  size_t entries = 0;
  for (const Line& line : page.lines) entries += RE2::FullMatch(line.text, kCommit) ? 1 : 0;
  if (entries < 2 || commits.empty() || page.small()) return;
  page.altered = true;
  size_t entry = SIZE_MAX;  // the line of the commit whose subject is still to come
  for (size_t i = 0; i < page.lines.size(); ++i) {
    Line& line = page.lines[i];
    if (line.blank || line.shielded || line.fold >= 0) continue;
    if (RE2::FullMatch(line.text, kCommit)) {
      line.text = line.text.substr(7, 7) + line.text.substr(47);
      line.rank = Rank::Heading;
      entry = i;
    } else if (line.text.starts_with("    ") && entry != SIZE_MAX) {
      page.lines[entry].text += line.text.substr(3);
      line.rank = Rank::Noise;
      if (line.alarm) fold_into(page, i, entry);
      entry = SIZE_MAX;
      files = SIZE_MAX;
    } else if (RE2::FullMatch(line.text, kStat)) {
      continue;
    } else if (RE2::FullMatch(line.text, kFile, &name) && !page.lines[i].alarm) {
      // The files of a commit on one line.
      constexpr size_t kMostChars = 200;
      if (files == SIZE_MAX) {
        files = i;
        line.text = "  [" + name + "]";
        line.rank = Rank::Heading;
      } else {
        std::string& names = page.lines[files].text;
        names.pop_back();
        if (names.size() < kMostChars)
          names += ", " + name;
        else if (!names.ends_with("…"))
          names += ", …";
        names += "]";
        line.rank = Rank::Noise;
      }
    } else {
      line.rank = Rank::Noise;
    }
    line.settled = true;
  }
  page.facts.counts.push_back({"commits", entries});
  page.notes.push_back({Piece::Kind::Note, 0, 0,
                        fmt::format("[{} commits by {}; {} – {}]", entries, list_authors(commits),
                                    commits.back().date, commits.front().date),
                        0});
}

// What stands above a diff says what it is for.
void keep_message(Page& page) {
  const auto diff =
      std::find_if(page.lines.begin(), page.lines.end(), [](const Line& line) { return line.shielded; });
  if (diff == page.lines.end()) return;
  const size_t end = std::min<size_t>(12, static_cast<size_t>(diff - page.lines.begin()));
  for (size_t i = 0; i < end; ++i) page.lines[i].rank = std::max(page.lines[i].rank, Rank::Warning);
}

}  // namespace

void know_git(Page& page) {
  if (!page.runs("git")) return;
  if (page.runs("git", "status")) {
    read_status(page);
    if (page.facts.entries.empty()) read_short_status(page);
  }
  const bool log = page.runs("git", "log") || page.runs("git", "show");
  if (log) read_log(page);
  if (page.runs("git", "diff") || page.runs("git", "show")) read_diff(page);
  if (!page.tiny()) drop_advice(page);
  if (log) {
    shorten_log(page);
    keep_message(page);
  }
}

}  // namespace ttyward::digest
