// Calls that run commands and follow them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/arguments.h"
#include "wire/types/objects.h"
#include "wire/types/parts.h"
#include "wire/types/role.h"

namespace ttyward::wire {

inline constexpr std::string_view kCommandIdAbout =
    "chosen by the client, a `c` and 12 characters of a-z and 2-7; a call that is repeated with the same id "
    "runs nothing twice";
inline constexpr std::string_view kFromLineAbout =
    "with `stream`, when the call is repeated: how many lines were received before";
inline constexpr std::string_view kWaitForInputAbout =
    "keep waiting when the command waits for input; otherwise the call answers then";

inline constexpr std::string_view kSandboxAbout =
    "the profile that confines it (docs/sandbox.md); an agent can only ask for a stricter one than is "
    "configured";
inline constexpr std::string_view kSandboxUsual = "`sandbox.profile` for an agent, none for a person";

struct RunRequest {
  static constexpr std::string_view kCall = "run";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Runs one command in its own terminal, which is removed when the command ends.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf = "with a `command_id` of the client's";
  static constexpr RepeatAid kRepeatAid{"command_id", 'c'};
  static bool repeatable(const RunRequest& self) { return !self.command_id.empty(); }
  using Answer = CommandResult;
  std::string command;
  std::vector<std::string> argv;
  std::string command_id;
  std::string description;
  int64_t from_line = 0;
  std::string cwd;
  Variables env;
  std::optional<Provider> provider;
  std::optional<Size> size;
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::chrono::milliseconds yield_after{0};
  bool keep_background = true;
  std::string task;
  bool stream = false;
  std::optional<std::string> stdin_text;
  OnCancel on_cancel = OnCancel::Leave;
  bool wait_for_input = false;
  std::string sandbox;
  bool try_run = false;
  std::string place;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "a line for the shell; this or `argv`");
    v.field("argv", self.argv, "a program and its arguments, without a shell");
    v.field("command_id", self.command_id, kCommandIdAbout);
    v.field("description", self.description, kDescriptionAbout);
    v.field("from_line", self.from_line, kFromLineAbout, Range{0});
    v.field("cwd", self.cwd, "where it runs", Usual{"the home folder"});
    v.field("env", self.env, "variables to set");
    v.field("provider", self.provider, "in a terminal, or on pipes", Usual{"`terminal.provider`"});
    v.field("size", self.size, "of the terminal", Usual{"`terminal.cols`, `terminal.rows`"});
    v.field("timeout_ms", self.timeout, "time limit after which the command is stopped",
            Usual{"`times.timeout`; with `yield_after_ms` none, unless it is configured"});
    v.field("idle_timeout_ms", self.idle_timeout, "time without output after which the command is stopped",
            Usual{"`times.idle_timeout`; with `yield_after_ms` none, unless it is configured"});
    v.field("yield_after_ms", self.yield_after,
            "after which the call answers with `state: running` and the command keeps running; 0: never");
    v.field("keep_background", self.keep_background,
            "keep the processes that it leaves behind; otherwise they are stopped with it");
    v.field("task", self.task, "the task it is for");
    v.field("stream", self.stream, "send parts while it runs");
    v.field("stdin", self.stdin_text,
            "its whole standard input, byte for byte, followed by end of file; without it, it reads the "
            "terminal");
    v.field("on_cancel", self.on_cancel, "what happens to the command when the call is cancelled");
    v.field("wait_for_input", self.wait_for_input, kWaitForInputAbout);
    v.field("sandbox", self.sandbox, kSandboxAbout, Usual{kSandboxUsual});
    v.field(
        "place", self.place,
        "where it runs: `ssh:HOST`, `podman:NAME`, `docker:NAME` (docs/places.md); judged as the line that "
        "would run it there from here",
        Usual{"this machine"});
    v.field("try", self.try_run,
            "run it on a layer over its workspace: the result lists what it changed, and the workspace has "
            "none of "
            "it until `apply` (docs/try.md)");
    ViewArguments::describe(v, self.view);
  }
};

