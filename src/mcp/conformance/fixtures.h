// What the official conformance suite expects a server to offer: tools, resources and prompts with fixed
// names and answers. Served by `ttyward mcp --conformance` and by nothing else; runs no command and knows no
// terminal.
//
// Thread rule: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "mcp/catalog.h"
#include "mcp/notices.h"
#include "mcp/pending_states.h"

namespace ttyward::mcp::conformance {

class Fixtures final : public Catalog {
 public:
  explicit Fixtures(Notices& notices);

  std::string instructions() const override { return "Fixtures of the conformance suite."; }
  json::object capabilities(Era era) const override;
  json::array tools(Era era) const override;
  bool has_tool(std::string_view name) const override { return tools_.contains(std::string(name)); }
  TaskSupport task_support(std::string_view name) const override;
  std::chrono::milliseconds task_delay(std::string_view tool) const override {
    return std::chrono::milliseconds(tool == "test_tool_with_task" ? 100 : 0);
  }
  void call_tool(RequestPtr request, std::string name, json::object arguments) override;
  void list_resources(RequestPtr request) override;
  json::array resource_templates() const override;
  void read_resource(RequestPtr request, std::string uri) override;
  void watch(const std::string&) override {}
  void unwatch(const std::string&) override {}
  json::array prompts() const override;
  bool has_prompt(std::string_view name) const override;
  void get_prompt(RequestPtr request, std::string name, json::object arguments) override;
  void complete(RequestPtr request) override;
  std::map<std::string, std::string> mirrored_arguments(std::string_view tool) const override;

 private:
  using Run = std::function<void(const RequestPtr&, const json::object& arguments)>;
  struct Tool {
    std::string description;
    json::object schema;
    Run run;
    TaskSupport tasks = TaskSupport::Never;
  };
  void add(const char* name, const char* description, Run run, json::object properties = {},
           TaskSupport tasks = TaskSupport::Never);
  void add_contents();
  void add_dialogues();
  void add_input_required();
  void add_tasks();

  Notices& notices_;
  PendingStates<json::object> states_;
  std::map<std::string, Tool> tools_;
};

// A question of form mode: key → type.
json::object form_question(std::string_view message, json::object properties, json::array required);
json::object input_request(std::string_view method, json::object params);

inline constexpr const char* kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
inline constexpr const char* kWav =
    "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

}  // namespace ttyward::mcp::conformance
