// Which file a command runs as a program: `bash scripts/run.sh`, `python3 tool.py`, `./configure`.
#pragma once

#include <string>

#include "policy/facts.h"

namespace ttyward::policy {

// Absolute; empty if it runs none, or none that is certain.
std::string script_of(const CommandFact& fact);

inline constexpr size_t kMostHashed = 16 << 20;
// SHA-256 of what the file holds, in hexadecimal; empty if it cannot be read or is longer than kMostHashed.
std::string content_hash(const FileView* files, const std::string& absolute);

// Whether the program runs text that it is given: a shell, python, node and their kind.
bool is_interpreter(std::string_view program);
// Whether `program`, as written in a command, is one of the system's: a bare name, or a path below /usr/bin
// and its like.
bool is_system_program(std::string_view program);

}  // namespace ttyward::policy
