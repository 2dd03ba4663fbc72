// ttyward rules: what may run by whose word; taking a rule back; checking a file.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <boost/json.hpp>

#include "base/folders.h"
#include "base/json_text.h"
#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/verbs/verbs.h"
#include "engine/gate_rule_file.h"
#include "engine/gate_rules.h"
#include "policy/escaped_view.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

constexpr int kExitFound = 1;  // there is a mistake, or nothing of that name

struct Arguments {
  std::string session;
  std::string name;
  std::string file;
};

std::string own_file() {
  return base::user_folders().config + "/rules.toml";
}

std::string_view level_name(policy::RuleLevel level) {
  return level == policy::RuleLevel::Global    ? "global"
         : level == policy::RuleLevel::Project ? "project"
                                               : "session";
}

struct Listed {
  std::string name, level, text, source;
};

// Rules of files need no daemon; those of a session live in it.
base::Result<std::vector<Listed>> session_rules(const std::string& session) {
  auto answer = call_daemon("rules", "rules", {{"session", session}});
  if (!answer) return tl::unexpected(answer.error());
  std::vector<Listed> out;
  const json::value* rules = answer->if_contains("rules");
  if (rules == nullptr || !rules->is_array()) return out;
  for (const json::value& rule : rules->get_array()) {
    if (!rule.is_object() || text_of(rule.get_object(), "level") != "session") continue;
    const json::object& object = rule.get_object();
    out.push_back({text_of(object, "name"), "session", text_of(object, "text"), text_of(object, "source")});
  }
  return out;
}

int list(const Arguments& args, const Globals& globals) {
  engine::GateRules files(own_file());
  const engine::RulesAt& found = files.at(current_folder());
  std::vector<Listed> rules;
  for (size_t i = 0; i < found.rules.size(); ++i) {
    const policy::Rule& rule = found.rules[i];
    rules.push_back(
        {rule.name, std::string(level_name(rule.level)), policy::to_toml(rule), found.sources[i]});
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
                                            .text("text", rule.text)
                                            .text("source", rule.source)
                                            .str();
    }
    std::string errors;
    for (const std::string& each : found.errors)
      errors += (errors.empty() ? "" : ",") + base::json_quoted(each);
    fmt::print("{}\n",
               base::JsonObject().raw("rules", "[" + all + "]").raw("errors", "[" + errors + "]").str());
  } else {
    for (const Listed& rule : rules) {
      fmt::print("# {}: {}\n{}\n", rule.level, policy::escape_text(rule.source),
                 policy::escape_text(rule.text, true));
    }
    if (rules.empty() && found.errors.empty()) fmt::print("no rules; they are written to {}\n", own_file());
  }
  for (const std::string& each : found.errors) complain("rules", policy::escape_text(each), 0);
  return found.errors.empty() ? 0 : kExitFound;
}

int remove(const Arguments& args) {
  if (is_agent()) return complain("rules", "only a person may change rules", kExitFailure);
  size_t removed = 0;
  if (args.session.empty()) {
    auto done = engine::remove_rules(own_file(), args.name);
    if (!done) return complain("rules", done.error().message, kExitFailure);
    removed = *done;
  } else {
    auto answer = call_daemon("rules", "rule_remove", {{"name", args.name}, {"scope", args.session}});
    if (!answer) return complain("rules", answer.error().message, kExitFailure);
    const json::value* count = answer->if_contains("removed");
    if (count != nullptr && count->is_int64()) removed = static_cast<size_t>(count->get_int64());
    if (count != nullptr && count->is_bool()) removed = count->get_bool() ? 1 : 0;
  }
  if (removed == 0) {
    return complain("rules",
                    fmt::format("there is no rule '{}' to remove; see ttyward rules list", args.name),
                    kExitFound);
  }
  fmt::print("removed {}\n", removed == 1 ? "one rule" : fmt::format("{} rules", removed));
  return 0;
}

int check(const Arguments& args) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(args.file, error);
  if (!std::filesystem::exists(path, error))
    return complain("rules", args.file + ": there is no such file", kExitUsage);
  // A project's file may only tighten: it is judged by its name, as it will be when it counts.
  const bool project = path.filename() == ".ttyward.toml";
  engine::GateRules files(project ? "" : path.string());
  const engine::RulesAt& found = files.at(project ? path.parent_path().string() : "/");
  size_t count = 0;
  for (const std::string& source : found.sources) count += source == path.string() ? 1 : 0;
  for (const std::string& each : found.errors) complain("rules", policy::escape_text(each), 0);
  if (!found.errors.empty()) return kExitFound;
  fmt::print("{}: {} rule{}, all well\n", args.file, count, count == 1 ? "" : "s");
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  CLI::App* listing =
      app.add_subcommand("list", "Rules that hold in this folder (what happens without a word)");
  listing->add_option("--session", args->session, "Those of this session, too");
  CLI::App* removing = app.add_subcommand("remove", "Take a rule out of your rules.toml, or of a session");
  removing->add_option("NAME", args->name, "The rule's name")->required();
  removing->add_option("--session", args->session, "The session it belongs to");
  CLI::App* checking = app.add_subcommand("check", "Whether a rule file is right, its examples included");
  checking->add_option("FILE", args->file)->required();
  const CLI::App* where = app.add_subcommand("path", "Where your rules are");
  app.require_subcommand(0, 1);
  return [args, &globals, removing, checking, where] {
    if (removing->parsed()) return remove(*args);
    if (checking->parsed()) return check(*args);
    if (where->parsed()) {
      fmt::print("{}\n", own_file());
      return 0;
    }
    return list(*args, globals);
  };
}

}  // namespace

const Verb kRules = {"rules", "List, remove and check the rules that say what may run", &declare};

}  // namespace ttyward::cli