struct ExpectedReply {
  std::string when;
  std::optional<std::string> text;
  std::optional<std::string> keys;
  std::optional<std::string> secret;
  bool repeat = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("when", self.when, "a pattern (RE2) of what is asked", kRequired);
    v.field("text", self.text, "what to type; one of `text`, `keys` and `secret`");
    v.field("keys", self.keys, "keys, such as \"C-c Enter\"");
    v.field("secret", self.secret, "typed only while echo is off, and never recorded");
    v.field("repeat", self.repeat, "answer every time it is asked");
  }
};

enum class OnBusy : uint8_t { Fail, Wait };
constexpr std::array<std::string_view, 2> names_of(OnBusy) {
  return {"fail", "wait"};
}

struct ExecRequest {
  static constexpr std::string_view kCall = "exec";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Runs a command in a terminal.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf = "with a `command_id` of the client's";
  static constexpr RepeatAid kRepeatAid{"command_id", 'c'};
  static bool repeatable(const ExecRequest& self) { return !self.command_id.empty(); }
  using Answer = CommandResult;
  std::string terminal;
  std::string command;
  std::string command_id;
  std::string description;
  int64_t from_line = 0;
  std::string cwd;
  std::chrono::milliseconds timeout{0};
  std::chrono::milliseconds idle_timeout{0};
  std::optional<std::chrono::milliseconds> yield_after;
  OnBusy on_busy = OnBusy::Fail;
  bool stream = false;
  OnCancel on_cancel = OnCancel::Leave;
  bool wait_for_input = false;
  std::vector<ExpectedReply> replies;
  std::chrono::milliseconds replies_timeout{0};
  bool sentinel = false;
  std::string sandbox;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name", kRequired);
    v.field("command", self.command, "the command line", kRequired);
    v.field("command_id", self.command_id, kCommandIdAbout);
    v.field("description", self.description, kDescriptionAbout);
    v.field("from_line", self.from_line, kFromLineAbout, Range{0});
    v.field("cwd", self.cwd, "for this command only", Usual{"where the shell is"});
    v.field("timeout_ms", self.timeout, "time limit after which the command is stopped; 0: never");
    v.field("idle_timeout_ms", self.idle_timeout,
            "time without output after which the command is stopped; 0: never");
    v.field("yield_after_ms", self.yield_after,
            "after which the call answers and the command keeps running; 0: never",
            Usual{"`times.yield_after`"});
    v.field("on_busy", self.on_busy, "what to do when another command runs there");
    v.field("stream", self.stream, "send parts while it runs");
    v.field("on_cancel", self.on_cancel, "what happens to the command when the call is cancelled");
    v.field("wait_for_input", self.wait_for_input, kWaitForInputAbout);
    v.field("replies", self.replies, "what to answer when the command asks");
    v.field("replies_timeout_ms", self.replies_timeout, "how long to wait for each question; 0: for ever");
    v.field("sentinel", self.sentinel, "type it into the program that reads the terminal now, such as ssh");
    v.field(
        "sandbox", self.sandbox,
        "the profile that must confine it at least; where the terminal's is weaker, the command runs beside "
        "the terminal, in its folder",
        Usual{"the terminal's"});
    ViewArguments::describe(v, self.view);
  }
};

struct BatchResult {
  std::vector<CommandResult> results;
  std::vector<std::string> not_run;
  std::string stopped_by;
  std::string state;
  std::optional<int64_t> duration_ms;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("results", self.results, "of the commands that began");
    v.field("not_run", self.not_run, "commands that did not begin");
    v.field("stopped_by", self.stopped_by, "why", kLeftOut, OneOf{"failure|time"});
    v.field("state", self.state, "of the one shell that ran them, if the command line ran it", kLeftOut);
    v.field("duration_ms", self.duration_ms, "the same", kLeftOut);
  }
};

