// One change that a command made to a workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "changes/node.h"

namespace ttyward::changes {

enum class Kind : uint8_t { Added, Changed, Deleted };
std::string_view kind_name(Kind kind);

// Why a change can be seen but not be applied.
enum class Obstacle : uint8_t {
  None,
  SpecialFile,  // a device, a fifo or a socket
  Unreadable,   // its permissions keep us from reading it
  TooDeep,      // its path is longer than the system takes in one piece
  Redirected,   // a layer that refers to another place of the lower one; nothing here makes such
  Protected,    // a control file: one that would run code, or loosen a policy, outside the sandbox
};
std::string_view obstacle_text(Obstacle obstacle);

struct Entry {
  std::string path;  // below the workspace
  Kind kind = Kind::Added;
  Node before;  // in the workspace, when the change set was sealed
  Node after;   // in the layer
  Obstacle obstacle = Obstacle::None;
  // The workspace's own file changed while the command ran.
  bool stale = false;
  bool binary = false;
  // Of text. Unknown for what is binary, large, or no file.
  std::optional<int64_t> lines_added;
  std::optional<int64_t> lines_removed;
  // Of a folder that goes, or is replaced: what is in it.
  uint64_t files_below = 0;
  uint64_t bytes_below = 0;
  std::string link;  // the target, if it is a link now
  // SHA-256 in hexadecimal of the file, the link or the folder's listing that was there; empty: not taken.
  std::string before_hash;

  bool operator==(const Entry&) const = default;
  // Whether its content, not only its permissions, differs.
  bool content_changed() const;
};

// The order of lists: by name, folder by folder, so that all that is in a folder follows it directly.
bool comes_before(std::string_view a, std::string_view b);

// What the sum of a list says.
struct Totals {
  int64_t added = 0;
  int64_t changed = 0;
  int64_t deleted = 0;
  int64_t lines_added = 0;
  int64_t lines_removed = 0;
};
// Folders that were added with something in them do not count.
Totals totals_of(const std::vector<Entry>& entries);
// Whether a list for people leaves the entry out: a new folder in which other entries are.
bool implied(const std::vector<Entry>& entries, size_t index);

// What else a person should know about it: "setuid is not kept", "points outside the workspace". Empty:
// nothing.
std::string note_of(const Entry& entry);

}  // namespace ttyward::changes
