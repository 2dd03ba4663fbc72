// The verdict on a command: facts against rules, under a mode.
//
//   text ─► read_command ─► Facts ─► evaluate(rules, mode) ─► Verdict
//
// The strictest part wins. Built-in refusals stand under every rule and mode.
#pragma once

#include <string_view>

#include "policy/command_facts.h"
#include "policy/rules.h"

namespace ttyward::policy {

enum class Mode : uint8_t {
  Plan,      // nothing that changes anything
  Default,   // what is provably harmless runs, the rest asks
  AutoEdit,  // ordinary files of the workspace may be written too
  Auto,      // what the sandbox of the workspace contains runs in it; what needs more asks
  Yolo,      // no questions; refusals stand
};

std::string_view name_of(Mode mode);
bool parse_mode(std::string_view name, Mode& mode);

// Whether the command can be confined to its workspace, without network, and will be if the verdict says so.
// What that contains and does not destroy is not asked about then. For the modes default and auto-edit.
enum class Confinable : uint8_t {
  No,
  InItsTerminal,  // whose shell is confined already
  Alone,          // it gets a sandbox of its own; one that only looks at files gets one, too
};

struct Settings {
  Mode mode = Mode::Default;
  bool auto_approve_safe = true;  // off: harmless commands ask as well
  bool confirm_dangerous = true;  // off: only critical things ask, and what may be one for all we know
  bool confirm_unclear = true;    // off as well: lines that are not understood pass; for people's own lines
  Confinable confinable = Confinable::No;
};

// `place` is the one `facts` were read for: rules may be about its folder and its scripts.
Verdict evaluate(std::string_view command, const Facts& facts, const Place& place, const RuleSet& rules,
                 const Settings& settings);

// read_command and evaluate in one.
Verdict check(std::string_view command, const Place& place, const RuleSet& rules, const Settings& settings);

}  // namespace ttyward::policy
