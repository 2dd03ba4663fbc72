// What an agent has said about its tool calls, joined by their ids: an update tells only what changed, and a
// permission request often leaves the command out.
//
// Values of untrusted origin: they decide nothing by themselves. Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "acp/profile.h"
#include "acp/sides.h"

namespace ttyward::acp {

struct ToolCall {
  std::string id;
  std::string title;
  std::string name;
  std::string kind;
  std::string status;
  std::string command;            // a line for a shell; or
  std::vector<std::string> argv;  // a program and its arguments
  std::string cwd;                // empty: it was not said
  bool has_terminal = false;
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();

  bool has_command() const { return !command.empty() || !argv.empty(); }
  // A command that the agent runs with a tool of its own. Other tools may have an argument called "command",
  // too; what it means is theirs to know.
  bool is_command() const { return kind == "execute" && has_command(); }
  bool calls_us(const Profile* profile) const;
  // In one line, to be shown.
  std::string shown() const;
  void take(const json::object& update);
};

class ToolCalls {
 public:
  // An update of a session, or the tool call of a permission request. Returns what is known now; null: it
  // names no tool call. A new call (`tool_call`) of an id that was used before has nothing of the old one.
  const ToolCall* note(const json::object& update);
  ToolCall* find(const std::string& id);
  // The one command that runs and has no terminal yet; empty: there is none, or there are several.
  std::string only_waiting() const;

 private:
  static constexpr size_t kMost = 4096;  // more are forgotten, all at once: they are long over
  std::map<std::string, ToolCall> calls_;
};

}  // namespace ttyward::acp
