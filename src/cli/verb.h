// What a verb of the command line is.
//
// Each verb lives in its own file under verbs/ and is listed once, in
// verb_table.cc. Everything else — parsing, --help, the verb list, completion,
// the manual page — is derived from what `declare` tells CLI11.
#pragma once

#include <functional>
#include <span>
#include <string>

#include <CLI/App.hpp>

namespace ttyward::cli {

// Exit codes of our own; a command's own code passes through untouched.
inline constexpr int kExitUsage = 2;      // the call was wrong
inline constexpr int kExitFailure = 125;  // we failed, not the command

// Options that every verb shares.
struct Globals {
  bool json = false;
  bool after_dashes = false;  // "--" stands before the positional words
};

struct Verb {
  const char* name;
  const char* summary;  // one line, for the list of verbs
  // Declares options and positionals on `app` and returns what to do once they are parsed.
  std::function<int()> (*declare)(CLI::App& app, const Globals& globals);
  bool reads_others = false;  // it tells of all verbs; for any other only that one is declared
};

std::span<const Verb> verb_table();

// One line to stderr, in one form everywhere: "ttyward VERB: message", control characters made visible. With
// --json it is {"error": {verb, message, exit_code}}, or {"notice": {verb, message}} for an `exit_code` of 0.
// Returns `exit_code`.
int complain(const char* verb, const std::string& message, int exit_code);

}  // namespace ttyward::cli
