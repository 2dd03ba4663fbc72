#include "mcp/pending_states.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"

namespace ttyward::mcp {
namespace {

// The method and what it was asked, without what changes from one attempt to the next.
std::string bound_to(const Request& request) {
  json::object params = request.params;
  for (const char* changing : {"_meta", "inputResponses", "requestState", "task"}) params.erase(changing);
  return request.owner + "\n" + request.method + "\n" + json::serialize(params);
}

}  // namespace

std::string PendingStates::keep(const Request& request, json::object record) {
  if (kept_.size() >= kMost) kept_.pop_front();
  kept_.push_back({base::random_nonce() + base::random_nonce(), bound_to(request), std::move(record),
                   io::Loop::Clock::now() + kLifetime});
  return kept_.back().state;
}

std::optional<json::object> PendingStates::take(const Request& request) {
  const std::string state = text_or(request.params, "requestState");
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.state == state; });
  if (found == kept_.end()) return std::nullopt;
  Kept kept = std::move(*found);
  kept_.erase(found);
  if (kept.bound_to != bound_to(request) || io::Loop::Clock::now() > kept.until) return std::nullopt;
  return std::move(kept.record);
}

}  // namespace ttyward::mcp
