#include "cli/change_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/path.h"
#include "changes/diff.h"
#include "cli/current_folder.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "wire/encoder.h"

namespace ttyward::cli {

std::string change_totals(const wire::Changes& changes) {
  std::string text;
  const auto add = [&text](int64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(changes.added, "added");
  add(changes.changed, "changed");
  add(changes.deleted, "deleted");
  if (text.empty()) return "nothing changed";
  if (changes.lines_added + changes.lines_removed > 0)
    text += fmt::format(" (+{} -{} lines)", changes.lines_added, changes.lines_removed);
  return text;
}

std::string change_lines(const wire::Changes& changes, Paint paint) {
  std::string out;
  for (const wire::Change& change : changes.list) {
    const Colour colour = change.kind == "added"     ? Colour::Green
                          : change.kind == "deleted" ? Colour::Red
                                                     : Colour::Yellow;
    const char* mark = change.kind == "added" ? "A" : change.kind == "deleted" ? "D" : "M";
    std::string facts;
    const auto add = [&facts](const std::string& text) { facts += (facts.empty() ? "" : ", ") + text; };
    if (change.lines_added.value_or(0) + change.lines_removed.value_or(0) > 0)
      add(fmt::format("+{} -{}", change.lines_added.value_or(0), change.lines_removed.value_or(0)));
    if (change.binary) add("binary");
    if (change.files > 0) add(fmt::format("{} files", change.files));
    if (!change.mode.empty()) add(fmt::format("mode {} to {}", change.mode_before, change.mode));
    if (!change.link.empty()) add("link to " + one_line(changes::quoted_path(change.link)));
    if (change.applied) add("applied");
    if (!change.note.empty()) add(change.note);
    out += fmt::format("  {} {}{}{}\n", paint(colour, mark), one_line(changes::quoted_path(change.path)),
                       change.type == "folder" ? "/" : "",
                       facts.empty() ? "" : "  " + paint(Colour::Dim, facts));
  }
  if (changes.more > 0) out += fmt::format("  and {} more\n", changes.more);
  return out;
}

std::string shown_patch(const std::string& patch, Paint paint) {
  std::string out;
  for (std::string_view line : changes::split_lines(patch)) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    const bool header =
        line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("diff --git ");
    const Colour colour = header                   ? Colour::Bold
                          : line.starts_with('+')  ? Colour::Green
                          : line.starts_with('-')  ? Colour::Red
                          : line.starts_with("@@") ? Colour::Blue
                                                   : Colour::Plain;
    // A tab is what it is; whatever else would act on the terminal is made visible.
    std::string safe;
    for (size_t at = 0; at <= line.size();) {
      const size_t tab = std::min(line.find('\t', at), line.size());
      safe += one_line(line.substr(at, tab - at));
      if (tab < line.size()) safe += '\t';
      at = tab + 1;
    }
    out += paint(colour, safe) + "\n";
  }
  return out;
}

base::Result<std::vector<std::string>> paths_in(const changes::ChangeSet& set,
                                                const std::vector<std::string>& words) {
  if (words.empty()) return std::vector<std::string>();
  auto entries = set.entries();
  if (!entries) return tl::unexpected(entries.error());
  const std::string& workspace = set.info().workspace;
  const auto known = [&](const std::string& path) {
    return std::any_of(entries->begin(), entries->end(), [&](const changes::Entry& entry) {
      return entry.path == path || entry.path.starts_with(path + "/");
    });
  };
  std::vector<std::string> paths;
  for (const std::string& word : words) {
    const std::string full =
        base::normalize_path(word.starts_with('/') ? word : current_folder() + "/" + word);
    const bool inside = full.starts_with(workspace + "/");
    const std::string from_here = inside ? full.substr(workspace.size() + 1) : "";
    const std::string as_listed = base::normalize_path(word);
    if (full == workspace) return std::vector<std::string>();  // all of it
    paths.push_back(inside && known(from_here)    ? from_here
                    : known(as_listed) || !inside ? as_listed
                                                  : from_here);
  }
  return paths;
}

int report_applied(const char* verb, const char* done, const wire::Applied& applied, bool json) {
  const bool stopped = !applied.conflicts.empty();
  if (json) {
    std::printf("%s\n", wire::json_text(applied).c_str());
    return stopped ? 1 : 0;
  }
  for (const wire::PathProblem& each : applied.conflicts)
    complain(verb, fmt::format("{}: {}", changes::quoted_path(each.path), each.reason), 0);
  for (const wire::PathProblem& each : applied.left_out)
    complain(verb, fmt::format("left out {}: {}", changes::quoted_path(each.path), each.reason), 0);
  if (stopped) {
    return complain(verb,
                    fmt::format("nothing was changed, because of {} conflicts. Choose other paths, or use "
                                "--force to replace what is there now",
                                applied.conflicts.size()),
                    1);
  }
  fmt::print("{} {} changes of {}\n", done, applied.applied.size(), applied.command_id);
  return 0;
}

}  // namespace ttyward::cli
