#include "cli/rule_changes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/folders.h"
#include "cli/ask_person.h"
#include "cli/current_folder.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/editor.h"
#include "gate/confirmations.h"
#include "gate/rule_text.h"
#include "policy/escaped_view.h"
#include "policy/file_view.h"
#include "policy/paths.h"
#include "policy/rule_words.h"
#include "policy/script_file.h"
#include "wire/types/policy_calls.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::string shown(const std::string& text) {
  return policy::escape_text(text, true);
}

// Where nothing was ever confirmed and no daemon runs, there is nobody who has to know: the first daemon
// takes the file as it finds it.
bool changes_file_itself() {
  if (gate::Confirmations(base::user_folders().state).standing() != gate::Confirmations::Standing::None)
    return false;
  return !client::Connection::open(daemon_options("rules"));
}

// The daemon changes the file, so that it knows who did.
int store(const std::string& text, const std::string& replaces) {
  if (changes_file_itself()) {
    if (!replaces.empty()) {
      if (auto removed = gate::remove_rules(own_rules_file(), replaces); !removed)
        return complain("rules", removed.error().message, kExitFailure);
    }
    if (auto added = gate::append_rules(own_rules_file(), {text}); !added)
      return complain("rules", added.error().message, kExitFailure);
  } else {
    const int status = with_daemon("rules", [&](client::Session& daemon) -> Outcome {
      auto done = daemon.call(wire::RuleAddRequest{text, replaces});
      if (!done) return tl::unexpected(done.error());
      return 0;
    });
    if (status != 0) return status;
  }
  fmt::print("stored in {}\n", own_rules_file());
  return 0;
}

// Words of a shell line without any of its magic: blanks separate, quotes hold together.
Result<std::vector<std::string>> split_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  bool in_word = false;
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote != '\0') return fail(ErrorCode::InvalidArgument, "--args: a quote is not closed");
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<std::string> rule_from_options(const RuleArguments& args) {
  policy::Rule rule;
  rule.name = args.name;
  if (!policy::parse_decision(args.decision, rule.decision))
    return fail(ErrorCode::InvalidArgument, "--decision is allow, ask or deny");
  rule.program = args.program;
  rule.says_arguments = args.args_given;
  auto words = split_words(args.args);
  if (!words) return tl::unexpected(words.error());
  rule.arguments = std::move(*words);
  if (!args.folder.empty()) rule.folder = absolute_folder(args.folder);
  for (const std::string& name : args.effects) {
    policy::EffectKind kind{};
    if (!policy::parse_effect(name, kind))
      return fail(ErrorCode::InvalidArgument, "--effect: not the name of an effect: " + name);
    rule.effects.push_back(kind);
  }
  rule.paths = args.paths;
  rule.hosts = args.hosts;
  if (!args.script.empty()) {
    const std::filesystem::path path = std::filesystem::absolute(args.script);
    const policy::RealFiles files;
    rule.script_hash = policy::content_hash(&files, path.string());
    if (rule.script_hash.empty())
      return fail(ErrorCode::InvalidArgument, "--script: cannot read " + args.script);
  }
  rule.pattern = args.regex;
  rule.command = args.exact;
  if (!args.up_to.empty() && !policy::parse_risk(args.up_to, rule.up_to))
    return fail(ErrorCode::InvalidArgument, "--up-to is low, medium, high or critical");
  rule.reason = args.reason;
  rule.matches = args.matches;
  rule.not_matches = args.not_matches;
  if (rule.name.empty()) {
    rule.name = args.decision + " " +
                (!args.program.empty() ? args.program
                 : !args.exact.empty() ? args.exact
                                       : args.regex);
    if (!args.args.empty()) rule.name += " " + args.args;
    if (!args.folder.empty())
      rule.name += " in " + std::filesystem::path(absolute_folder(args.folder)).string();
  }
  return policy::to_toml(rule);
}

bool says_rule(const RuleArguments& args) {
  return !args.program.empty() || !args.exact.empty() || !args.regex.empty() || !args.effects.empty() ||
         !args.paths.empty() || !args.hosts.empty();
}

