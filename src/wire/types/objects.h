// The objects of docs/protocol/socket.md: what calls answer with and events carry.
//
// Texts that are one of a fixed set of words are std::string here: a client must be able to read the answer
// of a newer daemon that knows one more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/change_objects.h"
#include "wire/types/describe.h"

namespace ttyward::wire {

struct Effect {
  std::string kind;
  std::string target;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("kind", self.kind, "what it does",
            OneOf{"read|list|write|delete|network|process|privilege|install|execute|state|secret|unknown"});
    v.field("target", self.target, "a path, host or program; empty: it has none");
  }
};

struct VerdictReason {
  std::string text;
  int64_t begin = 0;
  int64_t end = 0;
  std::string risk;
  std::string decision;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "in words");
    v.field("begin", self.begin, "first byte of the command that it is about");
    v.field("end", self.end, "the byte after the last");
    v.field("risk", self.risk, "of this part", OneOf{"low|medium|high|critical"});
    v.field("decision", self.decision, "for this part", OneOf{"allow|ask|deny"});
  }
};

struct WaivedObjection {
  std::string text;
  std::string risk;
  std::string rule;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "the objection");
    v.field("risk", self.risk, "its risk", OneOf{"low|medium|high|critical"});
    v.field("rule", self.rule, "the rule that overruled it");
  }
};

struct Verdict {
  static constexpr std::string_view kName = "Verdict";
  static constexpr std::string_view kAbout = "What policy says about a command.";
  std::string decision;
  std::string risk;
  std::vector<Effect> effects;
  std::vector<VerdictReason> reasons;
  std::string rule;
  std::vector<std::string> commands;
  std::vector<WaivedObjection> waived;
  std::vector<std::string> hints;
  std::string sandbox;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("decision", self.decision, "what follows; `allow_confined`: it runs in a sandbox",
            OneOf{"allow|allow_confined|ask|deny"});
    v.field("risk", self.risk, "the highest risk of its parts", OneOf{"low|medium|high|critical"});
    v.field("effects", self.effects, "what the command does");
    v.field("reasons", self.reasons, "why, highest risk first");
    v.field("rule", self.rule, "what decided: built-in, a mode, or a rule's name");
    v.field("commands", self.commands, "every simple command found, as understood");
    v.field("waived", self.waived, "objections that rules overruled", kLeftOut);
    v.field("hints", self.hints, "rules that almost cover it, and why they do not", kLeftOut);
    v.field("sandbox", self.sandbox, "the profile that confines it", kLeftOut);
  }
};

struct Waiting {
  std::string kind;
  std::string prompt;
  std::string program;
  int64_t pid = 0;
  std::string evidence;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("kind", self.kind, "what the program reads", OneOf{"line|password|key|pager|editor|fullscreen"});
    v.field("prompt", self.prompt, "the line the cursor is on");
    v.field("program", self.program, "the program that reads");
    v.field("pid", self.pid, "its process");
    v.field("evidence", self.evidence, "how it is known");
  }
};

struct Omitted {
  uint64_t bytes = 0;
  uint64_t lines = 0;
  uint64_t first_line = 0;
  uint64_t last_line = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("bytes", self.bytes, "left out");
    v.field("lines", self.lines, "left out");
    v.field("first_line", self.first_line, "the first line that is not whole in the output");
    v.field("last_line", self.last_line, "the last");
  }
};

struct Process {
  int64_t pid = 0;
  std::optional<int64_t> parent;
  std::string command;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("pid", self.pid, "the process");
    v.field("parent", self.parent, "its parent, in `show`", kLeftOut);
    v.field("command", self.command, "its command line");
  }
};

struct Port {
  int64_t port = 0;
  int64_t pid = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("port", self.port, "a TCP port");
    v.field("pid", self.pid, "the process that listens on it");
  }
};

struct GivenReply {
  int64_t reply = 0;
  uint64_t line = 0;
  std::string asked;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("reply", self.reply, "which of the replies, from 0");
    v.field("line", self.line, "where it was asked");
    v.field("asked", self.asked, "what was asked");
  }
};

struct DialogueOutcome {
  std::string end;
  std::string reason;
  std::vector<GivenReply> used;
  uint64_t used_count = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("end", self.end, "how it ended");
    v.field("reason", self.reason, "in words", kNull);
    v.field("used", self.used, "the replies that were given");
    v.field("used_count", self.used_count, "how many there were");
  }
};

