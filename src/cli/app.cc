#include "cli/app.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/edit_distance.h"
#include "base/json_text.h"
#include "cli/remote_host.h"
#include "cli/shown_text.h"
#include "cli/verb.h"
#include "cli/version_text.h"

namespace ttyward::cli {
namespace {

// Whether --json was given. The form of complaints is the program's, not a verb's, and some are made before
// the words are parsed; run() sets it once.
bool errors_as_json = false;

// CLI11 spreads some of its messages over lines; people asked for one.
std::string without_line_ends(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// The verb most like this word; empty if none is.
std::string nearest_verb(std::string_view word) {
  constexpr size_t kLongest = 20;  // no verb is longer
  if (word.size() > kLongest) return {};
  std::string best;
  size_t least = 3;
  for (const Verb& verb : verb_table()) {
    const size_t found = base::edit_distance(word, verb.name);
    if (found < least && found < word.size()) {
      least = found;
      best = verb.name;
    }
  }
  return best;
}

// The first word that is no option, and the verb of that name.
struct Asked {
  std::string_view word;
  const Verb* verb = nullptr;
};

Asked asked_for(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    const std::string_view word = argv[i];
    if (word.starts_with("-")) continue;
    for (const Verb& verb : verb_table()) {
      if (word == verb.name) return {word, &verb};
    }
    return {word, nullptr};
  }
  return {};
}

// Before anything is parsed: what is wrong with the words is said in the form they ask for.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; i++) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

std::string no_such_verb(std::string_view word) {
  const std::string nearest = nearest_verb(word);
  const std::string hint = nearest.empty() ? "" : "; did you mean " + nearest + "?";
  return "there is no verb '" + std::string(word) + "'" + hint + " (see ttyward --help)";
}

// CLI11's own words where they leave a person alone.
std::string clearer(const CLI::ParseError& error, const CLI::App& at) {
  std::string text = without_line_ends(error.what());
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (text.starts_with(kNoNumber)) {
    text.erase(0, kNoNumber.size());
    if (const size_t sign = text.find(" = "); sign != std::string::npos) text.replace(sign, 3, " ");
    return text + " is not a number";
  }
  if (text != "A subcommand is required") return text;
  std::string names;
  for (const CLI::App* sub : at.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + sub->get_name();
  }
  return "name what to do: " + names;
}

}  // namespace

int complain(const char* verb, const std::string& message, int exit_code) {
  const std::string name = verb != nullptr ? verb : "";
  if (errors_as_json) {
    base::JsonObject what;
    name.empty() ? what.null("verb") : what.text("verb", name);
    what.text("message", message);
    if (exit_code != 0) what.number("exit_code", exit_code);
    const std::string line = base::JsonObject().raw(exit_code == 0 ? "notice" : "error", what.str()).str();
    std::fprintf(stderr, "%s\n", line.c_str());
    return exit_code;
  }
  const std::string prefix = name.empty() ? "ttyward" : "ttyward " + name;
  std::fprintf(stderr, "%s: %s\n", prefix.c_str(), one_line(message).c_str());
  return exit_code;
}

int run(int argc, char** argv) {
  // `ttyward help exec` is what people type for `ttyward exec --help`.
  std::vector<char*> words(argv, argv + argc);
  const std::string host = take_host(words);
  argc = static_cast<int>(words.size());
  argv = words.data();
  static char help_flag[] = "--help";
  size_t first = 1;
  while (first < words.size() && std::string_view(words[first]) == "--json") first++;
  if (first < words.size() && std::string_view(words[first]) == "help") {
    words[first] = help_flag;
    std::rotate(words.begin() + static_cast<std::ptrdiff_t>(first),
                words.begin() + static_cast<std::ptrdiff_t>(first) + 1, words.end());
    argv = words.data();
  }
  errors_as_json = asks_for_json(argc, argv);
  CLI::App app{"ttyward: the terminal for AI agents", "ttyward"};
  Globals globals;
  app.set_version_flag("-V,--version", version_text());
  app.add_flag("--json", globals.json, "Print results as JSON");
  std::string shown_host;  // taken out of the words above
  app.add_option("--host", shown_host, "Talk to the daemon of another machine: ssh:HOST, before the verb")
      ->type_name("PLACE");
  app.require_subcommand(0, 1);
  app.fallthrough();

  const Asked asked = asked_for(argc, argv);
  std::map<const CLI::App*, std::pair<const Verb*, std::function<int()>>> actions;
  for (const Verb& verb : verb_table()) {
    // All of them take a millisecond, which is what a short command takes itself.
    const bool needed = asked.verb == nullptr || asked.verb == &verb || asked.verb->reads_others;
    if (!needed) continue;
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions[sub] = {&verb, verb.declare(*sub, globals)};
  }

  for (int i = 1; i < argc; i++) globals.after_dashes |= std::string_view(argv[i]) == "--";

  // A relative one would be another folder in every place, or, silently, the usual one.
  const char* home = std::getenv("TTYWARD_HOME");
  if (home != nullptr && home[0] != '\0' && home[0] != '/') {
    return complain("", "TTYWARD_HOME must be an absolute path, not " + std::string(home), kExitUsage);
  }
  // The first word has to be a verb, or what follows would be blamed.
  if (!asked.word.empty() && asked.verb == nullptr) return complain("", no_such_verb(asked.word), kExitUsage);

  const Verb* chosen = nullptr;
  try {
    app.parse(argc, argv);
    const auto picked = app.get_subcommands();
    if (picked.empty()) {
      std::fputs(app.help().c_str(), stdout);
      return 0;
    }
    const auto& [verb, action] = actions.at(picked.front());
    chosen = verb;
    std::optional<RemoteHost> remote;
    if (!host.empty() || !shown_host.empty()) {
      if (!works_with_host(verb->name)) {
        return complain(
            verb->name,
            std::string(verb->name) +
                " works on this machine only: with --host use open and exec, or give --in ssh:HOST "
                "to run and batch",
            kExitUsage);
      }
      auto connected = RemoteHost::connect(host.empty() ? shown_host : host);
      if (!connected) return complain(verb->name, connected.error().message, kExitFailure);
      remote.emplace(std::move(*connected));
    }
    return action();
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto picked = app.get_subcommands();
    const std::string verb = picked.empty() ? "" : picked.front()->get_name();
    const std::string help = verb.empty() ? "ttyward --help" : "ttyward " + verb + " --help";
    return complain(verb.c_str(),
                    clearer(error, picked.empty() ? app : *picked.front()) + " (see " + help + ")",
                    kExitUsage);
  } catch (const std::exception& error) {
    return complain(chosen != nullptr ? chosen->name : "", error.what(), kExitFailure);
  }
}

}  // namespace ttyward::cli