// In words and as it will be written; wants a yes.
int show_and_store(const RuleArguments& args, const std::string& text, const std::string& replaces) {
  const auto rules = policy::parse_rules(text, policy::RuleLevel::Global, "the rule", current_folder());
  if (!rules) return complain("rules", rules.error().message, kExitUsage);
  if (rules->empty()) return complain("rules", "there is no [[rule]] in it", kExitUsage);
  std::string words;
  for (const policy::Rule& rule : *rules)
    words += fmt::format("rule '{}' {}\n", policy::escape_text(rule.name),
                         policy::escape_text(policy::in_words(rule)));
  fmt::print("{}\n{}\n", words, indented_rule(shown(text)));
  std::fflush(stdout);
  if (!args.yes && !ask_person("Store it?")) {
    return complain("rules",
                    "nothing was stored, because it was not confirmed with yes at a terminal; --yes stores "
                    "it without asking",
                    kExitFailure);
  }
  return store(text, replaces);
}

// What was changed without us, in words and as it is written. Empty: nothing.
std::string described(const wire::Unconfirmed& pending) {
  std::string out;
  if (!pending.problem.empty())
    out += shown(pending.problem) +
           "\nNo rule or setting that loosens policy is in effect until you confirm the current ones.\n\n";
  for (const wire::UnconfirmedRule& rule : pending.rules) {
    out += fmt::format("{} in rules.toml: '{}' {}\n\n{}\n",
                       rule.change == "added" ? "A rule was added" : "A rule was removed", shown(rule.name),
                       shown(rule.words), indented_rule(shown(rule.text)));
  }
  for (const wire::LoosenedSetting& setting : pending.settings) {
    out +=
        fmt::format("A setting was loosened ({}): {} = {}\n  {} stays in effect until you confirm it.\n\n",
                    shown(setting.where), shown(setting.name), shown(setting.wanted), shown(setting.holds));
  }
  return out;
}

}  // namespace

std::string own_rules_file() {
  return base::user_folders().config + "/rules.toml";
}

std::string indented_rule(const std::string& text) {
  std::string out = "  ";
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '\n' && i + 1 < text.size()) out += "  ";
  }
  return out.ends_with('\n') ? out : out + "\n";
}

std::string absolute_folder(std::string folder) {
  const bool below = folder.ends_with("/**") || folder == "**";
  if (below) folder.resize(folder.size() - (folder == "**" ? 2 : 3));
  if (!folder.starts_with("/"))
    folder = policy::normalize(current_folder() + "/" + (folder.empty() ? "." : folder));
  return below ? folder + "/**" : folder;
}

int add_rule(const RuleArguments& args) {
  if (is_agent()) return complain("rules", "only a person may change rules", kExitFailure);
  std::string text;
  if (says_rule(args)) {
    auto made = rule_from_options(args);
    if (!made) return complain("rules", made.error().message, kExitUsage);
    text = std::move(*made);
  } else if (::isatty(STDIN_FILENO) != 0) {
    return complain(
        "rules", "describe the rule with --program and other options, or give a [[rule]] on standard input",
        kExitUsage);
  } else {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (!text.ends_with('\n')) text += '\n';
  }
  return show_and_store(args, text, "");
}

int edit_rule(const RuleArguments& args) {
  if (is_agent()) return complain("rules", "only a person may change rules", kExitFailure);
  const auto file = gate::read_rule_file(own_rules_file());
  if (!file) return complain("rules", file.error().message, kExitFailure);
  const auto text = gate::text_of_rules(*file, args.name, own_rules_file());
  if (!text) return complain("rules", text.error().message, kExitFailure);
  if (text->empty())
    return complain("rules", fmt::format("there is no rule '{}'; see ttyward rules", args.name), kExitFound);
  auto edited = edit_text(*text);
  if (!edited) return complain("rules", edited.error().message, kExitFailure);
  if (*edited == *text) {
    fmt::print("nothing was changed\n");
    return 0;
  }
  if (!edited->ends_with('\n')) *edited += '\n';
  return show_and_store(args, *edited, args.name);
}

