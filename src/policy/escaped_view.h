// How a command is shown to the person who decides about it.
//
// Every byte that a terminal would not show as itself is spelled out; a long
// command is cut in the middle and what is hidden is counted. The person sees
// what the engine judged, never raw bytes.
#pragma once

#include <string>
#include <string_view>

namespace ttyward::policy {

inline constexpr size_t kShownCharacters = 2000;

// Control characters as \x1b, \r …; direction marks, invisible and tag characters as \u202e; broken UTF-8 as
// \xNN. Newlines and tabs are kept as \n and \t unless `multiline`.
std::string escape_text(std::string_view text, bool multiline = false);

// Escaped, at most about `limit` characters, with "[+N characters, M lines not shown]" where it was cut.
std::string show_command(std::string_view command, size_t limit = kShownCharacters);

}  // namespace ttyward::policy
