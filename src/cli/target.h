// TERM|CMD on the command line: a terminal by name or id, or a command by id, both also
// by the beginning of their id where only one has it. A terminal that lives comes before those of its name
// that have ended. @active is the terminal that a person attached to last.
//
// Terminals alone are found by the daemon itself; this is for verbs that take either.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "client/session.h"

namespace ttyward::cli {

struct Target {
  enum class Kind : uint8_t { Terminal, Command };
  Kind kind = Kind::Terminal;
  std::string id;
  std::string terminal;  // the command's, where that is known

  // For calls that take either: the other one is empty.
  std::string terminal_id() const { return kind == Kind::Terminal ? id : std::string(); }
  std::string command_id() const { return kind == Kind::Command ? id : std::string(); }
};

tl::expected<Target, client::CallFailure> find_target(client::Session& daemon, const std::string& word);

}  // namespace ttyward::cli
