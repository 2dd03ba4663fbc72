// ttyward check: what would be decided about a command, and why. Runs nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "base/folders.h"
#include "cli/colour.h"
#include "cli/current_folder.h"
#include "cli/verb.h"
#include "cli/verbs/verbs.h"
#include "engine/gate_rules.h"
#include "policy/escaped_view.h"
#include "policy/evaluate.h"
#include "policy/verdict_json.h"

namespace ttyward::cli {
namespace {

namespace json = boost::json;

struct CheckOptions {
  std::string command;
  std::string cwd;
  std::string mode = "default";
  bool batch = false;
  bool no_rules = false;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

json::object as_object(const policy::Verdict& verdict) {
  return json::parse(policy::to_json(verdict)).get_object();
}

// What people see once: effects that name something, reasons that say something new.
std::vector<std::string> shown_effects(const policy::Verdict& verdict) {
  std::vector<std::string> lines;
  for (const policy::Effect& effect : verdict.effects) {
    if (effect.target.empty()) continue;
    std::string line = std::string(name_of(effect.kind)) + " " + policy::escape_text(effect.target);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

struct ShownReason {
  policy::Risk risk;
  std::string text;
  std::string places;  // "bytes 0-3, 10-14"
};

std::vector<ShownReason> shown_reasons(const policy::Verdict& verdict) {
  std::vector<ShownReason> reasons;
  for (const policy::Reason& reason : verdict.reasons) {
    const std::string place = fmt::format("{}-{}", reason.span.begin, reason.span.end);
    const auto same = std::find_if(reasons.begin(), reasons.end(), [&](const ShownReason& each) {
      return each.risk == reason.risk && each.text == reason.text;
    });
    if (same == reasons.end()) {
      reasons.push_back({reason.risk, reason.text, "bytes " + place});
    } else if (!same->places.ends_with(" " + place)) {
      same->places += ", " + place;
    }
  }
  return reasons;
}

void print_for_people(const std::string& command, const policy::Verdict& verdict) {
  const Paint paint = Paint::for_stdout();
  const std::string decision(name_of(verdict.decision));
  const std::string risk(name_of(verdict.risk));
  fmt::print("{}, risk {} ({})\n", paint(colour_of_decision(decision), decision),
             paint(colour_of_risk(risk), risk), policy::escape_text(verdict.rule));
  fmt::print("  {}\n", paint(Colour::Bold, policy::show_command(command)));
  if (verdict.commands.size() > 1) {
    fmt::print("would run:\n");
    for (const std::string& part : verdict.commands) fmt::print("  {}\n", policy::escape_text(part));
  }
  if (const auto effects = shown_effects(verdict); !effects.empty()) {
    fmt::print("effects:\n");
    for (const std::string& effect : effects) fmt::print("  {}\n", effect);
  }
  if (verdict.reasons.empty()) return;
  fmt::print("because it:\n");
  for (const ShownReason& reason : shown_reasons(verdict)) {
    const std::string name(name_of(reason.risk));
    fmt::print("  {} {} ({})\n", paint(colour_of_risk(name), fmt::format("{:<8}", name)),
               policy::escape_text(reason.text), reason.places);
  }
}

class Checker {
 public:
  Checker(const CheckOptions& options, const Globals& globals) : options_(options), globals_(globals) {}

  int run() {
    if (!policy::parse_mode(options_.mode, settings_.mode)) {
      return complain("check",
                      "there is no mode '" + options_.mode + "'; try plan, default, auto-edit or yolo",
                      kExitUsage);
    }
    place_.cwd = options_.cwd.empty() ? current_folder() : options_.cwd;
    if (!place_.cwd.starts_with("/")) place_.cwd = policy::normalize(current_folder() + "/" + place_.cwd);
    place_.workspace = place_.cwd;
    place_.home = environment("HOME").empty() ? "/root" : environment("HOME");
    place_.files = &files_;
    if (!options_.no_rules) {
      engine::GateRules files(base::user_folders().config + "/rules.toml");
      const engine::RulesAt& found = files.at(place_.cwd);
      if (!found.errors.empty()) return complain("check", found.errors.front(), kExitFailure);
      for (const policy::Rule& rule : found.rules) rules_.add(rule);
    }
    if (options_.batch) return run_batch();
    if (options_.command.empty())
      return complain("check", "which command? Give it as one argument, or use --batch", kExitUsage);
    const policy::Verdict verdict = policy::check(options_.command, place_, rules_, settings_);
    if (globals_.json) {
      json::object out = as_object(verdict);
      out["command"] = policy::escape_text(options_.command);
      std::printf("%s\n", json::serialize(out).c_str());
    } else {
      print_for_people(options_.command, verdict);
    }
    return 0;
  }

 private:
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
        out["error"] = "a line is an object with the text \"command\"";
        status = kExitFailure;
      } else {
        const std::string text(command->get_string());
        for (auto& [key, value] : as_object(policy::check(text, place_, rules_, settings_)))
          out[key] = std::move(value);
      }
      std::printf("%s\n", json::serialize(out).c_str());
    }
    return status;
  }

  const CheckOptions& options_;
  const Globals& globals_;
  policy::RealFiles files_;
  policy::Place place_;
  policy::RuleSet rules_;
  policy::Settings settings_;
};

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("command", options->command, "The command, as one argument");
  app.add_option("--cwd", options->cwd, "The folder it would run in (default: this one)")
      ->type_name("FOLDER");
  app.add_option("--mode", options->mode, "How much runs unasked")->type_name("plan|default|auto-edit|yolo");
  app.add_flag("--batch", options->batch,
               "Read {\"id\":…,\"command\":…} lines from standard input, print a verdict for each");
  app.add_flag("--no-rules", options->no_rules, "Leave rule files aside: built-in policy only");
  return [options, &globals] { return Checker(*options, globals).run(); };
}

}  // namespace

const Verb kCheckVerb = {"check", "Say whether a command may run, and why; run nothing", declare};

}  // namespace ttyward::cli
