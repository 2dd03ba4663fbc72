// Writes a terminal's log, and keeps secrets and old text out of it.
//
// Most records are notes: the terminal goes on if one cannot be written, because the
// output of a command that runs is worth more than its record. What must be on disk
// before something happens is written with write(), which tells.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include "base/result.h"
#include "engine/terminal_log.h"
#include "engine/terminal_model.h"

namespace ttyward::engine {

class LogWriter {
 public:
  LogWriter(int folder, std::string id, TerminalLog log)
      : folder_(folder), id_(std::move(id)), log_(std::move(log)) {}

  base::Result<void> write(const boost::json::object& record) { return log_.append(record); }
  void note(const boost::json::object& record);
  // Why the last note that failed could not be written.
  const std::optional<base::Error>& error() const { return error_; }

  void keep_room() { log_.keep_room(); }
  void give_back_room() { log_.give_back_room(); }

  // `typed` was typed, or is over: no secret of it stays. A log of more than `large` bytes loses the commands
  // that the model does not remember any more. What recognises a command in the journal is kept.
  void tidy(const Command& typed, const TerminalModel& model, uint64_t large);

 private:
  int folder_;
  std::string id_;
  TerminalLog log_;
  std::optional<base::Error> error_;
  uint64_t tidy_beyond_ = 0;  // bytes of log
};

}  // namespace ttyward::engine
