// From the text of a command to what it would do.
//
//   text ─► screen_text ─► syntax::parse ─► walk: every simple command, its words
//   resolved, with the shell's state as far as known ─► judge_command ─► Facts
//
// The walk follows lists, pipelines, subshells, loops, functions, traps,
// substitutions, here-documents and wrappers. Text inside text (sh -c, eval) is
// read to kMaxScriptDepth; deeper is not understood.
#pragma once

#include <string_view>

#include "policy/facts.h"

namespace ttyward::policy {

inline constexpr int kMaxScriptDepth = 6;

Facts read_command(std::string_view text, const Place& place);

}  // namespace ttyward::policy
