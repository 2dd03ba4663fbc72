// All terminals of a user: opened, found, reused, pooled, bounded, and found again.
//
// Flow at a glance
//   open() / acquire()   a shell that stays: from the pool, by reuse, or new
//   run()                a terminal for one command
//   submit()             a command in a shell; on the fallback where the shell has no integration
//   recover()            at the start: every terminal an engine before us left
//
// Thread rule: the loop's. Pointers to terminals are good until control returns to
// the loop: one that ended is kept for those who ask later, but not for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/ready_logs.h"
#include "engine/settings.h"
#include "engine/sweeper.h"
#include "engine/terminal.h"

namespace ttyward::engine {

struct OpenRequest {
  std::string request;  // asked for again by the same, it is not opened again; empty: always a new one
  std::string name;
  std::string cwd;                 // empty: the home folder
  std::vector<std::string> shell;  // empty: the usual one
  bool login = false;
  pty::Provider provider = pty::Provider::Pty;
  std::string task;
  Owner owner = Owner::Agent;
  std::string session;                   // of the agent who asks; empty: none
  std::vector<std::string> environment;  // NAME=value, from whoever asks
  std::vector<std::string> callers;      // the caller's own, of which a part is inherited; empty: ours
  std::optional<pty::WindowSize> size;
};

struct RunRequest {
  std::string id;                 // of the command; empty: one is made
  std::string command;            // a line for the shell; or as shown, if argv is set
  std::vector<std::string> argv;  // without a shell
  std::string description;        // what it is for, as its caller says
  std::string cwd;
  std::vector<std::string> environment;
  std::vector<std::string> callers;  // as in OpenRequest
  pty::Provider provider = pty::Provider::Pty;
  std::optional<pty::WindowSize> size;
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds idle_timeout{300'000};
  std::optional<std::string> stdin_text;
  bool keep_background = true;
  std::string task;
  Owner owner = Owner::Agent;
  std::string session;
  std::string verdict_json;
};

// A directory somebody wants in every new terminal's PATH.
struct PathContribution {
  std::string contributor;
  std::string path;
  std::string description;
  bool prepend = false;
};

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
  io::Loop& loop() { return loop_; }
  // Long work on its terminals, which they share.
  Slices& slices() { return slices_; }

  // It is starting: kReady or kClosed follows.
  base::Result<Terminal*> open(OpenRequest request);
  // Null: nobody asked by this so far, or it is forgotten.
  Terminal* opened_for(const std::string& request) const;
  // Refused if another living terminal has the name.
  base::Result<void> rename(Terminal& terminal, const std::string& name);
  struct Acquired {
    Terminal* terminal = nullptr;
    bool created = false;
  };
  // An idle one of the same owner and session, provider, task and live directory, else any idle one of that
  // owner, provider and directory, else a new one; bound to the task. Exhausted: none is free, and no more
  // may be opened.
  base::Result<Acquired> acquire(const std::string& cwd, const std::string& task, Owner owner,
                                 const std::string& session = {}, pty::Provider provider = pty::Provider::Pty,
                                 std::vector<std::string> callers = {});
  // Those of the task for which `may` holds: their task is cleared, and they live on for whoever comes next.
  std::vector<Terminal*> release(const std::string& task, const std::function<bool(const Terminal&)>& may);
  base::Result<Terminal*> run(RunRequest request);
  struct Submitted {
    Terminal* terminal = nullptr;
    Command* command = nullptr;
  };
  // In the terminal; or, where its shell has no integration, on pipes in its directory.
  base::Result<Submitted> submit(Terminal& terminal, CommandRequest request);

  // By id, by name, or by the beginning of an id where only one has it.
  base::Result<Terminal*> find(std::string_view name);
  // By id.
  base::Result<Submitted> find_command(std::string_view id);
  // Whether there was such a command, of which nothing else is known any more. Of the last few thousand.
  bool forgot_command(std::string_view id) const;
  std::vector<Terminal*> terminals() const;  // oldest first; the pool's are not among them
  size_t live_terminals() const;             // that stay
  size_t live_commands() const;              // of their own
  // A terminal or a command lives, or what one left behind does. Shells started ahead do not count.
  bool holds_anything() const;
  size_t pooled() const;  // started ahead, and ready

  void contribute_path(PathContribution contribution);
  bool remove_path(const std::string& contributor);
  const std::vector<PathContribution>& paths() const { return paths_; }

  struct Association {
    std::string session;
    std::string quality;
  };
  base::Result<void> associate(Terminal& terminal, const std::string& session, const std::string& quality);
  std::vector<Association> sessions_of(const Terminal& terminal) const;
  std::vector<Terminal*> of_session(const std::string& session) const;

  // The innermost terminal a process is in, by its ancestors; null if in none.
  const Terminal* terminal_of_process(pid_t pid) const;
  // The one whose holder or first process this is.
  const Terminal* terminal_led_by(pid_t pid) const;
  // Brings all down; `done` when nothing is left.
  void kill_all(std::function<void()> done);
  // The same with the shells started ahead alone: nobody would find them again.
  void end_pool(std::function<void()> done);
  uint64_t journal_bytes() const { return journals_->used(); }

 private:
  base::Result<void> check_name(const std::string& name, const Terminal* of) const;
  Engine(io::Loop& loop, Settings settings, EngineObserver& observer,
         std::shared_ptr<journal::Folder> journals, base::UniqueFd logs, std::string logs_path,
         std::string sockets);
  void on_change(Terminal& terminal, uint32_t changes) override;

  base::Result<std::vector<std::string>> environment(const std::vector<std::string>& requested,
                                                     const std::vector<std::string>& callers, Owner owner,
                                                     pty::Provider provider) const;
  base::Result<Terminal*> start_shell(TerminalSpec spec);
  std::vector<base::Result<std::unique_ptr<Terminal>>> read_back(const std::vector<std::string>& ids);
  base::Result<std::string> checked_cwd(const std::string& cwd) const;
  enum class Which : uint8_t { All, Pooled };
  void bring_down(Which which, std::function<void()> done);
  hold::HolderFolders holder_folders() const;
  // engine_registry.cc: contributions to PATH and sessions of terminals, for the engine after us.
  void load_registry();
  void save_registry() const;
  bool may_start_ahead(const TerminalSpec& spec) const;
  Terminal* take_from_pool(const TerminalSpec& spec);
  void fill_pool();
  void forget_old();
  void forget_soon();
  void trim_soon();
  void note_forgotten(const std::string& command_id);
  void forget(const std::string& id);
  Terminal* add(std::unique_ptr<Terminal> terminal);

  io::Loop& loop_;
  Settings settings_;
  EngineObserver& observer_;
  std::shared_ptr<journal::Folder> journals_;
  base::UniqueFd logs_;
  ReadyLogs ready_logs_;
  Sweeper sweeper_;  // deletes files of terminals that are forgotten, makes logs ahead
  Launcher launcher_;
  Slices slices_;
  TerminalHost host_;

  std::vector<std::unique_ptr<Terminal>> terminals_;  // in the order they were opened
  std::deque<std::string> forgotten_commands_;        // ids, oldest first
  std::vector<PathContribution> paths_;
  std::multimap<std::string, Association> associations_;  // by terminal id
  std::optional<TerminalSpec> pool_model_;                // what the pool's shells are like
  bool pool_due_ = false;
  bool forget_due_ = false;
  bool trim_due_ = false;
  bool ending_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::engine
