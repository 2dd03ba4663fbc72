#include "policy/rules.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>

#include "policy/script_file.h"

namespace ttyward::policy {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool is_known(const CommandFact& fact, size_t word) {
  return word < fact.known.size() && fact.known[word] == Known::All;
}

bool all_known(const CommandFact& fact) {
  for (size_t i = 0; i < fact.argv.size(); ++i) {
    if (!is_known(fact, i)) return false;
  }
  return true;
}

// A word that cannot be an option, assign something, or lead out of the folder.
bool is_plain_word(std::string_view word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_.,/@%-").find(c) != std::string_view::npos;
  };
  if (word.empty() || !std::all_of(word.begin(), word.end(), plain)) return false;
  if (word.front() == '-' || word.front() == '/' || word.front() == '@') return false;
  return word != ".." && !word.starts_with("../") && !word.ends_with("/..") &&
         word.find("/../") == std::string_view::npos;
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  // A live * in the text stands for more than the one character that ? matches.
  const bool live = text.find('*') != std::string_view::npos;
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return !(live && pattern.find('?') != std::string::npos) && matches_wildcards(pattern, text);
  });
}

// Every word of argv after the program, in order. Row by row over the patterns, as matches_wildcards.
bool matches_all_arguments(const std::vector<std::string>& patterns, const CommandFact& fact) {
  const size_t count = fact.argv.size() - 1;
  std::vector<char> reached(count + 1, 0);  // reached[i]: the patterns so far match the first i words
  reached[0] = 1;
  for (const std::string& pattern : patterns) {
    if (pattern == kAnyArguments || pattern == kPlainWords) {
      for (size_t i = 1; i <= count; ++i) {
        const bool fits = pattern == kAnyArguments || (is_known(fact, i) && is_plain_word(fact.argv[i]));
        if (reached[i - 1] != 0 && fits) reached[i] = 1;
      }
      continue;
    }
    for (size_t i = count; i > 0; --i)
      reached[i] =
          reached[i - 1] != 0 && is_known(fact, i) && matches_wildcards(pattern, fact.argv[i]) ? 1 : 0;
    reached[0] = 0;
  }
  return reached[count] != 0;
}

std::vector<std::string> all_patterns(const Rule& rule) {
  std::vector<std::string> patterns = rule.words;
  if (rule.regex && !rule.says_arguments) patterns.emplace_back(kAnyArguments);  // the expression says it
  patterns.insert(patterns.end(), rule.arguments.begin(), rule.arguments.end());
  return patterns;
}

bool same_program(const Rule& rule, const CommandFact& fact) {
  if (fact.argv.empty() || !is_known(fact, 0)) return false;
  const std::string& written = fact.argv.front();
  if (rule.program.find('/') == std::string::npos)
    return rule.program == fact.program && is_system_program(written);
  return !is_system_program(written) && script_of(fact) == rule.program;
}

bool is_in_folder(const std::string& folder, const std::string& cwd) {
  if (folder.ends_with("/**")) {
    const std::string top = folder.substr(0, folder.size() - 3);
    return cwd == top || cwd.starts_with(top + "/");
  }
  return cwd == folder;
}

bool is_path(std::string_view target) {
  return target.starts_with("/") && target.find("…") == std::string_view::npos;
}

bool is_named(const std::vector<EffectKind>& kinds, EffectKind kind) {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Of a rule that objects: any of what it names.
bool matches_target(const Rule& rule, const Effect& effect) {
  if (!is_named(rule.effects, effect.kind)) return false;
  if (rule.paths.empty() && rule.hosts.empty()) return true;
  if (any_matches(rule.paths, effect.target)) return true;
  return effect.kind == EffectKind::Network && any_matches(rule.hosts, host_of(effect.target));
}

// The script of a whole line, if it runs just one.
std::string only_script(const Facts& facts) {
  std::string only;
  for (const CommandFact& fact : facts.commands) {
    const std::string script = script_of(fact);
    if (script.empty() || script == only) continue;
    if (!only.empty()) return {};
    only = script;
  }
  return only;
}

bool has_content(const std::string& script, const std::string& hash, const Place& place) {
  return content_hash(place.files, script) == hash;
}

}  // namespace

bool Rule::names_command() const {
  return !program.empty() || regex;
}

bool Rule::is_literal() const {
  if (program.empty() || regex) return false;
  return std::none_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == kAnyArguments || argument == kPlainWords ||
           argument.find_first_of("*?") != std::string::npos;
  });
}

