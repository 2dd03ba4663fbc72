// What a command that ran on a layer changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/describe.h"

namespace ttyward::wire {

struct Change {
  static constexpr std::string_view kName = "Change";
  static constexpr std::string_view kAbout = "One file, folder or link that a command changed.";
  std::string path;
  std::string kind;
  std::string type;
  std::optional<int64_t> lines_added;
  std::optional<int64_t> lines_removed;
  bool binary = false;
  std::string mode_before;
  std::string mode;
  std::string link;
  int64_t files = 0;
  bool applied = false;
  std::string note;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("path", self.path, "below the workspace");
    v.field("kind", self.kind, "what happened to it", OneOf{"added|changed|deleted"});
    v.field("type", self.type, "what it is now, or was", OneOf{"file|folder|link|special"});
    v.field("lines_added", self.lines_added, "of text", kLeftOut);
    v.field("lines_removed", self.lines_removed, "of text", kLeftOut);
    v.field("binary", self.binary, "it is not text", kLeftOut);
    v.field("mode_before", self.mode_before, "permissions before, in octal, where they changed", kLeftOut);
    v.field("mode", self.mode, "permissions now, where they changed", kLeftOut);
    v.field("link", self.link, "where the link points", kLeftOut);
    v.field("files", self.files, "of a deleted folder: the files in it");
    v.field("applied", self.applied, "it is in the workspace", kLeftOut);
    v.field("note", self.note, "what else there is to know", kLeftOut);
  }
};

struct Changes {
  static constexpr std::string_view kName = "Changes";
  static constexpr std::string_view kAbout =
      "What a command changed that ran on a layer over its workspace. The workspace has none of it until it "
      "is "
      "applied.";
  std::string state;
  std::string workspace;
  int64_t added = 0;
  int64_t changed = 0;
  int64_t deleted = 0;
  int64_t lines_added = 0;
  int64_t lines_removed = 0;
  std::vector<Change> list;
  int64_t more = 0;
  std::string problem;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("state", self.state, "how far it is", OneOf{"running|finished|applying|applied|undone"});
    v.field("workspace", self.workspace, "the folder that was changed");
    v.field("added", self.added, "how many files, folders and links are new");
    v.field("changed", self.changed, "how many are changed");
    v.field("deleted", self.deleted, "how many are gone; a folder counts once");
    v.field("lines_added", self.lines_added, "in all text files");
    v.field("lines_removed", self.lines_removed, "the same");
    v.field("list", self.list, "the changes, by path");
    v.field("more", self.more, "how many changes are not in the list");
    v.field("problem", self.problem, "why there is no list, or why it was not applied", kLeftOut);
  }
};

struct PathProblem {
  std::string path;
  std::string reason;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("path", self.path, "below the workspace");
    v.field("reason", self.reason, "in words");
  }
};

}  // namespace ttyward::wire
