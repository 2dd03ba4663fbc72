// session/request_permission of one session: one decision, and the daemon makes it.
//
//   our MCP tool, or a shell tool that uses our terminals   allow once; the daemon judges what really runs
//   a command that the agent will run itself                the daemon's `permit`: allow, deny, or ask; a
//                                                            question is shown in the editor and in ttyward's
//                                                            approvals, and the first answer counts
//   a command that nobody names                              the editor decides; a title that policy would
//                                                            deny is rejected, but none is ever allowed
//   anything else (an edit, a fetch, a tool of another MCP server)   the editor decides
//
// "Allow always" is never chosen here: only a person chooses it. Thread rule: the loop thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acp/approvals.h"
#include "acp/profile.h"
#include "acp/sides.h"
#include "acp/tool_calls.h"
#include "client/client.h"

namespace ttyward::acp {

// What reaches the daemon whatever the agent asks before, so that the agent's question needs no second judge.
struct Governed {
  bool our_tools = false;  // our MCP server was given to the agent
  bool terminals = false;  // its shell tool runs in our terminals
};

class Permissions {
 public:
  Permissions(Sides& sides, client::Client& daemon, Approvals& approvals, ToolCalls& calls, std::string cwd)
      : sides_(sides), daemon_(daemon), approvals_(approvals), calls_(calls), cwd_(std::move(cwd)) {}
  Permissions(const Permissions&) = delete;
  Permissions& operator=(const Permissions&) = delete;
  ~Permissions() { *alive_ = false; }

  void set_session(std::string id) { session_ = std::move(id); }
  void request(const AgentId& id, json::object params, const Profile* profile, Governed governed);
  // As in Terminals.
  bool cancel(const AgentId& id);
  // Every open request is answered as cancelled.
  void cancel_all();

 private:
  struct Open {
    json::object params;
    std::vector<Option> options;
    std::vector<std::string> plain;
    uint64_t permit = 0;   // the daemon's call; 0: none
    std::string approval;  // its question; empty: none
    uint64_t asked = 0;    // the editor's answer decides alone; 0: it does not
    uint64_t number = 0;   // differs between requests of the same id
  };

  Open* find(const AgentId& id, uint64_t number);
  void judge(const AgentId& id, uint64_t number, const ToolCall& call);
  void judge_title(const AgentId& id, uint64_t number, const std::string& title);
  void permitted(const AgentId& id, uint64_t number, const client::CallResult& came);
  // The editor decides, and nobody else.
  void forward(const AgentId& id, uint64_t number);
  void select(const AgentId& id, const std::string& option);
  void reject(const AgentId& id, const std::string& why);
  void finish(const AgentId& id, json::object outcome);
  void withdraw(Open& open);

  Sides& sides_;
  client::Client& daemon_;
  Approvals& approvals_;
  ToolCalls& calls_;
  const std::string cwd_;
  std::string session_;
  std::map<AgentId, Open> open_;
  uint64_t last_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
