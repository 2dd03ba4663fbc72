// The record of every decision, as it leaves the gate. Secrets are masked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ttyward::gate {

enum class Outcome : uint8_t {
  Allowed,     // by policy, without a question
  AskAllowed,  // by a person
  Denied,      // by policy or by a person
  Skipped,     // by a person: not run, and no failure
  Expired,     // nobody answered in time
  Withdrawn,   // who asked took it back, or went away
};
std::string_view name_of(Outcome outcome);

struct AuditRow {
  std::string id;  // a question is recorded when it opens and again, under the same id, when it closes
  int64_t at_ms = 0;
  std::string action = "run";  // what was to be done: run, open, type, interrupt, signal, kill, lend
  std::string command_id;
  std::string terminal_id;
  std::string task;
  std::string session;
  std::string asked_by;
  std::string command;
  std::string cwd;
  Outcome outcome = Outcome::Denied;
  std::string decided_by;  // a rule's name, "person", "expiry", …
  std::string risk;
  std::string effects;  // "write /a/b, network example.com"
  std::string reason;
  std::string answered_by;
  int64_t answered_at_ms = 0;  // 0: nobody answered
};

// Where decisions and rules made by answering are kept. Called on the loop; must not block.
class AuditSink {
 public:
  virtual ~AuditSink() = default;
  virtual void record(const AuditRow& row) = 0;
  // A rule for `session` alone, as the text of a rule file. Given back through Gate::restore_session_rule.
  virtual void session_rule_added(const std::string& session, const std::string& rule,
                                  const std::string& by) = 0;
  virtual void session_rule_removed(const std::string& session, const std::string& rule) = 0;
};

}  // namespace ttyward::gate
