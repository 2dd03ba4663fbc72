// Calls about what commands changed on a layer: look, apply, undo, discard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/types/change_objects.h"
#include "wire/types/role.h"

namespace ttyward::wire {

struct ChangeSetRow {
  std::string command_id;
  std::string command;
  std::string workspace;
  std::string state;
  bool kept = false;
  std::optional<Time> created_at;
  std::optional<Time> applied_at;
  uint64_t bytes = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "the command whose changes these are");
    v.field("command", self.command, "the command line");
    v.field("workspace", self.workspace, "the folder that was changed");
    v.field("state", self.state, "how far it is", OneOf{"running|finished|applying|applied|undone"});
    v.field("kept", self.kept, "applied by itself and kept for `undo` (`sandbox.keep_changes`)", kLeftOut);
    v.field("created_at", self.created_at, "when the command began");
    v.field("applied_at", self.applied_at, "when it was applied last");
    v.field("bytes", self.bytes, "on disk");
  }
};

struct ChangeSetList {
  std::vector<ChangeSetRow> sets;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("sets", self.sets, "newest first");
  }
};

struct ChangeSetsRequest {
  static constexpr std::string_view kCall = "change_sets";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Lists the change sets that are kept.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = ChangeSetList;
  template <class V>
  static void describe(V&, auto&) {}
};

struct ChangesAnswer {
  Changes changes;
  std::string diff;
  bool diff_cut = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("changes", self.changes, "the change set");
    v.field("diff", self.diff, "with `diff`: a patch in the format of git", kLeftOut);
    v.field("diff_cut", self.diff_cut, "the patch was longer than 1 MiB: ask for paths one by one", kLeftOut);
  }
};

struct ChangesRequest {
  static constexpr std::string_view kCall = "changes";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "What a command changed that ran with `try`.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = ChangesAnswer;
  std::string command;
  std::vector<std::string> paths;
  bool diff = false;
  int64_t limit = 1000;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "the command's id", kRequired);
    v.field("paths", self.paths, "only these files and folders", Usual{"all"});
    v.field("diff", self.diff, "show the lines, too");
    v.field("limit", self.limit, "how many changes to list", Range{1, 10'000});
  }
};

struct Applied {
  std::vector<std::string> applied;
  std::vector<PathProblem> conflicts;
  std::vector<PathProblem> left_out;
  std::string command_id;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("applied", self.applied, "the paths that were changed in the workspace");
    v.field("conflicts", self.conflicts,
            "where the workspace changed meanwhile. If there are any, nothing was changed");
    v.field("left_out", self.left_out, "what cannot be applied");
    v.field("command_id", self.command_id, "the command whose changes these are");
  }
};

struct ApplyRequest {
  static constexpr std::string_view kCall = "apply";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Puts the changes of a command that ran with `try` into the workspace.";
  using Answer = Applied;
  std::string command;
  std::vector<std::string> paths;
  bool force = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "the command's id", kRequired);
    v.field("paths", self.paths, "only these files and folders", Usual{"all"});
    v.field("force", self.force, "replace what changed in the workspace meanwhile");
  }
};

struct UndoRequest {
  static constexpr std::string_view kCall = "undo";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Takes the changes back that were applied last, or those of one command.";
  using Answer = Applied;
  std::string cwd;
  std::string command;
  bool force = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("cwd", self.cwd, "a folder of the workspace; this or `command`");
    v.field("command", self.command, "the command's id");
    v.field("force", self.force, "also where something changed since");
  }
};

struct Discarded {
  bool discarded = true;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("discarded", self.discarded, "it is gone");
  }
};

struct DiscardRequest {
  static constexpr std::string_view kCall = "discard";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Removes a change set. What was applied stays in the workspace and cannot be undone any more.";
  using Answer = Discarded;
  std::string command;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "the command's id", kRequired);
  }
};

}  // namespace ttyward::wire
