// What a server offers: tools, resources, prompts. The protocol's side (eras, sessions, tasks, framing) is in
// Server and Peer and knows none of it; what they ask for is here.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "mcp/json.h"
#include "mcp/request.h"

namespace ttyward::mcp {

class Notices;

// Whether a tool call may become a task (something to come back to).
enum class TaskSupport { Never, Optional, Required };

class Catalog {
 public:
  virtual ~Catalog() = default;

  virtual std::string instructions() const = 0;
  virtual json::object capabilities(Era era) const = 0;

  virtual json::array tools(Era era) const = 0;
  virtual bool has_tool(std::string_view name) const = 0;
  virtual TaskSupport task_support(std::string_view name) const = 0;
  // Modern era: how long a call that may become a task is waited for before it becomes one.
  virtual std::chrono::milliseconds task_delay(std::string_view tool) const = 0;
  // Calls a tool that exists; `arguments` is an object, unchecked.
  virtual void call_tool(RequestPtr request, std::string name, json::object arguments) = 0;

  virtual void list_resources(RequestPtr request) = 0;
  virtual json::array resource_templates() const = 0;
  virtual void read_resource(RequestPtr request, std::string uri) = 0;
  // Somebody wants to hear when `uri` changes, or does no longer (counted). The news go to Notices.
  virtual void watch(const std::string& uri) = 0;
  virtual void unwatch(const std::string& uri) = 0;

  virtual json::array prompts() const = 0;
  virtual bool has_prompt(std::string_view name) const = 0;
  virtual void get_prompt(RequestPtr request, std::string name, json::object arguments) = 0;
  virtual void complete(RequestPtr request) = 0;

  // x-mcp-header: the arguments of a tool that clients repeat as HTTP headers, header name → argument.
  virtual std::map<std::string, std::string> mirrored_arguments(std::string_view) const { return {}; }
};

}  // namespace ttyward::mcp
