// terminal/create, output, wait_for_exit, kill and release of one session, served by the daemon.
//
//   create ─► daemon `run` with the argv that will run: policy decides; where it asks, editor and daemon ask
//             at once, and the request stays open ─► id
//   output ─► what is new is read from the daemon; the text only grows (plain_text.h)
//
// Ids cannot be guessed and are never used again; one of another session is unknown here.
// Thread rule: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "acp/approvals.h"
#include "acp/display.h"
#include "acp/sides.h"
#include "acp/terminal.h"
#include "acp/tool_calls.h"
#include "client/client.h"
#include "wire/types/command_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::acp {

class Terminals {
 public:
  Terminals(Sides& sides, client::Client& daemon, Approvals& approvals, Display& display, ToolCalls& calls,
            std::string cwd, std::string sandbox)
      : sides_(sides),
        daemon_(daemon),
        approvals_(approvals),
        display_(display),
        calls_(calls),
        cwd_(std::move(cwd)),
        sandbox_(std::move(sandbox)) {}
  Terminals(const Terminals&) = delete;
  Terminals& operator=(const Terminals&) = delete;
  ~Terminals() { *alive_ = false; }

  void set_session(std::string id) { session_ = std::move(id); }
  // One of the terminal methods. False: there is no such method.
  bool handle(const std::string& method, const AgentId& id, const json::object& params);
  // The agent does not want an answer to this request any more. False: it is not open here.
  bool cancel(const AgentId& id);
  // The turn was cancelled: nobody answers its questions.
  void cancel_questions();
  // Ends what runs and forgets all ids. What was printed stays in the history. `done` is let go of when
  // everything has ended.
  void release_all(const std::shared_ptr<void>& done);
  size_t open() const { return open_.size(); }

 private:
  static constexpr size_t kMostOpen = 512;    // an agent that never releases anything is told so
  static constexpr size_t kMostAsked = 1024;  // requests for output, or for an end, that are not answered yet

  // A request to create that is not answered yet.
  struct Creating {
    std::shared_ptr<Terminal> terminal;
    std::string approval;  // the open question; empty: none
  };

  void create(const AgentId& id, const json::object& params);
  void output(const AgentId& id, const std::shared_ptr<Terminal>& terminal);
  void answer_output(const AgentId& id, const std::shared_ptr<Terminal>& terminal);
  void wait_for_exit(const AgentId& id, const std::shared_ptr<Terminal>& terminal);
  void release(const AgentId& id, const std::string& terminal_id);
  // Whether it can be run; if not, the request is answered.
  bool run_request(const AgentId& id, const json::object& params, wire::RunRequest& run) const;
  void ran(const AgentId& id, const client::AnswerOf<wire::RunRequest>& came);
  void ask(const AgentId& id, const wire::CommandResult& pending);
  void decided(const AgentId& id, const client::AnswerOf<wire::WaitRequest>& came);
  void await_start(const AgentId& id, int attempt);
  void started(const AgentId& id, const wire::CommandResult& result);
  void refused(const AgentId& id, const std::string& why, const std::string& decision);
  Creating* creating(const AgentId& id);
  // Gives up a request: nothing runs for it.
  void abandon(const AgentId& id);

  Sides& sides_;
  client::Client& daemon_;
  Approvals& approvals_;
  Display& display_;
  ToolCalls& calls_;
  const std::string cwd_;
  const std::string sandbox_;  // the profile that confines what it runs; empty: as configured
  std::string session_;
  std::map<std::string, std::shared_ptr<Terminal>> open_;  // by id
  std::map<AgentId, Creating> creating_;
  std::multiset<AgentId> waiting_;  // for an exit
  size_t reading_ = 0;              // requests for output
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
