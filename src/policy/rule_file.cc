// rules.toml: reading, checking against its own examples, writing.
#include <fmt/format.h>
#include <re2/re2.h>
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <array>

#include "policy/command_facts.h"
#include "policy/rules.h"

namespace ttyward::policy {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr auto kKeys =
    std::to_array<std::string_view>({"name", "decision", "program", "args", "effect", "path", "regex",
                                     "command", "up_to", "reason", "match", "not_match"});

class RuleFile {
 public:
  RuleFile(RuleLevel level, const std::string& file, const std::string& root)
      : level_(level), file_(file), root_(root) {}

  Result<std::vector<Rule>> read(std::string_view text) {
    const toml::parse_result parsed = toml::parse(text, file_);
    if (!parsed) {
      const auto& where = parsed.error().source().begin;
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("{}:{}:{}: {}", file_, where.line, where.column, parsed.error().description()));
    }
    std::vector<Rule> rules;
    for (const auto& [key, value] : parsed.table()) {
      const toml::array* list = key.str() == "rule" ? value.as_array() : nullptr;
      if (list == nullptr) {
        // Other parts of ttyward have tables of their own in the project's file.
        if (key.str() == "rule" || level_ != RuleLevel::Project)
          return bad(value, fmt::format("'{}' is not known here; rules are written as [[rule]]", key.str()));
        continue;
      }
      for (const toml::node& node : *list) {
        const toml::table* table = node.as_table();
        if (table == nullptr) return bad(node, "a rule is a table: [[rule]]");
        Result<Rule> rule = read_rule(*table, rules.size() + 1);
        if (!rule) return tl::unexpected(rule.error());
        rules.push_back(std::move(*rule));
      }
    }
    return rules;
  }

 private:
  tl::unexpected<base::Error> bad(const toml::node& node, const std::string& what) const {
    const auto& where = node.source().begin;
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{}:{}:{}: {}", file_, where.line, where.column, what));
  }

