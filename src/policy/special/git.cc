// git: what a repository's own settings make it do, and subcommands that list or change by their arguments.
#include <algorithm>
#include <array>

#include "policy/git_repository.h"
#include "policy/special/special.h"

namespace ttyward::policy::special {

namespace {

// Options of log and its kin that print no contents. With any other one they may.
constexpr auto kNamesOnly = std::to_array<std::string_view>({"--oneline",
                                                             "--stat",
                                                             "--name-only",
                                                             "--name-status",
                                                             "--graph",
                                                             "--all",
                                                             "--follow",
                                                             "--no-patch",
                                                             "--numstat",
                                                             "--shortstat",
                                                             "--summary",
                                                             "--first-parent",
                                                             "--no-merges",
                                                             "--merges",
                                                             "--topo-order",
                                                             "--date-order",
                                                             "--reverse",
                                                             "--no-pager",
                                                             "--compact-summary",
                                                             "--abbrev-commit",
                                                             "--branches",
                                                             "--tags",
                                                             "--remotes",
                                                             "--no-color",
                                                             "--no-decorate",
                                                             "--decorate",
                                                             "--full-history",
                                                             "--count",
                                                             "--raw",
                                                             "--no-renames",
                                                             "--",
                                                             "-s",
                                                             "-i",
                                                             "-z",
                                                             "-M",
                                                             "-C"});
constexpr auto kNamesOnlyWithValue = std::to_array<std::string_view>(
    {"--format=", "--pretty=",      "--since=",  "--until=",  "--after=",    "--before=",
     "--author=", "--committer=",   "--grep=",   "--date=",   "--decorate=", "--max-count=",
     "--skip=",   "--diff-filter=", "--abbrev=", "--color=",  "--stat=",     "--branches=",
     "--tags=",   "--remotes=",     "--glob=",   "--exclude="});

bool prints_names_only(std::string_view option) {
  if (std::find(kNamesOnly.begin(), kNamesOnly.end(), option) != kNamesOnly.end()) return true;
  if (option.starts_with("-n") || option.find_first_not_of("-0123456789") == std::string_view::npos)
    return true;
  return std::any_of(kNamesOnlyWithValue.begin(), kNamesOnlyWithValue.end(),
                     [&](std::string_view prefix) { return option.starts_with(prefix); });
}

// Whether it can print what is in files: `git show HEAD:.env`, `git log -p -- .env`, `git grep x .env`.
bool prints_contents(const Invocation& call, const OptionScan& scan) {
  const std::string_view subcommand =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments.front().text);
  if (subcommand == "status") {
    return std::any_of(call.argv.begin() + 1, call.argv.end(), [](const Field& field) {
      return field.text == "--verbose" || (field.text.size() > 1 && field.text[0] == '-' &&
                                           field.text[1] != '-' && field.text.find('v') != std::string::npos);
    });
  }
  for (const std::string_view name :
       {"ls-files",   "ls-tree",  "rev-parse", "branch",        "tag",           "remote",     "check-ignore",
        "check-attr", "describe", "shortlog",  "show-ref",      "for-each-ref",  "merge-base", "symbolic-ref",
        "var",        "version",  "help",      "check-mailmap", "count-objects", "name-rev",   "worktree"}) {
    if (subcommand == name) return false;
  }
  if (subcommand != "log" && subcommand != "rev-list" && subcommand != "reflog" &&
      subcommand != "whatchanged")
    return true;
  return !std::all_of(call.argv.begin() + 1, call.argv.end(), [](const Field& field) {
    return !field.text.starts_with("-") || prints_names_only(field.text);
  });
}

// A path as git reads it: behind a revision and a colon, behind the magic words of a pathspec, with
// wildcards.
bool names_secret_content(const Invocation& call, const Field& field) {
  const bool ignores_case = field.text.find("icase") != std::string::npos;
  const auto secret = [&](std::string text) {
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '*') text[i] = kListed;  // matches a leading dot, too
      if (text[i] == '?' || text[i] == '[' || text[i] == ']') text[i] = i == 0 ? kListed : kOne;
      if (text[i] >= 'A' && text[i] <= 'Z' && ignores_case) text[i] = static_cast<char>(text[i] - 'A' + 'a');
    }
    Field path;
    path.text = std::move(text);
    return !path.text.empty() && call.look(path).secret;
  };
  const std::string_view text = field.text;
  if (!text.starts_with("-") && secret(std::string(text))) return true;
  for (size_t at = text.find_first_of(":=)"); at != std::string_view::npos;
       at = text.find_first_of(":=)", at + 1)) {
    if (secret(std::string(text.substr(at + 1)))) return true;
  }
  return false;
}

void check_contents(Invocation& call, const OptionScan& scan) {
  for (const Field& field : call.rest(1)) {
    if (field.text.find("%G") != std::string::npos || field.text.find("signature") != std::string::npos) {
      call.ask(Risk::High, EffectKind::Execute,
               "runs the program that checks signatures, which the repository can choose");
    }
  }
  if (!prints_contents(call, scan)) return;
  for (const Field& field : call.rest(1)) {
    if (names_secret_content(call, field))
      call.ask(Risk::High, EffectKind::Secret, "reads what is likely to hold credentials", shown(field));
  }
}

}  // namespace

