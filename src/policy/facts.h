// What was found in a command: every simple command it would run, what each
// does, and what speaks against running it unasked.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "policy/paths.h"
#include "policy/verdict.h"

namespace ttyward::policy {

// Something that speaks against running a command without asking.
struct Finding {
  Decision decision = Decision::Ask;  // Ask or Deny
  Risk risk = Risk::Medium;
  EffectKind effect = EffectKind::Unknown;
  std::string target;
  Zone zone = Zone::Unknown;  // where `target` is, for writes and deletions
  bool control = false;       // a file that shells, editors, git, agents or the system obey, or a credential
  bool plain_write = false;   // an ordinary file of the workspace: what auto-edit mode is for
  std::string reason;
  Span span;
};

// How much of a word is known before the command runs.
enum class Known : uint8_t {
  All,
  Glob,  // but for what a live * or ? will match
  Part,  // it holds a variable, a substitution or a name from a listing
};

struct CommandFact {
  std::vector<std::string> argv;  // as understood; unknown parts shown as "…"
  std::vector<Known> known;       // one for each word of argv; missing: Part
  std::string cwd;                // where it runs; empty if that is not certain
  std::string program;            // base name; empty if not constant
  std::string subcommand;         // "push" in `git push`
  Span span;
  std::vector<Effect> effects;
  std::vector<Finding> findings;
};

struct Facts {
  std::vector<CommandFact> commands;
  std::vector<Finding> findings;  // about the line as a whole: no rule can waive them
  Risk least_risk = Risk::Low;    // if somebody is asked: tricks raise it
  std::vector<Reason> tricks;     // why least_risk is what it is
  bool understood = true;
  size_t steps = 0;         // statements followed so far
  size_t speculations = 0;  // commands looked at that may not run at all
};

// Raises what was found since `commands.size()` was `from`: objections in a place where a reader overlooks
// them.
inline void raise_since(Facts& facts, size_t from, Risk risk) {
  for (size_t i = from; i < facts.commands.size(); ++i) {
    for (Finding& finding : facts.commands[i].findings) finding.risk = std::max(finding.risk, risk);
  }
}

// Following loops and functions is bounded: a line that needs more statements than this is not understood.
inline constexpr size_t kMaxSteps = 10'000;
// So many words are tried as commands that an unknown wrapper may start.
inline constexpr size_t kMaxSpeculations = 64;
// More simple commands than this in one line are not looked at one by one: the line asks.
inline constexpr size_t kMaxCommands = 1000;

}  // namespace ttyward::policy
