// The vocabulary of policy: what a command does, how bad that is, and what follows.
//
// All of these are values. Nothing here owns a resource or knows a shell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "syntax/tree.h"

namespace ttyward::policy {

// Ordered: the strictest of several decisions is their maximum.
enum class Decision : uint8_t { Allow, Ask, Deny };
enum class Risk : uint8_t { Low, Medium, High, Critical };

enum class EffectKind : uint8_t {
  Read,       // contents of files
  List,       // names, sizes, dates: no contents
  Write,      // creates or changes files
  Delete,     // removes files
  Network,    // talks to other machines
  Process,    // signals, stops or detaches processes
  Privilege,  // becomes somebody else, changes permissions or mounts
  Install,    // adds or removes software
  Execute,    // runs code that is not in the command itself
  State,      // changes the shell that later commands run in
  Secret,     // reads or prints credentials
  Unknown,    // not understood
};

std::string_view name_of(Decision decision);
std::string_view name_of(Risk risk);
std::string_view name_of(EffectKind kind);
bool parse_risk(std::string_view name, Risk& risk);
bool parse_effect(std::string_view name, EffectKind& kind);
bool parse_decision(std::string_view name, Decision& decision);

// A range of bytes of the command text, [begin, end).
using syntax::Span;

struct Effect {
  EffectKind kind = EffectKind::Unknown;
  std::string target;  // a path, a host, a program; empty when it has none
  bool operator==(const Effect&) const = default;
};

struct Reason {
  std::string text;
  Span span;
  Risk risk = Risk::Low;
  Decision decision = Decision::Ask;
};

// An objection that a rule took away.
struct Waived {
  std::string objection;
  Risk risk = Risk::Low;
  std::string rule;
};

struct Verdict {
  Decision decision = Decision::Ask;
  Risk risk = Risk::Low;
  std::vector<Effect> effects;
  std::vector<Reason> reasons;        // the gravest first
  std::string rule;                   // what decided: "built-in", "mode plan", or a rule's own name
  std::vector<std::string> commands;  // every simple command found, as understood
  std::vector<Waived> waived;         // by rules that allow
  std::vector<std::string> hints;     // rules that almost cover it, and what they lack
  std::string sandbox;                // the profile it has to be confined to; empty: none
};

}  // namespace ttyward::policy
