#include "policy/always_allow.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/mask_secrets.h"
#include "policy/script_file.h"

namespace ttyward::policy {
namespace {

// Programs whose arguments are all files or tests to look at, the first one included.
constexpr auto kCheckers = std::to_array<std::string_view>(
    {"pytest", "jest", "vitest", "mocha", "eslint", "ruff", "flake8", "pylint", "mypy", "shellcheck",
     "prettier", "black", "tsc", "rspec", "phpunit", "clang-tidy", "clang-format"});

Risk gravest(const CommandFact& fact) {
  Risk risk = Risk::Low;
  for (const Finding& finding : fact.findings) risk = std::max(risk, finding.risk);
  return risk;
}

std::string last_part(const std::string& folder) {
  return folder == "/" ? folder : folder.substr(folder.rfind('/') + 1);
}

bool is_path(const std::string& target) {
  return target.starts_with("/") && target.find("…") == std::string::npos;
}

template <typename T>
void add_once(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

// A word that can stand in `program`, which is split at blanks, and means itself in `args`.
bool is_simple(std::string_view word) {
  return !word.empty() && word.find_first_of(" \t\n*?") == std::string_view::npos && word != kAnyArguments &&
         word != kPlainWords;
}

// What belongs to the program's name: the subcommand, or the module that python runs.
size_t fixed_words(const CommandFact& fact) {
  if (fact.argv.size() > 2 && is_interpreter(fact.program) && fact.argv[1] == "-m" && is_simple(fact.argv[2]))
    return 2;
  if (fact.argv.size() > 1 && !fact.subcommand.empty() && fact.argv[1] == fact.subcommand &&
      is_simple(fact.subcommand))
    return 1;
  return 0;
}

// An interpreter that gets its program from somewhere other than the command line would run anything.
bool runs_anything(const CommandFact& fact) {
  return is_interpreter(fact.program) && is_system_program(fact.argv.front()) && script_of(fact).empty() &&
         fixed_words(fact) != 2;
}

std::optional<Rule> program_rule(const CommandFact& fact, const Place& place) {
  if (fact.program.empty() || fact.cwd.empty() || fact.argv.empty() || runs_anything(fact))
    return std::nullopt;
  Rule rule;
  rule.decision = Decision::Allow;
  rule.program = fact.program;
  for (size_t i = 0; i < fact.argv.size(); ++i) {
    if (i >= fact.known.size() || fact.known[i] != Known::All) return std::nullopt;
    // A literal argument that a rule would read as a wildcard: only the exact line says it.
    if (i > 0 && (fact.argv[i] == kAnyArguments || fact.argv[i] == kPlainWords ||
                  fact.argv[i].find_first_of("*?") != std::string::npos))
      return std::nullopt;
  }
  const std::string script = script_of(fact);
  if (!is_system_program(fact.argv.front())) {
    if (script.empty() || !is_simple(script)) return std::nullopt;
    rule.program = script;
  }
  if (!script.empty()) {
    rule.script_hash = content_hash(place.files, script);
    if (rule.script_hash.empty()) return std::nullopt;
  }
  const size_t fixed = fixed_words(fact);
  for (size_t i = 1; i < fact.argv.size(); ++i)
    (i <= fixed ? rule.words : rule.arguments).push_back(fact.argv[i]);
  rule.says_arguments = true;
  rule.folder = fact.cwd;
  rule.up_to = gravest(fact);
  for (const Finding& finding : fact.findings) {
    add_once(rule.effects, finding.effect);
    const bool on_path = finding.effect != EffectKind::Network && finding.effect != EffectKind::Execute;
    if (on_path && is_path(finding.target)) add_once(rule.paths, finding.target);
    if (finding.effect == EffectKind::Network && !finding.target.empty()) {
      const std::string host = host_of(finding.target);
      if (host.empty()) return std::nullopt;
      add_once(rule.hosts, host);
    }
  }
  rule.name = "always: " + rule.program;
  for (const std::string& word : rule.words) rule.name += " " + word;
  for (const std::string& word : rule.arguments) rule.name += " " + word;
  if (rule.name.size() > 60) rule.name.resize(rule.name.find_last_of(' ', 60));
  rule.name += " in " + last_part(rule.folder);
  return rule;
}

std::optional<Rule> redirection_rule(const CommandFact& fact) {
  if (!fact.program.empty() || fact.cwd.empty() || fact.findings.size() != 1) return std::nullopt;
  const Finding& finding = fact.findings.front();
  if (finding.effect != EffectKind::Write || !is_path(finding.target) ||
      finding.target.find_first_of("*?") != std::string::npos)
    return std::nullopt;
  Rule rule;
  rule.decision = Decision::Allow;
  rule.effects = {EffectKind::Write};
  rule.paths = {finding.target};
  rule.folder = fact.cwd;
  rule.up_to = finding.risk;
  rule.name = "always: write " + last_part(finding.target) + " in " + last_part(rule.folder);
  return rule;
}

// The code stands in the line: not in a file whose content would have to stay, nor in what it is fed.
bool has_code(const CommandFact& fact) {
  if (fixed_words(fact) == 2) return true;
  return std::any_of(fact.argv.begin(), fact.argv.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && word[1] != '-' &&
           (word.back() == 'c' || word.back() == 'e');
  });
}

// The line itself, byte by byte.
std::optional<Rule> exact_rule(std::string_view command, const Facts& facts, const Place& place) {
  Rule rule;
  rule.decision = Decision::Allow;
  rule.command = command;
  rule.folder = normalize(place.cwd);
  rule.up_to = Risk::Low;
  for (const Finding& finding : facts.findings) rule.up_to = std::max(rule.up_to, finding.risk);
  std::string script;
  for (const CommandFact& fact : facts.commands) {
    rule.up_to = std::max(rule.up_to, gravest(fact));
    // What the same bytes do must not depend on a variable, or on what another command prints.
    for (const std::string& word : fact.argv) {
      if (word.find("…") != std::string::npos) return std::nullopt;
    }
    for (const Known known : fact.known) {
      if (known == Known::Part) return std::nullopt;
    }
    const std::string runs = script_of(fact);
    if (runs.empty() && is_interpreter(fact.program) && !has_code(fact)) return std::nullopt;
    if (runs.empty() || runs == script) continue;
    if (!script.empty()) return std::nullopt;
    script = runs;
  }
  if (!script.empty()) {
    rule.script_hash = content_hash(place.files, script);
    if (rule.script_hash.empty()) return std::nullopt;
  }
  rule.name = "always: this line in " + last_part(rule.folder) + ", " + std::string(command.substr(0, 40));
  std::replace(rule.name.begin(), rule.name.end(), '\n', ' ');
  return rule;
}

// The message of a commit or a tag: only text.
bool is_message(const Rule& rule, size_t argument) {
  if (argument == 0 || rule.program != "git") return false;
  const std::string& option = rule.arguments[argument - 1];
  return option == "-m" || option == "-am" || option == "--message";
}

// One step: the same in folders below; for a script, whatever it holds; for what takes names or texts, any of
// them. Never another program or subcommand, never another option.
Rule widened(const Rule& narrow, const Place& place) {
  Rule rule = narrow;
  if (!rule.script_hash.empty()) {
    rule.script_hash.clear();
    rule.name += ", with any content";
    return rule;
  }
  rule.name += " and below";
  if (rule.folder != "/") rule.folder += "/**";
  const bool in_workspace = !place.workspace.empty() &&
                            std::all_of(rule.paths.begin(), rule.paths.end(), [&](const std::string& path) {
                              return path.starts_with(place.workspace + "/");
                            });
  if (rule.program.empty()) {
    if (in_workspace) rule.paths = {rule.paths.front().substr(0, rule.paths.front().rfind('/')) + "/**"};
    return rule;
  }
  // The first word may say what is done, or which machine is talked to.
  const bool talks =
      std::find(rule.effects.begin(), rule.effects.end(), EffectKind::Network) != rule.effects.end();
  bool first_is_name = talks || (rule.words.empty() && std::find(kCheckers.begin(), kCheckers.end(),
                                                                 rule.program) == kCheckers.end());
  std::vector<std::string> arguments;
  for (size_t i = 0; i < rule.arguments.size(); ++i) {
    const std::string& argument = rule.arguments[i];
    if (argument.starts_with("-")) {
      arguments.push_back(argument);
    } else if (is_message(narrow, i)) {
      arguments.emplace_back("**");
    } else if (first_is_name || (i > 0 && rule.arguments[i - 1].starts_with("-"))) {
      arguments.push_back(argument);  // a subcommand nobody knows, or the value of an option
      first_is_name = false;
    } else if (arguments.empty() || arguments.back() != kPlainWords) {
      arguments.emplace_back(kPlainWords);
    }
  }
  if (rule.hosts.empty()) {
    // Files that other arguments name are fine where ordinary writing is.
    if (arguments != rule.arguments && in_workspace) rule.paths.clear();
    rule.arguments = std::move(arguments);
  }
  return rule;
}

bool holds_secret(const std::vector<Rule>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const Rule& rule) {
    const std::string text = to_toml(rule);
    return base::mask_secrets(text) != text;
  });
}

