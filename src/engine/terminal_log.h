// What the engine knows about a terminal that its journal cannot tell: a file of
// JSON lines, appended to, so that an engine that was killed at any instruction
// finds all of it again. rewrite() puts another file in its place at once.
//
// A line counts once its line feed is there; what was being written when the
// engine died is dropped by the next reader. Written before the thing it tells
// of is done (a command is logged, then typed), so that nothing happens unseen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::engine {

class TerminalLog {
 public:
  // A new one; the id must not be in use.
  // `made_ahead` is from make_ahead(), or invalid.
  static base::Result<TerminalLog> create(int folder, const std::string& id, base::UniqueFd made_ahead = {});
  static base::Result<base::UniqueFd> make_ahead(int folder);
  // One that is there, with its records so far.
  struct Opened;
  static base::Result<Opened> open(int folder, const std::string& id);

  base::Result<void> append(const boost::json::object& record);
  // From now on space for the next records is set aside: a full disk stops no command at once.
  void keep_room();
  // Nothing more will come: what was set aside is given back.
  void give_back_room();

  uint64_t size() const { return size_; }
  // The records as `change` leaves them. Killed meanwhile, it is the old file or the new one.
  using Records = std::vector<boost::json::object>;
  base::Result<void> rewrite(int folder, const std::string& id,
                             const std::function<void(Records& records)>& change);

  static base::Result<void> remove(int folder, const std::string& id);
  // Ids of all logs in the folder.
  static base::Result<std::vector<std::string>> list(int folder);

 private:
  explicit TerminalLog(base::UniqueFd file, uint64_t size = 0) : file_(std::move(file)), size_(size) {}

  base::Result<void> append_lines(std::string_view lines);
  void set_room_aside();

  base::UniqueFd file_;
  uint64_t size_ = 0;  // bytes
  bool keeps_room_ = false;
  uint64_t set_aside_ = 0;  // bytes of the file that have space on disk
};

struct TerminalLog::Opened {
  TerminalLog log;
  std::vector<boost::json::object> records;
};

}  // namespace ttyward::engine
