// What a command tracker has to say: one closed set, in the order it happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shell/quality.h"

namespace ttyward::shell {

// Names one submission of ours; chosen by whoever submits. Commands a person typed have none.
using SubmissionId = uint64_t;

// A span of the terminal's bytes.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

// The shell waits for a command: the moment to send one.
struct PromptReady {
  uint64_t offset = 0;
  bool operator==(const PromptReady&) const = default;
};

struct CommandStarted {
  std::optional<SubmissionId> submission;
  std::optional<std::string> command_line;  // nullopt: typed by somebody, and the shell did not say
  std::string cwd;                          // empty: not known
  uint64_t output_begin = 0;
  bool operator==(const CommandStarted&) const = default;
};

struct CommandFinished {
  std::optional<SubmissionId> submission;
  std::optional<std::string> command_line;
  std::optional<int> exit_code;  // nullopt: not observed
  std::optional<int> signal;     // the shell itself was killed by it
  std::vector<int> pipeline;     // a status for each part, where the shell keeps them
  ByteRange output;
  bool output_has_echo = false;  // where the output begins was not marked: what was typed is part of it
  bool incomplete = false;       // it was not a whole command; what ran of it, if anything, is in the output
  bool executed = true;          // false: the shell read it and refused (a syntax error)
  bool shell_gone = false;       // `exit`, `exec`, or a death
  bool left_alternate = false;   // a full-screen program went away without leaving its screen
  std::string cwd;               // where it began; CwdChanged follows if it ended elsewhere
  KnownBy known_by = KnownBy::Nothing;
  bool trusted = false;  // the mark had our nonce, or the kernel said so
  bool operator==(const CommandFinished&) const = default;
};

// What was sent is not a whole command: the shell asks for more. Ctrl-C gets it back to its prompt.
struct IncompleteInput {
  std::optional<SubmissionId> submission;
  bool operator==(const IncompleteInput&) const = default;
};

struct QualityChanged {
  Quality from = Quality::None;
  Quality to = Quality::None;
  std::string reason;
  bool operator==(const QualityChanged&) const = default;
};

// No mark came in time. Commands go to the fallback, and say so.
struct IntegrationTimedOut {
  bool operator==(const IntegrationTimedOut&) const = default;
};

// Another shell than before reads the terminal: one inside it ended, and the one that started it goes on.
struct ShellReturned {
  bool operator==(const ShellReturned&) const = default;
};

struct CwdChanged {
  std::string cwd;
  bool operator==(const CwdChanged&) const = default;
};

struct EnvironmentChange {
  std::string name;
  std::optional<std::string> value;  // nullopt: removed, or hidden
  bool hidden = false;  // set, but its value is kept back: it reads like a secret, or is very long
  bool operator==(const EnvironmentChange&) const = default;
};

struct EnvironmentChanged {
  std::vector<EnvironmentChange> changes;
  bool operator==(const EnvironmentChanged&) const = default;
};

using TrackerEvent =
    std::variant<PromptReady, CommandStarted, CommandFinished, IncompleteInput, QualityChanged,
                 IntegrationTimedOut, ShellReturned, CwdChanged, EnvironmentChanged>;

}  // namespace ttyward::shell