int remove_rule(const RuleArguments& args) {
  if (is_agent()) return complain("rules", "only a person may change rules", kExitFailure);
  size_t removed = 0;
  if (args.session.empty() && changes_file_itself()) {
    auto done = gate::remove_rules(own_rules_file(), args.name);
    if (!done) return complain("rules", done.error().message, kExitFailure);
    removed = *done;
  } else {
    const wire::RuleRemoveRequest request{
        args.name, args.session.empty() ? wire::RuleScope::Global : wire::RuleScope::Session, args.session};
    const int status = with_daemon("rules", [&](client::Session& daemon) -> Outcome {
      auto done = daemon.call(request);
      if (!done) return tl::unexpected(done.error());
      removed = done->removed;
      return 0;
    });
    if (status != 0) return status;
  }
  if (removed == 0) {
    return complain("rules",
                    fmt::format("there is no rule '{}' to remove; see ttyward rules list", args.name),
                    kExitFound);
  }
  fmt::print("removed {}\n", removed == 1 ? "one rule" : fmt::format("{} rules", removed));
  return 0;
}

int confirm_rules(const Globals& globals) {
  if (is_agent()) return complain("rules", "only a person may confirm rules", kExitFailure);
  return with_daemon("rules", [&](client::Session& daemon) -> Outcome {
    auto pending = daemon.call(wire::RulesUnconfirmedRequest{current_folder()});
    if (!pending) return tl::unexpected(pending.error());
    const std::string what = described(*pending);
    if (globals.json) return print_answer("rules", *pending);
    if (what.empty()) {
      fmt::print("there is nothing to confirm\n");
      return 0;
    }
    if (!can_ask_person()) {
      fmt::print("{}", what);
      std::fflush(stdout);
      return complain("rules", "confirming needs a terminal, and there is none", kExitFailure);
    }
    if (!ask_person("These changes loosen policy and were not made through ttyward:\n\n" + what +
                    "Did you make them, and should they take effect?"))
      return complain("rules", "not confirmed; the rules and settings confirmed before stay in effect",
                      kExitFailure);
    auto done = daemon.call(wire::RulesConfirmRequest{pending->digest});
    if (!done) return tl::unexpected(done.error());
    fmt::print("confirmed: the current rules and settings are in effect\n");
    return 0;
  });
}

CLI::App* declare_add(CLI::App& app, RuleArguments& args) {
  CLI::App* adding = app.add_subcommand("add", "Add a rule, from options or as a [[rule]] on standard input");
  adding->add_option("--name", args.name, "The rule's name");
  adding->add_option("--decision", args.decision, "allow, ask or deny")->capture_default_str();
  adding->add_option("--program", args.program, "The program, and its subcommand: 'git push'");
  adding
      ->add_option_function<std::string>(
          "--args",
          [&args](const std::string& text) {
            args.args = text;
            args.args_given = true;
          },
          "All its arguments, as one string; ... matches any arguments, <words> any plain words")
      ->type_name("TEXT");
  adding->add_option("--folder", args.folder,
                     "The folder it applies to; with /** also all folders below (default: anywhere)");
  adding->add_option("--effect", args.effects, "Only objections of this kind: write, network, execute …");
  adding->add_option("--path", args.paths, "Files it covers, such as build/**");
  adding->add_option("--host", args.hosts, "Machines it covers");
  adding->add_option("--script", args.script,
                     "The script it runs; the rule applies only while its content is unchanged");
  adding->add_option("--regex", args.regex, "A regular expression that matches the whole command");
  adding->add_option("--command", args.exact, "One exact command line");
  adding->add_option("--up-to", args.up_to, "The highest risk it covers: low, medium or high");
  adding->add_option("--reason", args.reason, "The reason, shown when the rule applies");
  adding->add_option("--match", args.matches,
                     "A command the rule must match; checked now and whenever the rule is loaded");
  adding->add_option("--not-match", args.not_matches, "A command the rule must not match");
  adding->add_flag("--yes", args.yes, "Store it without asking");
  return adding;
}

}  // namespace ttyward::cli