// Row by row, so that many stars cost no more than a few.
bool matches_wildcards(std::string_view pattern, std::string_view text) {
  std::vector<char> reached(text.size() + 1, 0);  // reached[i]: the pattern so far matches text[0, i)
  reached[0] = 1;
  for (size_t p = 0; p < pattern.size(); ++p) {
    const char c = pattern[p];
    if (c == '*') {
      const bool deep = pattern.substr(p).starts_with("**");
      if (deep) ++p;
      for (size_t i = 1; i <= text.size(); ++i) {
        if (reached[i - 1] != 0 && (deep || text[i - 1] != '/')) reached[i] = 1;
      }
      continue;
    }
    for (size_t i = text.size(); i > 0; --i)
      reached[i] = reached[i - 1] != 0 && (c == '?' || c == text[i - 1]) ? 1 : 0;
    reached[0] = 0;
  }
  return reached[text.size()] != 0;
}

std::string host_of(std::string_view address) {
  if (const size_t scheme = address.find("://"); scheme != std::string_view::npos)
    address.remove_prefix(scheme + 3);
  address = address.substr(0, address.find_first_of("/?#"));
  if (const size_t at = address.rfind('@'); at != std::string_view::npos) address.remove_prefix(at + 1);
  std::string host;
  if (address.starts_with("[")) {
    const size_t close = address.find(']');
    if (close == std::string_view::npos) return {};
    host = address.substr(1, close - 1);
  } else {
    host = address.substr(0, address.find(':'));
  }
  for (char& c : host) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '.' && c != '-' && c != '_' && c != ':') return {};
    c = static_cast<char>(std::tolower(byte));
  }
  return host;
}

std::string why_not_command(const Rule& rule, const CommandFact& fact, const Place& place) {
  if (!rule.command.empty()) return "it is about one exact line";
  if (!rule.program.empty()) {
    if (!same_program(rule, fact)) return "it is about " + rule.program;
    if (!matches_all_arguments(all_patterns(rule), fact)) {
      return rule.says_arguments || !rule.words.empty()
                 ? "its arguments are not those the rule names"
                 : "the rule names no arguments; args = [\"...\"] would cover any";
    }
  }
  if (rule.regex) {
    if (!all_known(fact)) return "a part of the command is only known when it runs";
    if (!re2::RE2::FullMatch(joined(fact.argv), *rule.regex))
      return "its expression does not match all of it";
  }
  if (!rule.folder.empty() && (fact.cwd.empty() || !is_in_folder(rule.folder, fact.cwd)))
    return "it holds in " + rule.folder;
  if (!rule.script_hash.empty() && !has_content(script_of(fact), rule.script_hash, place))
    return "the script's content is not what was allowed";
  return {};
}

namespace {

// A wildcard does not reach files that shells, git or agents obey: those are named in full.
bool covers_path(const Rule& rule, const Finding& finding) {
  if (!is_path(finding.target)) return false;
  if (finding.control)
    return std::find(rule.paths.begin(), rule.paths.end(), finding.target) != rule.paths.end();
  return any_matches(rule.paths, finding.target);
}

// A rule about a host is about asking it something over the web.
bool is_other_scheme(std::string_view address) {
  const size_t scheme = address.find("://");
  return scheme != std::string_view::npos && !address.starts_with("http://") &&
         !address.starts_with("https://");
}

}  // namespace

std::string why_not_objection(const Rule& rule, const Finding& finding) {
  if (finding.decision == Decision::Deny) return "a rule cannot allow what is refused";
  if (finding.risk > rule.up_to)
    return fmt::format("it covers risks up to {}, and this is {}", name_of(rule.up_to),
                       name_of(finding.risk));
  if (!is_named(rule.effects, finding.effect))
    return fmt::format("it does not cover the effect {}", name_of(finding.effect));
  switch (finding.effect) {
    case EffectKind::Write:
    case EffectKind::Delete:
      // Without a target it is what the program does in general.
      if (finding.target.empty() && rule.names_command()) return {};
      if (rule.paths.empty() && finding.zone == Zone::Workspace) return {};
      if (covers_path(rule, finding)) return {};
      return finding.control && any_matches(rule.paths, finding.target)
                 ? "a wildcard does not cover files that shells, git or agents obey: " + finding.target
                 : "it does not cover the path " + finding.target;
    case EffectKind::Read:
    case EffectKind::Secret:
    case EffectKind::List:
      if (!rule.hosts.empty() && finding.effect == EffectKind::Secret && !rule.is_literal())
        return "it is about talking to a host, not about credentials";
      if (!is_path(finding.target) && rule.paths.empty() && rule.names_command()) return {};
      if (is_path(finding.target) && any_matches(rule.paths, finding.target)) return {};
      return "it does not cover the path " + finding.target;
    case EffectKind::Network:
      if (!rule.hosts.empty()) {
        if (is_other_scheme(finding.target)) return "it covers http and https, not " + finding.target;
        if (any_matches(rule.hosts, host_of(finding.target)) && !host_of(finding.target).empty()) return {};
        return "it does not cover the host " + finding.target;
      }
      // Which machine it is has to be certain: by the program alone, by arguments that are spelled out, or by
      // an expression on all of the command.
      if (finding.target.empty() || rule.is_literal() || rule.regex) return {};
      return "it names no host, and " + finding.target + " is one";
    case EffectKind::Privilege:
      if (!is_path(finding.target) || any_matches(rule.paths, finding.target) ||
          (rule.paths.empty() && rule.is_literal()))
        return {};
      return "it does not cover the path " + finding.target;
    case EffectKind::Process:
    case EffectKind::Install:
    case EffectKind::Execute:
    case EffectKind::State:
    case EffectKind::Unknown:
      break;
  }
  if (!rule.hosts.empty() && !rule.is_literal() && rule.effects.empty() &&
      (finding.effect == EffectKind::Execute || finding.effect == EffectKind::Unknown))
    return "it is about talking to a host, not about what is run or not known";
  // Only about paths: an objection without one is another matter.
  if (!rule.names_command() && !rule.paths.empty()) return "it is about paths";
  return {};
}

