// rules.toml: reading, checking against its own examples, writing.
#include <fmt/format.h>
#include <re2/re2.h>
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "policy/command_facts.h"
#include "policy/rules.h"

namespace ttyward::policy {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr auto kKeys = std::to_array<std::string_view>({"name", "decision", "program", "args", "folder",
                                                        "effect", "path", "host", "sha256", "regex",
                                                        "command", "up_to", "reason", "match", "not_match"});
constexpr size_t kHashDigits = 64;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

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
      if (!texts) return bad(value, fmt::format("'{}' must be a string or a list of strings", key.str()));
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
      return bad(*decision, "a project's rules can only ask or deny: only your own rules.toml can allow");
    }
    if (auto read = read_command_part(table, rule); !read) return tl::unexpected(read.error());
    if (auto read = read_scope(table, rule); !read) return tl::unexpected(read.error());
    if (rule.program.empty() && rule.command.empty() && !rule.regex && rule.effects.empty() &&
        rule.paths.empty() && rule.hosts.empty()) {
      return bad(table, "a rule must say what it is about: program, command, regex, effect, path or host");
    }
    rule.matches = strings(table, "match");
    rule.not_matches = strings(table, "not_match");
    return check_examples(table, std::move(rule));
  }

  Result<void> read_command_part(const toml::table& table, Rule& rule) const {
    std::vector<std::string> words = split(one(table, "program"));
    if (!words.empty()) {
      rule.program = words.front();
      if (rule.program.find('/') != std::string::npos) rule.program = under_root(rule.program);
      rule.words.assign(words.begin() + 1, words.end());
    }
    rule.says_arguments = table.contains("args");
    rule.arguments = strings(table, "args");
    if (rule.says_arguments && rule.program.empty() && rule.decision == Decision::Allow)
      return bad(*table.get("args"),
                 "'program' is missing: a rule that allows by args must name the program");
    rule.command = one(table, "command");
    if (const toml::node* regex = table.get("regex")) {
      rule.pattern = one(table, "regex");
      re2::RE2::Options options;
      options.set_log_errors(false);
      auto compiled = std::make_shared<re2::RE2>(rule.pattern, options);
      if (!compiled->ok()) return bad(*regex, "not a regular expression: " + compiled->error());
      rule.regex = std::move(compiled);
    }
    if (const toml::node* hash = table.get("sha256")) {
      rule.script_hash = one(table, "sha256");
      if (rule.script_hash.size() != kHashDigits ||
          rule.script_hash.find_first_not_of("0123456789abcdef") != std::string::npos)
        return bad(*hash, "sha256 must have 64 digits of 0-9 and a-f, as printed by sha256sum");
      if (rule.decision != Decision::Allow || (rule.program.empty() && rule.command.empty()))
        return bad(*hash, "a sha256 belongs to a rule that allows a program or a command");
    }
    return {};
  }

  Result<void> read_scope(const toml::table& table, Rule& rule) const {
    if (const toml::node* folder = table.get("folder")) {
      rule.folder = one(table, "folder");
      const bool relative = !rule.folder.starts_with("/");
      if (relative && level_ != RuleLevel::Project) {
        return bad(*folder,
                   "a folder must be an absolute path: /home/me/project, or /home/me/project/** to include "
                   "all folders below it");
      }
      const bool below = rule.folder == "**" || rule.folder.ends_with("/**");
      if (below) rule.folder.resize(rule.folder.size() - (rule.folder == "**" ? 2 : 3));
      if (rule.folder.find_first_of("*?") != std::string::npos)
        return bad(*folder, "the only wildcard in a folder is /** at its end");
      rule.folder = under_root(rule.folder.empty() ? (relative ? "." : "/") : rule.folder);
      if (below) rule.folder += rule.folder == "/" ? "**" : "/**";
      if (rule.folder == "/**") rule.folder.clear();
    }
    for (std::string& path : rule.paths = strings(table, "path")) {
      if (!path.empty() && path.front() != '/' && path.front() != '*') path = root_ + "/" + path;
    }
    rule.hosts = strings(table, "host");
    for (std::string& host : rule.hosts) {
      if (host.find_first_of("/@ ") != std::string::npos)
        return bad(*table.get("host"), "a host is the name of a machine, such as localhost or *.example.com");
      std::transform(host.begin(), host.end(), host.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    }
    for (const std::string& name : strings(table, "effect")) {
      EffectKind kind{};
      if (!parse_effect(name, kind)) return bad(*table.get("effect"), "not the name of an effect: " + name);
      rule.effects.push_back(kind);
    }
    const toml::node* up_to = table.get("up_to");
    if (up_to == nullptr) return {};
    if (!parse_risk(one(table, "up_to"), rule.up_to))
      return bad(*up_to, "a risk is low, medium, high or critical");
    if (rule.up_to != Risk::Critical || rule.decision != Decision::Allow) return {};
    if (level_ == RuleLevel::Global) {
      return bad(*up_to,
                 "a rule file cannot allow critical commands: write up_to = \"high\", or allow one exact "
                 "command for a session with `ttyward approvals always ID --scope session`");
    }
    if (rule.command.empty() || rule.folder.empty() || rule.folder.ends_with("/**"))
      return bad(*up_to, "a critical command can be allowed only as one exact command in one folder");
    return {};
  }

  std::string under_root(const std::string& path) const {
    return normalize(path.starts_with("/") ? path : root_ + "/" + path);
  }

  Result<Rule> check_examples(const toml::table& table, Rule rule) const {
    // An example runs where the rule holds; what a script holds is looked at when a command is judged.
    const FakeFiles files;
    std::string cwd = rule.folder.empty() ? root_ : rule.folder;
    if (cwd.ends_with("/**")) cwd.resize(cwd.size() - 3);
    const Place place{cwd, cwd, "/home/somebody", &files};
    Rule tried = rule;
    tried.script_hash.clear();
    RuleSet set;
    set.add(tried);
    const auto applies = [&](const std::string& command) {
      if (!rule.command.empty()) return rule.command == command;
      for (const CommandFact& fact : read_command(command, place).commands) {
        if (set.match_strict(fact).matched) return true;
        if (rule.decision != Decision::Allow || !why_not_command(tried, fact, place).empty()) continue;
        if (fact.findings.empty() && rule.names_command()) return true;
        for (const Finding& finding : fact.findings) {
          if (why_not_objection(tried, finding).empty()) return true;
        }
      }
      return false;
    };
    for (const std::string& example : rule.matches) {
      if (applies(example)) continue;
      const bool no_arguments =
          rule.decision == Decision::Allow && !rule.says_arguments && !rule.program.empty();
      return bad(
          *table.get("match"),
          fmt::format(
              "rule '{}' should match its example '{}' but does not{}", rule.name, example,
              no_arguments
                  ? "; it names no arguments: write args = [\"...\"] for any, or list the arguments in order"
                  : ""));
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

std::string toml_string(std::string_view text) {
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
    if (!value.empty()) out += fmt::format("{} = {}\n", key, toml_string(value));
  };
  line("name", rule.name);
  line("decision", name_of(rule.decision));
  std::string program = rule.program;
  for (const std::string& word : rule.words) program += " " + word;
  line("program", program);
  const auto list = [](const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + toml_string(value);
    return "[" + text + "]";
  };
  const auto texts = [&](std::string_view key, const std::vector<std::string>& values) {
    if (values.size() == 1) line(key, values.front());
    if (values.size() > 1) out += fmt::format("{} = {}\n", key, list(values));
  };
  if (rule.says_arguments) out += fmt::format("args = {}\n", list(rule.arguments));
  line("regex", rule.pattern);
  line("command", rule.command);
  line("sha256", rule.script_hash);
  line("folder", rule.folder);
  std::vector<std::string> effects;
  for (const EffectKind kind : rule.effects) effects.emplace_back(name_of(kind));
  texts("effect", effects);
  texts("path", rule.paths);
  texts("host", rule.hosts);
  if (rule.up_to != Risk::High) line("up_to", name_of(rule.up_to));
  line("reason", rule.reason);
  if (!rule.matches.empty()) out += fmt::format("match = {}\n", list(rule.matches));
  if (!rule.not_matches.empty()) out += fmt::format("not_match = {}\n", list(rule.not_matches));
  return out;
}

}  // namespace ttyward::policy
