// git: advice and decoration go, states stay; status also comes as data.
#include <re2/re2.h>

#include <algorithm>

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

void read_status(Page& page) {
  static const RE2 kState(
      R"(^\t(?:(modified|new file|deleted|renamed|copied|typechange|both modified|both added|deleted by us|deleted by them): +)?(.+)$)");
  std::string_view section;
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
  }
}

void drop_advice(Page& page) {
  static const RE2 kAdvice(
      R"(^\s+\((use|all conflicts fixed|fix conflicts|commit or discard).*\)$|^hint: .*)");
  for (Line& line : page.lines) {
    if (!line.alarm && !line.blank && RE2::FullMatch(line.text, kAdvice)) line.rank = Rank::Noise;
  }
}

// Of each entry of a long log: hash and subject on one line stay, the rest goes.
void shorten_log(Page& page) {
  static const RE2 kCommit(R"(^commit [0-9a-f]{40}.*)");
  size_t commits = 0;
  for (const Line& line : page.lines) commits += RE2::FullMatch(line.text, kCommit);
  if (commits < 3 || page.chars < 3000) return;
  page.altered = true;
  bool subject = false;
  size_t kept = 0;
  for (Line& line : page.lines) {
    if (line.blank || line.shielded || line.fold >= 0) continue;
    if (RE2::FullMatch(line.text, kCommit)) {
      subject = true;
      ++kept;
      line.text = line.text.substr(0, 14) + line.text.substr(47);
      line.rank = kept <= 12 || commits - kept < 2 ? Rank::Heading : Rank::Noise;
    } else if (line.text.starts_with("    ") && subject) {
      subject = false;
      line.rank = kept <= 12 || commits - kept < 2 ? Rank::Heading : Rank::Noise;
    } else {
      line.rank = Rank::Noise;
    }
    line.settled = true;
  }
  page.facts.counts.push_back({"commits", commits});
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
  if (page.runs("status")) {
    read_status(page);
    if (page.facts.entries.empty()) read_short_status(page);
  }
  if (page.runs("log") || page.runs("show")) read_log(page);
  if (page.runs("diff") || page.runs("show")) read_diff(page);
  if (!page.tiny()) drop_advice(page);
  if (page.runs("log") || page.runs("show")) {
    shorten_log(page);
    keep_message(page);
  }
}

}  // namespace ttyward::digest