namespace {

// Subcommands that look at the working tree, and into submodules in it.
GitReach reach_of(const Invocation& call, std::string_view subcommand) {
  for (const std::string_view name : {"status", "diff", "diff-files", "diff-index", "describe", "submodule",
                                      "ls-files", "grep", "stash", "worktree"}) {
    if (subcommand == name) return GitReach::WorkTree;
  }
  for (const Field& field : call.rest(1)) {
    if (field.text.find("submodule") != std::string::npos) return GitReach::WorkTree;
  }
  return GitReach::History;
}

// git obeys the repository it stands in: its settings are looked at first.
void check_repository(Invocation& call, const OptionScan& scan) {
  std::vector<std::string> folders = call.walk.state().cwds;
  for (const OptionHit& hit : scan.hits) {
    if (hit.row->name != "C" || !hit.has_value) continue;
    // The system follows links before it goes up: `link/..` is not where the link stands.
    for (std::string& folder : folders)
      folder = hit.value.text.starts_with("/") ? hit.value.text : folder + "/" + hit.value.text;
    if (!hit.value.constant()) folders.clear();
  }
  if (folders.empty()) {
    return call.ask(Risk::Medium, EffectKind::Execute,
                    "git obeys the settings of a repository that is only known when it runs");
  }
  const std::string_view subcommand =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments.front().text);
  const Place& place = call.walk.place();
  for (const std::string& written : folders) {
    const std::string folder = place.files != nullptr ? place.files->canonical(written) : normalize(written);
    if (folder != place.cwd && look_at(folder, folder, place).zone != Zone::Workspace) {
      call.ask(Risk::High, EffectKind::Execute,
               "git obeys the settings of a repository outside the workspace", folder);
    }
    // A bare repository that came with the project brings settings of its own.
    if (folder != place.cwd && (folder.ends_with(".git") || folder.find(".git/") != std::string::npos)) {
      call.ask(Risk::High, EffectKind::Execute, "git obeys the settings of a repository inside the workspace",
               folder);
    }
    const RepositoryFinding found = look_at_repository(folder, subcommand, reach_of(call, subcommand), place);
    if (!found.problem.empty()) call.ask(Risk::High, EffectKind::Execute, found.problem, found.where);
  }
}

}  // namespace

namespace {

// git -C / clean -fdx: it empties what it works on.
void check_emptied_tree(Invocation& call, const OptionScan& scan) {
  const std::string_view subcommand =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments.front().text);
  if (subcommand != "clean" && subcommand != "checkout" && subcommand != "reset" && subcommand != "rm")
    return;
  for (const std::string_view option : {"C", "work-tree"}) {
    const Field* folder = scan.value(option);
    if (folder != nullptr && call.look(*folder).vital)
      call.deny(EffectKind::Delete, "empties a whole system or home directory", shown(*folder));
  }
}

}  // namespace

void git(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::AtFirstArgument);
  check_contents(call, scan);
  check_emptied_tree(call, scan);
  check_repository(call, scan);
  apply_subcommand(call, row);
}

// branch, tag: with a listing option the arguments are patterns, otherwise they create or change.
void git_list(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  bool lists = false;
  for (const std::string_view option :
       {"l", "list", "contains", "no-contains", "merged", "no-merged", "points-at", "show-current"}) {
    lists |= scan.has(option);
  }
  if (row.name == "git branch")
    lists &= !scan.has("v") || scan.has("list") || scan.has("l") || scan.arguments.empty() ||
             scan.has("contains") || scan.has("merged");
  if (!lists && !scan.arguments.empty())
    call.ask(Risk::Medium, EffectKind::Write, "creates or changes a name in the repository");
}

void git_config(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  bool reads = false;
  for (const std::string_view option :
       {"get", "get-all", "get-regexp", "get-urlmatch", "l", "list", "get-color", "get-colorbool"}) {
    reads |= scan.has(option);
  }
  const std::string_view first =
      scan.arguments.empty() ? std::string_view() : std::string_view(scan.arguments.front().text);
  if (first == "get" || first == "list") reads = true;
  const bool one = scan.arguments.size() == 1 && first != "edit";
  if (!reads && !one) {
    call.ask(Risk::High, EffectKind::Write, "changes settings that git obeys, some of which run programs");
    for (const Field& field : scan.arguments) check_command_text(call, field.text);
  }
  for (const Field& field : scan.arguments) {
    if (field.may_split())
      call.ask(Risk::High, EffectKind::Write, "may change settings that git obeys", shown(field));
    for (const std::string_view word : {"token", "password", "credential", "extraheader"}) {
      if (field.text.find(word) != std::string::npos)
        call.ask(Risk::Medium, EffectKind::Secret, "reads a credential", shown(field));
    }
  }
}

void git_reflog(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  if (scan.arguments.empty()) return;
  const std::string_view first = scan.arguments.front().text;
  if (first == "expire" || first == "delete" || first == "drop" || first == "write" ||
      !scan.arguments.front().constant()) {
    call.ask(Risk::High, EffectKind::Delete, "deletes the record of earlier states");
  }
}

void git_push(Invocation& call, const ProgramRow& row) {
  const OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  apply_scan(call, row, scan);
  for (size_t i = 1; i < scan.arguments.size(); ++i) {
    const std::string_view refspec = scan.arguments[i].text;
    if (refspec.starts_with("+"))
      call.ask(Risk::Critical, EffectKind::Delete, "overwrites history on another machine",
               std::string(refspec));
    if (refspec.starts_with(":"))
      call.ask(Risk::High, EffectKind::Delete, "deletes a branch on another machine", std::string(refspec));
  }
}

// With --no-index (or outside a repository) the arguments are any two files.
void git_diff(Invocation& call, const ProgramRow& row) {
  OptionScan scan = scan_options(row, call.argv, ScanStop::Never);
  const bool files = scan.has("no-index");
  for (const Field& field : scan.arguments) {
    if (files || field.text.starts_with("/") || field.text.starts_with("..")) call.read_path(field, files);
    if (files) call.search_path(field, FolderSearch{});
  }
  scan.arguments.clear();
  apply_scan(call, row, scan);
}

}  // namespace ttyward::policy::special