struct SandboxState {
  std::string profile;
  std::string workspace;
  std::vector<std::string> layers;
  std::vector<std::string> denied;
  std::vector<std::string> notes;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("profile", self.profile, "its name");
    v.field("workspace", self.workspace, "the folder that is the workspace");
    v.field("layers", self.layers, "what was enforced");
    v.field("denied", self.denied, "what the command does that the profile does not allow", kLeftOut);
    v.field("notes", self.notes, "what else to know about it", kLeftOut);
  }
};

struct UsualRun {
  int64_t duration_ms = 0;
  uint64_t lines = 0;
  uint64_t runs = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("duration_ms", self.duration_ms, "how long it took; the median");
    v.field("lines", self.lines, "how much it printed; the median");
    v.field("runs", self.runs, "so many of them are known");
  }
};

struct Diagnostic {
  std::string file;
  uint64_t line = 0;
  uint64_t column = 0;
  std::string severity;
  std::string code;
  std::string message;
  uint64_t at = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("file", self.file, "where", kLeftOut);
    v.field("line", self.line, "of the file; 0: not said");
    v.field("column", self.column, "the same");
    v.field("severity", self.severity, "error, warning, as the tool says it");
    v.field("code", self.code, "the tool's name for it", kLeftOut);
    v.field("message", self.message, "what is wrong");
    v.field("at", self.at, "the line of the output");
  }
};

struct TestOutcome {
  std::string name;
  std::string outcome;
  std::string message;
  uint64_t at = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "of a test that did not pass");
    v.field("outcome", self.outcome, "how it ended", OneOf{"failed|error|timeout"});
    v.field("message", self.message, "why, where one line says so", kLeftOut);
    v.field("at", self.at, "the line of the output");
  }
};

struct FileEntry {
  std::string name;
  std::string state;
  uint64_t size = 0;
  uint64_t added = 0;
  uint64_t removed = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "of a file");
    v.field("state", self.state,
            "of a listing: file, directory, link; of a repository: modified, untracked and so on", kLeftOut);
    v.field("size", self.size, "bytes; 0: not said");
    v.field("added", self.added, "lines, of a change");
    v.field("removed", self.removed, "the same");
  }
};

struct Commit {
  std::string hash;
  std::string author;
  std::string date;
  std::string subject;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("hash", self.hash, "as it was printed");
    v.field("author", self.author, "the same", kLeftOut);
    v.field("date", self.date, "the same", kLeftOut);
    v.field("subject", self.subject, "first line of its message");
  }
};

struct Facts {
  static constexpr std::string_view kName = "Facts";
  static constexpr std::string_view kAbout =
      "What a digest found in the output, as data: diagnostics of compilers and linters, tests that did not "
      "pass, files of listings and "
      "of git status and diff, commits of git log.";
  std::vector<Diagnostic> diagnostics;
  std::vector<TestOutcome> tests;
  std::vector<FileEntry> files;
  std::vector<Commit> commits;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("diagnostics", self.diagnostics, "of compilers and linters", kLeftOut);
    v.field("tests", self.tests, "that did not pass", kLeftOut);
    v.field("files", self.files, "of a listing, a status or a diff", kLeftOut);
    v.field("commits", self.commits, "of a log", kLeftOut);
  }
};

struct CommandResult {
  static constexpr std::string_view kName = "Result";
  static constexpr std::string_view kAbout =
      "The result of a command. `exit_code` is present only if it was observed, and `known_by` says how.";
  std::string command_id;
  std::string terminal_id;
  std::string command;
  std::string description;
  std::string cwd;
  std::string cwd_after;
  std::string state = "running";
  std::optional<int64_t> exit_code;
  std::string signal;
  std::optional<bool> core_dumped = false;
  std::string known_by;
  std::vector<int64_t> pipeline;
  std::string reason;
  std::optional<Waiting> waiting;
  std::string output;
  std::optional<Omitted> omitted;
  uint64_t total_bytes = 0;
  uint64_t total_lines = 0;
  uint64_t lost_bytes = 0;
  bool binary = false;
  bool no_newline = false;
  std::string encoding;
  std::optional<Time> started_at;
  int64_t duration_ms = 0;
  std::optional<int64_t> time_left_ms;
  std::optional<int64_t> idle_left_ms;
  std::optional<int64_t> pid;
  std::optional<int64_t> process_group;
  std::optional<int64_t> cpu_ms;
  std::optional<int64_t> max_rss_kib;
  std::vector<Process> background;
  std::vector<Process> ended_background;
  std::vector<Port> ports;
  std::string place;
  std::string provider;
  std::string fallback_reason;
  std::string integration;
  Encoded<Verdict> verdict;
  std::string approval;
  std::vector<std::string> typed_meanwhile;
  std::optional<SandboxState> sandbox;
  std::optional<DialogueOutcome> dialogue;
  std::optional<uint64_t> new_lines;
  std::optional<UsualRun> usual;
  std::optional<Facts> facts;
  std::vector<std::string> suggestions;
  std::optional<Changes> changes;

