// git: advice and decoration go, states stay; status also comes as data.
#include <re2/re2.h>

#include <algorithm>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

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
  if (page.runs("status")) read_status(page);
  if (!page.tiny()) drop_advice(page);
  if (page.runs("log") || page.runs("show")) {
    shorten_log(page);
    keep_message(page);
  }
}

}  // namespace ttyward::digest
