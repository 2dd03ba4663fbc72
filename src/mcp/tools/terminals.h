// What ttyward offers over MCP: the tools, terminals as resources, and two prompts.
//
// Thread rule: the loop thread. Must not outlive the loop or the backends.
#pragma once

#include <map>
#include <set>
#include <string>

#include "mcp/catalog.h"
#include "mcp/notices.h"
#include "mcp/tools/context.h"

namespace ttyward::mcp::tools {

struct Tool;

class Terminals final : public Catalog {
 public:
  Terminals(io::Loop& loop, Backends backends, Notices& notices, Roots roots, std::string session);
  ~Terminals() override;

  // How long run_command and run_batch wait unless the caller says so.
  void set_wait(std::chrono::milliseconds wait) { context_.wait = wait; }
  // The profile that confines every command at least; empty: as configured.
  void set_sandbox(std::string profile) { context_.sandbox = std::move(profile); }
  void set_patience(std::chrono::milliseconds patience) { context_.patience = patience; }

  // Other names for run_command. What is no tool's name, or another tool's, is left out.
  void set_aliases(const std::vector<std::string>& names);

  std::string instructions() const override;
  json::object capabilities(Era era) const override;
  json::array tools(Era era) const override;
  bool has_tool(std::string_view name) const override;
  TaskSupport task_support(std::string_view name) const override;
  std::chrono::milliseconds task_delay(std::string_view) const override { return std::chrono::seconds(3); }
  void call_tool(RequestPtr request, std::string name, json::object arguments) override;

  void list_resources(RequestPtr request) override;
  json::array resource_templates() const override;
  void read_resource(RequestPtr request, std::string uri) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;

  json::array prompts() const override;
  bool has_prompt(std::string_view name) const override;
  void get_prompt(RequestPtr request, std::string name, json::object arguments) override;
  void complete(RequestPtr request) override;

 private:
  // By its name, or by an alias.
  const Tool* tool_named(std::string_view name) const;
  void happened(const json::object& event);
  void changed(const std::string& uri);
  void subscribe_output();

  Context context_;
  Notices& notices_;
  std::vector<std::string> aliases_;
  std::map<std::string, size_t> watched_;  // uri → by how many
  std::set<std::string> news_;             // to be told soon, each once
  bool list_changed_ = false;
  uint64_t output_subscription_ = 0;  // the daemon's number; 0: none
  bool subscribing_ = false;
  io::Loop::TimerId telling_ = 0;
};

}  // namespace ttyward::mcp::tools
