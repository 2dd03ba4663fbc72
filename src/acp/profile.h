// What is known about one agent: data, one TOML file each in acp/profiles.
//
//   names     what it calls itself in `agentInfo.name`
//   commands  how it is started: part of a path, for what has to be set before it runs
//   shell     how its commands reach ttyward: "terminals" (it uses the client's terminals), "mcp" (its own
//             shell tool is switched off, so our MCP tools are what it has), "not_governed"
//   environment, files, argument_files, session_meta   how its own shell tool is switched off
//   ignored_where  patterns of paths: where a file matches one of them, the agent ignores the above
//   defaults      variables that help, and are set unless the person has set them
//   our_tools     what it calls our MCP tools, in titles and names: "{server}_*", where * is a tool's name
//   our_calls     how ids of calls of our tools begin, where the agent makes them of the tool's name
//   allow_options the ids of its options that mean "this once, and nothing else"
// In all of these, {server} is the name of our MCP server (server_name.h).
//
// Values. Thread rule: any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ttyward::acp {

struct Profile {
  // A file that the agent is told of by an option, which is added at the end of its command line.
  struct ArgumentFile {
    std::string option;
    std::string ending;  // of the file's name: some agents read only names that end so
    std::string text;
  };
  enum class Shell { Terminals, Mcp, NotGoverned };

  std::string id;  // the file's name
  std::vector<std::string> names;
  std::vector<std::string> commands;
  Shell shell = Shell::NotGoverned;
  std::string note;
  std::vector<std::string> ignored_where;
  std::vector<std::pair<std::string, std::string>> environment;  // name, value
  // A file that the agent is told of by a variable: the variable, and what is in the file.
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<ArgumentFile> argument_files;
  std::vector<std::pair<std::string, std::string>> defaults;
  std::string session_meta;  // JSON for `_meta` of session/new; empty: none
  std::vector<std::string> our_tools;
  std::vector<std::string> our_calls;
  std::vector<std::string> allow_options;
};

// Whether the agent has to be started with something of the profile's for its shell tool to be off.
bool prepares_start(const Profile& profile);
const char* shell_word(Profile::Shell shell);
// Whether the agent calls one of our MCP tools so. All of `text` must be the name: a title may be a command
// line, which whoever talks to the model can make begin like one.
bool names_our_tool(const Profile& profile, std::string_view text);

// The profile for an MCP server of this name.
Profile with_server(Profile profile, const std::string& name);

base::Result<Profile> parse_profile(std::string_view toml, std::string id);
// Those that come with ttyward.
const std::vector<Profile>& built_in_profiles();

// The profile for what is about to be started; null: none.
const Profile* profile_for_command(const std::vector<Profile>& all, const std::vector<std::string>& argv);
// The profile of the agent that calls itself so; null: none.
const Profile* profile_named(const std::vector<Profile>& all, std::string_view agent_name);
const Profile* profile_with_id(const std::vector<Profile>& all, std::string_view id);

}  // namespace ttyward::acp