  // A string, or a list of strings, or nothing.
  static std::vector<std::string> strings(const toml::table& table, std::string_view key) {
    std::vector<std::string> found;
    const toml::node* node = table.get(key);
    if (node == nullptr) return found;
    if (const auto text = node->value<std::string>()) found.push_back(*text);
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& item : *list) {
        if (const auto text = item.value<std::string>()) found.push_back(*text);
      }
    }
    return found;
  }

  static std::string one(const toml::table& table, std::string_view key) {
    const std::vector<std::string> found = strings(table, key);
    return found.empty() ? std::string() : found.front();
  }

  Result<Rule> read_rule(const toml::table& table, size_t number) const {
    for (const auto& [key, value] : table) {
      if (std::find(kKeys.begin(), kKeys.end(), key.str()) == kKeys.end())
        return bad(value, fmt::format("'{}' is not a key of a rule", key.str()));
      const toml::array* list = value.as_array();
      bool texts = value.is_string();
      if (list != nullptr) {
        texts = true;
        for (const toml::node& item : *list) texts &= item.is_string();
      }
      if (!texts) return bad(value, fmt::format("'{}' is text or a list of texts", key.str()));
    }
    Rule rule;
    rule.level = level_;
    rule.line = static_cast<int>(table.source().begin.line);
    rule.name = one(table, "name");
    if (rule.name.empty()) rule.name = fmt::format("{} rule {}", file_, number);
    rule.reason = one(table, "reason");
    const toml::node* decision = table.get("decision");
    if (decision == nullptr) return bad(table, "a rule needs a decision: allow, ask or deny");
    if (!parse_decision(one(table, "decision"), rule.decision))
      return bad(*decision, "a decision is allow, ask or deny");
    if (rule.decision == Decision::Allow && level_ == RuleLevel::Project) {
      return bad(*decision,
                 "a project's rules can only ask or deny: what may run unasked is up to the person whose "
                 "machine it is");
    }
    const std::string program = one(table, "program");
    rule.program = program.substr(0, program.find(' '));
    if (const size_t blank = program.find(' '); blank != std::string::npos)
      rule.subcommand = program.substr(blank + 1);
    rule.arguments = strings(table, "args");
    rule.command = one(table, "command");
    rule.path = one(table, "path");
    if (!rule.path.empty() && rule.path.front() != '/' && rule.path.front() != '*')
      rule.path = root_ + "/" + rule.path;
    if (const toml::node* effect = table.get("effect")) {
      rule.has_effect = true;
      if (!parse_effect(one(table, "effect"), rule.effect))
        return bad(*effect, "not the name of an effect: " + one(table, "effect"));
    }
    if (const toml::node* up_to = table.get("up_to")) {
      if (!parse_risk(one(table, "up_to"), rule.up_to))
        return bad(*up_to, "a risk is low, medium, high or critical");
    }
    if (const toml::node* regex = table.get("regex")) {
      rule.pattern = one(table, "regex");
      re2::RE2::Options options;
      options.set_log_errors(false);
      auto compiled = std::make_shared<re2::RE2>(rule.pattern, options);
      if (!compiled->ok()) return bad(*regex, "not a regular expression: " + compiled->error());
      rule.regex = std::move(compiled);
    }
    if (rule.program.empty() && rule.command.empty() && !rule.regex && !rule.has_effect &&
        rule.path.empty()) {
      return bad(table, "a rule has to say what it is about: program, command, regex, effect or path");
    }
    rule.matches = strings(table, "match");
    rule.not_matches = strings(table, "not_match");
    return check_examples(table, std::move(rule));
  }

  Result<Rule> check_examples(const toml::table& table, Rule rule) const {
    const FakeFiles files;
    const Place place{root_, root_, "/home/somebody", &files};
    const auto applies = [&](const std::string& command) {
      if (!rule.command.empty()) return rule.command == command;
      RuleSet set;
      set.add(rule);
      for (const CommandFact& fact : read_command(command, place).commands) {
        if (set.match_strict(fact).matched) return true;
        if (rule.decision != Decision::Allow) continue;
        for (const Finding& finding : fact.findings) {
          if (set.match_allow(fact, finding).matched) return true;
        }
        if (fact.findings.empty() && matches_command(rule, fact)) return true;
      }
      return false;
    };
    for (const std::string& example : rule.matches) {
      if (!applies(example))
        return bad(*table.get("match"),
                   fmt::format("rule '{}' should match its example '{}' but does not", rule.name, example));
    }
    for (const std::string& example : rule.not_matches) {
      if (applies(example))
        return bad(*table.get("not_match"),
                   fmt::format("rule '{}' should not match its example '{}' but does", rule.name, example));
    }
    return rule;
  }

  RuleLevel level_;
  const std::string& file_;
  const std::string& root_;
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

Result<std::vector<Rule>> parse_rules(std::string_view toml, RuleLevel level, const std::string& file_name,
                                      const std::string& root) {
  return RuleFile(level, file_name, root).read(toml);
}

std::string to_toml(const Rule& rule) {
  std::string out = "[[rule]]\n";
  const auto line = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) out += fmt::format("{} = {}\n", key, quoted(value));
  };
  line("name", rule.name);
  line("decision", name_of(rule.decision));
  line("program", rule.subcommand.empty() ? rule.program : rule.program + " " + rule.subcommand);
  const auto texts = [&](std::string_view key, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + quoted(value);
    if (!values.empty()) out += fmt::format("{} = [{}]\n", key, list);
  };
  texts("args", rule.arguments);
  if (rule.has_effect) line("effect", name_of(rule.effect));
  line("path", rule.path);
  line("regex", rule.pattern);
  line("command", rule.command);
  if (rule.up_to != Risk::High) line("up_to", name_of(rule.up_to));
  line("reason", rule.reason);
  texts("match", rule.matches);
  texts("not_match", rule.not_matches);
  return out;
}

}  // namespace ttyward::policy
