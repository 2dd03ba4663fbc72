// The proxy between an editor and an agent that speak the Agent Client Protocol.
//
//   editor ──lines──► Proxy ──lines──► agent
//          ◄──lines──   │   ◄──lines──
//                       ▼ client/
//                     daemon: terminals, policy, approvals, history
//
// A line passes as it is unless it is one of these:
//   initialize                    the agent is told that its client has terminals
//   session/new|load|resume|fork  our MCP server is added, and what switches the agent's own shell off
//   terminal/*                    answered from the daemon (terminals.h)
//   session/request_permission    decided in the daemon (permissions.h)
//   session/update                terminals are shown as the editor can show them (display.h)
// What is not one JSON object with a message in it is passed to nobody: what we cannot read we cannot judge.
//
// No descriptors here: whoever owns them gives lines, and takes lines. Thread rule: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "acp/json_edit.h"
#include "acp/profile.h"
#include "acp/session.h"
#include "acp/sides.h"
#include "base/folders.h"
#include "client/client.h"

namespace ttyward::acp {

struct ProxyOptions {
  base::Folders folders;
  std::string program;  // ttyward itself: absolute
  std::string server;   // the name of our MCP server (server_name.h)
  std::vector<Profile> profiles;
  const Profile* started_with = nullptr;  // of `profiles`: what was set before the agent began; null: none
  bool inject_mcp = true;
  std::string sandbox;  // the profile that confines every command at least; empty: as configured
  int protocol = 1;     // the newest version that is spoken
};

class Proxy final : public Sides {
 public:
  struct Outputs {
    std::function<void(std::string_view line)> editor;
    std::function<void(std::string_view line)> agent;
    std::function<void(const std::string& text)> log;
    std::function<bool()> agent_is_behind;
  };

  Proxy(io::Loop& loop, ProxyOptions options, Outputs outputs);
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  ~Proxy() override;

  void from_editor(std::string_view line);
  void from_agent(std::string_view line);
  // A line that was too long, or could not be read: whoever sent it is told.
  void unreadable(bool by_agent, std::string_view why);

  // The agent is gone: what the editor waits for is answered with an error. What runs keeps running.
  void agent_ended(const std::string& why);
  // The editor is gone: questions are withdrawn, terminals are released. `done` is called when the commands
  // in them have ended.
  void editor_ended(std::function<void()> done);

  // --- Sides
  io::Loop& loop() override { return loop_; }
  void answer_agent(const AgentId& id, json::value result) override;
  void refuse_agent(const AgentId& id, int code, std::string_view message, json::object data) override;
  void tell_editor(std::string_view method, json::object params) override;
  uint64_t ask_editor(std::string_view method, json::object params, rpc::OnAnswer done) override;
  void withdraw(uint64_t asked) override;
  bool agent_is_behind() const override { return outputs_.agent_is_behind(); }
  void log(const std::string& text) override { outputs_.log(text); }

 private:
  // A request of the editor that the agent has not answered.
  struct Pending {
    std::string method;
    std::string session;                   // the one it names; empty: none
    std::unique_ptr<Session> new_session;  // it makes one
    bool opens_session = false;            // it loads or resumes one that was not served before
  };
  // A session that is closed, until its commands have ended.
  struct Closing {
    std::unique_ptr<Session> session;
    std::vector<std::shared_ptr<void>> waiting;  // let go of then
  };
  struct Line {
    std::string_view text;
    std::string method;  // empty: an answer
    std::string id;      // as JSON text; empty: a notification
    Outline outline;
  };

  std::optional<Line> read(std::string_view line, bool by_agent);
  void editor_request(const Line& line);
  void editor_notification(const Line& line);
  std::string with_terminals(const Line& line);
  std::string with_our_server(const Line& line, Pending& pending);
  // The list with our server in it; nullopt: it stays as it is.
  std::optional<std::string> mcp_servers(std::string_view given, const std::string& session) const;

  void agent_request(const Line& line);
  // To the editor, which answers it.
  void pass_request(const Line& line);
  void agent_notification(const Line& line);
  void agent_answer(const Line& line);
  void initialized(const json::object& result);
  void announce();
  // A command that the agent ran by itself, although its profile says that it cannot.
  void watch_shell(const ToolCall* call);
  void session_opened(Pending pending, const json::object& result);
  void session_failed(const Pending& pending);
  void close_session(const std::string& id);
  // An answer to a request that nobody made, or that was answered before.
  void drop_answer(bool by_agent);
  Session* session_of(const json::object& params);

  // Constant after construction.
  io::Loop& loop_;
  const ProxyOptions options_;
  Outputs outputs_;
  const std::string own_ids_;  // how ids of our requests begin

  EditorView view_ = EditorView::Text;
  int version_ = 1;
  const Profile* profile_ = nullptr;
  std::string agent_name_;
  std::string agent_version_;
  bool has_own_shell_ = false;            // it was seen
  std::map<MessageId, Pending> pending_;  // by the editor's id
  std::set<MessageId> passed_;            // requests of the agent that the editor has not answered
  std::map<std::string, std::unique_ptr<Session>> sessions_;
  std::map<uint64_t, Closing> closing_;
  uint64_t last_closing_ = 0;
  std::map<uint64_t, rpc::OnAnswer> asked_;  // of the editor, by us
  uint64_t last_asked_ = 0;
  uint64_t dropped_ = 0;                    // lines that could not be read
  uint64_t unasked_ = 0;                    // answers that nobody had asked for
  std::unique_ptr<client::Client> status_;  // tells the daemon which agent this is
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
