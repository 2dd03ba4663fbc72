#include "mcp/notices.h"

#include <utility>

namespace ttyward::mcp {

uint64_t Notices::add(NoticeFilter filter, Send send) {
  listeners_[++last_] = Listener{std::move(filter), std::move(send)};
  return last_;
}

void Notices::remove(uint64_t listener) {
  listeners_.erase(listener);
}

NoticeFilter* Notices::filter(uint64_t listener) {
  const auto found = listeners_.find(listener);
  return found != listeners_.end() ? &found->second.filter : nullptr;
}

void Notices::tell(const char* method, bool NoticeFilter::* wanted) {
  for (auto& [id, listener] : listeners_) {
    if (listener.filter.*wanted) listener.send(method, {});
  }
}

void Notices::resource_updated(const std::string& uri) {
  for (auto& [id, listener] : listeners_) {
    if (listener.filter.uris.contains(uri))
      listener.send("notifications/resources/updated", json::object{{"uri", uri}});
  }
}

void Notices::task_changed(const std::string& task, const json::object& params) {
  for (auto& [id, listener] : listeners_) {
    if (listener.filter.tasks.contains(task)) listener.send("notifications/tasks", params);
  }
}

}  // namespace ttyward::mcp
