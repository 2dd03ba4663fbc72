// The command line as data: what completion scripts and the manual page are made from.
//
// Read from what the verbs told CLI11, so nothing is said twice. An option's type
// name says what its values are: a|b|c is a choice, FOLDER, FILE and COMMAND are
// what they say, TERM and TARGET are terminals there are, anything else is free text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace ttyward::cli {

enum class Values : uint8_t { None, Text, Choice, Folders, Files, Commands, Terminals };

struct OutlineOption {
  std::vector<std::string> names;  // with their dashes, long ones first
  Values values = Values::Text;    // None: a flag
  std::vector<std::string> choices;
  std::string value_name;  // CHARS in --output CHARS
  std::string doc;
  std::string default_value;
  bool repeatable = false;
};

struct OutlineArgument {
  std::string name;
  Values values = Values::Text;
  std::vector<std::string> choices;
  std::string doc;
  bool repeatable = false;
};

struct Outline {
  std::string name;
  std::string summary;
  std::vector<OutlineOption> options;
  std::vector<OutlineArgument> arguments;
  std::vector<Outline> commands;  // hidden ones are left out
};

// Of a program; options of the whole that verbs take too (--json) are listed with each.
Outline outline_of(const CLI::App& root);

}  // namespace ttyward::cli