  bool ended_well() const { return state == "exited" && exit_code == 0; }

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "its id", kNull);
    v.field("terminal_id", self.terminal_id, "the terminal it ran in", kNull);
    v.field("command", self.command, "the command line");
    v.field("description", self.description, "what it is for, as its caller said", kLeftOut);
    v.field("cwd", self.cwd, "where it began", kNull);
    v.field("cwd_after", self.cwd_after, "where the shell was afterwards", kNull);
    v.field(
        "state", self.state,
        "`queued`: not started, because a person has the keyboard; `reason` says who. `lost`: its end was "
        "not observed",
        OneOf{"pending_approval|queued|running|awaiting_input|exited|signaled|timed_out|interrupted|denied|"
              "skipped|failed_to_start|lost"});
    v.field("exit_code", self.exit_code, "only if it was observed");
    v.field(
        "signal", self.signal,
        "what killed it. In a shell a command killed by signal n has code 128 + n: then this names it, and "
        "`state` stays `exited`",
        kNull);
    v.field("core_dumped", self.core_dumped, "null: not known, because shells do not report it");
    v.field("known_by", self.known_by, "how the end is known", kNull,
            OneOf{"wait|shell_mark|prompt_mark|sentinel"});
    v.field("pipeline", self.pipeline, "exit codes of the parts of a pipeline", kNull);
    v.field("reason", self.reason, "an explanation, where the state needs one", kNull);
    v.field("waiting", self.waiting, "what it waits for");
    v.field("output", self.output, "as a person sees it, cut to the asked size");
    v.field("omitted", self.omitted, "what was cut out of the output");
    v.field("total_bytes", self.total_bytes, "printed");
    v.field("total_lines", self.total_lines, "printed");
    v.field("lost_bytes", self.lost_bytes, "printed and counted, but not kept: a quota or a full disk");
    v.field("binary", self.binary, "the output is not text");
    v.field("no_newline", self.no_newline, "the output ended in the middle of a line", kLeftOut);
    v.field("encoding", self.encoding, "of the output, where it is not UTF-8", kNull);
    v.field("started_at", self.started_at, "when it began");
    v.field("duration_ms", self.duration_ms, "how long it ran, or runs");
    v.field("time_left_ms", self.time_left_ms, "until its time limit, while it runs", kLeftOut);
    v.field("idle_left_ms", self.idle_left_ms, "until it has been silent for too long", kLeftOut);
    v.field("pid", self.pid, "of a command on its own; in a shell, while it is in the foreground", kLeftOut);
    v.field("process_group", self.process_group, "the same", kLeftOut);
    v.field("cpu_ms", self.cpu_ms, "processor time");
    v.field("max_rss_kib", self.max_rss_kib, "most memory");
    v.field("background", self.background, "processes that it left behind and that are still alive");
    v.field("ended_background", self.ended_background,
            "processes that it left behind and that were stopped with it", kLeftOut);
    v.field("ports", self.ports,
            "ports that those listen on; for a running command, ports that it listens on now");
    v.field("place", self.place, "where it ran, if not on this machine: `ssh:HOST`, `podman:NAME`", kLeftOut);
    v.field("provider", self.provider, "how its process was made", kNull, OneOf{"pty|pipe"});
    v.field("fallback_reason", self.fallback_reason, "why it is pipe although pty was asked for", kNull);
    v.field("integration", self.integration, "how well the shell reports", kNull, OneOf{"rich|basic|none"});
    v.field("verdict", self.verdict, "what policy said");
    v.field("approval", self.approval, "the open question, while the state is `pending_approval`", kNull);
    v.field("sandbox", self.sandbox, "what confined it; without it, nothing did", kLeftOut);
    v.field("typed_meanwhile", self.typed_meanwhile,
            "command lines that a person ran since the agent's last command", kLeftOut);
    v.field("dialogue", self.dialogue, "of an `exec` with `replies`: which were given", kLeftOut);
    v.field("new_lines", self.new_lines, "in `environment`: lines of output that are new to the reader",
            kLeftOut);
    v.field("usual", self.usual,
            "with the view `agent`, while it runs: how it went before, in the same folder", kLeftOut);
    v.field("facts", self.facts, "with the view `digest`: what it found", kLeftOut);
    v.field("suggestions", self.suggestions, "commands that may help, where `output.suggestions` is set",
            kLeftOut);
    v.field("changes", self.changes, "of a command that ran with `try`: what it changed", kLeftOut);
  }
};

