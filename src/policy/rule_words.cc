#include "policy/rule_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ttyward::policy {
namespace {

constexpr std::array<std::string_view, 12> kDoes = {
    "read files",      "list files",       "write files",        "delete files",
    "use the network", "touch processes",  "change permissions", "install software",
    "run code",        "change the shell", "read credentials",   "do something unknown",
};

std::string listed(const std::vector<std::string>& texts, const char* last) {
  std::string out;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += i + 1 == texts.size() ? fmt::format(" {} ", last) : ", ";
    out += texts[i];
  }
  return out;
}

bool needs_quotes(std::string_view word) {
  return word.empty() || word.find_first_of(" \t\n'\"\\$`;&|<>()") != std::string_view::npos;
}

std::string as_word(const std::string& word) {
  return needs_quotes(word) ? "'" + word + "'" : word;
}

std::string place_of(const Rule& rule) {
  if (rule.folder.empty()) return "in any folder";
  if (rule.folder.ends_with("/**"))
    return "in " + rule.folder.substr(0, rule.folder.size() - 3) + " and every folder below it";
  return "in " + rule.folder;
}

std::string effects_of(const Rule& rule) {
  std::vector<std::string> texts;
  for (const EffectKind kind : rule.effects) texts.emplace_back(kDoes.at(static_cast<size_t>(kind)));
  return listed(texts, "or");
}

// "`git push origin`", and in words what may follow.
std::string subject_of(const Rule& rule) {
  if (!rule.command.empty()) return "exactly the line `" + rule.command + "`";
  if (rule.program.empty()) return rule.regex ? "commands that match " + rule.pattern : "any command";
  std::string shown = rule.program;
  std::string more;
  for (const std::string& word : rule.words) shown += " " + as_word(word);
  if (rule.decision != Decision::Allow) {
    std::vector<std::string> arguments;
    for (const std::string& argument : rule.arguments) arguments.push_back(as_word(argument));
    if (!arguments.empty()) more = " with an argument " + listed(arguments, "and one");
    return "`" + shown + "`" + more;
  }
  for (const std::string& argument : rule.arguments) {
    if (argument == kAnyArguments) {
      more += ", with any further options and arguments";
    } else if (argument == kPlainWords) {
      more += ", with any further plain words but no options";
    } else if (argument.find_first_of("*?") != std::string::npos) {
      shown += " " + as_word(argument);
      if (more.find("wildcard") == std::string::npos) more += ", * and ? being wildcards";
    } else {
      shown += " " + as_word(argument);
    }
  }
  return "`" + shown + "`" + (more.empty() ? ", with no further arguments" : more);
}

}  // namespace

std::string in_words(const Rule& rule) {
  std::string out = rule.decision == Decision::Allow  ? "allows "
                    : rule.decision == Decision::Deny ? "refuses "
                                                      : "asks about ";
  out += subject_of(rule);
  if (!rule.script_hash.empty()) out += ", as long as the script stays as it is now";
  if (!rule.effects.empty() && (rule.program.empty() || rule.decision != Decision::Allow))
    out += " to " + effects_of(rule);
  if (!rule.paths.empty()) out += ", on " + listed(rule.paths, "or");
  if (!rule.hosts.empty()) out += ", talking to " + listed(rule.hosts, "or");
  out += ", " + place_of(rule);
  if (rule.level == RuleLevel::Session) out += ", in this session";
  return out;
}

RuleScope scope_of(const Rule& rule) {
  RuleScope out;
  out.covers.push_back(subject_of(rule));
  out.covers.push_back(place_of(rule));
  if (rule.decision != Decision::Allow) {
    if (!rule.effects.empty()) out.covers.push_back("only if it would " + effects_of(rule));
    if (!rule.paths.empty()) out.covers.push_back("only on " + listed(rule.paths, "or"));
    if (!rule.hosts.empty()) out.covers.push_back("only when it talks to " + listed(rule.hosts, "or"));
    out.leaves_out.push_back("nothing else: a rule that asks or refuses needs only a part of the command");
    return out;
  }
  if (!rule.script_hash.empty())
    out.covers.push_back("the script with the content it has now (SHA-256 " + rule.script_hash.substr(0, 12) +
                         "…)");
  out.covers.push_back(rule.effects.empty() ? "objections of every kind"
                                            : "objections that it would " + effects_of(rule));
  if (!rule.paths.empty()) {
    out.covers.push_back("files: " + listed(rule.paths, "and"));
  } else if (rule.command.empty()) {
    out.covers.push_back("files: writing and deleting ordinary files of the workspace");
  }
  if (!rule.hosts.empty()) out.covers.push_back("machines: " + listed(rule.hosts, "and"));
  out.covers.push_back(fmt::format("risks up to {}", name_of(rule.up_to)));

  if (!rule.command.empty()) {
    out.leaves_out.push_back("the same line with one byte changed");
  } else if (!rule.program.empty() &&
             std::find(rule.arguments.begin(), rule.arguments.end(), kAnyArguments) == rule.arguments.end()) {
    out.leaves_out.push_back("other options and arguments");
  }
  if (!rule.folder.empty()) out.leaves_out.push_back("other folders");
  if (!rule.script_hash.empty()) {
    out.leaves_out.push_back("the script once its content changes");
  }
  if (rule.command.empty())
    out.leaves_out.push_back(
        "what else stands in the line: other commands, redirections, variables set for it");
  if (rule.paths.empty() && rule.command.empty())
    out.leaves_out.push_back(
        "files outside the workspace, credentials, files that shells, git or agents obey");
  if (rule.hosts.empty() && !rule.is_literal()) out.leaves_out.push_back("machines named in arguments");
  if (rule.up_to < Risk::Critical)
    out.leaves_out.push_back(fmt::format("anything of a risk above {}", name_of(rule.up_to)));
  out.leaves_out.push_back("what ttyward always refuses");
  return out;
}

}  // namespace ttyward::policy
