// What a program does with what is typed to it, told from its names, its arguments and how it reads.
//
// An answer to a question is an answer. But a shell runs every line, an interpreter, a debugger and a
// database shell do the same in their own languages, and an editor or a pager starts programs on a keystroke:
// what an agent types to those is judged like a command. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::gate {

enum class TypedTo : uint8_t {
  Prompt,  // a program that asks: y/n, a name, a password
  Pager,   // moves about in a text; some keys run programs
  Shell,   // runs each line as a command line
  Runner,  // runs what is typed, or starts programs on a keystroke
};

struct ReaderFacts {
  std::vector<std::string> names;      // as pty::program_names
  std::vector<std::string> arguments;  // with the program's own name first
  bool raw = false;                    // it reads keys, not lines
  bool secure_pager = false;           // LESSSECURE is set
};

TypedTo typed_to(const ReaderFacts& facts);

// Whether these keys only move about in a pager, or leave it.
bool only_moves_in_pager(std::string_view bytes);
// Whether these keys only leave an editor of the vi family, and nothing is written.
bool only_leaves_editor(std::string_view bytes);

// Whether a command, as policy lists simple commands, starts a pager or runner: consent to it is consent to
// what is typed there. Lines for a shell are judged one by one.
bool starts_interactive(const std::string& simple_command);

}  // namespace ttyward::gate