struct TerminalSession {
  std::string session;
  std::string quality;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("session", self.session, "whose");
    v.field("quality", self.quality, "how it is associated");
  }
};

struct Progress {
  std::optional<std::string> state;
  int64_t percent = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("state", self.state, "of a terminal", kLeftOut, OneOf{"none|normal|error|indeterminate|paused"});
    v.field("percent", self.percent, "how far it is");
  }
};

struct Lease {
  std::string by;
  Time since;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("by", self.by, "who has the keyboard");
    v.field("since", self.since, "since when");
  }
};

struct Loan {
  std::string to;
  bool read_only = false;
  std::string by;
  Time since;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("to", self.to, "a session; null: every agent", kNull);
    v.field("read_only", self.read_only, "only for reading");
    v.field("by", self.by, "who lent it");
    v.field("since", self.since, "since when");
  }
};

struct QueuedCommand {
  std::string command_id;
  std::string command;
  std::string by;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "its id");
    v.field("command", self.command, "the command line");
    v.field("by", self.by, "who sent it", OneOf{"agent|user|system"});
  }
};

struct JournalUse {
  uint64_t bytes = 0;
  uint64_t dropped = 0;
  bool paused = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("bytes", self.bytes, "printed so far");
    v.field("dropped", self.dropped, "how many of them were not kept");
    v.field("paused", self.paused, "it is paused, because the journal is at its quota; see `resume`");
  }
};

struct Terminal {
  static constexpr std::string_view kName = "Terminal";
  static constexpr std::string_view kAbout = "A terminal, as it is now.";
  std::string id;
  std::string name;
  std::string owner;
  std::string task;
  std::vector<TerminalSession> sessions;
  std::string place;
  std::string link_lost;
  std::string provider;
  std::string fallback_reason;
  std::string integration;
  std::string sandbox;
  std::string shell;
  std::vector<std::string> argv;
  std::string cwd;
  std::string cwd_known_by;
  std::string state;
  bool busy = false;
  bool running = false;
  bool temporary = false;
  std::optional<int64_t> pid;
  std::optional<int64_t> holder_pid;
  int64_t cols = 0;
  int64_t rows = 0;
  std::string title;
  bool alternate = false;
  std::optional<Progress> progress;
  std::optional<CommandResult> command;
  std::optional<std::string> last_command;
  uint64_t commands = 0;
  Time created_at;
  std::optional<Time> last_output_at;
  bool hot = false;
  std::optional<Lease> lease;
  std::optional<QueuedCommand> queued;
  std::string session;
  std::optional<Loan> lent;
  std::optional<int64_t> exit_code;
  std::string signal;
  JournalUse journal;
  std::vector<std::string> typed_meanwhile;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "its id");
    v.field("name", self.name, "its name", kNull);
    v.field("owner", self.owner, "whose it is", OneOf{"agent|user|system"});
    v.field("task", self.task, "the task it is bound to", kNull);
    v.field("sessions", self.sessions, "sessions it is associated with");
    v.field("place", self.place, "where it is, if not on this machine: `ssh:HOST`, `podman:NAME`", kLeftOut);
    v.field("link_lost", self.link_lost,
            "of one in another place: why it cannot be reached now; its commands run on", kLeftOut);
    v.field("provider", self.provider, "how its process was made", OneOf{"pty|pipe"});
    v.field("fallback_reason", self.fallback_reason, "why it is pipe although pty was asked for", kNull);
    v.field("integration", self.integration, "how well the shell reports", OneOf{"rich|basic|none"});
    v.field("sandbox", self.sandbox, "the profile that confines it; null: none", kNull);
    v.field("shell", self.shell, "which kind of shell; null: it runs one command", kNull);
    v.field("argv", self.argv, "what was started");
    v.field("cwd", self.cwd, "where it is now", kNull);
    v.field("cwd_known_by", self.cwd_known_by, "how that is known", OneOf{"shell|kernel|text|start"});
    v.field("state", self.state, "what it does", OneOf{"starting|idle|busy|awaiting_input|finished|lost"});
    v.field("busy", self.busy, "no command can be sent to it now");
    v.field("running", self.running, "a command runs");
    v.field("temporary", self.temporary, "it is removed when its command ends");
    v.field("pid", self.pid, "the shell's process");
    v.field("holder_pid", self.holder_pid, "the process that keeps it alive");
    v.field("cols", self.cols, "columns");
    v.field("rows", self.rows, "rows");
    v.field("title", self.title, "as a program set it", kNull);
    v.field("alternate", self.alternate, "a full-screen program has it");
    v.field("progress", self.progress, "as a program reports it");
    v.field("command", self.command, "the current command, without output");
    v.field("last_command", self.last_command, "the last command line");
    v.field("commands", self.commands, "how many there were");
    v.field("created_at", self.created_at, "when it was opened");
    v.field("last_output_at", self.last_output_at, "when something was printed last");
    v.field("hot", self.hot, "it is still printing");
    v.field("lease", self.lease, "a person has the keyboard");
    v.field("queued", self.queued, "the command that waits for a person's keyboard", kLeftOut);
    v.field("session", self.session, "the agent's session that opened it", kNull);
    v.field("lent", self.lent, "a person lent it to agents");
    v.field("exit_code", self.exit_code, "of the shell, when it has ended");
    v.field("signal", self.signal, "what killed the shell", kNull);
    v.field("journal", self.journal, "what is kept of its output");
    v.field("typed_meanwhile", self.typed_meanwhile,
            "command lines that a person ran since the agent's last command");
  }
};

