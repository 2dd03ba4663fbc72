// ttyward rules: what may run by whose word; making, changing and trying rules; confirming what others
// changed.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "base/folders.h"
#include "base/json_text.h"
#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/local_policy.h"
#include "cli/rule_changes.h"
#include "cli/verbs/verbs.h"
#include "cli/verdict_text.h"
#include "gate/confirmations.h"
#include "gate/rule_files.h"
#include "policy/escaped_view.h"
#include "policy/rule_words.h"
#include "policy/verdict_json.h"
#include "wire/types/policy_calls.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;
using base::Result;

std::string_view level_name(policy::RuleLevel level) {
  return level == policy::RuleLevel::Global    ? "global"
         : level == policy::RuleLevel::Project ? "project"
                                               : "session";
}

std::string shown(const std::string& text) {
  return policy::escape_text(text, true);
}

struct Listed {
  std::string name, level, text, source, words;
};

// Rules of files need no daemon; those of a session live in it.
Result<std::vector<Listed>> session_rules(const std::string& session) {
  auto answer = call_daemon("rules", wire::RulesRequest{session, ""});
  if (!answer) return tl::unexpected(answer.error());
  std::vector<Listed> out;
  for (const wire::ListedRule& rule : answer->rules) {
    if (rule.level != "session") continue;
    std::string words;
    const auto parsed = policy::parse_rules(rule.text, policy::RuleLevel::Session, "session rule", "/");
    if (parsed && !parsed->empty()) words = policy::in_words(parsed->front());
    out.push_back({rule.name, rule.level, rule.text, rule.source, std::move(words)});
  }
  return out;
}

std::string unconfirmed_in_words(const gate::UnconfirmedRule& each) {
  return each.change == gate::UnconfirmedRule::Change::Added
             ? "is not in effect yet: " + policy::in_words(each.rule)
             : "is still in effect although it was removed: " + policy::in_words(each.rule);
}

int list(const RuleArguments& args, const Globals& globals) {
  const gate::Confirmations confirmations(base::user_folders().state);
  gate::RuleFiles files(own_rules_file(), &confirmations);
  const gate::RulesAt& found = files.at(current_folder());
  std::vector<Listed> rules;
  for (size_t i = 0; i < found.rules.size(); ++i) {
    const policy::Rule& rule = found.rules[i];
    rules.push_back({rule.name, std::string(level_name(rule.level)), policy::to_toml(rule), found.sources[i],
                     policy::in_words(rule)});
  }
  if (!args.session.empty()) {
    auto more = session_rules(args.session);
    if (!more) return complain("rules", more.error().message, kExitFailure);
    rules.insert(rules.end(), more->begin(), more->end());
  }
  if (globals.json) {
    std::string all;
    for (const Listed& rule : rules) {
      all += (all.empty() ? "" : ",") + base::JsonObject()
                                            .text("name", rule.name)
                                            .text("level", rule.level)
                                            .text("words", rule.words)
                                            .text("text", rule.text)
                                            .text("source", rule.source)
                                            .str();
    }
    std::string errors;
    for (const std::string& each : found.errors)
      errors += (errors.empty() ? "" : ",") + base::json_quoted(each);
    std::string waiting;
    for (const gate::UnconfirmedRule& each : found.unconfirmed)
      waiting += (waiting.empty() ? "" : ",") + base::json_quoted(unconfirmed_in_words(each));
    fmt::print("{}\n", base::JsonObject()
                           .raw("rules", "[" + all + "]")
                           .raw("errors", "[" + errors + "]")
                           .raw("unconfirmed", "[" + waiting + "]")
                           .str());
  } else {
    for (const Listed& rule : rules) {
      fmt::print("# {}: {}\n# {}\n{}\n", rule.level, policy::escape_text(rule.source),
                 policy::escape_text(rule.words), shown(rule.text));
    }
    if (rules.empty() && found.errors.empty())
      fmt::print("there are no rules; they are stored in {}\n", own_rules_file());
  }
  for (const std::string& each : found.errors) complain("rules", policy::escape_text(each), 0);
  if (confirmations.standing() == gate::Confirmations::Standing::Broken)
    complain("rules",
             confirmations.problem() +
                 ": no rule or setting that loosens policy is in effect; see ttyward rules confirm",
             0);
  for (const gate::UnconfirmedRule& each : found.unconfirmed)
    complain("rules", policy::escape_text(unconfirmed_in_words(each)) + "; see ttyward rules confirm", 0);
  return found.errors.empty() ? 0 : kExitFound;
}

