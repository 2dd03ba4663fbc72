// What the engine knows about a terminal that its journal cannot tell: a file of
// JSON lines, appended to and never rewritten, so that an engine that was killed
// at any instruction finds all of it again.
//
// A line counts once its line feed is there; what was being written when the
// engine died is dropped by the next reader. Written before the thing it tells
// of is done (a command is logged, then typed), so that nothing happens unseen.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::engine {

class TerminalLog {
 public:
  // A new one; the id must not be in use.
  static base::Result<TerminalLog> create(int folder, const std::string& id);
  // One that is there, with its records so far.
  struct Opened;
  static base::Result<Opened> open(int folder, const std::string& id);

  base::Result<void> append(const boost::json::object& record);

  static base::Result<void> remove(int folder, const std::string& id);
  // Ids of all logs in the folder.
  static base::Result<std::vector<std::string>> list(int folder);

 private:
  explicit TerminalLog(base::UniqueFd file) : file_(std::move(file)) {}

  base::UniqueFd file_;
};

struct TerminalLog::Opened {
  TerminalLog log;
  std::vector<boost::json::object> records;
};

}  // namespace ttyward::engine