struct Approval {
  static constexpr std::string_view kName = "Approval";
  static constexpr std::string_view kAbout = "A question to a person about one command.";
  std::string id;
  std::string command;
  std::string shown;
  std::string cwd;
  std::vector<std::string> environment;
  std::string command_id;
  std::string terminal_id;
  std::string task;
  std::string session;
  std::string asked_by;
  Encoded<Verdict> verdict;
  Time created_at;
  std::optional<Time> expires_at;
  std::string otherwise = "deny";
  std::string state;
  std::string answered_by;
  std::optional<Time> answered_at;
  std::string reason;
  std::vector<std::string> always;
  std::vector<std::string> always_words;
  std::vector<std::string> wider;
  std::vector<std::string> wider_words;
  std::string always_scope;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "its id");
    v.field("command", self.command, "the exact bytes that run if it is allowed");
    v.field("shown", self.shown, "the same for display: escaped and bounded");
    v.field("cwd", self.cwd, "where it would run");
    v.field("environment", self.environment, "NAME=value, the variables that the command changes");
    v.field("command_id", self.command_id, "the command that runs if it is allowed", kNull);
    v.field("terminal_id", self.terminal_id, "where", kNull);
    v.field("task", self.task, "for which task", kNull);
    v.field("session", self.session, "of which session", kNull);
    v.field("asked_by", self.asked_by, "the client that asked", kNull);
    v.field("verdict", self.verdict, "what policy said");
    v.field("created_at", self.created_at, "when it was asked");
    v.field("expires_at", self.expires_at, "when it expires; null: never");
    v.field("default", self.otherwise, "the answer if nobody answers", OneOf{"deny"});
    v.field("state", self.state,
            "an `allow` can end as `denied`, when the command would no longer do what was shown; `reason` "
            "says so",
            OneOf{"open|allowed|denied|skipped|expired|withdrawn"});
    v.field("answered_by", self.answered_by, "who answered", kNull);
    v.field("answered_at", self.answered_at, "when");
    v.field("reason", self.reason, "the person's reason, or why it was closed without an answer", kNull);
    v.field("always", self.always, "rules that \"always\" would store, as text of a rule file");
    v.field("always_words", self.always_words, "the same in words");
    v.field("wider", self.wider, "rules that are one step wider; empty: there are none");
    v.field("wider_words", self.wider_words, "the same in words");
    v.field("always_scope", self.always_scope,
            "how long an answer can be remembered; `session`: critical; null: not at all", kNull,
            OneOf{"global|session"});
  }
};

