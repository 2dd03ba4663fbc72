// What the store keeps: one struct per table. Plain values; any thread.
//
// States, providers and the like are the words of the result object, kept as
// text: their meaning belongs to those who write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttyward::store {

enum class Owner : uint8_t { Agent, User, System };
std::string_view owner_name(Owner owner);
std::optional<Owner> owner_named(std::string_view name);

// One thing that was run.
struct CommandRow {
  std::string id;
  std::string terminal_id;
  std::string terminal_name;
  std::string task;
  Owner owner = Owner::Agent;
  std::string command;
  std::string description;  // what it was for, as its caller said; may be empty
  std::string cwd;
  std::string cwd_after;  // empty: not known
  std::string state;
  std::optional<int> exit_code;  // only if observed
  std::string signal;            // empty: none
  std::string known_by;
  std::string provider;
  std::string integration;
  int64_t started_at_ms = 0;           // since the epoch
  std::optional<int64_t> duration_ms;  // not there while it runs
  std::string journal_id;              // where its output is: bytes [output_begin, output_end)
  uint64_t output_begin = 0;
  uint64_t output_end = 0;
  uint64_t total_bytes = 0;
  uint64_t total_lines = 0;
  std::string note;

  bool operator==(const CommandRow&) const = default;
};

enum class Decision : uint8_t {
  Allow,      // without asking
  AskAllow,   // after asking
  Deny,       // by a rule, or by the person asked
  Skip,       // by the person asked: not run, and no failure
  Expired,    // nobody answered in time
  Withdrawn,  // who asked took the question back, or went away
};
std::string_view decision_name(Decision decision);
std::optional<Decision> decision_named(std::string_view name);

// One decision about a command: the audit.
struct DecisionRow {
  std::string id;
  int64_t at_ms = 0;
  std::string command_id;      // empty: it never became a command
  std::string terminal_id;     // empty: none
  std::string action = "run";  // what was to be done: run, open, type, interrupt, signal, kill, lend, permit
  std::string asked_by;
  std::string command;
  std::string cwd;
  Decision decision = Decision::Deny;
  std::string decided_by;  // a rule's id, person, default, expiry
  std::string risk;
  std::string effects;
  std::string reason;
  std::string answered_by;  // empty: nobody was asked, or nobody answered
  std::optional<int64_t> answered_at_ms;

  bool operator==(const DecisionRow&) const = default;
};

// A rule a person added while answering, as the text of a rule file.
struct SessionRule {
  int64_t number = 0;  // given by the store
  std::string scope;   // a session's id, or kGlobalScope
  std::string rule;
  int64_t created_at_ms = 0;
  std::string created_by;

  bool operator==(const SessionRule&) const = default;
};
inline constexpr std::string_view kGlobalScope = "global";

enum class ExitFilter : uint8_t {
  Any,
  Ok,      // exit code 0 was observed
  Failed,  // it ended, and not so
};

// The initializers are not redundant: without them GCC warns of every field that a caller does not name.
// NOLINTBEGIN(readability-redundant-member-init)

// Everything given must hold; what is empty does not matter.
struct HistoryQuery {
  std::string text = {};  // somewhere in the command; case of ASCII letters does not count
  ExitFilter exit = ExitFilter::Any;
  std::string cwd = {};  // this folder or one below it
  std::string terminal = {};
  std::string task = {};
  std::optional<int64_t> since_ms = {};  // at this moment or later
  std::optional<int64_t> until_ms = {};  // before this moment
  int limit = 100;                       // 1 to kMaxRows
  std::string before_id = {};            // the next page: what is older than this row
};

struct DecisionQuery {
  std::string text = {};
  std::optional<Decision> decision = {};
  std::string cwd = {};
  std::string terminal = {};
  std::string command_id = {};
  std::optional<int64_t> since_ms = {};
  std::optional<int64_t> until_ms = {};
  int limit = 100;
  std::string before_id = {};
};

// NOLINTEND(readability-redundant-member-init)

inline constexpr int kMaxRows = 10'000;  // per call; more is asked for page by page

// Longer texts are cut here, with a note of how much is gone: history is for
// finding things, the whole of a pasted file is in the journal.
inline constexpr size_t kMaxTextBytes = 64 * 1024;

}  // namespace ttyward::store
