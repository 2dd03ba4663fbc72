// Calls about what may run, who was asked, and what was run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/arguments.h"
#include "wire/types/objects.h"
#include "wire/types/role.h"

namespace ttyward::wire {

enum class Mode : uint8_t { Plan, Default, AutoEdit, Auto, Yolo };
constexpr std::array<std::string_view, 5> names_of(Mode) {
  return {"plan", "default", "auto-edit", "auto", "yolo"};
}

struct CheckRequest {
  static constexpr std::string_view kCall = "check";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "What policy would say if an agent asked. Runs nothing.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = Encoded<Verdict>;
  std::string command;
  std::string cwd;
  std::optional<Mode> mode;
  std::string session;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "the command line", kRequired);
    v.field("cwd", self.cwd, "where it would run", Usual{"the home folder"});
    v.field("mode", self.mode, "with this mode", Usual{"the session's"});
    v.field("session", self.session, "whose rules count; only a person may name another's",
            Usual{"the caller's"});
  }
};

struct Permission {
  std::string decision;
  std::string reason;
  std::string approval;
  Encoded<Verdict> verdict;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("decision", self.decision, "what was decided; `skip`: a person wants it left out",
            OneOf{"allow|deny|skip"});
    v.field("reason", self.reason, "why, in words", kNull);
    v.field("approval", self.approval, "the question that a person answered", kNull);
    v.field("verdict", self.verdict, "what policy said");
  }
};

struct PermitRequest {
  static constexpr std::string_view kCall = "permit";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Whether an agent may run a command with its own tools, outside ttyward. Policy decides; where it "
      "asks, "
      "a person is asked, and the call answers when the question is closed. Runs nothing.";
  using Answer = Permission;
  std::string command;
  std::vector<std::string> argv;
  std::string cwd;
  std::string task;
  bool stream = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "a line for the shell; this or `argv`");
    v.field("argv", self.argv, "a program and its arguments, without a shell");
    v.field("cwd", self.cwd, "where it would run", Usual{"the home folder"});
    v.field("task", self.task, "the task it is for");
    v.field("stream", self.stream, "name the open question in a part");
  }
};

struct ToldCommand {
  std::string command_id;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command_id", self.command_id, "its id in the history");
  }
};

struct ToldRequest {
  static constexpr std::string_view kCall = "told";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Adds a command to the history that an agent ran with its own tools. ttyward observed nothing of it: "
      "`known_by` is `told`.";
  using Answer = ToldCommand;
  std::string command;
  std::string cwd;
  std::string task;
  std::string description;
  std::optional<int64_t> exit_code;
  std::string signal;
  int64_t duration_ms = 0;
  int64_t bytes = 0;
  int64_t lines = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("command", self.command, "as the agent tells it", kRequired);
    v.field("cwd", self.cwd, "where it ran");
    v.field("task", self.task, "the task it was for");
    v.field("description", self.description, kDescriptionAbout);
    v.field("exit_code", self.exit_code, "as the agent tells it");
    v.field("signal", self.signal, "what killed it");
    v.field("duration_ms", self.duration_ms, "how long it ran", Range{0});
    v.field("bytes", self.bytes, "of output that the agent showed", Range{0});
    v.field("lines", self.lines, "the same", Range{0});
  }
};

struct ApprovalList {
  std::vector<Approval> approvals;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approvals", self.approvals, "oldest first");
  }
};

struct ApprovalsRequest {
  static constexpr std::string_view kCall = "approvals";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Lists questions to people.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = ApprovalList;
  bool all = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("all", self.all, "include closed questions");
  }
};

struct OneApproval {
  Approval approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approval", self.approval, "as it is now");
  }
};

enum class AnswerWord : uint8_t { Allow, Deny, Skip };
constexpr std::array<std::string_view, 3> names_of(AnswerWord) {
  return {"allow", "deny", "skip"};
}
enum class Always : uint8_t { No, Session, Global };
constexpr std::array<std::string_view, 3> names_of(Always) {
  return {"no", "session", "global"};
}

struct AnswerRequest {
  static constexpr std::string_view kCall = "answer";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "A person answers a question; never the connection that asked. The role `dialogue` may answer those of "
      "its own session.";
  using Answer = OneApproval;
  std::string approval;
  std::optional<AnswerWord> decision;
  Always always = Always::No;
  bool wider = false;
  std::string rules;
  std::string reason;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approval", self.approval, "the question's id", kRequired);
    v.field("decision", self.decision, "`skip`: do not run it, and continue", kRequired);
    v.field("always", self.always, "remember the answer for this long");
    v.field("wider", self.wider, "store the wider rules");
    v.field("rules", self.rules, "store these instead: the text of a rule file that allows the command");
    v.field("reason", self.reason, "the person's reason, for the agent");
  }
};

