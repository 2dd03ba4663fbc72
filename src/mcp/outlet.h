// Where the messages about one request go: standard output, or one HTTP response.
#pragma once

#include "mcp/json.h"

namespace ttyward::mcp {

enum class Last { No, Yes };

class Outlet {
 public:
  virtual ~Outlet() = default;
  // `last`: this is the answer; nothing more comes for this request.
  virtual void send(const json::object& message, Last last) = 0;
  // There will be no answer: the request was cancelled, or was a notification.
  virtual void close() = 0;
  // Ends the response for now; the client comes back for the rest. Where that cannot be, nothing happens.
  virtual void pause() {}
};

}  // namespace ttyward::mcp
