// Whether a command of some id is in the history already: asked before a command runs under an id that its
// client chose, since a row is never written over by another command's.
//
// A connection of its own that only reads and never waits: it may be asked on an event loop.
// Thread rule: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/database.h"

namespace ttyward::store {

class Recorded {
 public:
  explicit Recorded(std::string path) : path_(std::move(path)) {}

  // False, too, if the file cannot be read now: then nothing can be written to it either, or soon again.
  bool has(std::string_view command_id);

 private:
  bool open();

  std::string path_;
  std::optional<Database> database_;
  std::optional<Statement> find_;  // before its connection
};

}  // namespace ttyward::store
