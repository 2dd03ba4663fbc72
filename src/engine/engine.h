// All terminals of a user: opened, found, reused, pooled, bounded, and found again.
//
// Flow at a glance
//   open() / acquire()   a shell that stays: from the pool, by reuse, or new
//   run()                a terminal for one command
//   submit()             a command in a shell; on the fallback where the shell has no integration
//   recover()            at the start: every terminal an engine before us left
//
// Its parts: TerminalList (which there are), SpecMaker (what is asked for, checked), ShellPool (shells
// started ahead), Retention (what is forgotten when), Registry (PATH contributions, sessions), Launcher
// (holders).
//
// Thread rule: the loop's. Pointers to terminals are good until control returns to
// the loop: one that ended is kept for those who ask later, but not for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/ready_logs.h"
#include "engine/registry.h"
#include "engine/requests.h"
#include "engine/retention.h"
#include "engine/settings.h"
#include "engine/shell_pool.h"
#include "engine/spec_maker.h"
#include "engine/sweeper.h"
#include "engine/terminal.h"
#include "engine/terminal_list.h"

namespace ttyward::engine {

class EngineObserver {
 public:
  virtual void on_terminal_opened(Terminal& terminal) = 0;
  virtual void on_terminal_change(Terminal& terminal, uint32_t changes) = 0;
  virtual void on_record(const Terminal& terminal, const Command& command) = 0;
  virtual void on_quality(const Terminal& terminal, shell::Quality from, shell::Quality to,
                          const std::string& reason) = 0;
  // Its object goes now.
  virtual void on_terminal_forgotten(const Terminal& terminal) = 0;

 protected:
  ~EngineObserver() = default;
};

struct Recovered {
  size_t terminals = 0;  // that live
  size_t ended = 0;      // while nobody looked
  std::vector<std::string> problems;
  std::chrono::milliseconds took{0};
};

class Engine final : private Watcher {
 public:
  static base::Result<std::unique_ptr<Engine>> create(io::Loop& loop, Settings settings,
                                                      EngineObserver& observer);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  Recovered recover();
  void set_settings(Settings settings);  // for what is opened from now on
  const Settings& settings() const { return settings_; }
  Places& places() { return places_; }
  io::Loop& loop() { return loop_; }
  // Long work on its terminals, which they share.
  Slices& slices() { return slices_; }

  // --- starting
  // It is starting: kReady or kClosed follows.
  base::Result<Terminal*> open(OpenRequest request);
  struct Acquired {
    Terminal* terminal = nullptr;
    bool created = false;
  };
  // An idle one of the same owner and session, provider, task and live directory, else any idle one of that
  // owner, provider and directory, else a new one; bound to the task. Exhausted: none is free, and no more
  // may be opened.
  base::Result<Acquired> acquire(const std::string& cwd, const std::string& task, Owner owner,
                                 const std::string& session = {}, pty::Provider provider = pty::Provider::Pty,
                                 std::vector<std::string> callers = {},
                                 std::optional<sandbox::Plan> plan = {}, terminal::SandboxReport report = {});
  // Those of the task for which `may` holds: their task is cleared, and they live on for whoever comes next.
  std::vector<Terminal*> release(const std::string& task, const std::function<bool(const Terminal&)>& may);
  base::Result<Terminal*> run(RunRequest request);
  using Submitted = CommandInTerminal;
  // In the terminal; or, where its shell has no integration, on pipes in its directory.
  base::Result<Submitted> submit(Terminal& terminal, CommandRequest request);
  // Refused if another living terminal has the name.
  base::Result<void> rename(Terminal& terminal, const std::string& name);

  // --- finding: see TerminalList
  base::Result<Terminal*> find(std::string_view name) { return list_.find(name); }
  base::Result<Submitted> find_command(std::string_view id) { return list_.find_command(id); }
  Terminal* opened_for(const std::string& request) const { return list_.opened_for(request); }
  // A temporary terminal whose engine died before it launched it: nothing of it ever ran. It is forgotten, so
  // that its command can be run after all. False: it started, or somebody still waits to be told of its end.
  bool take_back_unstarted(Terminal& terminal);
  bool forgot_command(std::string_view id) const { return retention_.forgot_command(id); }
  std::vector<Terminal*> terminals() const { return list_.all(); }
  size_t live_terminals() const { return list_.live_shells(); }
  bool holds_anything() const { return list_.holds_anything(); }
  size_t pooled() const { return list_.pooled(); }
  // The innermost terminal a process is in, by its ancestors; null if in none.
  const Terminal* terminal_of_process(pid_t pid) const;
  const Terminal* terminal_led_by(pid_t pid) const { return list_.led_by(pid); }

  // --- PATH and sessions: see Registry
  void contribute_path(PathContribution contribution);
  bool remove_path(const std::string& contributor);
  const std::vector<PathContribution>& paths() const { return registry_.paths(); }
  base::Result<void> associate(Terminal& terminal, const std::string& session, const std::string& quality);
  std::vector<Registry::Association> sessions_of(const Terminal& terminal) const;
  std::vector<Terminal*> of_session(const std::string& session) const;

  // --- ending
  // Brings all down; `done` when nothing is left.
  void kill_all(std::function<void()> done);
  // The same with the shells started ahead alone: nobody would find them again.
  void end_pool(std::function<void()> done);
  uint64_t journal_bytes() const { return journals_->used(); }

 private:
  Engine(io::Loop& loop, Settings settings, EngineObserver& observer,
         std::shared_ptr<journal::Folder> journals, base::UniqueFd logs, std::string logs_path,
         std::string sockets);
  void on_change(Terminal& terminal, uint32_t changes) override;
  base::Result<Terminal*> start(TerminalSpec spec);
  Terminal* add(std::unique_ptr<Terminal> terminal);
  enum class Which : uint8_t { All, Pooled };
  void bring_down(Which which, std::function<void()> done);
  hold::HolderFolders holder_folders() const;

  io::Loop& loop_;
  Settings settings_;
  EngineObserver& observer_;
  std::shared_ptr<journal::Folder> journals_;
  base::UniqueFd logs_;
  ReadyLogs ready_logs_;
  Sweeper log_maker_;  // fills ready_logs_
  Launcher launcher_;
  Slices slices_;
  Places places_;
  TerminalHost host_;
  Registry registry_;
  SpecMaker specs_;
  TerminalList list_;
  Retention retention_;
  ShellPool pool_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::engine
