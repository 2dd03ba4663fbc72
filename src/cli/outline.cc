#include "cli/outline.h"

namespace ttyward::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

Values values_of(const std::string& type) {
  if (type.find('|') != std::string::npos) return Values::Choice;
  if (type == "FOLDER") return Values::Folders;
  if (type == "FILE") return Values::Files;
  if (type == "COMMAND") return Values::Commands;
  if (type == "TERM" || type == "TARGET") return Values::Terminals;
  return Values::Text;
}

std::vector<std::string> choices_of(const std::string& type) {
  return type.find('|') == std::string::npos ? std::vector<std::string>() : split(type, '|');
}

OutlineOption option_of(const CLI::Option& option) {
  OutlineOption out;
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  const std::string type = option.get_type_name();
  out.values = option.get_items_expected_max() == 0 ? Values::None : values_of(type);
  out.choices = out.values == Values::Choice ? choices_of(type) : std::vector<std::string>();
  out.value_name = out.values == Values::None ? "" : type;
  out.doc = option.get_description();
  out.default_value = option.get_default_str();
  out.repeatable = option.get_items_expected_max() > 1;
  return out;
}

OutlineArgument argument_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  Values values = values_of(type);
  if (values == Values::Text) values = values_of(option.get_name());
  return {option.get_name(), values, choices_of(type), option.get_description(),
          option.get_items_expected_max() > 1};
}

// `shared`: options of the program that may also stand after a verb.
Outline read(const CLI::App& app, const std::vector<OutlineOption>& shared) {
  Outline out;
  out.name = app.get_name();
  out.summary = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      out.arguments.push_back(argument_of(*option));
    } else {
      out.options.push_back(option_of(*option));
    }
  }
  out.options.insert(out.options.end(), shared.begin(), shared.end());
  std::vector<OutlineOption> for_verbs = shared;
  if (app.get_parent() == nullptr) {
    for (const OutlineOption& option : out.options)
      if (option.names.front() == "--json") for_verbs.push_back(option);
  }
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
    out.commands.push_back(read(*command, for_verbs));
  return out;
}

}  // namespace

Outline outline_of(const CLI::App& root) {
  return read(root, {});
}

}  // namespace ttyward::cli
