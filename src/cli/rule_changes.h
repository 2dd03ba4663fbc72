// `ttyward rules add|edit|remove|confirm`: changing a person's rules.
//
// The daemon makes the changes, so that it knows they were a person's; where none
// ever ran, the file itself is changed.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/verb.h"

namespace ttyward::cli {

// What the subcommands of `rules` are given.
struct RuleArguments {
  std::string session;
  std::string name;
  std::string file;
  std::string command;
  std::string cwd;
  bool yes = false;
  // Of a rule to be added.
  std::string decision = "allow";
  std::string program;
  std::string args;
  bool args_given = false;
  std::string folder;
  std::vector<std::string> effects, paths, hosts, matches, not_matches;
  std::string script;
  std::string regex;
  std::string exact;
  std::string up_to;
  std::string reason;
};

inline constexpr int kExitFound = 1;  // there is a mistake, or nothing of that name

CLI::App* declare_add(CLI::App& app, RuleArguments& args);
int add_rule(const RuleArguments& args);
int edit_rule(const RuleArguments& args);
int remove_rule(const RuleArguments& args);
int confirm_rules(const Globals& globals);

// The person's rules.toml.
std::string own_rules_file();
// Below the current folder unless absolute; a /** at its end stays.
std::string absolute_folder(std::string folder);
std::string indented_rule(const std::string& text);

}  // namespace ttyward::cli
