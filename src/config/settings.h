// Everything that can be set, with its default. What each means, its name in
// files and its limits are in setting_table.cc, once; nothing else has to be
// touched to add one. Plain values; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/provider.h"

namespace ttyward::config {

using Milliseconds = std::chrono::milliseconds;

enum class Lease : uint8_t { Wait, Fail };
enum class View : uint8_t { Default, Digest, Head, Tail, Full, Void, Roo, Gemini };
enum class Overflow : uint8_t { DropMiddle, Pause, Kill };
enum class PolicyMode : uint8_t { Plan, Default, AutoEdit, Auto, Yolo };  // strictest first
enum class PolicyAsk : uint8_t { Never, Present, Wait };                  // strictest first
enum class ShellHistory : uint8_t { LeaveOut, Record };

struct TerminalSettings {
  base::Provider provider = base::Provider::Pty;
  int64_t cols = 80;
  int64_t rows = 24;
  int64_t records = 40;
  Lease lease = Lease::Wait;
  std::string detach_key = "C-]";
  std::string mark_key;  // empty: none
};

struct OutputSettings {
  View view = View::Default;
  int64_t lines = 500;
  int64_t chars = 50'000;
  int64_t head_percent = 20;
  bool fold_repeats = true;
  bool since_last = true;
  bool suggestions = false;
  std::string summarizer;  // empty: none
};

struct TimeSettings {
  Milliseconds timeout{60'000};
  Milliseconds idle_timeout{300'000};
  Milliseconds yield_after{30'000};
  Milliseconds input_patience{5000};
  Milliseconds drain{200};
  Milliseconds interrupt_grace{500};
  Milliseconds terminate_grace{2000};
  Milliseconds kill_grace{5000};
  Milliseconds hot{2000};
  Milliseconds hot_compiling{15'000};
  Milliseconds cool_down{5000};
};

enum class PoolStartFiles : uint8_t { Auto, Run, Spare };
struct PoolSettings {
  int64_t size = 5;
  PoolStartFiles start_files = PoolStartFiles::Auto;
  int64_t limit = 0;
  Milliseconds wait{30'000};
};

struct LimitSettings {
  int64_t terminals = 64;
  int64_t commands = 4096;
  int64_t journal = int64_t{256} << 20;
  int64_t journal_total = int64_t{4} << 30;
  Overflow overflow = Overflow::DropMiddle;
  int64_t history_rows = 100'000;
  int64_t history_days = 365;
};

struct PolicySettings {
  PolicyMode mode = PolicyMode::Default;
  bool auto_approve_safe_commands = true;
  bool confine = false;
  bool confirm_dangerous_commands = true;
  PolicyAsk ask = PolicyAsk::Wait;
  Milliseconds approval_expiry{300'000};
  std::vector<std::string> allowed_roots;
  bool share_agent_terminals = false;
  bool client_dialogue = true;
};

// Strictest first. Those with Landlock alone are weaker than their neighbours before them.
enum class SandboxProfile : uint8_t {
  ReadOnly,
  ReadOnlyLandlock,
  Workspace,
  WorkspaceLandlock,
  WorkspaceNet,
  WorkspaceNetLandlock,
  None
};
inline constexpr const char* kSandboxProfiles[] = {
    "read-only",     "read-only-landlock",     "workspace", "workspace-landlock",
    "workspace+net", "workspace+net-landlock", "none"};

struct SandboxSettings {
  SandboxProfile profile = SandboxProfile::None;
  std::vector<std::string> readable;
  std::vector<std::string> writable;
  std::vector<std::string> hidden;
  std::vector<std::string> unprotected;
  std::vector<std::string> hosts;
  int64_t memory = 0;  // 0: three quarters of the machine's
  int64_t processes = 4096;
  int64_t file_size = int64_t{8} << 30;
  int64_t open_files = 16'384;
  Milliseconds cpu_time{24 * 3'600'000};
  int64_t scratch = int64_t{1} << 30;
  bool keep_changes = false;
  int64_t changes_quota = int64_t{4} << 30;
  Milliseconds changes_age{int64_t{7} * 24 * 3'600'000};
};

struct NotifySettings {
  bool bell = true;
  bool desktop = true;
  std::string webhook;  // empty: none
};

enum class LogFormat : uint8_t { Text, Json };
struct LogSettings {
  LogFormat format = LogFormat::Text;
};

struct TelemetrySettings {
  std::string endpoint;  // empty: none
  bool commands = false;
  Milliseconds interval{10'000};
};

struct DaemonSettings {
  bool autostart = true;
  Milliseconds idle_exit{1'800'000};
};

enum class ShellEnvironment : uint8_t { Inherit, Clean, Login };
struct ShellSettings {
  std::string path;  // empty: the user's login shell if it is supported, else bash
  bool integration = true;
  Milliseconds integration_timeout{5000};
  Milliseconds command_delay{0};
  bool zsh_clear_eol_mark = true;
  bool zsh_oh_my = false;
  bool zsh_p10k = false;
  bool report_environment = true;
  ShellHistory history = ShellHistory::LeaveOut;
  ShellEnvironment environment = ShellEnvironment::Inherit;
  std::vector<std::string> add_to_path;
  std::vector<std::string> environment_add;   // NAME=value
  std::vector<std::string> environment_keep;  // names
  std::vector<std::string> environment_drop;  // names
};

struct McpSettings {
  std::vector<std::string> aliases;
};

// [agents.NAME]: an agent that speaks the Agent Client Protocol.
struct AgentSettings {
  std::vector<std::string> command;  // its argv
  std::string participant;           // how it is named among others; empty: as the section is
  std::string display_name;          // for people; empty: what it calls itself
  std::string profile = "auto";
};

struct Settings {
  TerminalSettings terminal;
  OutputSettings output;
  TimeSettings times;
  PoolSettings pool;
  LimitSettings limits;
  PolicySettings policy;
  SandboxSettings sandbox;
  NotifySettings notify;
  DaemonSettings daemon;
  LogSettings log;
  TelemetrySettings telemetry;
  ShellSettings shell;
  McpSettings mcp;
  std::map<std::string, AgentSettings> agents;  // not rows of the table: their names are the person's
};

}  // namespace ttyward::config
