// Rules that people write: allow, ask or deny.
//
// A rule that asks or denies applies if any part of a command matches it. A rule
// that allows has to match all of it: the program as it was called, every
// argument in its place, the folder, and what a script holds. It then takes away
// the objections that are within its scope, one by one:
//
//   effect   only objections of these kinds, if any are named
//   path     files read, written or deleted; none named: writing and deleting
//            ordinary files of the workspace
//   host     machines talked to; none named: those in the arguments, if the rule
//            spells every argument out or is an expression on the whole command
//   up_to    nothing graver than this
//
// It never takes away a built-in refusal. Deny comes before ask before allow.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/facts.h"

namespace re2 {
class RE2;
}

namespace ttyward::policy {

enum class RuleLevel : uint8_t { Global, Project, Session };

// In the place of arguments that a rule leaves open.
inline constexpr std::string_view kAnyArguments = "...";  // any number, options included
inline constexpr std::string_view kPlainWords =
    "<words>";  // any number of plain words: no options, no way out

struct Rule {
  std::string name;
  RuleLevel level = RuleLevel::Global;
  Decision decision = Decision::Ask;
  std::string program;             // "git"; or the path of a program outside the system's folders
  std::vector<std::string> words;  // what follows it in any case: "push", or "-m", "unittest"
  bool says_arguments = false;  // `args` is there; without it a rule that allows covers no further argument
  std::vector<std::string> arguments;  // allow: all of them, in order; otherwise each matches some argument
  std::string folder;                  // absolute; with /** everything below as well; empty: anywhere
  std::vector<EffectKind> effects;
  std::vector<std::string> paths;         // patterns on an effect's path; ** crosses folders
  std::vector<std::string> hosts;         // patterns on the name of a machine
  std::string script_hash;                // SHA-256, in hexadecimal, of the script that the command runs
  std::string pattern;                    // the regular expression's own text
  std::shared_ptr<const re2::RE2> regex;  // on the command's words, joined by blanks
  std::string command;                    // the whole line, byte by byte
  Risk up_to = Risk::High;
  std::string reason;
  std::vector<std::string> matches;  // examples
  std::vector<std::string> not_matches;
  int line = 0;  // in its file, from 1

  // It is about commands, not about effects of whatever command.
  bool names_command() const;
  // It names a program, and every argument is spelled out: no wildcard, nothing left open.
  bool is_literal() const;
};

struct RuleMatch {
  bool matched = false;
  Decision decision = Decision::Allow;
  std::string rule;
  std::string reason;
  Risk up_to = Risk::Low;  // of a rule that allows
};

// A rule about the same program that does not allow the command, and why not.
struct NearMiss {
  std::string rule;
  std::string why;
};

class RuleSet {
 public:
  void add(Rule rule) { rules_.push_back(std::move(rule)); }
  const std::vector<Rule>& rules() const { return rules_; }

  // The strictest deny or ask rule that matches the command.
  RuleMatch match_strict(const CommandFact& fact) const;
  // A rule that allows what `finding` objects to. `near` gets those that almost do.
  RuleMatch match_allow(const CommandFact& fact, const Finding& finding, const Place& place,
                        std::vector<NearMiss>* near = nullptr) const;
  // The strictest rule about exactly this line.
  RuleMatch match_exact(std::string_view command, const Facts& facts, const Place& place) const;

 private:
  std::vector<Rule> rules_;
};

// Why a rule that allows does not cover this command; empty if it does.
std::string why_not_command(const Rule& rule, const CommandFact& fact, const Place& place);
// Why it does not cover this objection to a command that it covers; empty if it does.
std::string why_not_objection(const Rule& rule, const Finding& finding);
// Whether a rule that asks or denies applies to the command, whatever it does.
bool objects_to_command(const Rule& rule, const CommandFact& fact);

// * stays in a path component, ** crosses them, ? is one character.
bool matches_wildcards(std::string_view pattern, std::string_view text);
// The machine that an address names: "example.com" in "https://me@example.com:8080/x". Empty if it cannot be
// told.
std::string host_of(std::string_view address);

// Reads a rule file. Errors name the line and column. `root` is what relative paths in rules are under.
base::Result<std::vector<Rule>> parse_rules(std::string_view toml, RuleLevel level,
                                            const std::string& file_name, const std::string& root);
// A rule as the text of a rule file.
std::string to_toml(const Rule& rule);

}  // namespace ttyward::policy
