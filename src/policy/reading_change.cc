#include "policy/reading_change.h"

#include <algorithm>
#include <array>

#include "policy/command_facts.h"

namespace ttyward::policy {
namespace {

// Commands of some shell that change it, those of fish and ksh among them.
constexpr auto kChangers = std::to_array<std::string_view>(
    {".",       "source",   "eval",     "exec",     "alias",   "unalias",  "set",    "unset",    "shopt",
     "export",  "readonly", "typeset",  "declare",  "local",   "trap",     "enable", "hash",     "bind",
     "builtin", "setopt",   "unsetopt", "autoload", "emulate", "zmodload", "abbr",   "function", "functions",
     "fc",      "history",  "bindkey",  "complete", "nameref", "integer",  "newgrp", "login",    "disable"});

}  // namespace

bool may_change_reading(std::string_view line, const ShellReading& reading) {
  Place place{"/", "/", "/", nullptr};
  place.shell = &reading;
  const Facts facts = read_command(line, place);
  if (!facts.understood) return true;
  const auto changes = [](EffectKind kind) { return kind == EffectKind::State; };
  return std::any_of(facts.findings.begin(), facts.findings.end(),
                     [&](const Finding& finding) { return changes(finding.effect); }) ||
         std::any_of(facts.commands.begin(), facts.commands.end(), [&](const CommandFact& fact) {
           return std::find(kChangers.begin(), kChangers.end(), fact.program) != kChangers.end() ||
                  std::any_of(fact.effects.begin(), fact.effects.end(),
                              [&](const Effect& effect) { return changes(effect.kind); });
         });
}

}  // namespace ttyward::policy
