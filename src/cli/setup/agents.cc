#include "cli/setup/agents.h"

#include <unistd.h>

#include "base/json_text.h"

namespace ttyward::cli::setup {
namespace agents {
namespace {

using Plan = std::vector<PlannedEdit>;

std::string variable(const Surroundings& around, const char* name) {
  const char* value = around.getenv(name);
  return value == nullptr ? "" : value;
}

std::string home(const Surroundings& around) {
  return variable(around, "HOME");
}

// The folder that a variable names, or one below the home folder.
std::string folder(const Surroundings& around, const char* name, const char* below_home) {
  const std::string given = variable(around, name);
  return given.starts_with('/') ? given : home(around) + "/" + below_home;
}

// The first of these files that is there, or the last.
std::string first_there(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  return *(paths.end() - 1);
}

// {"TTYWARD_HOME":"…"}, or {}.
std::string environment(const Surroundings& around) {
  base::JsonObject out;
  if (!around.ttyward_home.empty()) out.text("TTYWARD_HOME", around.ttyward_home);
  return out.str();
}

// The usual form: command, args and, if there is something in it, the environment. `type` may be empty.
std::string server(const Surroundings& around, std::string_view type, const char* environment_name = "env") {
  base::JsonObject out;
  if (!type.empty()) out.text("type", type);
  out.text("command", around.program).raw("args", R"(["mcp"])");
  if (!around.ttyward_home.empty()) out.raw(environment_name, environment(around));
  return out.str();
}

PlannedEdit set(Purpose purpose, const std::string& file, KeyPath path, std::string value) {
  return {purpose, file, &json_editor(), {Edit::Kind::Set, std::move(path), std::move(value)}};
}

PlannedEdit add(Purpose purpose, const std::string& file, KeyPath path, std::string_view word) {
  return {purpose, file, &json_editor(), {Edit::Kind::Add, std::move(path), base::json_quoted(word)}};
}

PlannedEdit set_toml(Purpose purpose, const std::string& file, KeyPath path, std::string value) {
  return {purpose, file, &toml_editor(), {Edit::Kind::Set, std::move(path), std::move(value)}};
}

Plan claude(const Surroundings& around) {
  const std::string given = variable(around, "CLAUDE_CONFIG_DIR");
  const std::string own = folder(around, "CLAUDE_CONFIG_DIR", ".claude");
  const std::string servers = (given.starts_with('/') ? given : home(around)) + "/.claude.json";
  const std::string settings = own + "/settings.json";
  return {
      set(Purpose::Server, servers, {"mcpServers", kOurName}, server(around, "stdio")),
      add(Purpose::Shell, settings, {"permissions", "deny"}, "Bash"),
      add(Purpose::Shell, settings, {"permissions", "deny"}, "Monitor"),  // runs commands in the background
      add(Purpose::Trust, settings, {"permissions", "allow"}, "mcp__ttyward")};
}

Plan codex(const Surroundings& around) {
  const std::string file = folder(around, "CODEX_HOME", ".codex") + "/config.toml";
  return {set_toml(Purpose::Server, file, {"mcp_servers", kOurName}, server(around, "")),
          set_toml(Purpose::Shell, file, {"features", "shell_tool"}, "false")};
}

Plan gemini(const Surroundings& around) {
  const std::string file = home(around) + "/.gemini/settings.json";
  return {set(Purpose::Server, file, {"mcpServers", kOurName}, server(around, "")),
          add(Purpose::Shell, file, {"tools", "exclude"}, "run_shell_command"),
          set(Purpose::Trust, file, {"mcpServers", kOurName, "trust"}, "true")};
}

Plan qwen(const Surroundings& around) {
  const std::string file = home(around) + "/.qwen/settings.json";
  return {set(Purpose::Server, file, {"mcpServers", kOurName}, server(around, "")),
          add(Purpose::Shell, file, {"permissions", "deny"}, "run_shell_command"),
          set(Purpose::Trust, file, {"mcpServers", kOurName, "trust"}, "true")};
}

Plan opencode(const Surroundings& around) {
  const std::string own = folder(around, "XDG_CONFIG_HOME", ".config") + "/opencode/";
  const std::string file = first_there({own + "opencode.jsonc", own + "opencode.json"});
  base::JsonObject entry;
  entry.text("type", "local").raw("command", "[" + base::json_quoted(around.program) + R"(,"mcp"])");
  entry.boolean("enabled", true);
  if (!around.ttyward_home.empty()) entry.raw("environment", environment(around));
  return {set(Purpose::Server, file, {"mcp", kOurName}, entry.str()),
          set(Purpose::Shell, file, {"tools", "bash"}, "false")};
}

Plan copilot(const Surroundings& around) {
  const std::string file = folder(around, "COPILOT_HOME", ".copilot") + "/mcp-config.json";
  base::JsonObject entry;
  entry.raw("tools", R"(["*"])").text("type", "local").text("command", around.program);
  entry.raw("args", R"(["mcp"])");
  if (!around.ttyward_home.empty()) entry.raw("env", environment(around));
  return {set(Purpose::Server, file, {"mcpServers", kOurName}, entry.str())};
}

Plan vscode(const Surroundings& around) {
  const std::string base = folder(around, "XDG_CONFIG_HOME", ".config") + "/";
  const std::string own = first_there(
      {base + "Code/User", base + "Code - Insiders/User", base + "VSCodium/User", base + "Code/User"});
  return {set(Purpose::Server, own + "/mcp.json", {"servers", kOurName}, server(around, "stdio")),
          set(Purpose::Shell, own + "/settings.json", {"chat.tools.terminal.enableAutoApprove"}, "false")};
}

Plan cursor(const Surroundings& around) {
  const std::string own = home(around) + "/.cursor";
  const std::string given = variable(around, "CURSOR_CONFIG_DIR");
  const std::string shared = variable(around, "XDG_CONFIG_HOME");
  const std::string cli = (given.starts_with('/')    ? given
                           : shared.starts_with('/') ? shared + "/cursor"
                                                     : own) +
                          "/cli-config.json";
  PlannedEdit deny = add(Purpose::Shell, cli, {"permissions", "deny"}, "Shell(**)");
  deny.new_file =
      "{\n  \"version\": 1,\n  \"editor\": {\n    \"vimMode\": false\n  },\n"
      "  \"permissions\": {\n    \"allow\": [],\n    \"deny\": []\n  }\n}\n";
  return {set(Purpose::Server, own + "/mcp.json", {"mcpServers", kOurName}, server(around, "")), deny};
}

Plan zed(const Surroundings& around) {
  const std::string file = folder(around, "XDG_CONFIG_HOME", ".config") + "/zed/settings.json";
  return {
      set(Purpose::Server, file, {"context_servers", kOurName}, server(around, "")),
      set(Purpose::Shell, file, {"agent", "tool_permissions", "tools", "terminal", "default"}, R"("deny")")};
}

}  // namespace
}  // namespace agents

std::span<const Agent> agent_table() {
  static const Agent kAgents[] = {
      {"claude", "Claude Code", "claude", "", &agents::claude},
      {"codex", "Codex", "codex", "", &agents::codex},
      {"gemini", "Gemini CLI", "gemini", "", &agents::gemini},
      {"opencode", "opencode", "opencode", "", &agents::opencode},
      {"copilot", "GitHub Copilot CLI", "copilot",
       "it has no setting that switches its own shell off: start it with copilot --deny-tool shell",
       &agents::copilot},
      {"qwen", "Qwen Code", "qwen", "", &agents::qwen},
      {"vscode", "VS Code", "code",
       "its own terminal tool now always asks; to take it away, deselect it in the tools picker of the chat",
       &agents::vscode},
      {"cursor", "Cursor", "cursor-agent",
       "its command line no longer runs shell commands; in the editor, switch Auto-Run off in the settings",
       &agents::cursor},
      {"zed", "Zed", "zed", "needs Zed 0.224 or later; earlier ones ignore the setting", &agents::zed},
  };
  return kAgents;
}

const Agent* find_agent(std::string_view name) {
  for (const Agent& agent : agent_table()) {
    if (name == agent.name) return &agent;
  }
  return nullptr;
}

}  // namespace ttyward::cli::setup
