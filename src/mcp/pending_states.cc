#include "mcp/pending_states.h"

#include "base/ids.h"

namespace ttyward::mcp {

std::string what_was_asked(const Request& request) {
  json::object params = request.params;
  for (const char* changing : {"_meta", "inputResponses", "requestState", "task"}) params.erase(changing);
  return request.owner + "\n" + request.method + "\n" + json::serialize(params);
}

std::string new_state() {
  return base::random_nonce() + base::random_nonce();
}

}  // namespace ttyward::mcp
