// What became of a command: one shape for every front end. As JSON it is a wire::CommandResult.
//
// Nothing here is guessed. `exit_code` is there only if it was observed, and
// `known_by` says how; what does not apply is empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pty/run_state.h"
#include "terminal/output_view.h"

namespace ttyward::terminal {

enum class CommandState : uint8_t {
  PendingApproval,
  Queued,  // accepted, and not begun: a person has the keyboard
  Running,
  AwaitingInput,
  Exited,
  Signaled,
  TimedOut,
  Interrupted,
  Denied,
  Skipped,  // not run, because a person said so; no failure
  FailedToStart,
  Lost,
};
const char* command_state_name(CommandState state);

struct WaitingFor {
  std::string kind;  // line, password, key, pager, editor, fullscreen
  std::string prompt;
  std::string program;
  int64_t pid = 0;
  std::string evidence;
};

struct BackgroundProcess {
  int64_t pid = 0;
  std::string command;
};

struct OpenPort {
  uint16_t port = 0;
  int64_t pid = 0;
};

// What confined a command.
struct SandboxReport {
  std::string profile;
  std::string workspace;
  std::vector<std::string> layers;  // what was enforced
  std::vector<std::string> denied;  // what the command does that the profile does not allow: "write /etc/x"
  std::vector<std::string> notes;
};

struct CommandResult {
  std::string command_id;
  std::string terminal_id;
  std::string command;
  std::string description;  // what it is for, as its caller said; may be empty
  std::string cwd;
  std::string cwd_after;  // empty: not known
  CommandState state = CommandState::Running;
  std::optional<int> exit_code;
  // How it was killed; or, with state Exited, what its code means by the shells' convention (128 + n).
  std::string signal;
  std::optional<bool> core_dumped = false;  // empty: not known, the shell does not tell
  std::string known_by;                     // wait, shell_mark, prompt_mark, sentinel
  std::vector<int> pipeline;
  std::string reason;  // in words, where the state needs some
  std::optional<WaitingFor> waiting;
  View output;
  uint64_t total_bytes = 0;
  uint64_t total_lines = 0;
  uint64_t lost_bytes = 0;  // printed, counted, but not kept: a quota or a full disk
  bool binary = false;
  bool no_newline = false;  // it ended in the middle of a line
  std::string encoding;
  int64_t started_at_ms = 0;  // since the epoch
  int64_t duration_ms = 0;
  std::optional<int64_t> time_left_ms;  // while it runs, until its time limit
  std::optional<int64_t> idle_left_ms;  // the same, until it has been silent for too long
  std::optional<int64_t> pid;
  std::optional<int64_t> process_group;
  std::optional<int64_t> cpu_ms;
  std::optional<int64_t> max_rss_kib;
  std::vector<BackgroundProcess> background;        // left behind, and alive
  std::vector<BackgroundProcess> ended_background;  // left behind, and ended with it
  std::vector<OpenPort> ports;
  std::string place;  // where it ran, as `--in` takes it; empty: on this machine
  std::string provider;
  std::string fallback_reason;  // why it is pipe although pty was asked for
  std::string integration = "none";
  std::string verdict_json;              // what policy said, as JSON; empty if it was not asked
  std::string approval;                  // the open question, while pending
  std::optional<SandboxReport> sandbox;  // none: it was not confined

  // Where a shell's code says that a part of the command was killed: by which signal.
  void decode_shell_code();
  // What a shell would make of it: the code itself, 128 + signal, 124 for a time limit,
  // 126 and 127 for a program that could not be started, 125 for a failure of ttyward.
  int shell_code() const;
  std::optional<int> start_failure_code;  // 126 or 127, where that was the reason
};

}  // namespace ttyward::terminal
