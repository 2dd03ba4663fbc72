#include "config/setting_table.h"

#include <type_traits>

namespace ttyward::config {
namespace {

// Ties a row of the table to a member of Settings, in both directions.
template <auto Section, auto Member>
struct Tie {
  using Type = std::remove_cvref_t<decltype((Settings{}.*Section).*Member)>;

  static Value get(const Settings& settings) {
    const Type& member = (settings.*Section).*Member;
    if constexpr (std::is_enum_v<Type>) {
      return static_cast<int64_t>(member);
    } else {
      return member;
    }
  }
  static void set(Settings& settings, const Value& value) {
    Type& member = (settings.*Section).*Member;
    if constexpr (std::is_enum_v<Type>) {
      member = static_cast<Type>(std::get<int64_t>(value));
    } else {
      member = std::get<Type>(value);
    }
  }
};

constexpr const char* kLeases[] = {"wait", "fail"};
constexpr const char* kViews[] = {"default", "digest", "head", "tail", "full", "void", "roo", "gemini"};
constexpr const char* kOverflows[] = {"drop-middle", "pause", "kill"};
constexpr const char* kAsking[] = {"never", "present", "wait"};
constexpr const char* kModes[] = {"plan", "default", "auto-edit", "auto", "yolo"};
constexpr const char* kEnvironments[] = {"inherit", "clean", "login"};
constexpr const char* kPoolStartFiles[] = {"auto", "run", "spare"};
constexpr const char* kLogFormats[] = {"text", "json"};
constexpr const char* kHistories[] = {"leave-out", "record"};

constexpr int64_t kSecond = 1000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kYear = 365 * 24 * kHour;
constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kTiB = int64_t{1} << 40;

#define TIE(section, member)                                           \
  &Tie<&Settings::section, &decltype(Settings::section)::member>::get, \
      &Tie<&Settings::section, &decltype(Settings::section)::member>::set

// clang-format off
#define FLAG(section, name, tighten, doc) \
  Setting{#section, #name, Kind::Bool, "", 0, 0, false, {}, tighten, doc, TIE(section, name)}
#define NUMBER(section, name, unit, least, most, zero, tighten, doc) \
  Setting{#section, #name, Kind::Number, unit, least, most, zero, {}, tighten, doc, TIE(section, name)}
#define BYTES(section, name, least, most, zero, tighten, doc) \
  Setting{#section, #name, Kind::Bytes, "bytes", least, most, zero, {}, tighten, doc, TIE(section, name)}
#define TIME(section, name, unit, least, most, zero, tighten, doc) \
  Setting{#section, #name, Kind::Duration, unit, least, most, zero, {}, tighten, doc, TIE(section, name)}
#define CHOICE(section, name, choices, tighten, doc) \
  Setting{#section, #name, Kind::Choice, "", 0, std::size(choices) - 1, false, choices, tighten, doc, TIE(section, name)}
#define TEXT(section, name, doc) \
  Setting{#section, #name, Kind::Text, "", 0, 0, false, {}, Tighten::Never, doc, TIE(section, name)}
#define LIST(section, name, tighten, doc) \
  Setting{#section, #name, Kind::List, "", 0, 0, false, {}, tighten, doc, TIE(section, name)}

const Setting kTable[] = {
  CHOICE(terminal, provider, base::kProviderNames, Tighten::Never,
    "Whether commands run in a terminal (pty) or on pipes. If no terminal is available, pipes are used and the result says so."),
  NUMBER(terminal, cols, "columns", 1, 10'000, false, Tighten::Never, "Width of a terminal that is opened without a size."),
  NUMBER(terminal, rows, "rows", 1, 10'000, false, Tighten::Never, "Height of a terminal that is opened without a size."),
  NUMBER(terminal, records, "commands", 1, 100'000, false, Tighten::Never,
    "Finished commands each terminal remembers; older ones are in the history."),
  CHOICE(terminal, lease, kLeases, Tighten::Never,
    "What an agent's command does while a person has the terminal's keyboard: wait until it is given back, or fail at once."),
  TEXT(terminal, detach_key, "The key that ends `attach`, written as for `send --keys`: C-] is Ctrl and ]."),
  TEXT(terminal, mark_key,
    "The key that marks what `attach` shows for agents that may read the terminal, written in the same way; empty: none."),

  CHOICE(output, view, kViews, Tighten::Never,
    "How much output a result holds: default (lines and chars below; for agents over MCP a digest), digest (what it says, in at most 8 000 characters), head, tail (8 000 characters of one end), full, or a preset: void (1 MiB, 70 % head), roo (500 lines, 50 000 characters), gemini (the last 16 MiB). Other values of lines and chars than the usual ones also hold for digest, head and tail."),
  NUMBER(output, lines, "lines", 1, 100'000'000, true, Tighten::Lower, "Lines of output in a result with the view default; 0 means no limit."),
  NUMBER(output, chars, "characters", 1, 1'000'000'000, true, Tighten::Lower,
    "Characters of output in a result with the view default; 0 means no limit."),
  NUMBER(output, head_percent, "percent", 0, 100, false, Tighten::Never,
    "The share of both limits that goes to the beginning of the output. Errors are usually at the end, so the end gets more."),
  FLAG(output, fold_repeats, Tighten::Never, "Show runs of equal lines as one line with a count."),
  FLAG(output, since_last, Tighten::Never, "When an agent over MCP runs the same command again in the same folder, and its digest is nearly the same, send what is different from the last time."),
  FLAG(output, suggestions, Tighten::Never, "Add to the result of a failed command at most two commands that may help, where its output says so: the failing test alone, a missing package, who has the port, a tool's own --fix."),
  TEXT(output, summarizer,
    "A command of yours that summarises long output for agents over MCP. It reads the command, the digest and the text on standard input, has 20 seconds, and prints what the agent gets instead; if it fails, or prints more than the digest has, the agent gets the digest. Empty: none."),

  TIME(times, timeout, "s", 1, kYear, true, Tighten::Lower,
    "Time limit of a command that runs on its own; 0 means no limit. Commands in persistent terminals have none."),
  TIME(times, idle_timeout, "s", 1, kYear, true, Tighten::Lower,
    "How long a command may print nothing before it is stopped. Any output restarts the time; 0 means no limit."),
  TIME(times, yield_after, "s", 0, kYear, false, Tighten::Never,
    "When a command in a persistent terminal runs longer than this, the call returns and the command keeps running."),
  TIME(times, input_patience, "s", 0, kYear, false, Tighten::Never,
    "How long to wait when a command asks for input that nobody can give; 0 waits until another limit is reached."),
  TIME(times, drain, "ms", 0, 60 * kSecond, false, Tighten::Never,
    "After a command has ended: how long output of the processes it left behind can delay its result."),
  TIME(times, interrupt_grace, "ms", 0, kHour, false, Tighten::Never, "When a command is stopped: the time between INT and TERM."),
  TIME(times, terminate_grace, "ms", 0, kHour, false, Tighten::Never, "The time between TERM and KILL."),
  TIME(times, kill_grace, "ms", 0, kHour, false, Tighten::Never, "The time after KILL until processes that are still alive are reported as left over."),
  TIME(times, hot, "ms", 0, kHour, false, Tighten::Never, "A terminal counts as still printing for this long after its last output."),
  TIME(times, hot_compiling, "ms", 0, kHour, false, Tighten::Never, "The same for output that looks like a compiler's."),
  TIME(times, cool_down, "ms", 0, kHour, false, Tighten::Never,
    "How long a summary of the terminals waits at most for those that are still printing."),

  NUMBER(pool, size, "shells", 0, 1000, false, Tighten::Never,
    "Shells started ahead, like the one opened last, so that opening the next takes no time. They end with the daemon."),
  CHOICE(pool, start_files, kPoolStartFiles, Tighten::Never,
    "Whether shells started ahead may read your start-up files (.bashrc and the like), which happens at moments you did not choose: run: they may. spare: shells whose start-up files would be read are not started ahead. auto: spare where one of those files takes a lock or starts an agent or a multiplexer (flock, lockfile, ssh-agent, keychain, gpg-agent, tmux, screen, zellij), else run."),
  NUMBER(pool, limit, "terminals", 1, 10'000, true, Tighten::Never,
    "How many terminals one agent's session, or the person, can have before a request for a terminal waits for one that is free instead of opening another. 0: limits.terminals."),
  TIME(pool, wait, "s", 0, kYear, false, Tighten::Never,
    "How long such a request waits before it fails, also at limits.terminals; 0 fails at once."),

  NUMBER(limits, terminals, "terminals", 1, 10'000, false, Tighten::Never, "How many terminals can be open at once; opening another one fails with an error."),
  NUMBER(limits, commands, "commands", 1, 100'000, false, Tighten::Lower,
    "How many commands on their own can run at once; another one fails with an error. If the machine has no terminal left, they run on pipes."),
  BYTES(limits, journal, kMiB / 2, kTiB, false, Tighten::Lower, "Output kept for each terminal."),
  BYTES(limits, journal_total, kMiB, 1024 * kTiB, false, Tighten::Never,
    "Output kept in total; the oldest finished journals are removed to make room."),
  CHOICE(limits, overflow, kOverflows, Tighten::Never,
    "What happens at a terminal's limit: drop-middle keeps the beginning and the newest output and counts what was dropped, pause stops the command until there is room, kill ends it."),
  NUMBER(limits, history_rows, "rows", 0, 100'000'000, false, Tighten::Never, "How many commands, and how many decisions, the history keeps."),
  NUMBER(limits, history_days, "days", 1, 36'500, true, Tighten::Never, "How long the history keeps them; 0 means for ever."),

  CHOICE(policy, mode, kModes, Tighten::Earlier,
    "plan: commands that change something are refused. default: commands that are not known to be harmless need approval. auto-edit: ordinary files of the workspace are written without asking. auto: what is not refused runs in the sandbox `workspace` without asking; what needs more than that is asked about. yolo: nothing needs approval; what policy refuses stays refused."),
  FLAG(policy, confine, Tighten::False, "Run agents' commands confined, where the sandbox works: what it contains is not asked about."),
  FLAG(policy, auto_approve_safe_commands, Tighten::False, "Run harmless commands without asking. Off: every command needs approval."),
  FLAG(policy, confirm_dangerous_commands, Tighten::True, "Ask about commands that are not known to be harmless. Off: only critical commands, and lines that are not understood, need approval."),
  CHOICE(policy, ask, kAsking, Tighten::Earlier,
    "never: commands that need approval are refused at once. present: they are refused at once while nobody is connected who could answer. wait: a person can answer until the question expires."),
  TIME(policy, approval_expiry, "s", kSecond, kYear, true, Tighten::Lower,
    "A question that nobody answers within this time is denied; 0 waits for ever."),
  LIST(policy, allowed_roots, Tighten::Narrow,
    "Folders in which commands may run and change files, as full paths. Empty: the workspace in which a command starts."),
  FLAG(policy, share_agent_terminals, Tighten::False,
    "Let agents use each other's terminals. Off: each session uses only its own. A person's terminals are available to agents only when they are lent."),
  FLAG(policy, client_dialogue, Tighten::False,
    "Accept a person's answer from the dialogue of an agent's client (MCP elicitation), for that agent's own questions. Off: only `ttyward approvals` can answer."),

  CHOICE(sandbox, profile, kSandboxProfiles, Tighten::Earlier,
    "What commands and terminals of agents may do (docs/sandbox.md). read-only: nothing can be changed, no network. workspace: the project's folder can be changed, no network. workspace+net: the same with network. none: they are not confined. Those with -landlock need no namespaces and are weaker. An agent may ask for a stricter profile."),
  LIST(sandbox, readable, Tighten::Never, "Further folders and files that a confined command can read, as full paths or with ~/."),
  LIST(sandbox, writable, Tighten::Never, "Further folders that a confined command can change, in the workspace profiles."),
  LIST(sandbox, hidden, Tighten::Add, "Folders and files that a confined command sees empty, although they are in a folder it can read."),
  LIST(sandbox, unprotected, Tighten::Never,
    "Names of control files in the workspace that a confined command may create and change: .vscode, .envrc and the like."),
  LIST(sandbox, hosts, Tighten::Never, "Hosts that workspace+net reaches, through a proxy. Empty: all, directly."),
  BYTES(sandbox, memory, kMiB, 1024 * kTiB, true, Tighten::Lower,
    "Memory of each process of a confined command; 0 means three quarters of the machine's. Programs built with AddressSanitizer reserve more than any machine has: they need a larger value."),
  NUMBER(sandbox, processes, "processes", 16, 1'000'000, false, Tighten::Lower, "Processes of a confined command, threads included."),
  BYTES(sandbox, file_size, kMiB, 1024 * kTiB, false, Tighten::Lower, "The largest file that a confined command can write."),
  NUMBER(sandbox, open_files, "files", 64, 1'000'000, false, Tighten::Lower, "Files that each process of a confined command can have open."),
  TIME(sandbox, cpu_time, "s", kSecond, kYear, false, Tighten::Lower, "Processor time of each process of a confined command."),
  BYTES(sandbox, scratch, kMiB, 1024 * kTiB, false, Tighten::Lower,
    "What a confined command can keep in its private /tmp, home folder and /dev/shm, which are in memory and are gone at its end."),
  FLAG(sandbox, keep_changes, Tighten::Never,
    "Keep what each confined command on its own replaces in the workspace, so that `ttyward undo` takes back the last one (docs/try.md). Others see its changes when it has ended, and processes it leaves behind are stopped."),
  BYTES(sandbox, changes_quota, kMiB, 1024 * kTiB, false, Tighten::Never,
    "Disk space of all change sets together (`try`, keep_changes); the oldest are removed to make room."),
  TIME(sandbox, changes_age, "s", kSecond, kYear, true, Tighten::Never, "How long a change set is kept; 0 means for ever."),

  FLAG(notify, bell, Tighten::Never, "Ring the terminal's bell when a question arrives while `approvals watch` or `top` is running."),
  FLAG(notify, desktop, Tighten::Never,
    "Show a desktop notification as well: with notify-send if it is installed and there is a session bus, otherwise through the terminal (OSC 9 or 777)."),
  TEXT(notify, webhook,
    "A URL (http or https) to which the daemon posts every new question as JSON; secrets in the command are masked. It needs curl. Empty: none."),

  FLAG(daemon, autostart, Tighten::Never, "Start the daemon when a verb needs it."),
  TIME(daemon, idle_exit, "s", kSecond, kYear, true, Tighten::Never,
    "The daemon exits when it has had no terminal, no command and no caller for this long; 0: never. The next verb starts it again."),

  CHOICE(log, format, kLogFormats, Tighten::Never,
    "How daemon.log is written: text, or json with an object on each line (docs/observability.md)."),

  TEXT(telemetry, endpoint,
    "Where an OpenTelemetry collector listens (OTLP over HTTP), such as http://127.0.0.1:4318: the daemon sends it a span for each command, and metrics. Only http; docs/observability.md says what to do where https is needed. Empty: nothing is sent."),
  FLAG(telemetry, commands, Tighten::Never,
    "Send the text of commands and their folders as well, with secrets masked. Off: only ids, times, decisions and how they ended."),
  TIME(telemetry, interval, "s", 100, kHour, false, Tighten::Never, "How long spans are collected before they are sent, and how often metrics are."),

  LIST(mcp, aliases, Tighten::Never,
    "Additional names for the tool run_command, for models that know it by another name: run_shell_command, execute_command."),

  TEXT(shell, path, "The shell of terminals, as a full path. Empty: your login shell if ttyward supports it, otherwise bash."),
  FLAG(shell, integration, Tighten::Never,
    "Have the shell report where commands begin and end, their exit codes and the folder. It changes none of your files. Without it, exit codes come from a marker that is printed after each command."),
  TIME(shell, integration_timeout, "ms", 100, kHour, false, Tighten::Never,
    "How long to wait for a shell's first report; after that the terminal is used without integration."),
  TIME(shell, command_delay, "ms", 0, 60 * kSecond, false, Tighten::Never,
    "How long to wait after each command before its end is reported and the next one may start."),
  FLAG(shell, zsh_clear_eol_mark, Tighten::Never, "Keep zsh from marking output that does not end with a newline (PROMPT_EOL_MARK)."),
  FLAG(shell, zsh_oh_my, Tighten::Never, "Tell Oh My Zsh that the terminal has shell integration."),
  FLAG(shell, zsh_p10k, Tighten::Never, "Tell Powerlevel10k that the terminal has shell integration."),
  FLAG(shell, report_environment, Tighten::Never, "Have the shell report changes to its environment."),
  CHOICE(shell, history, kHistories, Tighten::Never,
    "Whether commands that agents run are added to the shell's own history. Commands that a person types always are."),
  CHOICE(shell, environment, kEnvironments, Tighten::Never,
    "The environment that commands and terminals start with. inherit: the harmless part of the caller's environment, and what tools need (docs/environment.md). clean: only variables such as HOME, USER and LANG, and a plain PATH. login: what your login shell sets up (nvm, pyenv, direnv), read once and again when its files change, and the caller's environment for the rest."),
  LIST(shell, add_to_path, Tighten::Never, "Folders to put at the front of PATH, as full paths."),
  LIST(shell, environment_add, Tighten::Never, "Variables to set for commands, as NAME=value."),
  LIST(shell, environment_keep, Tighten::Never, "Names of further variables of your environment that commands get. NAME* matches a prefix."),
  LIST(shell, environment_drop, Tighten::Add, "Names of variables that commands do not get. NAME* matches a prefix."),
};
// clang-format on

}  // namespace

std::span<const Setting> setting_table() {
  return kTable;
}

const Setting* find_setting(std::string_view section, std::string_view name) {
  for (const Setting& setting : kTable)
    if (section == setting.section && name == setting.name) return &setting;
  return nullptr;
}

bool is_section(std::string_view name) {
  for (const Setting& setting : kTable)
    if (name == setting.section) return true;
  return false;
}

}  // namespace ttyward::config
