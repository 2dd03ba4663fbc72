#include "pty/environment.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "pty/guard_variables.h"
#include "pty/variable_rules.h"

namespace ttyward::pty {
namespace {

using Map = std::map<std::string, std::string, std::less<>>;
using Pair = std::pair<const char*, const char*>;

constexpr std::array<Pair, 12> kQuiet = {{
    {"PAGER", "cat"},
    {"GIT_PAGER", "cat"},
    {"MANPAGER", "cat"},
    {"SYSTEMD_PAGER", "cat"},
    {"GH_PAGER", "cat"},
    {"BAT_PAGER", "cat"},
    {"DELTA_PAGER", "cat"},
    {"PSQL_PAGER", "cat"},
    {"AWS_PAGER", ""},             // its own word for "none"
    {"GCM_INTERACTIVE", "never"},  // git's credential manager
    {"DEBIAN_FRONTEND", "noninteractive"},
    {"PIP_NO_INPUT", "1"},
}};

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

std::pair<std::string_view, std::string_view> split(std::string_view entry) {
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return {entry, {}};
  return {entry.substr(0, equals), entry.substr(equals + 1)};
}

bool names(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

Map inherited(const EnvironmentRequest& request) {
  Map result;
  for (const std::string& entry : request.ours) {
    const auto [name, value] = split(entry);
    if (name.empty() || name.size() == entry.size()) continue;
    if (name == "TTYWARD_PERSON_TOKEN_FILE") continue;  // what a person shows is for that person alone
    if (fate_of_variable(request, name).passes) result.emplace(name, value);
  }
  return result;
}

void apply_terminal(TerminalProfile profile, const std::string& version, Map& variables) {
  variables["TERM_PROGRAM"] = "ttyward";
  if (!version.empty()) variables["TERM_PROGRAM_VERSION"] = version;
  if (profile == TerminalProfile::Dumb) {
    variables["TERM"] = "dumb";
    variables["NO_COLOR"] = "1";
    variables.erase("COLORTERM");
    return;
  }
  // Known to every ncurses: a terminfo entry of our own would be missing behind
  // ssh, sudo and in containers.
  variables["TERM"] = "xterm-256color";
  variables["COLORTERM"] = "truecolor";
}

void fill_gaps(Map& variables) {
  variables.try_emplace("PATH", kDefaultPath);
  if (!variables.contains("LANG") && !variables.contains("LC_ALL") && !variables.contains("LC_CTYPE"))
    variables["LANG"] = "C.UTF-8";
}

}  // namespace

VariableFate fate_of_variable(const EnvironmentRequest& request, std::string_view name) {
  if (identifies_other_terminal(name))
    return {false, "it describes your terminal, and commands run in a different one"};
  if (names(request.never_inherit, name)) return {false, "shell.environment_drop names it"};
  if (names(request.also_inherit, name)) return {true, "shell.environment_keep names it"};
  switch (request.inherit) {
    case Inherit::Everything:
      return {true, "everything is inherited"};
    case Inherit::Clean:
      return is_always_there(name) ? VariableFate{true, "commands always get it"}
                                   : VariableFate{false, "shell.environment is clean"};
    case Inherit::AllowList:
      break;
  }
  if (is_allowed_by_default(name)) return {true, "it is on the list of harmless variables"};
  if (is_needed_by_tools(name)) return {true, "it is on the list of variables that tools need"};
  if (is_for_the_person(name)) {
    return request.recipient == Recipient::Person
               ? VariableFate{true, "it lets a command act as you, and the command is yours"}
               : VariableFate{false, "it lets a command act as you, and the command is an agent's"};
  }
  return {false,
          "it is on no list of variables that are passed; add it to shell.environment_keep to pass it"};
}

std::string explain_variable(const EnvironmentRequest& request, std::string_view name) {
  const auto find = [&](const std::vector<std::string>& entries) -> std::optional<std::string> {
    std::optional<std::string> found;
    for (const std::string& entry : entries) {
      const auto [each, value] = split(entry);
      if (each == name && each.size() < entry.size()) found = value;
    }
    return found;
  };
  const Environment made = build_environment(request);
  const std::string shown(name);
  const bool there = find(made.variables).has_value();
  const VariableFate fate = fate_of_variable(request, name);
  for (const RefusedVariable& refused : made.refused) {
    if (refused.name == name) return "not set: shell.environment_add sets it, but it " + refused.reason;
  }
  std::string more;
  if (name == "PATH" && !request.path_first.empty()) more = "; shell.add_to_path is put before it";
  if (there && find(request.requested)) return "set: shell.environment_add sets it";
  const auto quiet =
      std::find_if(kQuiet.begin(), kQuiet.end(), [&](const Pair& pair) { return name == pair.first; });
  if (there && quiet != kQuiet.end() && request.pagers == PagerProfile::Quiet)
    return "set: ttyward sets it, so that no command waits in a pager or for an answer";
  const bool of_terminal =
      name == "TERM" || name == "COLORTERM" || name == "NO_COLOR" || name.starts_with("TERM_PROGRAM");
  if (there && of_terminal) return "set: ttyward sets it, because the command's terminal is ttyward's";
  if (!there) return find(request.ours) ? "not set: " + fate.why : "not set: it is not in your environment";
  if (find(request.ours) && fate.passes) return "set: it is in your environment, and " + fate.why + more;
  if (name == "PATH" || name == "LANG")
    return "set: ttyward sets a default, because your environment has no value that is passed" + more;
  return "set: ttyward sets it, so that programs do not run other programs unasked";
}

Environment build_environment(const EnvironmentRequest& request) {
  Environment result;
  Map variables = inherited(request);
  fill_gaps(variables);
  apply_terminal(request.terminal, request.version, variables);
  if (request.pagers == PagerProfile::Quiet)
    for (const auto& [name, value] : kQuiet) variables[name] = value;
  for (const std::string& entry : request.requested) {
    const auto [name, value] = split(entry);
    if (name.size() == entry.size()) {
      result.refused.push_back({entry, "not of the form NAME=value"});
    } else if (std::string reason = refusal_reason(name, value); !reason.empty()) {
      result.refused.push_back({std::string(name), std::move(reason)});
    } else {
      variables.insert_or_assign(std::string(name), std::string(value));
    }
  }
  if (request.pagers == PagerProfile::Quiet) add_guard_variables(variables);
  for (auto folder = request.path_first.rbegin(); folder != request.path_first.rend(); ++folder) {
    std::string& path = variables["PATH"];
    path = path.empty() ? *folder : *folder + ":" + path;
  }
  for (const auto& [name, value] : variables) result.variables.push_back(name + "=" + value);
  return result;
}

}  // namespace ttyward::pty
