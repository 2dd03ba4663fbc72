// Policy as it applies to somebody: which settings hold for an agent or a person,
// which folder counts as the workspace, and what the environment adds.
//
// Pure but for the look policy takes at the file system. Used by the gate, and by
// verbs that decide without a daemon.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/always_allow.h"
#include "policy/evaluate.h"
#include "policy/rules.h"
#include "shell/shell_kind.h"

namespace ttyward::gate {

enum class Role : uint8_t { Agent, Person, Viewer };

// What is asked of a person at their own terminal.
enum class PersonPolicy : uint8_t {
  Off,       // nothing
  Critical,  // critical things; what an agent would be refused is a question too
  Full,      // as for an agent
};

struct JudgeSettings {
  policy::Settings agent;
  PersonPolicy person = PersonPolicy::Critical;
  std::string home;
  std::vector<std::string> own_folders;    // of ttyward itself: nothing in them is for an agent to read
  std::vector<std::string> allowed_roots;  // the folders agents may work in; empty: all
  bool confine = true;                     // what the sandbox contains is not asked about
};

// The shell that will read the command. It is judged as that shell reads it.
enum class Language : uint8_t {
  Bash,
  Posix,  // dash, busybox ash, ksh, mksh
  Zsh,
  Fish,
  PowerShell,  // nothing is understood; what is known to destroy is refused
  Other,       // nothing is understood
};

Language language_of(shell::ShellKind kind);
// How a shell of this kind reads a line that is handed to it at its prompt.
policy::ShellReading reading_of(Language language);

struct Action {
  std::string command;
  std::string cwd;
  std::string workspace;                         // empty: cwd, unless that is a system folder
  std::vector<std::string> environment_changes;  // NAME=value
  Language language = Language::Bash;
  // What the terminal's shell has that changes the reading; none: a fresh shell of that language.
  std::optional<policy::ShellReading> shell = std::nullopt;
  policy::Confinable confinable = policy::Confinable::No;
  const std::string* input = nullptr;  // its whole standard input; none: the terminal
};

struct Judgement {
  policy::Verdict verdict;
  policy::AlwaysOffer always;  // what "always" would store
  // Of every file that the command runs as a program: its path and the SHA-256 of what it holds.
  std::vector<std::pair<std::string, std::string>> scripts;
  std::string note;     // what a person should know about the decision; empty: nothing
  std::string mistake;  // of a rule file, which was left aside for it; empty: none
};

Judgement judge(const Action& action, Role role, policy::Mode mode, const JudgeSettings& settings,
                const policy::RuleSet& rules);

// The verdict on text for a program that runs what it is given.
Judgement judge_typed(const std::string& program, policy::Mode mode);

// cwd, if it is a place to work in; empty for /, a home and the system's own folders, so that a shell that
// was led there does not make them anybody's workspace.
std::string workspace_for(const std::string& cwd, const std::string& home);

}  // namespace ttyward::gate
