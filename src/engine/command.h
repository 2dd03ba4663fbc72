// One thing that was run in a terminal, as the engine remembers it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/command_life.h"
#include "shell/tracker_events.h"
#include "terminal/output.h"
#include "terminal/result.h"

namespace ttyward::engine {

enum class Owner : uint8_t { Agent, User, System };
const char* owner_name(Owner owner);
std::optional<Owner> owner_named(std::string_view name);

struct CommandRequest {
  std::string id;           // empty: one is made
  std::string text;         // as given
  std::string description;  // what it is for, as its caller says
  std::string cwd;          // for this command only; empty: where the shell is
  Owner by = Owner::Agent;
  std::string session;  // of the agent who asks; empty: none
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  bool sentinel = false;  // for whatever reads the terminal now, not for its shell
  std::string verdict_json;
  // Asked right before it is typed: why it may not begin any more; empty: it may.
  std::function<std::string()> second_look{};
};

// A reply of a dialogue that was typed, or was about to be.
struct GivenReply {
  size_t reply = 0;               // its index
  terminal::LineNumber line = 0;  // 0: on an alternate screen
  std::string asked;              // that line, up to where it was answered
};

// Lines of a terminal's output that show what was typed at its prompt.
struct TypedLines {
  terminal::LineNumber first = 0;  // 0: not known
  terminal::LineNumber last = 0;
};

struct Command {
  using Clock = std::chrono::steady_clock;

  Command(const command::LifeOptions& options, terminal::CommandResult known, Clock::time_point since)
      : life(options, std::move(known), since) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  bool answered() const { return life.answered(); }  // ended for the caller: finished, or its time is over
  bool over() const { return life.over(); }          // really ended
  // Of the terminal's bytes; the end is meaningless until over.
  const shell::ByteRange& range() const { return life.range(); }

  // Time limits, waiting for input, and what its end means.
  command::CommandLife life;
  // Everything but the output. The state is the caller's truth: it is final when answered().
  terminal::CommandResult& facts = life.facts();
  bool recorded = false;  // its record is final
  Owner by = Owner::Agent;
  std::string delivered;  // the text the shell was given
  std::string line;       // what the shell says it was given
  std::string file;       // in the terminal's private folder; to be removed
  std::string sentinel_nonce;
  bool quiet = false;                        // it can change nothing in the shell
  std::function<std::string()> second_look;  // as in the request; gone once it was asked
  std::optional<shell::SubmissionId> submission;
  bool sent = false;          // to the shell
  bool accepted = false;      // by the holder: it will not be sent again
  uint64_t input_before = 0;  // what the holder had been given before it; replay
  bool started_seen = false;  // the shell said so
  bool has_echo = false;
  TypedLines typed_at;                      // of the terminal's output
  std::vector<GivenReply> given_replies;    // no engine after us gives them again
  std::optional<uint64_t> newlines_before;  // line feeds the terminal had printed before the range
  // Made while it runs; made again from the journal when asked for later. Null for a command that is the
  // terminal (the terminal's own output is its output).
  std::unique_ptr<terminal::Output> output;
};

}  // namespace ttyward::engine
