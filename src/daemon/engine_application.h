// The daemon's meaning: calls of docs/protocol/socket.md on the engine, the gate and the store.
//
//   Server ─ call ─► EngineApplication ─► Gate (may it run?) ─► Engine ─► Terminal
//                        │ answers as the terminal's changes come in
//                        └► store::Worker (history, audit) on its own thread
//
// A call that takes time is an OpenCall: it owns its wait, stream and dialogue, and
// goes when it is answered or taken back. Thread rule: the loop's thread.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/load.h"
#include "daemon/access.h"
#include "daemon/application.h"
#include "daemon/args.h"
#include "daemon/basic_calls.h"
#include "daemon/login_environment.h"
#include "daemon/server.h"
#include "daemon/sessions.h"
#include "daemon/webhook.h"
#include "engine/agent_input.h"
#include "engine/confirmations.h"
#include "engine/dialogue.h"
#include "engine/engine.h"
#include "engine/gate.h"
#include "engine/read.h"
#include "engine/readers.h"
#include "engine/wait.h"
#include "store/recorded.h"
#include "store/worker.h"

namespace ttyward::daemon {

class EngineApplication final : public Application,
                                private engine::EngineObserver,
                                public engine::AuditSink,
                                private engine::GateObserver {
 public:
  // `hold_program` is the path of ttyward-hold.
  EngineApplication(Process& process, std::string hold_program);
  ~EngineApplication() override;

  void call(const Caller& caller, const std::string& name, boost::json::object args,
            Responder responder) override;
  void connection_closed(uint64_t connection) override;
  Admission admit(pid_t pid, Role asked, const wire::Hello& hello) override;
  std::vector<std::string> notices() override;
  base::Result<void> start(io::Loop& loop, Server& server) override;
  std::vector<std::string> reload() override;
  void stop(bool kill_terminals, std::function<void()> done) override;

 private:
  using Handler = void (EngineApplication::*)(const Caller&, Args&, const Responder&);
  struct Row {
    const char* name;
    Role least;  // Viewer: anybody; Agent: agents and persons; Person
    Handler handler;
  };
  static const std::vector<Row>& table();

  // A call that is answered later.
  struct OpenCall {
    uint64_t connection = 0;
    std::unique_ptr<engine::Wait> wait;
    std::vector<std::shared_ptr<void>> parts;  // whatever else it is made of; goes with it
    io::Loop::TimerId timer = 0;
  };
  uint64_t add_call(const Caller& caller, const Responder& responder, std::function<void()> cancelled = {});
  OpenCall* open_call(uint64_t key);
  void end_call(uint64_t key);

  // --- calls_run.cc
  void run(const Caller& caller, Args& args, const Responder& responder);
  void batch(const Caller& caller, Args& args, const Responder& responder);
  void exec(const Caller& caller, Args& args, const Responder& responder);
  void result(const Caller& caller, Args& args, const Responder& responder);

  struct Follow {
    std::chrono::milliseconds yield_after{0};
    bool stop_at_input = true;
    bool stream = false;
    bool interrupt_on_cancel = false;
    uint64_t from_line = 0;  // of a stream: what the caller has seen
    terminal::ViewLimits view;
    std::vector<engine::Reply> replies;
    std::chrono::milliseconds replies_timeout{0};
    engine::Owner replies_by = engine::Owner::Agent;
  };
  terminal::ViewLimits view_of(Args& args) const;
  pty::Provider provider_of(Args& args) const;
  Follow follow_of(Args& args, std::chrono::milliseconds yield_after) const;
  // The id a client chose for its command; empty: none.
  static std::string chosen_id(Args& args);
  // A client sends a call again whose answer it never got: if the command of that id is known, it is
  // followed, and nothing is run; nor if it is only in the history. False: there never was one.
  bool rejoin(const Caller& caller, const std::string& id, const std::string& text, const Follow& how,
              const Responder& responder);
  // Asks the gate; `go` runs once the command may, with the verdict as JSON.
  void gated(const Caller& caller, engine::GateRequest request, std::chrono::milliseconds yield_after,
             const Responder& responder, const std::function<void(const std::string& verdict_json)>& go);
  // Agents work below policy.allowed_roots, where there are any; answers if this is elsewhere.
  bool outside_roots(const Caller& caller, const std::string& cwd, const Responder& responder) const;
  // The environment of whoever calls, as its process was started; inside a terminal, the terminal's.
  std::vector<std::string> environment_of(const Caller& caller) const;
  // The one that a command of the caller's in `cwd` begins with; at once, but for a login shell that has to
  // be asked.
  void with_environment(const Caller& caller, const std::string& cwd,
                        const std::function<void(std::vector<std::string> variables)>& then);
  engine::GateRequest gate_request(const Caller& caller, std::string command, std::string cwd,
                                   std::string command_id = {}) const;
  // What a project's file makes stricter.
  void tighten_for_project(engine::GateRequest& request) const;
  void follow(const Caller& caller, engine::Terminal& terminal, engine::Command& command, const Follow& how,
              const Responder& responder);
  void answer_with(engine::Terminal& terminal, const std::string& command_id, const std::string& reader,
                   const terminal::ViewLimits& view, const Responder& responder);
  void judge_when_settled(const Caller& caller, const std::string& terminal_id,
                          engine::CommandRequest request, const std::string& chosen, bool wait_if_busy,
                          const Follow& how, const Responder& responder);
  // `automatic`: nobody was asked about it, so it is judged anew after a wait.
  void submit_when_free(const Caller& caller, const std::string& terminal_id, engine::CommandRequest request,
                        bool automatic, bool wait_if_busy, const Follow& how, const Responder& responder);
  engine::GateRequest gate_request_for(const Caller& caller, const engine::Terminal& t,
                                       const engine::CommandRequest& request,
                                       const std::string& chosen) const;
  std::string second_look(const Caller& caller, const engine::GateRequest& asked, bool automatic,
                          const std::string& text, const std::string& cwd, bool sentinel);
  struct Batch;
  class SeparateBatch;
  static void check_batch(const std::vector<std::string>& commands, Args& args);
  void separate_batch(const Caller& caller, Args& args, const Responder& responder);
  void start_batch(const std::shared_ptr<Batch>& batch, engine::OpenRequest request,
                   std::chrono::milliseconds yield_after);
  void yield_batch(const std::shared_ptr<Batch>& batch);
  void next_of_batch(const std::shared_ptr<Batch>& batch);
  bool began_of_batch(const engine::Terminal& terminal, const std::string& command_id) const;
  void end_batch(const std::shared_ptr<Batch>& batch);

  // --- calls_terminal.cc
  void open(const Caller& caller, Args& args, const Responder& responder);
  void acquire(const Caller& caller, Args& args, const Responder& responder);
  void release(const Caller& caller, Args& args, const Responder& responder);
  void input(const Caller& caller, Args& args, const Responder& responder);
  void interrupt(const Caller& caller, Args& args, const Responder& responder);
  void signal(const Caller& caller, Args& args, const Responder& responder);
  void kill(const Caller& caller, Args& args, const Responder& responder);
  void resize(const Caller& caller, Args& args, const Responder& responder);
  void screen(const Caller& caller, Args& args, const Responder& responder);
  void list(const Caller& caller, Args& args, const Responder& responder);
  void show(const Caller& caller, Args& args, const Responder& responder);
  void resume(const Caller& caller, Args& args, const Responder& responder);
  void rename(const Caller& caller, Args& args, const Responder& responder);
  void assign(const Caller& caller, Args& args, const Responder& responder);
  void associate(const Caller& caller, Args& args, const Responder& responder);
  void session_terminals(const Caller& caller, Args& args, const Responder& responder);
  void session_cwd(const Caller& caller, Args& args, const Responder& responder);
  void path_add(const Caller& caller, Args& args, const Responder& responder);
  void path_remove(const Caller& caller, Args& args, const Responder& responder);
  void path_list(const Caller& caller, Args& args, const Responder& responder);
  boost::json::object paths_object() const;
  void lend(const Caller& caller, Args& args, const Responder& responder);
  void person_token(const Caller& caller, Args& args, const Responder& responder);

  // --- calls_access.cc
  // The terminal named by `terminal`, or that of the command named by `command`; answers if there is none, or
  // if it is not for this caller.
  engine::Terminal* terminal_of(const Caller& caller, Use use, Args& args, const Responder& responder,
                                engine::Command** command = nullptr);
  bool may(const Caller& caller, const engine::Terminal& terminal, Use use) const;
  // Answers if it may not.
  bool refused(const Caller& caller, const engine::Terminal& terminal, Use use,
               const Responder& responder) const;
  // A person has the keyboard, and who calls is an agent: answers that.
  bool held(const Caller& caller, const engine::Terminal& terminal, const Responder& responder) const;
  // Whether a command that waits for a person, or was refused, is this caller's to see.
  bool may_see(const Caller& caller, const std::string& session) const;
  // What an agent did to a terminal, for the record.
  struct Act {
    const char* action = "";
    std::string what;
    std::string decided_by;
    std::string reason;
    bool allowed = true;
  };
  void note_act(const Caller& caller, const engine::Terminal& terminal, const Act& act);
  void when_ready(const Caller& caller, engine::Terminal& terminal, const Responder& responder,
                  std::function<void(engine::Terminal&)> then);
  void open_now(const Caller& caller, engine::OpenRequest request, const Responder& responder);
  void type_as_agent(const Caller& caller, engine::Terminal& terminal, const engine::TypedInput& judged,
                     const std::string& bytes, const Responder& responder);
  void type(engine::Terminal& terminal, const std::string& bytes, engine::Owner by,
            const Responder& responder);

  // --- calls_watch.cc
  void wait(const Caller& caller, Args& args, const Responder& responder);
  // A command's result for this reader: all of its output, or only what the reader has not seen.
  boost::json::object result_for(engine::Terminal& terminal, const engine::Command& command,
                                 const std::string& reader, const terminal::ViewLimits& view, bool only_new);
  void wait_for_approval(const Caller& caller, const std::string& id, std::chrono::milliseconds timeout,
                         const Responder& responder);
  void read(const Caller& caller, Args& args, const Responder& responder);
  void search_on(uint64_t key, const std::shared_ptr<engine::GrepSearch>& search,
                 const std::string& terminal_id, const std::string& command_id, const Responder& responder);
  void answer_read(const engine::Terminal& terminal, const engine::Command* command,
                   const engine::ReadResult& came, const Responder& responder);
  void environment(const Caller& caller, Args& args, const Responder& responder);
  void attach(const Caller& caller, Args& args, const Responder& responder);
  void attach_input(const Caller& caller, Args& args, const Responder& responder);
  void attach_resize(const Caller& caller, Args& args, const Responder& responder);
  void detach(const Caller& caller, Args& args, const Responder& responder);
  void subscribe(const Caller& caller, Args& args, const Responder& responder);
  void unsubscribe(const Caller& caller, Args& args, const Responder& responder);
  struct Subscription;
  struct Attachment;
  void send_frame(uint64_t key);
  void end_attachment(uint64_t key, const std::string& reason);
  void count_listeners();
  static void add_new_text(Subscription& subscription, engine::Terminal& terminal,
                           boost::json::object& event);
  bool hears(const Caller& caller, const std::string& terminal_id, const boost::json::object& event);
  void tell(const char* kind, const std::string& terminal_id, const boost::json::object& event);

  // --- calls_policy.cc
  void check(const Caller& caller, Args& args, const Responder& responder);
  void approvals(const Caller& caller, Args& args, const Responder& responder);
  void answer(const Caller& caller, Args& args, const Responder& responder);
  void withdraw(const Caller& caller, Args& args, const Responder& responder);
  void rules(const Caller& caller, Args& args, const Responder& responder);
  void rule_add(const Caller& caller, Args& args, const Responder& responder);
  void rule_remove(const Caller& caller, Args& args, const Responder& responder);
  void rules_unconfirmed(const Caller& caller, Args& args, const Responder& responder);
  void rules_confirm(const Caller& caller, Args& args, const Responder& responder);
  void mode(const Caller& caller, Args& args, const Responder& responder);
  void history(const Caller& caller, Args& args, const Responder& responder);
  void decisions(const Caller& caller, Args& args, const Responder& responder);
  // `work` answers; if there is no store, or no room, this does.
  void ask_store(const Responder& responder, store::Worker::Work work);
  std::string session_of(const Caller& caller, Args& args) const;
  void record(const engine::AuditRow& row) override;
  void session_rule_added(const std::string& session, const std::string& rule,
                          const std::string& by) override;
  void session_rule_removed(const std::string& session, const std::string& rule) override;
  void on_opened(const engine::Approval& approval) override;
  void on_closed(const engine::Approval& approval) override;
  void on_unconfirmed_changed(const std::string& notice) override;

  // --- engine_application.cc
  void on_terminal_opened(engine::Terminal& terminal) override;
  void on_terminal_change(engine::Terminal& terminal, uint32_t changes) override;
  void on_record(const engine::Terminal& terminal, const engine::Command& command) override;
  void on_quality(const engine::Terminal& terminal, shell::Quality from, shell::Quality to,
                  const std::string& reason) override;
  void on_terminal_forgotten(const engine::Terminal& terminal) override;
  void load_config();
  // Ends the daemon when nobody has wanted anything for daemon.idle_exit.
  void watch_idleness();
  bool idle() const;
  void raise_file_limit();
  engine::Settings engine_settings() const;
  engine::GateSettings gate_settings() const;
  // Records rules and settings as they are at the first start, and what is looser than at the last one.
  void confirm_first_start();
  void compare_with_last_start();
  void open_store();
  void prune_history();
  void keep(std::function<void(store::Store&)> work);
  void extend_status(boost::json::object& status);

  Process& process_;
  const std::string hold_program_;
  BasicCalls basic_;
  io::Loop* loop_ = nullptr;
  Server* server_ = nullptr;
  rlimit user_files_{};
  std::unique_ptr<engine::Confirmations> confirmations_;
  engine::ConfirmedConfig policy_config_;  // without `loaded`, which is config_
  config::Loaded config_;
  std::vector<engine::LoosenedSetting> looser_than_last_;
  std::vector<std::string> warnings_;
  std::unique_ptr<store::Worker> store_;
  std::optional<store::Recorded> recorded_;  // once there is a history
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Gate> gate_;
  std::optional<Webhook> webhook_;
  std::optional<engine::Readers> readers_;
  std::unique_ptr<LoginEnvironment> login_;
  engine::Recovered recovered_;
  Sessions sessions_;
  std::string person_token_;  // empty: there is none
  io::Loop::TimerId idle_timer_ = 0;
  std::optional<std::chrono::steady_clock::time_point> idle_since_;
  size_t not_recorded_ = 0;  // history rows the store had no room for
  int recorded_since_pruning_ = 0;

  uint64_t last_key_ = 0;
  std::map<uint64_t, std::unique_ptr<OpenCall>> open_calls_;
  // Commands that wait for a person, or were refused: there is no terminal that knows them.
  struct Pending {
    terminal::CommandResult facts;
    std::string approval;
    std::string session;
  };
  std::map<std::string, Pending> pending_;
  std::vector<std::string> pending_order_;
  std::map<std::string, std::vector<std::function<void()>>> approval_waiters_;  // by approval id
  std::map<uint64_t, std::unique_ptr<Subscription>> subscriptions_;
  std::map<uint64_t, std::unique_ptr<Attachment>> attachments_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::daemon
