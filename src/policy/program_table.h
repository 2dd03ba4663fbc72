// What is known about programs, as rows compiled from programs.toml.
//
// tools/compile_programs.py turns the file into constant arrays at build time
// and refuses a file that does not keep to its schema, so nothing is parsed
// when ttyward starts. The examples in the file are checked by a test.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "policy/verdict.h"

namespace ttyward::policy {

// What becomes of an argument or of an option's value.
enum class Use : uint8_t {
  Text,       // means nothing outside the program
  Read,       // a file whose contents are read
  List,       // a file or folder whose name and attributes are read
  Write,      // a file that is created or changed
  Delete,     // a file that is removed
  Directory,  // the folder the program works in
  Program,    // a program that is run
  Script,     // shell text that is run
  Code,       // text in another language that is run
  Host,       // another machine
  Recursive,  // a flag: folders are read with everything in them
};

enum class OptionValue : uint8_t { None, Required, Attached };

// Whether a program on a terminal waits for keys, some of which run commands.
enum class Interactive : uint8_t {
  No,
  Yes,
  Language,  // with a script it is that script
  Pager,     // most keys only move about in a text
  Secured,   // a pager; the variables of agents' commands take those keys away (pty/guard_variables.h)
};

struct OptionRow {
  std::string_view name;  // one letter: short; longer: long
  OptionValue value;
  Use use;
  bool asks;  // its presence alone needs a person
  Risk risk;
  EffectKind effect;
  std::string_view reason;
};

struct EffectRow {
  Risk risk;
  EffectKind effect;
  std::string_view reason;
  bool denies;
};

struct ProgramRow {
  std::string_view name;                      // "git status"
  std::string_view flags;                     // harmless short options
  std::span<const OptionRow> options;         // sorted by name
  std::span<const EffectRow> effects;         // what it always does
  std::span<const std::string_view> words;    // first arguments that keep it harmless, if it is picky
  std::span<const std::string_view> version;  // alone, these only inform: --version
  // Files in the working folder or above it that make even a harmless call run code: "name", or "name:text"
  // if it has to contain the text.
  std::span<const std::string_view> obeys;
  // Forms in which it only looks, whatever it does otherwise; see programs.toml.
  std::span<const std::string_view> looks;
  std::string_view special;  // a reader in code, see special.h
  Use first;
  Use args;
  Use last;
  std::string_view first_unless;  // options that take the first argument's place, as letters
  int inner_skip;                 // >= 0: after so many arguments another command follows
  bool numbers;                   // -5 is an option
  bool subcommands;
  bool recursive;
  bool dash_words;  // -name is one option, not four
  bool no_args;     // arguments need a person
  // No option of it can do harm, listed or not, so an argument nobody knows yet cannot either.
  bool inert;
  bool inert_globs;  // the same for what a glob in an ordinary folder matches, but not for unknown text
  bool at_files;     // an argument @file stands for the arguments in that file
  bool apart;        // the value of a short option is the next argument, never the rest of the word
  Interactive interactive;
};

// nullptr: not in the table.
const ProgramRow* find_program(std::string_view name);
const OptionRow* find_option(const ProgramRow& program, std::string_view name);

struct ProgramExample {
  std::string_view program;
  std::string_view command;
  Decision expected;
};
std::span<const ProgramExample> program_examples();

}  // namespace ttyward::policy
