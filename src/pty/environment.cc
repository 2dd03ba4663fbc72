#include "pty/environment.h"

#include <algorithm>
#include <array>
#include <map>
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
    const bool passes = request.inherit == Inherit::Everything || is_allowed_by_default(name) ||
                        names(request.also_inherit, name);
    if (!passes || identifies_other_terminal(name) || names(request.never_inherit, name)) continue;
    result.emplace(name, value);
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
