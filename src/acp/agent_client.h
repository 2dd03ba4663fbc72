// A client of an agent that speaks the Agent Client Protocol: starts it behind the proxy, and talks to it.
//
// The proxy has terminals and permissions; this end only shows. So it is a client like any editor, and the
// one that our tests use.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "acp/agent_process.h"
#include "acp/sides.h"
#include "base/result.h"
#include "io/loop.h"
#include "rpc/peer.h"
#include "rpc/stdio.h"

namespace ttyward::acp {

class AgentClient final : public rpc::Handler {
 public:
  struct Events {
    std::function<void(const json::object& update)> update;
    // A question to a person; it stays open until answer() or `withdrawn`.
    std::function<void(uint64_t question, const json::object& params)> permission;
    std::function<void(uint64_t question)> withdrawn;
    std::function<void(const std::string& why)> ended;
  };

  static base::Result<std::unique_ptr<AgentClient>> start(io::Loop& loop,
                                                          const std::vector<std::string>& argv,
                                                          std::vector<std::string> environment,
                                                          Events events);
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;
  ~AgentClient();

  void initialize(rpc::OnAnswer done);
  void new_session(const std::string& cwd, rpc::OnAnswer done);
  // By session/resume, or session/load where the agent has only that.
  void resume_session(const std::string& id, const std::string& cwd, rpc::OnAnswer done);
  // All pages of it, as one: {"sessions":[…]}.
  void list_sessions(const std::string& cwd, rpc::OnAnswer done);
  void prompt(const std::string& text, rpc::OnAnswer done);
  void cancel_turn();
  // Empty: cancelled.
  void answer(uint64_t question, const std::string& option);

  const std::string& session() const { return session_; }
  const std::string& agent_name() const { return agent_name_; }
  // Ends the conversation; `ended` follows.
  void close();

 private:
  explicit AgentClient(io::Loop& loop, Events events) : loop_(loop), events_(std::move(events)) {}
  void on_request(const rpc::RequestPtr& request) override;
  void on_notification(const rpc::Message& message) override;
  void finish(const std::string& why);
  void list_page(json::object params, json::array before, rpc::OnAnswer done);

  static constexpr size_t kMostSessions = 1000;

  io::Loop& loop_;
  Events events_;
  std::unique_ptr<AgentProcess> process_;
  std::shared_ptr<rpc::Peer> peer_;
  std::unique_ptr<rpc::Stdio> stdio_;
  json::object abilities_;
  std::string agent_name_;
  std::string session_;
  std::map<uint64_t, rpc::RequestPtr> questions_;
  uint64_t last_question_ = 0;
};

}  // namespace ttyward::acp
