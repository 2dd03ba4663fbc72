// JSON-RPC 2.0 as MCP narrows it: what a message is, the error codes, and building answers.
//
// Pure: text in, values out.
#pragma once

#include <string>
#include <string_view>

#include "mcp/json.h"

namespace ttyward::mcp {

namespace rpc {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kResourceNotFound = -32002;    // legacy revisions only
inline constexpr int kHeaderMismatch = -32020;      // 2026-07-28 on HTTP
inline constexpr int kMissingCapability = -32021;   // 2026-07-28
inline constexpr int kUnsupportedVersion = -32022;  // 2026-07-28
inline constexpr size_t kMaxMessage = 10u
                                      << 20;  // one line; longer ones are skipped and answered with an error
inline constexpr size_t kMaxDepth = 64;

enum class Kind { Request, Notification, Response, Bad };

struct Message {
  Kind kind = Kind::Bad;
  json::value id;      // Request and Response; of a Bad one if it could be told, else null
  std::string method;  // Request and Notification
  json::object body;   // the whole message
  json::object error;  // Bad: the answer to give

  // `params` as an object; what is absent is empty.
  const json::object& params() const;
};

Message parse(std::string_view text);

json::object error_object(int code, std::string_view message, json::object data = {});
// A null id is left out, as the protocol's schema wants it.
json::object error_response(const json::value& id, json::object error);
json::object result_response(const json::value& id, json::object result);
json::object notification(std::string_view method, json::object params);

}  // namespace rpc

}  // namespace ttyward::mcp
