// The service for what was run and what was decided: rows go to the store, on its thread, and come back.
//
// A missing or slow history must not keep a command from running, nor delay the first one:
// a new database takes longer than all the rest of the start. Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/core.h"
#include "app/reply.h"
#include "gate/audit.h"
#include "store/recorded.h"
#include "store/worker.h"
#include "wire/types/policy_calls.h"

namespace ttyward::app {

// What an agent did to a terminal, for the record.
struct Act {
  const char* action = "";
  std::string what;
  std::string decided_by{};  // empty: by owning the terminal, or by a loan
  std::string reason{};
  bool allowed = true;
};

class History final : public gate::AuditSink {
 public:
  // `warn` is told, on the loop, what is wrong with the database.
  History(Core& core, std::function<void(const std::string&)> warn);

  void history(const Caller& caller, const wire::HistoryRequest& request,
               const Reply<wire::CommandList>& reply);
  void decisions(const Caller& caller, const wire::DecisionsRequest& request,
                 const Reply<wire::DecisionList>& reply);

  void put(store::CommandRow row);
  // The same for one that the daemon before us may have put already; `if_new` is called, later, if it did
  // not.
  void put_once(store::CommandRow row, std::function<void(const store::CommandRow& row)> if_new);
  void note_act(const Caller& caller, const engine::Terminal& terminal, const Act& act);
  // Whether a command of that id was recorded already.
  bool has(const std::string& command_id);
  // How the command usually goes for agents, in this folder; nothing if it is not known. Answers later.
  void usual(const std::string& command, const std::string& cwd,
             std::function<void(const std::optional<wire::UsualRun>&)> then);
  // How many rows there was no room for.
  size_t not_recorded() const { return not_recorded_; }
  // What people allowed for a session holds as long as the session, not as long as a daemon.
  void restore_session_rules();

  // Called with every decision.
  void on_decision(std::function<void(const gate::AuditRow& row)> callback) {
    on_decision_ = std::move(callback);
  }
  void record(const gate::AuditRow& row) override;
  void session_rule_added(const std::string& session, const std::string& rule,
                          const std::string& by) override;
  void session_rule_removed(const std::string& session, const std::string& rule) override;

 private:
  void keep(std::function<void(store::Store&)> work);
  void prune();
  // `work` answers. Without a store, or with a full queue, this function answers with an error.
  void ask(const ReplyBase& reply, store::Worker::Work work);

  Core& core_;
  std::optional<store::Recorded> recorded_;  // once there is a history
  std::function<void(const gate::AuditRow& row)> on_decision_;
  size_t not_recorded_ = 0;
  int since_pruning_ = 0;
  std::unique_ptr<store::Worker> store_;
};

}  // namespace ttyward::app
