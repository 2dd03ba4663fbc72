// A child's environment, made from nothing: what it may have is listed, the rest
// stays behind.
//
// A deny-list always misses something (tokens have no common name), so variables
// of ours pass only by the allow-list. Variables of the request pass unless they
// make programs load or run code of the requester's choice; those are refused,
// each with its reason, and the caller decides whether that is fatal.
//
// Pure: the same arguments give the same result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ttyward::pty {

enum class TerminalProfile : uint8_t {
  Colour,  // what ttyward's screen understands
  Dumb,    // no escape sequences wanted: TERM=dumb, NO_COLOR
};

enum class PagerProfile : uint8_t {
  Quiet,  // nothing waits behind a pager or a question that nobody is there to answer
  AsIs,   // a person is at the terminal
};

enum class Inherit : uint8_t {
  AllowList,   // the harmless ones, and what tools need
  Everything,  // the user's own choice for their own commands
  Clean,       // who and where the user is, and a plain PATH
};

enum class Recipient : uint8_t { Person, Agent };  // whose command it is

struct EnvironmentRequest {
  std::vector<std::string> ours;       // NAME=value, as environ holds them
  std::vector<std::string> requested;  // NAME=value, from whoever asks for the command
  // What the user's configuration says. NAME* is a prefix.
  std::vector<std::string> also_inherit;  // names beside the allow-list
  std::vector<std::string> never_inherit;
  std::vector<std::string> path_first;  // folders before the rest of PATH
  Inherit inherit = Inherit::AllowList;
  Recipient recipient = Recipient::Agent;
  TerminalProfile terminal = TerminalProfile::Colour;
  PagerProfile pagers = PagerProfile::Quiet;
  std::string version;  // for TERM_PROGRAM_VERSION
};

struct RefusedVariable {
  std::string name;
  std::string reason;

  bool operator==(const RefusedVariable&) const = default;
};

struct Environment {
  std::vector<std::string> variables;  // sorted by name, each name once
  std::vector<RefusedVariable> refused;
};

Environment build_environment(const EnvironmentRequest& request);

// Whether a variable of `ours` by this name passes, and why, or why not: a sentence about "it".
struct VariableFate {
  bool passes = false;
  std::string why;
};
VariableFate fate_of_variable(const EnvironmentRequest& request, std::string_view name);
// What build_environment makes of the name, whether or not anybody has it: from where its value comes.
std::string explain_variable(const EnvironmentRequest& request, std::string_view name);

}  // namespace ttyward::pty
