// An MCP server without its transport: what every conversation shares, and the table of methods.
//
// Flow at a glance:
//   transport (stdio, http/) ─ bytes ─► rpc::parse ─► Peer (one conversation: era, session, what is in
//   flight)
//        ▲                                              │ Request
//        └──────────── Outlet ◄── reply ── Server::dispatch ─► Catalog (tools, resources, prompts)
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/loop.h"
#include "mcp/catalog.h"
#include "mcp/json.h"
#include "mcp/notices.h"
#include "mcp/request.h"
#include "mcp/tasks.h"

namespace ttyward::mcp {

inline constexpr const char* kModernVersion = "2026-07-28";
inline constexpr const char* kNewestLegacyVersion = "2025-11-25";
bool is_legacy_version(std::string_view version);

class Server {
 public:
  Server(io::Loop& loop, Catalog& catalog, Notices& notices);

  io::Loop& loop() { return loop_; }
  Catalog& catalog() { return catalog_; }
  Notices& notices() { return notices_; }
  Tasks& tasks() { return tasks_; }
  const json::object& info() const { return info_; }
  json::object discovery() const;

  // Answers a request of either era. What belongs to a conversation (initialize, subscriptions) is Peer's.
  void dispatch(const RequestPtr& request);
  // Calls a tool, as a task if that is what the call is.
  void call_tool(const RequestPtr& request);

 private:
  using Method = void (Server::*)(const RequestPtr&);
  void list_tools(const RequestPtr& request);
  void list_prompts(const RequestPtr& request);
  void list_templates(const RequestPtr& request);
  void read_resource(const RequestPtr& request);
  void get_prompt(const RequestPtr& request);
  // Adds what a modern client may keep for how long, and ends the request.
  void reply_cacheable(const RequestPtr& request, json::object result);

  io::Loop& loop_;
  Catalog& catalog_;
  Notices& notices_;
  json::object info_;
  Tasks tasks_;
};

}  // namespace ttyward::mcp
