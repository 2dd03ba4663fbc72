// News for clients that asked for them: lists that changed, resources that were updated, tasks that moved.
//
// A legacy session hears of list changes by itself and of resources it subscribed to; a modern client hears
// on a listen stream exactly what it asked for. Both are a Listener with a filter.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "mcp/json.h"

namespace ttyward::mcp {

struct NoticeFilter {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  std::set<std::string> uris;
  std::set<std::string> tasks;
};

class Notices {
 public:
  using Send = std::function<void(std::string method, json::object params)>;

  uint64_t add(NoticeFilter filter, Send send);
  void remove(uint64_t listener);
  NoticeFilter* filter(uint64_t listener);

  void tools_changed() { tell("notifications/tools/list_changed", &NoticeFilter::tools); }
  void prompts_changed() { tell("notifications/prompts/list_changed", &NoticeFilter::prompts); }
  void resources_changed() { tell("notifications/resources/list_changed", &NoticeFilter::resources); }
  void resource_updated(const std::string& uri);
  void task_changed(const std::string& task, const json::object& params);

 private:
  struct Listener {
    NoticeFilter filter;
    Send send;
  };
  void tell(const char* method, bool NoticeFilter::* wanted);

  std::map<uint64_t, Listener> listeners_;
  uint64_t last_ = 0;
};

}  // namespace ttyward::mcp
