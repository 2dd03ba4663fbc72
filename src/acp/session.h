// One session of the agent: a session of the daemon, and everything that belongs to it.
//
// The daemon's session is made before the agent's has an id: our MCP server, which the agent starts, joins it
// by name, so the commands of both are one agent's.
//
// Thread rule: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "acp/approvals.h"
#include "acp/display.h"
#include "acp/permissions.h"
#include "acp/profile.h"
#include "acp/sides.h"
#include "acp/terminals.h"
#include "acp/tool_calls.h"
#include "base/folders.h"
#include "client/client.h"
#include "client/own_session.h"

namespace ttyward::acp {

struct SessionOptions {
  EditorView view = EditorView::Text;
  std::string program;  // ttyward itself
  std::string cwd;
  std::string sandbox;  // the profile that confines its commands; empty: as configured
  int version = 1;      // of the protocol
};

class Session {
 public:
  static base::Result<std::unique_ptr<Session>> open(Sides& sides, const base::Folders& folders,
                                                     const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Calls `then` when the daemon knows the session, or cannot be reached.
  void when_ready(std::function<void()> then);

  const std::string& id() const { return id_; }
  void set_id(const std::string& id);
  // The daemon's name for it.
  const std::string& name() const { return own_.name; }

  // Whether the agent was given our MCP server for this session.
  bool has_our_server() const { return has_our_server_; }
  void set_has_our_server(bool has) { has_our_server_ = has; }

  Terminals& terminals() { return terminals_; }
  Permissions& permissions() { return permissions_; }
  client::Client& daemon() { return agent_; }

  const ToolCall* call(const std::string& id) { return calls_.find(id); }
  // A session/update on its way to the editor: the line, or what is sent instead.
  std::string pass_update(std::string line, const json::object& update);
  // A request of the agent that we hold is not wanted any more. False: we hold none of that id.
  bool cancel(const AgentId& id);
  // The editor cancelled the turn.
  void cancel_turn();
  void release_all(const std::shared_ptr<void>& done);

 private:
  Session(Sides& sides, const base::Folders& folders, client::OwnSession own, const SessionOptions& options);
  void hear(const json::object& event);
  void note_told(const Told& told);
  // Display terminals of the second protocol version.
  void hear_terminal(const std::string& kind, const json::object& update);

  Sides& sides_;
  const base::Folders folders_;
  const client::OwnSession own_;
  const int version_;
  std::string id_;
  bool has_our_server_ = false;
  client::Client agent_;
  client::Client person_;
  ToolCalls calls_;
  Approvals approvals_;
  Display display_;
  Terminals terminals_;
  Permissions permissions_;
  std::map<std::string, Told> told_;  // by terminal id
};

}  // namespace ttyward::acp