struct BatchRequest {
  static constexpr std::string_view kCall = "batch";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Runs several commands, in one shell or each on its own. After `yield_after_ms` the running commands "
      "keep running, and the rest is not run.";
  static constexpr Repeat kRepeat = Repeat::Some;
  static constexpr std::string_view kRepeatIf = "with a `batch_id`";
  static constexpr RepeatAid kRepeatAid{"batch_id", 'b'};
  static bool repeatable(const BatchRequest& self) { return !self.batch_id.empty(); }
  using Answer = BatchResult;
  std::vector<std::string> commands;
  std::string cwd;
  Variables env;
  std::string task;
  bool keep_going = false;
  bool separate = false;
  int64_t parallel = 1;
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::chrono::milliseconds yield_after{0};
  std::string batch_id;
  std::string sandbox;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("commands", self.commands, "1 to 1000 command lines", kRequired);
    v.field("cwd", self.cwd, "where they begin", Usual{"the home folder"});
    v.field("env", self.env, "variables to set");
    v.field("task", self.task, "the task they are for");
    v.field("keep_going", self.keep_going, "continue after a command that failed");
    v.field("separate", self.separate, "run each on its own, with its own limits");
    v.field("parallel", self.parallel, "with `separate`: how many at once", Range{1, 64});
    v.field("timeout_ms", self.timeout, "time limit for all together; with `separate`, for each",
            Usual{"`times.timeout`"});
    v.field("idle_timeout_ms", self.idle_timeout, "with `separate`: time without output, for each",
            Usual{"`times.idle_timeout`"});
    v.field("yield_after_ms", self.yield_after, "after which the call answers; 0: never");
    v.field("batch_id", self.batch_id,
            "chosen by the client, at most 40 letters, digits, `-` and `_`; a call that is repeated with the "
            "same id runs nothing twice. In one shell the command with number n has the id `batch_id-n`");
    v.field("sandbox", self.sandbox, kSandboxAbout, Usual{kSandboxUsual});
    ViewArguments::describe(v, self.view);
  }
};

struct ResultRequest {
  static constexpr std::string_view kCall = "result";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "A command's result as it is now.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = CommandResult;
  std::string command;
  ViewArguments view;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "its id", kRequired);
    ViewArguments::describe(v, self.view);
  }
};

struct Interrupted {
  bool interrupted = true;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("interrupted", self.interrupted, "false: it had ended already");
  }
};

struct InterruptRequest {
  static constexpr std::string_view kCall = "interrupt";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Interrupts the running command, as Ctrl-C does.";
  using Answer = Interrupted;
  std::string terminal;
  std::string command;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this or `command`");
    v.field("command", self.command, "the command's id");
  }
};

enum class SignalTarget : uint8_t { Foreground, Leader, All };
constexpr std::array<std::string_view, 3> names_of(SignalTarget) {
  return {"foreground", "leader", "all"};
}

struct SignalRequest {
  static constexpr std::string_view kCall = "signal";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Sends a signal.";
  using Answer = Nothing;
  std::string terminal;
  std::string command;
  std::optional<NumberOrName> signal;
  SignalTarget to = SignalTarget::Foreground;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this or `command`");
    v.field("command", self.command, "the command's id");
    v.field("signal", self.signal, "a name or a number", kRequired, Range{1, 64});
    v.field("to", self.to, "whom");
  }
};

struct Survivor {
  int64_t pid = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("pid", self.pid, "a process that is still alive");
  }
};

struct Killed {
  bool killed = false;
  std::vector<Survivor> survivors;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("killed", self.killed, "false: it is not known, had already ended, or could not be ended");
    v.field("survivors", self.survivors, "what could not be ended");
  }
};

struct KillRequest {
  static constexpr std::string_view kCall = "kill";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Ends a terminal or a command. When a command in a shell is ended, the shell stays.";
  using Answer = Killed;
  std::string terminal;
  std::string command;
  bool force = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminal", self.terminal, "its id or name; this or `command`");
    v.field("command", self.command, "the command's id");
    v.field("force", self.force, "kill it at once, without asking it to exit");
  }
};

}  // namespace ttyward::wire