std::vector<Rule> rules_by_command(const Facts& facts, const Place& place) {
  std::vector<Rule> rules;
  if (!facts.findings.empty()) return {};
  for (const CommandFact& fact : facts.commands) {
    if (fact.findings.empty()) continue;
    if (gravest(fact) == Risk::Critical) return {};
    std::optional<Rule> rule = fact.program.empty() ? redirection_rule(fact) : program_rule(fact, place);
    if (!rule) return {};
    const bool known = std::any_of(rules.begin(), rules.end(),
                                   [&](const Rule& other) { return to_toml(other) == to_toml(*rule); });
    if (!known) rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace

AlwaysOffer offer_always(std::string_view command, const Facts& facts, const Place& place) {
  AlwaysOffer offer;
  if (!facts.understood) return offer;
  const auto refused = [](const Finding& finding) { return finding.decision == Decision::Deny; };
  for (const CommandFact& fact : facts.commands) {
    if (std::any_of(fact.findings.begin(), fact.findings.end(), refused)) return offer;
  }
  if (std::any_of(facts.findings.begin(), facts.findings.end(), refused)) return offer;
  offer.rules = rules_by_command(facts, place);
  if (!offer.rules.empty()) {
    for (const Rule& rule : offer.rules) offer.wider.push_back(widened(rule, place));
  } else if (std::optional<Rule> exact = exact_rule(command, facts, place)) {
    offer.session_only = exact->up_to == Risk::Critical;
    offer.rules.push_back(std::move(*exact));
  }
  if (holds_secret(offer.rules)) return {};
  return offer;
}

}  // namespace ttyward::policy
