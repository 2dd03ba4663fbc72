#include "app/change_objects.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/unix_time.h"

namespace ttyward::app {

namespace {

constexpr size_t kLargestPatch = size_t{1} << 20;

std::string octal_text(uint32_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777U);
  return text;
}

const char* type_text(changes::NodeType type) {
  switch (type) {
    case changes::NodeType::File:
      return "file";
    case changes::NodeType::Folder:
      return "folder";
    case changes::NodeType::Link:
      return "link";
    default:
      return "special";
  }
}

wire::Change change_object(const changes::Entry& entry, bool applied) {
  wire::Change made;
  made.path = entry.path;
  made.kind = changes::kind_name(entry.kind);
  const bool deleted = entry.kind == changes::Kind::Deleted;
  made.type = type_text(deleted ? entry.before.type : entry.after.type);
  made.lines_added = entry.lines_added;
  made.lines_removed = entry.lines_removed;
  made.binary = entry.binary;
  if (entry.kind == changes::Kind::Changed && entry.before.mode != entry.after.mode &&
      entry.before.type == entry.after.type) {
    made.mode_before = octal_text(entry.before.mode);
    made.mode = octal_text(entry.after.mode);
  }
  made.link = entry.link;
  made.files = static_cast<int64_t>(entry.files_below);
  made.applied = applied;
  made.note = changes::note_of(entry);
  return made;
}

bool is_chosen(const std::string& path, const std::vector<std::string>& chosen) {
  return chosen.empty() || std::any_of(chosen.begin(), chosen.end(), [&](const std::string& each) {
           return path == each || path.starts_with(each + "/");
         });
}

std::vector<wire::PathProblem> problems(const std::vector<changes::Refused>& from) {
  std::vector<wire::PathProblem> made;
  made.reserve(from.size());
  for (const changes::Refused& each : from) made.push_back({each.path, each.why});
  return made;
}

}  // namespace

changes::Keeping keeping_of(const config::SandboxSettings& settings) {
  return {static_cast<uint64_t>(settings.changes_quota), settings.changes_age.count()};
}

wire::Changes changes_object(const changes::Info& info, const std::vector<changes::Entry>& entries,
                             const std::vector<changes::AppliedEntry>& applied, size_t limit) {
  wire::Changes made;
  made.state = changes::state_name(info.state);
  made.workspace = info.workspace;
  const changes::Totals totals = changes::totals_of(entries);
  made.added = totals.added;
  made.changed = totals.changed;
  made.deleted = totals.deleted;
  made.lines_added = totals.lines_added;
  made.lines_removed = totals.lines_removed;
  std::set<std::string_view> done;
  for (const changes::AppliedEntry& each : applied)
    if (each.done) done.insert(each.entry.path);
  for (size_t i = 0; i < entries.size(); i++) {
    if (changes::implied(entries, i)) continue;
    if (made.list.size() < limit) {
      made.list.push_back(change_object(entries[i], done.contains(entries[i].path)));
    } else {
      made.more++;
    }
  }
  return made;
}

wire::Changes changes_object(const changes::ChangeSet& set, size_t limit) {
  wire::Changes made;
  made.state = changes::state_name(set.state());
  made.workspace = set.info().workspace;
  if (set.running()) return made;
  auto entries = set.entries();
  auto applied = set.applied();
  if (!entries || !applied) {
    made.problem = entries ? applied.error().message : entries.error().message;
    return made;
  }
  made = changes_object(set.info(), *entries, *applied, limit);
  made.state = changes::state_name(set.state());
  return made;
}

wire::ChangeSetRow row_object(const changes::Info& info) {
  wire::ChangeSetRow made;
  made.command_id = info.id;
  made.command = info.command;
  made.workspace = info.workspace;
  made.state = changes::state_name(info.state);
  made.kept = info.purpose == changes::Purpose::Keep;
  made.created_at = wire::time_or_none(info.created_ms);
  made.applied_at = wire::time_or_none(info.applied_ms);
  made.bytes = info.bytes;
  return made;
}

wire::Applied applied_object(const std::string& id, const changes::Applied& from) {
  return {from.paths, problems(from.conflicts), problems(from.left_out), id};
}

base::Result<wire::ChangesAnswer> answer_changes(const changes::Shelf& shelf,
                                                 const wire::ChangesRequest& request) {
  auto set = shelf.open(request.command, changes::ChangeSet::Access::Read);
  if (!set) return tl::unexpected(set.error());
  wire::ChangesAnswer made;
  made.changes.state = changes::state_name(set->state());
  made.changes.workspace = set->info().workspace;
  if (set->running()) return made;
  auto entries = set->entries();
  if (!entries) return tl::unexpected(entries.error());
  auto applied = set->applied();
  if (!applied) return tl::unexpected(applied.error());
  std::erase_if(*entries, [&](const changes::Entry& entry) { return !is_chosen(entry.path, request.paths); });
  if (entries->empty() && !request.paths.empty()) {
    return base::fail(base::ErrorCode::NotFound,
                      "the command changed nothing there; leave the paths out to see all of its changes");
  }
  made.changes = changes_object(set->info(), *entries, *applied, static_cast<size_t>(request.limit));
  made.changes.state = changes::state_name(set->state());
  for (const changes::Entry& entry : *entries) {
    if (!request.diff) break;
    if (made.diff.size() > kLargestPatch) {
      made.diff_cut = true;
      break;
    }
    made.diff += set->diff(entry);
  }
  return made;
}

base::Result<wire::Applied> undo_changes(const changes::Shelf& shelf, const wire::UndoRequest& request) {
  std::string id = request.command;
  if (id.empty()) {
    const auto last = shelf.last_applied(request.cwd);
    if (!last) {
      return base::fail(base::ErrorCode::NotFound,
                        "nothing was applied in " + request.cwd +
                            " that could be undone. Changes are kept for this by ttyward apply, and of every "
                            "confined command if sandbox.keep_changes is set");
    }
    id = last->id;
  }
  auto set = shelf.open(id, changes::ChangeSet::Access::Exclusive);
  if (!set) return tl::unexpected(set.error());
  auto undone = set->undo(request.force);
  if (!undone) return tl::unexpected(undone.error());
  return applied_object(id, *undone);
}

wire::Changes settle_changes(const changes::Shelf& shelf, changes::ChangeSet& set,
                             const changes::Keeping& keeping) {
  wire::Changes made;
  if (auto finished = set.finish(); !finished) {
    made.state = changes::state_name(set.info().state);
    made.workspace = set.info().workspace;
    made.problem = finished.error().message;
    return made;
  }
  std::string problem;
  if (set.info().purpose == changes::Purpose::Keep) {
    auto applied = set.apply({});
    if (!applied) problem = "the changes could not be applied: " + applied.error().message;
    if (applied && !applied->conflicts.empty()) {
      problem = "the changes were not applied, because " + std::to_string(applied->conflicts.size()) +
                " files changed meanwhile, " + applied->conflicts.front().path + " among them";
    }
  }
  made = changes_object(set, kChangesInResult);
  if (!problem.empty()) made.problem = std::move(problem);
  shelf.sweep(keeping, base::unix_ms());
  return made;
}

}  // namespace ttyward::app
