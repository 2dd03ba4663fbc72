// ttyward check: what would be decided about a command, and why. Runs nothing.
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "cli/current_folder.h"
#include "cli/local_policy.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"
#include "cli/verdict_text.h"
#include "policy/escaped_view.h"
#include "policy/paths.h"
#include "policy/verdict_json.h"

namespace ttyward::cli {
namespace check_verb {
namespace {

namespace json = boost::json;

struct CheckOptions {
  std::string command;
  std::string cwd;
  std::string mode;  // empty: what is configured
  bool batch = false;
  bool no_rules = false;
};

json::object as_object(const policy::Verdict& verdict) {
  return json::parse(policy::to_json(verdict)).get_object();
}

class Checker {
 public:
  Checker(const CheckOptions& options, const Globals& globals) : options_(options), globals_(globals) {}

  int run() {
    cwd_ = options_.cwd.empty() ? current_folder() : options_.cwd;
    if (!cwd_.starts_with("/")) cwd_ = policy::normalize(current_folder() + "/" + cwd_);
    auto made = LocalPolicy::for_check(options_.mode, cwd_, "check");
    if (!made) return complain("check", made.error().message, kExitUsage);
    policy_.emplace(std::move(*made));
    if (!options_.no_rules) {
      const gate::RulesAt& found = policy_->rules_at(cwd_);
      if (!found.errors.empty()) return complain("check", found.errors.front(), kExitFailure);
    }
    if (options_.batch) return run_batch();
    if (options_.command.empty())
      return complain("check", "give a command as one argument, or use --batch", kExitUsage);
    const policy::Verdict verdict = judge(options_.command);
    if (globals_.json) {
      json::object out = as_object(verdict);
      out["command"] = policy::escape_text(options_.command);
      std::printf("%s\n", json::serialize(out).c_str());
    } else {
      print_verdict(options_.command, verdict);
    }
    return 0;
  }

 private:
  policy::Verdict judge(const std::string& command) {
    gate::Action action;
    action.command = command;
    action.cwd = cwd_;
    return (options_.no_rules ? policy_->judge_without_rules(std::move(action))
                              : policy_->judge(std::move(action)))
        .verdict;
  }

  // One JSON object in, one JSON object out, line by line.
  int run_batch() {
    json::parse_options parsing;
    parsing.allow_invalid_utf8 = true;  // commands may hold any bytes; judging them is the point
    int status = 0;
    std::string line;
    while (std::getline(std::cin, line)) {
      if (line.empty()) continue;
      json::error_code error;
      const json::value request = json::parse(line, error, {}, parsing);
      const json::object* object = error ? nullptr : request.if_object();
      const json::value* command = object != nullptr ? object->if_contains("command") : nullptr;
      json::object out;
      if (object != nullptr && object->if_contains("id") != nullptr) out["id"] = *object->if_contains("id");
      if (command == nullptr || !command->is_string()) {
        out["error"] = "each line must be an object with the string \"command\"";
        status = kExitFailure;
      } else {
        const std::string text(command->get_string());
        for (auto& [key, value] : as_object(judge(text))) out[key] = std::move(value);
      }
      std::printf("%s\n", json::serialize(out).c_str());
    }
    return status;
  }

  const CheckOptions& options_;
  const Globals& globals_;
  std::string cwd_;
  std::optional<LocalPolicy> policy_;
};

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("command", options->command, "The command, as one argument");
  app.add_option("--cwd", options->cwd, "The folder it would run in (default: this one)")
      ->type_name("FOLDER");
  app.add_option("--mode", options->mode, "The mode: how much runs without asking")
      ->type_name("plan|default|auto-edit|auto|yolo");
  app.add_flag("--batch", options->batch,
               "Read {\"id\":…,\"command\":…} lines from standard input, print a verdict for each");
  app.add_flag("--no-rules", options->no_rules, "Ignore rule files: use only the built-in policy");
  return [options, &globals] { return Checker(*options, globals).run(); };
}

}  // namespace
}  // namespace check_verb

const Verb kCheckVerb = {"check", "Say whether a command may run, and why; run nothing", check_verb::declare};

}  // namespace ttyward::cli
