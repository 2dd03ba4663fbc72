// The application: its services on one engine, one gate and one store.
//
//   Commands   run, exec, batch, result, interrupt          Approvals  questions, answers, rules, modes
//   Terminals  open, input, name, lend, kill                History    what was run and decided
//   Watching   wait, read, events, attach                   ChangeSets what commands changed that ran with
//   Agents     which agents are served, what they tell                 try
//   Telemetry  counts, and spans for a collector
//   SettingChanges  what agents may do, in config.toml
//
// They take wire/types and a Caller, answer a value or, later, a Reply, and tell an EventSink. They know
// nothing of sockets or JSON. Thread rule: everything on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/agents.h"
#include "app/approvals.h"
#include "app/caller_environment.h"
#include "app/change_sets.h"
#include "app/commands.h"
#include "app/core.h"
#include "app/event_sink.h"
#include "app/gatekeeper.h"
#include "app/history.h"
#include "app/sandbox_proxy.h"
#include "app/setting_changes.h"
#include "app/telemetry.h"
#include "app/terminals.h"
#include "app/watching.h"
#include "app/webhook.h"
#include "wire/types/daemon_calls.h"

namespace ttyward::app {

class Services final : private engine::EngineObserver, private gate::GateObserver {
 public:
  // Finds the terminals that live. `sink` and `log` have to outlive it.
  static base::Result<std::unique_ptr<Services>> start(io::Loop& loop, io::Log& log,
                                                       Installation installation, EventSink& sink);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;
  ~Services();

  Commands& commands() { return commands_; }
  Terminals& terminals() { return terminals_; }
  Watching& watching() { return watching_; }
  Approvals& approvals() { return approvals_; }
  SettingChanges& setting_changes() { return setting_changes_; }
  History& history() { return history_; }
  Agents& agents() { return agents_; }
  ChangeSets& change_sets() { return change_sets_; }
  Telemetry& telemetry() { return telemetry_; }
  const engine::Engine& engine() const { return *core_.engine; }
  const config::Settings& settings() const { return core_.settings(); }

  // Reads configuration and rules again; returns their errors.
  std::vector<std::string> reload();
  // Ends what must not outlive the daemon; `done` is called once.
  void stop(bool kill_terminals, std::function<void()> done);
  void connection_closed(uint64_t connection);
  // No call is open, and nothing lives that somebody wanted.
  bool idle() const { return core_.calls.empty() && !core_.engine->holds_anything(); }
  // What every person has to know before anything else.
  std::vector<std::string> notices();
  void describe(wire::DaemonStatus& status);
  telemetry::Gauges gauges() const;
  // What a person should know, at the next look at the status.
  void warn(const std::string& message);

 private:
  Services(io::Loop& loop, io::Log& log, Installation installation, EventSink& sink);

  void on_terminal_opened(engine::Terminal& terminal) override;
  void on_terminal_change(engine::Terminal& terminal, uint32_t changes) override;
  void on_record(const engine::Terminal& terminal, const engine::Command& command) override;
  void on_quality(const engine::Terminal& terminal, shell::Quality from, shell::Quality to,
                  const std::string& reason) override;
  void on_terminal_forgotten(const engine::Terminal& terminal) override;
  void on_opened(const gate::Approval& approval) override;
  void on_closed(const gate::Approval& approval) override;
  void on_unconfirmed_changed(const std::string& notice) override;

  Core core_;
  std::vector<std::string> warnings_;
  History history_;
  Gatekeeper gatekeeper_;
  CallerEnvironment environment_;
  ChangeSets change_sets_;
  SandboxProxies proxies_;
  Watching watching_;
  Terminals terminals_;
  Commands commands_;
  Approvals approvals_;
  SettingChanges setting_changes_;
  Agents agents_;
  Webhook webhook_;
  Telemetry telemetry_;
  engine::Recovered recovered_;
};

}  // namespace ttyward::app
