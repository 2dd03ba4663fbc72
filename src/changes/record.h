// The files of a change set: what it is, its list of changes, and what was applied of it.
//
// One line per thing, fields separated by tabs; bytes that would break a line are written as \xNN. A file is
// replaced as a whole, so a reader finds it as it was before or after a write.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "changes/entry.h"

namespace ttyward::changes {

enum class State : uint8_t {
  Running,   // the command still runs, or whoever ran it was killed before its end was noted
  Finished,  // nothing, or a part, was applied
  Applying,  // an apply was begun; if nobody holds the set, it was cut short
  Applied,   // everything that can be
  Undone,
};
std::string_view state_name(State state);

// Why the command ran on a layer.
enum class Purpose : uint8_t { Try, Keep };

// The process that is the command, so that nobody touches its layer while it lives.
struct Keeper {
  pid_t pid = 0;  // 0: unknown
  uint64_t started = 0;
  bool alive() const;
  static Keeper of(pid_t pid);
};

struct Info {
  std::string id;         // the command's
  std::string workspace;  // as a full path, without links
  uint64_t device = 0;    // of the workspace
  uint64_t inode = 0;
  std::string command;  // as its caller wrote it
  std::string session;  // of the agent that ran it; empty: a person, or none
  Purpose purpose = Purpose::Try;
  State state = State::Running;
  int64_t began_ns = 0;  // by the clock of the file system
  int64_t created_ms = 0;
  int64_t applied_ms = 0;  // the last time; 0: never
  Keeper keeper;
  // Control files, relative to the workspace: they, and what is in them, are not applied.
  std::vector<std::string> protected_paths;
  uint64_t bytes = 0;  // on disk, when it was sealed
};

// One entry that was applied, and what it takes to take it back.
struct AppliedEntry {
  Entry entry;        // `before` and `after` are the workspace's own, before and after
  int64_t saved = 0;  // what was there is in before/SAVED; 0: nothing was
  bool done = false;  // false: it was about to be
};

std::string encode(const Info& info);
base::Result<Info> decode_info(std::string_view text);
std::string encode(const std::vector<Entry>& entries);
base::Result<std::vector<Entry>> decode_entries(std::string_view text);
std::string encode(const std::vector<AppliedEntry>& entries);
base::Result<std::vector<AppliedEntry>> decode_applied(std::string_view text);

}  // namespace ttyward::changes
