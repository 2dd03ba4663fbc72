// JSON-RPC 2.0 messages: telling them apart, the error codes, and building answers.
//
// Both protocols that use this (MCP, ACP) pass parameters by name, so `params` that is not an object is
// refused, and neither allows an id of null.
//
// Pure: text in, values out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rpc/json.h"

namespace ttyward::rpc {

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kRequestCancelled = -32800;  // as LSP and ACP have it
// One message. A longer one is skipped and answered with an error: no memory is held for it.
inline constexpr size_t kMaxMessage = size_t{32} << 20;
inline constexpr size_t kMaxDepth = 64;

enum class Kind { Request, Notification, Response, Batch, Bad };

struct Message {
  Kind kind = Kind::Bad;
  json::value id;                     // Request and Response; of a Bad one if it has a usable id, else null
  std::string method;                 // Request and Notification
  json::object params;                // Request and Notification; empty if there were none
  std::optional<json::value> result;  // Response: what was answered, unless it is an error
  json::object error;                 // Response: the error, if it is one. Bad: the error to answer with
  json::array batch;                  // Batch: its members, not yet told apart
};

Message parse(std::string_view text);
// One member of a batch.
Message classify(json::value value);

json::object error_object(int code, std::string_view message, json::object data = {});
// A null id is left out: MCP's schema allows none.
json::object error_response(const json::value& id, json::object error);
json::object result_response(const json::value& id, json::value result);
json::object request(int64_t id, std::string_view method, json::object params);
json::object notification(std::string_view method, json::object params);

}  // namespace ttyward::rpc