struct WithdrawRequest {
  static constexpr std::string_view kCall = "withdraw";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout = "Withdraws a question. Only the client that asked may do so.";
  using Answer = OneApproval;
  std::string approval;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("approval", self.approval, "the question's id", kRequired);
  }
};

struct ListedRule {
  std::string name;
  std::string level;
  std::string text;
  std::string source;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "its name");
    v.field("level", self.level, "where it holds", OneOf{"global|project|session"});
    v.field("text", self.text, "as a rule file has it");
    v.field("source", self.source, "the file, or `session`");
  }
};

struct UnconfirmedRule {
  std::string change;
  std::string name;
  std::string words;
  std::string text;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("change", self.change, "what happened to it", OneOf{"added|removed"});
    v.field("name", self.name, "its name");
    v.field("words", self.words, "what it does, in words");
    v.field("text", self.text, "as a rule file has it");
  }
};

struct RuleList {
  std::vector<ListedRule> rules;
  std::vector<std::string> errors;
  std::vector<UnconfirmedRule> unconfirmed;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("rules", self.rules, "that hold");
    v.field("errors", self.errors, "what is wrong with the files");
    v.field("unconfirmed", self.unconfirmed, "changes that were made without ttyward");
  }
};

struct RulesRequest {
  static constexpr std::string_view kCall = "rules";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "The rules that hold in a folder for a session.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = RuleList;
  std::string session;
  std::string cwd;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("session", self.session, "whose; only a person may name another's", Usual{"the caller's"});
    v.field("cwd", self.cwd, "the folder");
  }
};

struct AddedRules {
  std::vector<std::string> added;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("added", self.added, "names of the rules that are there now");
  }
};

struct RuleAddRequest {
  static constexpr std::string_view kCall = "rule_add";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Adds rules to rules.toml; they count as confirmed.";
  using Answer = AddedRules;
  std::string text;
  std::string replaces;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "a rule file", kRequired);
    v.field("replaces", self.replaces, "the name of rules that are replaced");
  }
};

struct RemovedRules {
  uint64_t removed = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("removed", self.removed, "how many there were");
  }
};

enum class RuleScope : uint8_t { Global, Session };
constexpr std::array<std::string_view, 2> names_of(RuleScope) {
  return {"global", "session"};
}

struct RuleRemoveRequest {
  static constexpr std::string_view kCall = "rule_remove";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Removes rules of that name.";
  using Answer = RemovedRules;
  std::string name;
  RuleScope scope = RuleScope::Global;
  std::string session;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "the rules' name", kRequired);
    v.field("scope", self.scope, "of rules.toml, or of a session");
    v.field("session", self.session, "whose", Usual{"the caller's"});
  }
};

struct LoosenedSetting {
  std::string name;
  std::string holds;
  std::string wanted;
  std::string where;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "the setting");
    v.field("holds", self.holds, "the value in effect");
    v.field("wanted", self.wanted, "the value that the file has");
    v.field("where", self.where, "the file");
  }
};

struct Unconfirmed {
  std::vector<UnconfirmedRule> rules;
  std::vector<LoosenedSetting> settings;
  std::string problem;
  std::string digest;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("rules", self.rules, "changes of rules");
    v.field("settings", self.settings, "settings that were loosened");
    v.field("problem", self.problem, "what is wrong with the record of confirmations; empty: nothing");
    v.field("digest", self.digest, "of exactly this, for `rules_confirm`");
  }
};

struct RulesUnconfirmedRequest {
  static constexpr std::string_view kCall = "rules_unconfirmed";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Changes that loosen policy and were made without ttyward.";
  using Answer = Unconfirmed;
  std::string cwd = "/";
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("cwd", self.cwd, "the folder");
  }
};

struct Confirmed {
  bool confirmed = true;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("confirmed", self.confirmed, "the files are in effect as they are");
  }
};

struct RulesConfirmRequest {
  static constexpr std::string_view kCall = "rules_confirm";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Confirms the files as they were shown.";
  using Answer = Confirmed;
  std::string digest;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("digest", self.digest, "of what was shown", kRequired);
  }
};

struct SettingRow {
  std::string name;
  std::string kind;
  std::string value;
  std::vector<std::string> words;
  std::string usual;
  std::vector<std::string> choices;
  std::string source;
  std::string where;
  std::string about;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "such as `policy.mode`");
    v.field("kind", self.kind, "what it holds", OneOf{"flag|number|bytes|duration|choice|text|list"});
    v.field("value", self.value, "what holds for the daemon, as config.toml would have it");
    v.field("words", self.words, "of a list: what is in it; of a choice: the word");
    v.field("usual", self.usual, "its default");
    v.field("choices", self.choices, "of a choice: what it can be");
    v.field("source", self.source, "where its value comes from", OneOf{"default|file|environment|project"});
    v.field("where", self.where, "FILE:LINE, or the name of a variable");
    v.field("about", self.about, "what it does");
  }
};

