// What is told of one command that is over: ids, the decision, how it ended. A value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::telemetry {

struct CommandSpan {
  std::string command_id;
  std::string terminal_id;    // empty: it never had one
  std::string terminal_name;  // may be empty, as all texts that follow
  std::string task;
  std::string owner;    // agent, user or system
  std::string outcome;  // see metrics.h
  std::string verdict;  // allow, ask_allow, deny, skip, expired, withdrawn
  std::string decided_by;
  std::string risk;
  std::optional<int64_t> approval_wait_ms;  // a person was asked
  std::optional<int> exit_code;
  std::string signal;
  std::string known_by;
  int64_t started_at_ms = 0;
  int64_t duration_ms = 0;
  uint64_t output_bytes = 0;
  uint64_t output_lines = 0;
  // Only where the person wants them sent; masked.
  std::string command;
  std::string cwd;

  bool operator==(const CommandSpan&) const = default;
};

// Whether a command with this outcome counts as an error.
bool is_error(std::string_view outcome);

}  // namespace ttyward::telemetry
