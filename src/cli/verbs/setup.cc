// ttyward setup: connects an agent to ttyward, takes its own shell away, and undoes both.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/private_folder.h"
#include "cli/choice.h"
#include "cli/daemon_call.h"
#include "cli/daemon_verb.h"
#include "cli/setup/agents.h"
#include "cli/setup/change.h"
#include "cli/setup/json_tree.h"
#include "cli/setup/line_diff.h"
#include "cli/setup/verb.h"
#include "config/load.h"
#include "gate/confirmations.h"
#include "policy/escaped_view.h"

namespace ttyward::cli {
namespace setup_verb {
namespace {

using setup::Agent;
using setup::Change;
using setup::FileChange;
using setup::PlannedEdit;
using setup::Purpose;
using setup::Surroundings;

struct Arguments {
  std::string agent;
  std::string mode;
  bool keep_shell = false;
  bool allow_tools = false;
  bool dry_run = false;
  bool undo = false;
  bool check = false;
};

std::string shown(const std::string& path) {
  return policy::escape_text(path);
}

std::string own_program() {
  char self[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", self, sizeof self);
  return length > 0 ? std::string(self, static_cast<size_t>(length)) : "";
}

Surroundings surroundings() {
  const char* home = std::getenv("TTYWARD_HOME");
  return {[](const char* name) { return std::getenv(name); }, own_program(), home == nullptr ? "" : home};
}

std::string records_folder() {
  return base::user_folders().state + "/setup";
}

// The policy mode is a setting of ours, in config.toml.
PlannedEdit mode_edit(const std::string& mode) {
  return {Purpose::Trust,
          config::config_path(base::user_folders()),
          &setup::toml_editor(),
          {setup::Edit::Kind::Set, {"policy", "mode"}, base::json_quoted(mode)}};
}

std::vector<PlannedEdit> wanted_edits(const Agent& agent, const Arguments& args) {
  std::vector<PlannedEdit> edits;
  for (PlannedEdit& each : agent.plan(surroundings())) {
    const bool wanted = each.purpose == Purpose::Server ||
                        (each.purpose == Purpose::Shell && !args.keep_shell) ||
                        (each.purpose == Purpose::Trust && args.allow_tools);
    if (wanted) edits.push_back(std::move(each));
  }
  if (!args.mode.empty()) edits.push_back(mode_edit(args.mode));
  return edits;
}

// ---- What is set up.

struct Standing {
  bool found = false;
  bool connected = false;
  bool governed = false;  // its own shell is off, as far as a setting can do that
  bool can_govern = false;
  std::string command;  // what it starts as our server
  std::string problem;
};

bool on_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (*program != '\0' && !rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    if (!folder.empty() && ::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return false;
}

// The program in a server's entry: "command", which is a list in some files.
std::string command_in(const std::string& entry) {
  const auto node = setup::read_json(entry);
  if (!node) return "";
  const setup::JsonMember* command = node->member("command");
  if (command == nullptr) return "";
  return command->value.members.empty() ? command->value.text : command->value.members.front().value.text;
}

bool has_element(const std::string& list, const std::string& element) {
  const auto node = setup::read_json(list);
  return node && std::ranges::any_of(node->members, [&](const setup::JsonMember& each) {
           return setup::compact_json(each.value) == element;
         });
}

Standing standing_of(const Agent& agent) {
  Standing out;
  out.found = on_path(agent.program);
  out.governed = true;
  for (const PlannedEdit& each : agent.plan(surroundings())) {
    if (each.purpose == Purpose::Trust) continue;
    out.can_govern = out.can_govern || each.purpose == Purpose::Shell;
    const auto file = setup::read_config_file(each.file);
    const std::string folder = std::filesystem::path(each.file).parent_path().string();
    const char* home = std::getenv("HOME");
    out.found = out.found || (file && file->exists) ||
                (home != nullptr && folder != home && ::access(folder.c_str(), F_OK) == 0);
    base::Result<std::optional<std::string>> value = std::nullopt;
    if (!file) {
      value = tl::unexpected(file.error());
    } else {
      value = each.editor->at(file->text, each.edit.path);
    }
    if (!value) {
      if (out.problem.empty()) out.problem = each.file + ": " + value.error().message;
      if (each.purpose == Purpose::Shell) out.governed = false;
      continue;
    }
    if (each.purpose == Purpose::Server) {
      out.command = *value ? command_in(**value) : "";
      out.connected = !out.command.empty();
      if (out.connected && ::access(out.command.c_str(), X_OK) != 0 && out.problem.empty()) {
        out.connected = false;
        out.problem = out.command + ", which it would start, is not there; run ttyward setup " + agent.name;
      }
    } else {
      out.governed = out.governed && *value &&
                     (each.edit.kind == setup::Edit::Kind::Add ? has_element(**value, each.edit.value)
                                                               : **value == each.edit.value);
    }
  }
  out.governed = out.governed && out.can_govern;
  return out;
}

const char* shell_words(const Standing& standing) {
  if (standing.governed) return "own shell off";
  return standing.can_govern ? "own shell on" : "own shell on (no setting switches it off)";
}

std::string standing_json(const Agent& agent, const Standing& standing) {
  base::JsonObject out;
  out.text("agent", agent.name).text("title", agent.title).boolean("found", standing.found);
  out.boolean("connected", standing.connected).boolean("shell_off", standing.governed);
  standing.command.empty() ? out.null("command") : out.text("command", standing.command);
  standing.problem.empty() ? out.null("problem") : out.text("problem", standing.problem);
  return out.str();
}

int check(const Arguments& args, const Globals& globals) {
  bool all_well = true;
  std::string json;
  bool any = false;
  for (const Agent& agent : setup::agent_table()) {
    if (!args.agent.empty() && args.agent != agent.name) continue;
    const Standing standing = standing_of(agent);
    json += (json.empty() ? "" : ",") + standing_json(agent, standing);
    if (!standing.found && args.agent.empty()) continue;
    any = true;
    all_well = all_well && standing.connected && standing.governed;
    if (globals.json) continue;
    fmt::print("{:<9} {}, {}\n", agent.name, standing.connected ? "connected" : "not connected",
               shell_words(standing));
    if (!standing.problem.empty()) fmt::print("          {}\n", shown(standing.problem));
  }
  const config::Setting& setting = *config::find_setting("policy", "mode");
  const std::string mode = config::to_json(setting, setting.get(load_here().settings));
  if (globals.json) {
    std::printf("%s\n",
                base::JsonObject().raw("agents", "[" + json + "]").raw("policy_mode", mode).str().c_str());
  } else {
    if (!any) fmt::print("no agent was found; ttyward setup --help lists those we know\n");
    fmt::print("policy mode: {}\n", mode.substr(1, mode.size() - 2));
  }
  return all_well ? 0 : 1;
}

// ---- Setting up.

// One set-up at a time.
base::Result<base::UniqueFd> lock() {
  if (auto folder = base::open_private_folder(records_folder(), base::IfMissing::Create); !folder)
    return tl::unexpected(folder.error());
  const std::string path = records_folder() + "/lock";
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd || ::flock(fd.get(), LOCK_EX) != 0) return base::fail_errno(errno, path);
  return fd;
}

void show_difference(const Change& change) {
  for (const FileChange& file : change.files()) {
    if (!file.changes()) continue;
    fmt::print("{}{}\n", shown(file.now.path), !file.after ? " (removed)" : !file.now.exists ? " (new)" : "");
    if (file.now.real != file.now.path) fmt::print("  a link to {}\n", shown(file.now.real));
    fmt::print("{}", setup::line_diff(file.now.text, file.after.value_or("")));
  }
}

std::string paths_json(const Change& change) {
  std::string out;
  for (const FileChange& file : change.files()) {
    if (file.changes()) out += (out.empty() ? "" : ",") + base::json_quoted(file.now.path);
  }
  return "[" + out + "]";
}

void say_what_next(const Agent& agent, const Arguments& args, const Change& change) {
  const std::string folder = records_folder();
  for (const FileChange& file : change.files()) {
    if (file.merged) {
      fmt::print(
          "{} was changed after the last set-up; what that had put there was taken out, the rest stayed\n",
          shown(file.now.path));
    }
  }
  if (args.undo) {
    fmt::print("{} no longer uses ttyward; restart it\n", agent.title);
    return;
  }
  fmt::print("{} is connected to ttyward; restart it\n", agent.title);
  if (args.keep_shell) {
    fmt::print("It keeps its own shell, which ttyward does not see\n");
  } else if (*agent.shell_note != '\0') {
    fmt::print("Its own shell: {}\n", agent.shell_note);
  } else {
    fmt::print("Its own shell is off; it runs commands through ttyward\n");
  }
  if (!args.mode.empty() &&
      gate::Confirmations(base::user_folders().state).standing() != gate::Confirmations::Standing::None)
    fmt::print("A mode that asks less takes effect when you confirm it: ttyward rules confirm\n");
  fmt::print("Undo with: ttyward setup {} --undo (the files as they were are in {})\n", agent.name,
             shown(folder));
}

int set_up(const Agent& agent, const Arguments& args, const Globals& globals) {
  if (is_agent())
    return complain("setup", "only a person may change how agents are set up; run it in your own terminal",
                    kExitFailure);
  const auto held = lock();
  if (!held) return complain("setup", held.error().message, kExitFailure);
  std::vector<PlannedEdit> edits;
  if (!args.undo) edits = wanted_edits(agent, args);
  auto change = Change::prepare(records_folder(), agent.name, edits);
  if (!change) return complain("setup", change.error().message + "; nothing was changed", kExitFailure);
  if (args.undo && !change->was_set_up()) {
    return complain("setup",
                    fmt::format("{} was not set up by ttyward, so there is nothing to undo", agent.title),
                    kExitFailure);
  }
  const bool changes = change->changes();
  if (!globals.json) show_difference(*change);
  if (!args.dry_run && (changes || args.undo)) {
    if (auto done = change->carry_out(); !done)
      return complain("setup", done.error().message + "; nothing was changed", kExitFailure);
  }
  if (globals.json) {
    base::JsonObject out;
    out.text("agent", agent.name).boolean("dry_run", args.dry_run).raw("changed", paths_json(*change));
    std::printf("%s\n", out.str().c_str());
    return 0;
  }
  if (args.dry_run) {
    fmt::print("{}\n", changes ? "nothing was written (--dry-run)" : "nothing would change");
  } else if (!changes && !args.undo) {
    fmt::print("{} is set up already; nothing was changed\n", agent.title);
  } else {
    say_what_next(agent, args, *change);
  }
  if (!args.undo && own_program().find("/_npx/") != std::string::npos) {
    complain(
        "setup",
        "this ttyward is in npx's cache, which may be emptied; install it (npm install -g ttyward) and set "
        "up again",
        0);
  }
  return 0;
}

std::function<int()> declare(CLI::App& app, const Globals& globals) {
  auto args = std::make_shared<Arguments>();
  std::vector<std::string> names;
  for (const Agent& agent : setup::agent_table()) names.emplace_back(agent.name);
  choose(app.add_option("AGENT", args->agent, "The agent to set up"), names);
  std::vector<std::string> modes;
  for (const char* mode : config::find_setting("policy", "mode")->choices) modes.emplace_back(mode);
  choose(app.add_option("--mode", args->mode, "Also set the policy mode, for all agents"), modes);
  app.add_flag("--keep-shell", args->keep_shell, "Leave the agent its own shell");
  app.add_flag(
      "--allow-tools", args->allow_tools,
      "Let the agent call ttyward's tools without asking by itself, where it can: ttyward's policy asks");
  app.add_flag("--dry-run", args->dry_run, "Show what would change, and change nothing");
  app.add_flag("--undo", args->undo, "Give the agent back the configuration it had");
  app.add_flag("--check", args->check,
               "Show for each agent found whether it is connected, and its shell off");
  return [args, &globals]() -> int {
    if (args->check) return check(*args, globals);
    const Agent* agent = setup::find_agent(args->agent);
    if (agent == nullptr) {
      std::string known;
      for (const Agent& each : setup::agent_table())
        known += (known.empty() ? "" : ", ") + std::string(each.name);
      return complain("setup", "say which agent: " + known + "; or use --check", kExitUsage);
    }
    return set_up(*agent, *args, globals);
  };
}

}  // namespace
}  // namespace setup_verb

const Verb kSetup = {"setup", "Connect an agent to ttyward, and switch its own shell off",
                     &setup_verb::declare};

}  // namespace ttyward::cli