struct SettingList {
  std::vector<SettingRow> settings;
  std::string file;
  std::string digest;
  std::vector<std::string> errors;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("settings", self.settings, "all of the sections `policy` and `sandbox`");
    v.field("file", self.file, "the person's config.toml");
    v.field("digest", self.digest, "of that file as it is, for `settings_change`");
    v.field("errors", self.errors, "what is wrong with it");
  }
};

struct SettingsRequest {
  static constexpr std::string_view kCall = "settings";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "What agents may do: the settings of the sections `policy` and `sandbox`.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = SettingList;
  template <class V>
  static void describe(V&, auto&) {}
};

struct SettingChange {
  std::string name;
  std::optional<std::string> value;
  std::optional<std::vector<std::string>> words;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "such as `sandbox.profile`", kRequired);
    v.field("value", self.value, "as config.toml would have it; without it and `words`: the default");
    v.field("words", self.words, "of a list: what is in it; of a choice: one word");
  }
};

struct ChangedSettings {
  std::string before;
  std::string after;
  std::string digest;
  bool saved = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("before", self.before, "config.toml as it was");
    v.field("after", self.after, "with the changes");
    v.field("digest", self.digest, "of the file as it is now");
    v.field("saved", self.saved, "false: it was only a preview");
  }
};

struct SettingsChangeRequest {
  static constexpr std::string_view kCall = "settings_change";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Changes settings of the sections `policy` and `sandbox` in config.toml, and nothing else in it. They "
      "count as confirmed and hold from the next command on.";
  using Answer = ChangedSettings;
  std::vector<SettingChange> changes;
  std::string digest;
  bool preview = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("changes", self.changes, "what to change", kRequired);
    v.field("digest", self.digest, "of the file that was shown: if it is another one now, nothing is changed",
            kRequired);
    v.field("preview", self.preview, "only say what it would look like");
  }
};

struct CurrentMode {
  Mode mode = Mode::Default;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("mode", self.mode, "of the session");
  }
};

struct ModeRequest {
  static constexpr std::string_view kCall = "mode";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "The mode of a session; only a person sets it.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = CurrentMode;
  std::string session;
  std::optional<Mode> set;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("session", self.session, "whose; only a person may name another's", Usual{"the caller's"});
    v.field("set", self.set, "the mode from now on");
  }
};

inline constexpr int64_t kMostRows = 10'000;

struct CommandList {
  std::vector<HistoryRow> commands;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("commands", self.commands, "newest first");
  }
};

struct HistoryRequest {
  static constexpr std::string_view kCall = "history";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "What was run. An agent sees what agents ran.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = CommandList;
  std::string text;
  bool failed = false;
  std::string cwd;
  std::string terminal;
  std::string task;
  std::optional<Time> since_at;
  std::optional<Time> until_at;
  int64_t limit = 50;
  std::string before;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "somewhere in the command");
    v.field("failed", self.failed, "only those that failed");
    v.field("cwd", self.cwd, "in this folder or below");
    v.field("terminal", self.terminal, "in this terminal");
    v.field("task", self.task, "of this task");
    v.field("since_at", self.since_at, "at this moment or later");
    v.field("until_at", self.until_at, "before this moment");
    v.field("limit", self.limit, "rows at most", Range{1, kMostRows});
    v.field("before", self.before, "the next page: older than the row of this id");
  }
};

struct DecisionList {
  std::vector<DecisionRow> decisions;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("decisions", self.decisions, "newest first");
  }
};

struct DecisionsRequest {
  static constexpr std::string_view kCall = "decisions";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "Decisions about commands and actions.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = DecisionList;
  std::string text;
  bool failed = false;
  std::string cwd;
  std::string terminal;
  std::string task;
  std::optional<Time> since_at;
  std::optional<Time> until_at;
  int64_t limit = 50;
  std::string before;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("text", self.text, "somewhere in the command");
    v.field("failed", self.failed, "only those that were denied");
    v.field("cwd", self.cwd, "in this folder or below");
    v.field("terminal", self.terminal, "in this terminal");
    v.field("task", self.task, "accepted and ignored");
    v.field("since_at", self.since_at, "at this moment or later");
    v.field("until_at", self.until_at, "before this moment");
    v.field("limit", self.limit, "rows at most", Range{1, kMostRows});
    v.field("before", self.before, "the next page: older than the row of this id");
  }
};

}  // namespace ttyward::wire
