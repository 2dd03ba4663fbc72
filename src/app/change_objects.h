// Change sets as the protocol has them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "changes/shelf.h"
#include "config/settings.h"
#include "wire/types/change_calls.h"

namespace ttyward::app {

// How many changes a result has with it; the rest is for `changes`.
inline constexpr size_t kChangesInResult = 100;

changes::Keeping keeping_of(const config::SandboxSettings& settings);

wire::Changes changes_object(const changes::Info& info, const std::vector<changes::Entry>& entries,
                             const std::vector<changes::AppliedEntry>& applied, size_t limit);
// Of a set that is open: with its list, or with the problem that there is none.
wire::Changes changes_object(const changes::ChangeSet& set, size_t limit);
wire::ChangeSetRow row_object(const changes::Info& info);
wire::Applied applied_object(const std::string& id, const changes::Applied& from);

// The whole of a `changes` call, for the daemon and for the command line alike.
base::Result<wire::ChangesAnswer> answer_changes(const changes::Shelf& shelf,
                                                 const wire::ChangesRequest& request);

// The whole of an `undo` call.
base::Result<wire::Applied> undo_changes(const changes::Shelf& shelf, const wire::UndoRequest& request);

// What follows the end of a command that ran on a layer: its list is made; if it ran only to be kept for
// `undo`, its changes are applied; and sets that are too old or too large in sum go.
wire::Changes settle_changes(const changes::Shelf& shelf, changes::ChangeSet& set,
                             const changes::Keeping& keeping);

}  // namespace ttyward::app
