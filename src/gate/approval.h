// A question to a person: one command that policy would not let run unasked.
//
// A value: what was asked, how it is shown, and what became of it. It holds for
// these exact bytes and this standard input in this folder, environment and terminal, and for one run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace ttyward::gate {

enum class ApprovalState : uint8_t { Open, Allowed, Denied, Skipped, Expired, Withdrawn };
std::string_view name_of(ApprovalState state);

// Rules as a person sees them before they are stored, one entry each.
struct OfferedRules {
  std::vector<std::string> texts;  // as they would be written
  std::vector<std::string> words;
};

struct Approval {
  std::string id;
  std::string command;  // the bytes that run if the answer is yes
  std::string shown;    // the same as a person sees it, with its standard input: escaped, bounded
  std::string cwd;
  std::vector<std::string> environment_changes;  // NAME=value
  std::string command_id;                        // the command that runs if the answer is yes
  std::string terminal_id;
  std::string task;
  std::string session;
  std::string asked_by;
  uint64_t connection = 0;  // who asked, and therefore may not answer
  policy::Verdict verdict;
  int64_t created_at_ms = 0;
  int64_t expires_at_ms = 0;  // 0: never
  ApprovalState state = ApprovalState::Open;
  std::string answered_by;
  int64_t answered_at_ms = 0;
  std::string reason;         // the person's words, or why it ended without any
  OfferedRules always;        // what "always" would store: the narrowest that covers it
  OfferedRules wider;         // one step wider; empty: there is none
  bool session_only = false;  // critical: not to be remembered longer than a session
};

}  // namespace ttyward::gate