int check(const RuleArguments& args) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(args.file, error);
  if (!std::filesystem::exists(path, error))
    return complain("rules", args.file + ": there is no such file", kExitUsage);
  // A project's file may only tighten: it is judged by its name, as it will be when it counts.
  const bool project = path.filename() == ".ttyward.toml";
  gate::RuleFiles files(project ? "" : path.string());
  const gate::RulesAt& found = files.at(project ? path.parent_path().string() : "/");
  size_t count = 0;
  for (size_t i = 0; i < found.rules.size(); ++i) {
    const policy::Rule& rule = found.rules[i];
    if (found.sources[i] != path.string()) continue;
    ++count;
    if (rule.decision == policy::Decision::Allow && !rule.program.empty() && !rule.says_arguments &&
        !rule.regex) {
      complain(
          "rules",
          fmt::format("{}:{}: rule '{}' names no arguments, so it covers the bare command only; write args = "
                      "[\"...\"] to cover any",
                      args.file, rule.line, policy::escape_text(rule.name)),
          0);
    }
  }
  for (const std::string& each : found.errors) complain("rules", policy::escape_text(each), 0);
  if (!found.errors.empty()) return kExitFound;
  fmt::print("{}: {} rule{}, no errors\n", args.file, count, count == 1 ? "" : "s");
  return 0;
}

int test(const RuleArguments& args, const Globals& globals) {
  const std::string cwd = args.cwd.empty() ? current_folder() : absolute_folder(args.cwd);
  auto policy = LocalPolicy::for_check("", cwd, "rules");
  if (!policy) return complain("rules", policy.error().message, kExitUsage);
  const gate::RulesAt& found = policy->rules_at(cwd);
  if (!found.errors.empty()) return complain("rules", found.errors.front(), kExitFailure);
  gate::Action action;
  action.command = args.command;
  action.cwd = cwd;
  const Judged with = policy->judge(action);
  const Judged without = policy->judge_without_rules(action);
  if (globals.json) {
    json::object out = json::parse(policy::to_json(with.verdict)).get_object();
    out["without_rules"] = json::parse(policy::to_json(without.verdict));
    return print_json("rules", out);
  }
  print_verdict(args.command, with.verdict);
  const bool same = with.verdict.decision == without.verdict.decision &&
                    with.verdict.waived.size() == without.verdict.waived.size();
  fmt::print("{}\n", same && with.verdict.rule == without.verdict.rule
                         ? std::string("no rule decides: the verdict would be the same without rules")
                         : fmt::format("decided by: {}", policy::escape_text(with.verdict.rule)));
  fmt::print("without rules: {}, risk {}\n", name_of(without.verdict.decision),
             name_of(without.verdict.risk));
  return 0;
}

std::optional<policy::Rule> find_rule(const RuleArguments& args, bool& holds) {
  const gate::Confirmations confirmations(base::user_folders().state);
  gate::RuleFiles files(own_rules_file(), &confirmations);
  const gate::RulesAt& found = files.at(current_folder());
  holds = true;
  for (const policy::Rule& rule : found.rules) {
    if (rule.name == args.name) return rule;
  }
  holds = false;
  for (const gate::UnconfirmedRule& each : found.unconfirmed) {
    if (each.rule.name == args.name) return each.rule;
  }
  if (args.session.empty()) return std::nullopt;
  const auto more = session_rules(args.session);
  for (size_t i = 0; more && i < more->size(); ++i) {
    if ((*more)[i].name != args.name) continue;
    holds = true;
    auto parsed =
        policy::parse_rules((*more)[i].text, policy::RuleLevel::Session, "session rule", current_folder());
    if (parsed && !parsed->empty()) return parsed->front();
  }
  return std::nullopt;
}

