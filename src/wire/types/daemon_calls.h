// Calls about the daemon itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/types/describe.h"
#include "wire/types/role.h"

namespace ttyward::wire {

struct JournalTotals {
  uint64_t bytes = 0;
  uint64_t quota = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("bytes", self.bytes, "kept");
    v.field("quota", self.quota, "kept at most");
  }
};

struct RecoveredTerminals {
  uint64_t terminals = 0;
  uint64_t ended = 0;
  int64_t ms = 0;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("terminals", self.terminals, "that were alive when the daemon started");
    v.field("ended", self.ended, "that ended while no daemon was running");
    v.field("ms", self.ms, "how long it took to find them");
  }
};

struct ConfigState {
  std::string path;
  std::vector<std::string> errors;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("path", self.path, "the file");
    v.field("errors", self.errors, "what is wrong with it");
  }
};

inline constexpr std::string_view kShellUses = "terminals|mcp|not_governed";

// An agent that a front end serves.
struct ServedAgent {
  std::string name;
  std::string version;
  std::string shell;
  std::string note;
  std::string session;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "what it calls itself");
    v.field("version", self.version, "the same", kNull);
    v.field("shell", self.shell,
            "how its commands reach ttyward; `not_governed`: it also has a shell of its own that ttyward "
            "neither sees nor judges",
            OneOf{kShellUses});
    v.field("note", self.note, "in words", kNull);
    v.field("session", self.session, "whose commands are its own", kNull);
  }
};

struct AgentRequest {
  static constexpr std::string_view kCall = "agent";
  static constexpr Role kRole = Role::Agent;
  static constexpr std::string_view kAbout =
      "Says which agent this connection serves. `status` lists it until the connection ends.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = Nothing;
  std::string name;
  std::string version;
  std::string shell = "not_governed";
  std::string note;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("name", self.name, "what it calls itself", kRequired);
    v.field("version", self.version, "the same");
    v.field("shell", self.shell, "how its commands reach ttyward", OneOf{kShellUses});
    v.field("note", self.note, "in words");
  }
};

struct DaemonStatus {
  int64_t pid = 0;
  std::string version;
  Time started_at;
  uint64_t connections = 0;
  int64_t memory_kib = 0;
  std::vector<std::string> warnings;
  std::optional<uint64_t> terminals;
  std::optional<uint64_t> commands;
  std::optional<uint64_t> approvals;
  std::optional<JournalTotals> journals;
  std::optional<RecoveredTerminals> recovered;
  std::optional<ConfigState> config;
  std::vector<ServedAgent> agents;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("pid", self.pid, "the daemon's process");
    v.field("version", self.version, "of the program");
    v.field("started_at", self.started_at, "when it was started");
    v.field("connections", self.connections, "that are open");
    v.field("memory_kib", self.memory_kib, "resident memory");
    v.field("warnings", self.warnings, "what a person should know");
    v.field("terminals", self.terminals, "that live", kLeftOut);
    v.field("commands", self.commands, "that run, in terminals or on their own", kLeftOut);
    v.field("approvals", self.approvals, "open questions", kLeftOut);
    v.field("journals", self.journals, "output on disk", kLeftOut);
    v.field("recovered", self.recovered, "what was found when the daemon started", kLeftOut);
    v.field("config", self.config, "the configuration", kLeftOut);
    v.field("agents", self.agents, "agents that speak the Agent Client Protocol", kLeftOut);
  }
};

struct StatusRequest {
  static constexpr std::string_view kCall = "status";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout = "The state of the daemon.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = DaemonStatus;
  template <class V>
  static void describe(V&, auto&) {}
};

struct MetricsText {
  std::string content_type;
  std::string text;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("content_type", self.content_type, "what an HTTP server says of the text");
    v.field("text", self.text, "in Prometheus's exposition format");
  }
};

struct MetricsRequest {
  static constexpr std::string_view kCall = "metrics";
  static constexpr Role kRole = Role::Viewer;
  static constexpr std::string_view kAbout =
      "Counts since the daemon started: commands by outcome, their durations and output, questions to "
      "people. "
      "See docs/observability.md.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = MetricsText;
  template <class V>
  static void describe(V&, auto&) {}
};

struct Reloaded {
  std::vector<std::string> errors;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("errors", self.errors, "what is wrong with the files");
  }
};

struct ReloadRequest {
  static constexpr std::string_view kCall = "reload";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout = "Reads config.toml and rules.toml again.";
  static constexpr Repeat kRepeat = Repeat::Yes;
  using Answer = Reloaded;
  template <class V>
  static void describe(V&, auto&) {}
};

struct StopRequest {
  static constexpr std::string_view kCall = "stop";
  static constexpr Role kRole = Role::Person;
  static constexpr std::string_view kAbout =
      "Stops the daemon. Terminals stay alive unless `kill_terminals` is set.";
  using Answer = Nothing;
  bool kill_terminals = false;
  template <class V>
  static void describe(V& v, auto& self) {
    v.field("kill_terminals", self.kill_terminals, "end them, too");
  }
};

}  // namespace ttyward::wire
