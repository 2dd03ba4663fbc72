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
constexpr const char* kViews[] = {"default", "void", "roo", "gemini", "full"};
constexpr const char* kOverflows[] = {"drop-middle", "pause", "kill"};
constexpr const char* kAsking[] = {"never", "present", "wait"};
constexpr const char* kModes[] = {"plan", "default", "auto-edit", "yolo"};
constexpr const char* kEnvironments[] = {"inherit", "clean", "login"};
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
    "How commands run: in a terminal (pty), or in pipes. Where no terminal can be had, pipes are used and the result says so."),
  NUMBER(terminal, cols, "columns", 1, 10'000, false, Tighten::Never, "Width of a terminal nobody gave a size."),
  NUMBER(terminal, rows, "rows", 1, 10'000, false, Tighten::Never, "Height of a terminal nobody gave a size."),
  NUMBER(terminal, records, "commands", 1, 100'000, false, Tighten::Never,
    "Finished commands each terminal remembers; older ones are in the history."),
  CHOICE(terminal, lease, kLeases, Tighten::Never,
    "What an agent's command does while a person holds the terminal's keyboard: wait for its return, or fail at once."),
  TEXT(terminal, detach_key, "The key that ends `attach`, written as for `send --keys`: C-] is Ctrl and ]."),

  CHOICE(output, view, kViews, Tighten::Never,
    "How much output a result holds: default (lines and chars below), or a preset: void (1 MiB, 70 % head), roo (500 lines, 50 000 characters), gemini (the last 16 MiB), full."),
  NUMBER(output, lines, "lines", 1, 100'000'000, true, Tighten::Lower, "Lines of output in a result, in the view default; 0 is no limit."),
  NUMBER(output, chars, "characters", 1, 1'000'000'000, true, Tighten::Lower,
    "Characters of output in a result, in the view default; 0 is no limit."),
  NUMBER(output, head_percent, "percent", 0, 100, false, Tighten::Never,
    "How much of both is for the beginning. Errors are at the end, so the end gets the larger part."),
  FLAG(output, fold_repeats, Tighten::Never, "Show runs of equal lines as one line with a count."),

  TIME(times, timeout, "s", 1, kYear, true, Tighten::Lower,
    "A command on its own may take this long in all; 0 is no limit. Persistent terminals have none."),
  TIME(times, idle_timeout, "s", 1, kYear, true, Tighten::Lower,
    "A command may be silent this long; any output starts it anew; 0 is no limit."),
  TIME(times, yield_after, "s", 0, kYear, false, Tighten::Never,
    "A command in a persistent terminal that runs longer goes on, and its caller gets control back."),
  TIME(times, input_patience, "s", 0, kYear, false, Tighten::Never,
    "How long a command that asks for input nobody can give is waited for; 0 waits until another limit."),
  TIME(times, drain, "ms", 0, 60 * kSecond, false, Tighten::Never,
    "After a command's end: how long output of what it left behind can delay the result."),
  TIME(times, interrupt_grace, "ms", 0, kHour, false, Tighten::Never, "When a command is ended: from INT to TERM."),
  TIME(times, terminate_grace, "ms", 0, kHour, false, Tighten::Never, "From TERM to KILL."),
  TIME(times, kill_grace, "ms", 0, kHour, false, Tighten::Never, "After KILL: until what still lives is reported as left over."),
  TIME(times, hot, "ms", 0, kHour, false, Tighten::Never, "A terminal counts as busy printing this long after its last output."),
  TIME(times, hot_compiling, "ms", 0, kHour, false, Tighten::Never, "The same when the output looks like that of a compiler."),
  TIME(times, cool_down, "ms", 0, kHour, false, Tighten::Never,
    "How long collecting the terminals' state waits at most for those that are busy printing."),

  NUMBER(pool, size, "terminals", 0, 1000, false, Tighten::Never, "Idle terminals kept for the next command; who finds none free waits."),

  NUMBER(limits, terminals, "terminals", 1, 10'000, false, Tighten::Never, "Terminals alive at once; opening one more fails and says so."),
  BYTES(limits, journal, kMiB / 2, kTiB, false, Tighten::Lower, "Output kept of one terminal."),
  BYTES(limits, journal_total, kMiB, 1024 * kTiB, false, Tighten::Never,
    "Output kept in all; the oldest finished journals make room."),
  CHOICE(limits, overflow, kOverflows, Tighten::Never,
    "At a terminal's limit: drop-middle keeps the head and the newest (what is gone is counted), pause stops the command until there is room, kill ends it."),
  NUMBER(limits, history_rows, "rows", 0, 100'000'000, false, Tighten::Never, "Commands and decisions kept in the history, each."),
  NUMBER(limits, history_days, "days", 1, 36'500, true, Tighten::Never, "How long they are kept; 0 is for ever."),

  CHOICE(policy, mode, kModes, Tighten::Earlier,
    "plan: nothing that changes anything runs. default: what is not known to be harmless is asked about. auto-edit: ordinary files of the workspace are written unasked. yolo: only refusals are left."),
  FLAG(policy, auto_approve_safe_commands, Tighten::False, "Run without asking what only reads. Off: everything is asked about."),
  FLAG(policy, confirm_dangerous_commands, Tighten::True, "Ask about dangerous commands even where the mode would not."),
  CHOICE(policy, ask, kAsking, Tighten::Earlier,
    "never: what would be a question is refused at once. present: the same while nobody is connected who could answer. wait: a person may come and answer until the question expires."),
  TIME(policy, approval_expiry, "s", kSecond, kYear, true, Tighten::Lower,
    "A question nobody answers for this long counts as no; 0 waits for ever."),
  LIST(policy, allowed_roots, Tighten::Narrow,
    "Folders commands may run in and change; full paths. Empty: the workspace they are started in."),
  FLAG(policy, share_agent_terminals, Tighten::False,
    "Let every agent use every agent's terminals. Off: each session of an agent has its own. A person's are never theirs unless lent."),
  FLAG(policy, client_dialogue, Tighten::False,
    "Take a person's answer from the dialogue of an agent's client (MCP elicitation), for that agent's own questions. Off: answers come from `ttyward approvals` only."),

  FLAG(notify, bell, Tighten::Never, "Ring the terminal's bell when a question comes while `approvals watch` or `top` shows questions."),
  FLAG(notify, desktop, Tighten::Never,
    "Show a notification of the desktop then: by notify-send where it is installed and there is a session bus, else by asking the terminal (OSC 9 or 777)."),
  TEXT(notify, webhook,
    "A URL (http or https) that the daemon sends every new question to, as JSON in a POST; secrets in the command are masked. It needs curl. Empty: none."),

  FLAG(daemon, autostart, Tighten::Never, "Start the daemon when a verb needs it."),
  TIME(daemon, idle_exit, "s", kSecond, kYear, true, Tighten::Never,
    "The daemon ends when it has had no terminal, no command and no caller for this long; 0: never. The next verb starts it again."),

  LIST(mcp, aliases, Tighten::Never,
    "Other names under which agents find the tool run_command, for models that were taught them: run_shell_command, execute_command."),

  TEXT(shell, path, "The shell of terminals, as a full path. Empty: your login shell if it is one we know, else bash."),
  FLAG(shell, integration, Tighten::Never,
    "Have the shell report where commands begin and end, their exit codes and the folder. On by default, unlike in tools for which it means help from an editor: ours needs none, edits none of your files, and without it exit codes are only known by a text printed after each command."),
  TIME(shell, integration_timeout, "ms", 100, kHour, false, Tighten::Never,
    "How long a shell's first report is waited for; after that the terminal goes on without."),
  TIME(shell, command_delay, "ms", 0, 60 * kSecond, false, Tighten::Never,
    "Wait this long after each command before its end is told and the next one may begin."),
  FLAG(shell, zsh_clear_eol_mark, Tighten::Never, "Keep zsh from marking lines that have no line end (PROMPT_EOL_MARK)."),
  FLAG(shell, zsh_oh_my, Tighten::Never, "Tell Oh My Zsh that a terminal with shell integration is there."),
  FLAG(shell, zsh_p10k, Tighten::Never, "Tell Powerlevel10k so."),
  FLAG(shell, report_environment, Tighten::Never, "Have the shell report changes of its environment."),
  CHOICE(shell, history, kHistories, Tighten::Never,
    "Whether what agents run enters the shell's own history. What a person types always does."),
  CHOICE(shell, environment, kEnvironments, Tighten::Never,
    "What commands and terminals start with. inherit: the harmless part of the caller's own environment, and what tools need (docs/environment.md). clean: who and where you are, and a plain PATH. login: what your login shell would set up (nvm, pyenv, direnv), read once and again when its files change, with the caller's own beside it."),
  LIST(shell, add_to_path, Tighten::Never, "Folders put before the rest of PATH; full paths."),
  LIST(shell, environment_add, Tighten::Never, "NAME=value: variables commands get."),
  LIST(shell, environment_keep, Tighten::Never, "Names of variables of your environment that commands get beside the harmless ones. NAME* is a prefix."),
  LIST(shell, environment_drop, Tighten::Add, "Names of variables commands do not get. NAME* is a prefix."),
};
// clang-format on

}  // namespace

std::string Setting::environment_name() const {
  std::string out = "TTYWARD_" + std::string(section) + "_" + name;
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

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