struct OutputPlace {
  std::string journal;
  uint64_t begin = 0;
  uint64_t end = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("journal", self.journal, "the id of the journal");
    v.field("begin", self.begin, "first byte");
    v.field("end", self.end, "the byte after the last");
  }
};

struct HistoryRow {
  static constexpr std::string_view kName = "HistoryRow";
  static constexpr std::string_view kAbout = "A command in the history.";
  std::string command_id;
  std::string terminal_id;
  std::string terminal_name;
  std::string task;
  std::string owner;
  std::string command;
  std::string description;
  std::string place;
  std::string cwd;
  std::string cwd_after;
  std::string state;
  std::optional<int64_t> exit_code;
  std::string signal;
  std::string known_by;
  std::string provider;
  std::string integration;
  Time started_at;
  std::optional<int64_t> duration_ms;
  OutputPlace output;
  uint64_t total_bytes = 0;
  uint64_t total_lines = 0;
  std::string reason;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "its id");
    v.field("terminal_id", self.terminal_id, "the terminal it ran in", kNull);
    v.field("terminal_name", self.terminal_name, "its name at that time", kNull);
    v.field("task", self.task, "for which task", kNull);
    v.field("owner", self.owner, "who ran it", OneOf{"agent|user|system"});
    v.field("command", self.command, "the command line; secrets are masked");
    v.field("description", self.description, "what it was for, as its caller said", kNull);
    v.field("place", self.place, "where it ran, if not on this machine", kLeftOut);
    v.field("cwd", self.cwd, "where it began", kNull);
    v.field("cwd_after", self.cwd_after, "where the shell was afterwards", kNull);
    v.field("state", self.state, "as in a Result");
    v.field("exit_code", self.exit_code, "only if it was observed");
    v.field("signal", self.signal, "what killed it", kNull);
    v.field("known_by", self.known_by,
            "how the end is known; `told`: only from the agent, which ran it itself", kNull);
    v.field("provider", self.provider, "how its process was made", kNull);
    v.field("integration", self.integration, "how well the shell reported", kNull);
    v.field("started_at", self.started_at, "when it began");
    v.field("duration_ms", self.duration_ms, "how long it ran; null: it has not ended");
    v.field("output", self.output, "where its output is kept");
    v.field("total_bytes", self.total_bytes, "printed");
    v.field("total_lines", self.total_lines, "printed");
    v.field("reason", self.reason, "an explanation, where the state needs one", kNull);
  }
};

struct DecisionRow {
  static constexpr std::string_view kName = "DecisionRow";
  static constexpr std::string_view kAbout = "One decision about a command or an action; the audit.";
  std::string id;
  Time at;
  std::string command_id;
  std::string terminal_id;
  std::string action;
  std::string asked_by;
  std::string command;
  std::string cwd;
  std::string decision;
  std::string decided_by;
  std::string risk;
  std::string effects;
  std::string reason;
  std::string answered_by;
  std::optional<Time> answered_at;

  template <class V>
  static void describe(V& v, auto& self) {
    v.field("id", self.id, "its id");
    v.field("at", self.at, "when it was decided");
    v.field("command_id", self.command_id, "null: it never became a command", kNull);
    v.field("terminal_id", self.terminal_id, "where", kNull);
    v.field("action", self.action, "the action that was requested",
            OneOf{"run|open|type|interrupt|signal|kill|lend|permit"});
    v.field("asked_by", self.asked_by, "the client that asked");
    v.field("command", self.command, "the command line; secrets are masked");
    v.field("cwd", self.cwd, "where", kNull);
    v.field("decision", self.decision, "what was decided",
            OneOf{"allow|ask_allow|deny|skip|expired|withdrawn"});
    v.field("decided_by", self.decided_by, "a rule, a person, the default, an expiry", kNull);
    v.field("risk", self.risk, "its risk", kNull);
    v.field("effects", self.effects, "what the command does, in short", kNull);
    v.field("reason", self.reason, "in words", kNull);
    v.field("answered_by", self.answered_by, "null: nobody was asked, or nobody answered", kNull);
    v.field("answered_at", self.answered_at, "when");
  }
};

}  // namespace ttyward::wire