int explain(const RuleArguments& args, const Globals& globals) {
  bool holds = false;
  const std::optional<policy::Rule> rule = find_rule(args, holds);
  if (!rule)
    return complain("rules", fmt::format("there is no rule '{}' here; see ttyward rules", args.name),
                    kExitFound);
  const policy::RuleScope scope = policy::scope_of(*rule);
  if (globals.json) {
    json::object out{{"name", rule->name}, {"words", policy::in_words(*rule)}, {"holds", holds}};
    out["covers"] = json::value_from(scope.covers);
    out["does_not_cover"] = json::value_from(scope.leaves_out);
    out["text"] = policy::to_toml(*rule);
    return print_json("rules", out);
  }
  fmt::print("rule '{}' {}\n", policy::escape_text(rule->name), policy::escape_text(policy::in_words(*rule)));
  if (!rule->reason.empty()) fmt::print("reason: {}\n", policy::escape_text(rule->reason));
  fmt::print("covers:\n");
  for (const std::string& line : scope.covers) fmt::print("  - {}\n", policy::escape_text(line));
  fmt::print("does not cover:\n");
  for (const std::string& line : scope.leaves_out) fmt::print("  - {}\n", policy::escape_text(line));
  if (!holds) fmt::print("It is not in effect: it was not confirmed. See ttyward rules confirm.\n");
  fmt::print("\n{}", indented_rule(shown(policy::to_toml(*rule))));
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<RuleArguments>();
  CLI::App* listing = app.add_subcommand("list", "List the rules that apply in this folder (the default)");
  listing->add_option("--session", args->session, "Include the rules of this session");
  CLI::App* adding = declare_add(app, *args);
  CLI::App* editing = app.add_subcommand("edit", "Change one of your rules in $EDITOR");
  editing->add_option("NAME", args->name, "The rule's name")->required();
  editing->add_flag("--yes", args->yes, "Store it without asking");
  CLI::App* removing = app.add_subcommand("remove", "Remove a rule from your rules.toml, or from a session");
  removing->add_option("NAME", args->name, "The rule's name")->required();
  removing->add_option("--session", args->session, "The session it belongs to");
  CLI::App* testing =
      app.add_subcommand("test", "Show which rule decides about a command, and why; runs nothing");
  testing->add_option("COMMAND", args->command, "The command, as one argument")->required();
  testing->add_option("--cwd", args->cwd, "The folder it would run in (default: this one)")
      ->type_name("FOLDER");
  CLI::App* explaining = app.add_subcommand("explain", "Show what a rule covers and what it does not");
  explaining->add_option("NAME", args->name, "The rule's name")->required();
  explaining->add_option("--session", args->session, "The session it belongs to");
  const CLI::App* confirming =
      app.add_subcommand("confirm", "Confirm changes that loosen policy and were not made through ttyward");
  CLI::App* checking = app.add_subcommand("check", "Check a rule file, including its examples");
  checking->add_option("FILE", args->file)->required();
  const CLI::App* where = app.add_subcommand("path", "Print the path of your rules");
  app.require_subcommand(0, 1);
  return [args, &globals, adding, editing, removing, testing, explaining, confirming, checking, where] {
    if (adding->parsed()) return add_rule(*args);
    if (editing->parsed()) return edit_rule(*args);
    if (removing->parsed()) return remove_rule(*args);
    if (testing->parsed()) return test(*args, globals);
    if (explaining->parsed()) return explain(*args, globals);
    if (confirming->parsed()) return confirm_rules(globals);
    if (checking->parsed()) return check(*args);
    if (where->parsed()) {
      const std::string path = own_rules_file();
      fmt::print("{}\n", globals.json ? base::JsonObject().text("path", path).str() : path);
      return 0;
    }
    return list(*args, globals);
  };
}

}  // namespace

const Verb kRules = {"rules", "List, add, test, explain and confirm rules about what may run", &declare};

}  // namespace ttyward::cli
