// Lists of files: `ls -l` without the columns that all entries share, and paths by folder. Equal siblings are
// shown once, numbered names as a range. Listings also come as data.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "digest/known/known.h"
#include "digest/line_scan.h"

namespace ttyward::digest {
namespace {

constexpr size_t kNames = 60;        // of a folder that are shown
constexpr size_t kListChars = 3000;  // longer lists show fewer names of each folder

// "a.c b.c IMG_1.jpg…IMG_90.jpg (90)": names in order; those of one shape as a range.
std::string pack_names(const std::vector<std::string>& names, size_t most) {
  std::unordered_map<uint64_t, std::vector<size_t>> shapes;
  for (size_t i = 0; i < names.size(); ++i) shapes[shape_of(names[i])].push_back(i);
  std::string out;
  size_t written = 0;
  size_t left = 0;
  // Those that are alone come first.
  for (const bool folds : {false, true}) {
    for (size_t i = 0; i < names.size(); ++i) {
      const std::vector<size_t>& alike = shapes[shape_of(names[i])];
      const bool fold = alike.size() >= 5;
      if (fold != folds || (fold && alike.front() != i)) continue;
      if (written >= most && !is_alarm(names[i])) {
        left += fold ? alike.size() : 1;
        continue;
      }
      if (!out.empty()) out += ' ';
      ++written;
      if (!fold) {
        out += names[i];
        continue;
      }
      const auto order = [&](size_t l, size_t r) {
        const std::string_view one = std::string_view(names[l]).substr(0, names[l].rfind(':'));
        const std::string_view other = std::string_view(names[r]).substr(0, names[r].rfind(':'));
        return one.size() != other.size() ? one.size() < other.size() : one < other;
      };
      out += fmt::format("{}…{} ({})", names[*std::min_element(alike.begin(), alike.end(), order)],
                         names[*std::max_element(alike.begin(), alike.end(), order)], alike.size());
    }
  }
  if (left > 0) out += fmt::format(" … {} more", left);
  return out;
}

void replace_with(Page& page, const std::vector<size_t>& members, std::string text, const char* noun) {
  fold_lines(page, members, 1, false, noun);
  page.altered = true;
  Line& line = page.lines[page.folds.back().anchor];
  line.text = std::move(text);
  line.whole_bytes = 0;
  line.shielded = true;
  line.settled = true;
  line.rank = Rank::Summary;
}

struct LongEntry {
  size_t at;
  std::string mode, owner, group, size, date, name;
};

void shorten_long_listing(Page& page) {
  static const RE2 kLong(
      R"(^([-dlcbps][-rwxsStT]{9}[.+@]?) +\d+ +(\S+) +(\S+) +(\d[\d.,]*[KMGTP]?|\d+, +\d+) +(\w+ +\d+ +[\d:]+|\d+-\d+-\d+ [\d:.]+(?: [+-]\d+)?) (.+)$)");
  std::vector<LongEntry> entries;
  const auto flush = [&] {
    if (entries.size() < 5) {
      entries.clear();
      return;
    }
    std::map<std::string, size_t> kinds;
    for (const LongEntry& e : entries) ++kinds[fmt::format("{} {} {}", e.mode, e.owner, e.group)];
    std::string text;
    for (const auto& [kind, count] : kinds) {
      std::vector<std::string> names;
      for (const LongEntry& e : entries) {
        if (fmt::format("{} {} {}", e.mode, e.owner, e.group) == kind)
          names.push_back(e.mode[0] == 'd' ? e.name + "/" : fmt::format("{}:{}", e.name, e.size));
      }
      text += fmt::format("{}{} ({}): {}", text.empty() ? "" : "\n", kind, count,
                          pack_names(names, entries.size() > 150 ? 20 : 60));
    }
    std::vector<size_t> members;
    size_t chars = 0;
    for (const LongEntry& e : entries) {
      members.push_back(e.at);
      chars += page.lines[e.at].text.size() + 1;
    }
    if (text.size() + 40 < chars) replace_with(page, members, std::move(text), "entries as name:size");
    entries.clear();
  };
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    LongEntry e{i, {}, {}, {}, {}, {}, {}};
    if (line.blank || line.shielded || line.fold >= 0 || line.text.size() > 1000 ||
        !RE2::FullMatch(line.text, kLong, &e.mode, &e.owner, &e.group, &e.size, &e.date, &e.name)) {
      flush();
      continue;
    }
    if (page.facts.entries.size() < 1000) {
      uint64_t size = 0;
      for (const char c : e.size)
        size = c >= '0' && c <= '9' && size < (uint64_t{1} << 58) ? size * 10 + static_cast<uint64_t>(c - '0')
                                                                  : size;
      const bool plain = e.size.find_first_not_of("0123456789") == std::string::npos;
      page.facts.entries.push_back({e.name,
                                    e.mode[0] == 'd'   ? "directory"
                                    : e.mode[0] == 'l' ? "link"
                                                       : "file",
                                    plain ? size : 0});
    }
    entries.push_back(std::move(e));
  }
  flush();
}

// Windows: "03/01/2026  10:15 AM    <DIR>          name", "01.03.2026  10:15         1.234 name".
void read_dir(Page& page) {
  static const RE2 kRow(
      R"(^\d{2,4}[./-]\d{2}[./-]\d{2,4} +\d{1,2}:\d{2}(?: ?[AaPp][Mm])? +(<DIR>|<JUNCTION>|<SYMLINKD?>|[\d.,]+) +(.+)$)");
  for (const Line& line : page.lines) {
    std::string size, name;
    if (line.text.size() > 1000 || page.facts.entries.size() >= 1000 ||
        !RE2::FullMatch(line.text, kRow, &size, &name) || name == "." || name == "..")
      continue;
    Entry entry{name, size == "<DIR>" ? "directory" : size[0] == '<' ? "link" : "file", 0};
    for (const char c : size) {
      if (c >= '0' && c <= '9' && entry.size < (uint64_t{1} << 58))
        entry.size = entry.size * 10 + static_cast<uint64_t>(c - '0');
    }
    page.facts.entries.push_back(std::move(entry));
  }
}

// Names alone, one or several to a line: `ls` says no more.
void read_names(Page& page) {
  for (const Line& line : page.lines) {
    if (line.alarm || line.text.ends_with(':') || line.text.starts_with("total ")) {
      page.facts.entries.clear();  // not one plain listing
      return;
    }
    std::string_view rest = line.text;
    while (!rest.empty() && page.facts.entries.size() < 1000) {
      const size_t end = std::min(rest.find("  "), rest.size());
      std::string_view name = rest.substr(0, end);
      rest.remove_prefix(end);
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      while (name.ends_with(' ')) name.remove_suffix(1);
      if (!name.empty())
        page.facts.entries.push_back({std::string(name), name.ends_with('/') ? "directory" : "", 0});
    }
  }
}

// `ls` alone: names in order, those of one shape as a range.
void shorten_names(Page& page) {
  constexpr size_t kLeast = 20;
  if (page.argv.empty() || page.argv.front() != "ls" || page.facts.entries.size() < kLeast ||
      page.facts.entries.size() >= 1000)
    return;
  std::vector<size_t> members;
  size_t chars = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    const Line& line = page.lines[i];
    if (line.blank) continue;
    if (line.shielded || line.fold >= 0 || line.lost || line.repeat > 1) return;
    members.push_back(i);
    chars += line.text.size();
  }
  std::vector<std::string> names;
  for (const Entry& entry : page.facts.entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  std::string text = pack_names(names, kNames);
  if (text.size() + 40 < chars) replace_with(page, members, std::move(text), "of names");
}

bool is_path(const Line& line) {
  const std::string& text = line.text;
  if (line.blank || line.shielded || line.fold >= 0 || line.settled || line.lost || text.size() > 500)
    return false;
  if (text.find('/') == std::string::npos) return false;
  return text.find_first_of(" \t:'\"(){}[]=<>|,;") == std::string::npos;
}

struct Folder {
  std::string path;
  std::vector<std::string> names;
};

std::string list_folders(const std::vector<Folder>& folders, size_t most_names, size_t most_folders) {
  // Folders with the same content whose names differ only in numbers, or only in the last part.
  std::string out;
  std::unordered_map<std::string, std::vector<size_t>> siblings;
  std::vector<std::string> packed;
  const auto key_of = [&](size_t f) { return fmt::format("{:x} {}", shape_of(folders[f].path), packed[f]); };
  for (size_t f = 0; f < folders.size(); ++f) {
    packed.push_back(pack_names(folders[f].names, most_names));
    siblings[key_of(f)].push_back(f);
  }
  size_t written = 0;
  size_t left = 0;
  size_t left_names = 0;
  for (size_t f = 0; f < folders.size(); ++f) {
    const std::vector<size_t>& alike = siblings[key_of(f)];
    const bool fold = alike.size() >= 3;
    if (fold && alike.front() != f) continue;
    if (written >= most_folders && !is_alarm(packed[f]) && !is_alarm(folders[f].path)) {
      ++left;
      left_names += folders[f].names.size();
      continue;
    }
    ++written;
    if (!out.empty()) out += '\n';
    out += folders[f].path;
    if (fold) out += fmt::format("…{} ({} folders alike) ", folders[alike.back()].path, alike.size());
    out += packed[f];
  }
  if (left > 0) out += fmt::format("\n… {} more folders with {} names", left, left_names);
  return out;
}

void shorten_paths(Page& page) {
  std::vector<size_t> members;
  size_t lines = 0;
  for (size_t i = 0; i < page.lines.size(); ++i) {
    lines += !page.lines[i].blank;
    if (is_path(page.lines[i])) members.push_back(i);
  }
  if (members.size() < 8 || members.size() * 10 < lines * 7) return;
  std::vector<Folder> folders;
  std::unordered_map<std::string, size_t> index;
  for (const size_t i : members) {
    const std::string& text = page.lines[i].text;
    const size_t slash = text.size() > 1 ? text.rfind('/', text.size() - 2) : 0;
    const std::string path = slash == std::string::npos ? "./" : text.substr(0, slash + 1);
    const auto [found, added] = index.emplace(path, folders.size());
    if (added) folders.push_back({path, {}});
    folders[found->second].names.push_back(slash == std::string::npos ? text : text.substr(slash + 1));
  }
  std::string out = list_folders(folders, 24, 40);
  if (out.size() > kListChars) out = list_folders(folders, 8, 40);
  if (out.size() > kListChars) out = list_folders(folders, 3, 25);
  replace_with(page, members, std::move(out), "paths");
}

}  // namespace

void read_listing(Page& page) {
  const std::string_view program = page.argv.empty() ? std::string_view() : page.argv.front();
  if (program == "dir") read_dir(page);
  const bool long_form = std::any_of(page.argv.begin(), page.argv.end(), [](const std::string& word) {
    return word.starts_with("-") && !word.starts_with("--") &&
           word.find_first_of("lRgons") != std::string::npos;
  });
  const bool alone = page.options.command.find_first_of("|;&<>`$") == std::string::npos;
  if ((program == "ls" || program == "dir") && page.facts.entries.empty() && !long_form && alone)
    read_names(page);
}

void know_listings(Page& page) {
  const bool names = std::none_of(page.facts.entries.begin(), page.facts.entries.end(),
                                  [](const Entry& entry) { return entry.size > 0 || entry.state == "file"; });
  if (names) shorten_names(page);
  shorten_long_listing(page);
  if (!page.small()) shorten_paths(page);
}

}  // namespace ttyward::digest