bool objects_to_command(const Rule& rule, const CommandFact& fact) {
  if (!rule.command.empty()) return false;
  if (!rule.program.empty()) {
    const bool by_path = rule.program.find('/') != std::string::npos;
    if (by_path ? script_of(fact) != rule.program : rule.program != fact.program) return false;
  }
  if (!rule.words.empty() && joined(rule.words) != fact.subcommand) {
    for (size_t i = 0; i < rule.words.size(); ++i) {
      if (i + 1 >= fact.argv.size() || fact.argv[i + 1] != rule.words[i]) return false;
    }
  }
  for (const std::string& wanted : rule.arguments) {
    bool found = false;
    for (size_t i = 1; i < fact.argv.size() && !found; ++i) found = matches_wildcards(wanted, fact.argv[i]);
    if (!found) return false;
  }
  if (rule.regex && !re2::RE2::PartialMatch(joined(fact.argv), *rule.regex)) return false;
  return rule.folder.empty() || fact.cwd.empty() || is_in_folder(rule.folder, fact.cwd);
}

RuleMatch RuleSet::match_strict(const CommandFact& fact) const {
  RuleMatch best;
  for (const Rule& rule : rules_) {
    if (rule.decision == Decision::Allow || (best.matched && rule.decision <= best.decision) ||
        !objects_to_command(rule, fact))
      continue;
    if (!rule.effects.empty() || !rule.paths.empty() || !rule.hosts.empty()) {
      if (std::none_of(fact.effects.begin(), fact.effects.end(),
                       [&](const Effect& effect) { return matches_target(rule, effect); }))
        continue;
    }
    best = {true, rule.decision, rule.name, rule.reason, Risk::Low};
  }
  return best;
}

RuleMatch RuleSet::match_allow(const CommandFact& fact, const Finding& finding, const Place& place,
                               std::vector<NearMiss>* near) const {
  for (const Rule& rule : rules_) {
    if (rule.decision != Decision::Allow || rule.level == RuleLevel::Project || !rule.command.empty())
      continue;
    std::string why = why_not_command(rule, fact, place);
    if (why.empty()) why = why_not_objection(rule, finding);
    if (why.empty()) return {true, Decision::Allow, rule.name, rule.reason, rule.up_to};
    if (near != nullptr && !rule.program.empty() && same_program(rule, fact))
      near->push_back({rule.name, why});
  }
  return {};
}

RuleMatch RuleSet::match_exact(std::string_view command, const Facts& facts, const Place& place) const {
  RuleMatch best;
  for (const Rule& rule : rules_) {
    if (rule.command.empty() || rule.command != command) continue;
    if (!rule.folder.empty() && !is_in_folder(rule.folder, normalize(place.cwd))) continue;
    if (rule.decision == Decision::Allow) {
      if (rule.level == RuleLevel::Project || !facts.understood) continue;
      if (!rule.script_hash.empty() && !has_content(only_script(facts), rule.script_hash, place)) continue;
    }
    const bool graver =
        rule.decision > best.decision || (rule.decision == best.decision && rule.up_to > best.up_to);
    if (!best.matched || graver) best = {true, rule.decision, rule.name, rule.reason, rule.up_to};
  }
  return best;
}

}  // namespace ttyward::policy
