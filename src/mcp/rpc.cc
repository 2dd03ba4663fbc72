#include "mcp/rpc.h"

#include <utility>

namespace ttyward::mcp::rpc {
namespace {

const json::object kNoParams;

Message bad(int code, std::string_view text, json::value id = nullptr) {
  Message message;
  message.error = error_object(code, text);
  message.id = std::move(id);
  return message;
}

bool is_id(const json::value& id) {
  return id.is_string() || id.is_int64() || id.is_uint64();
}

Message classify(json::object body) {
  const json::value* id = body.if_contains("id");
  const json::value* method = body.if_contains("method");
  const json::value known = id != nullptr && is_id(*id) ? *id : json::value();
  if (text_or(body, "jsonrpc") != "2.0")
    return bad(kInvalidRequest, "a message has \"jsonrpc\": \"2.0\"", known);
  if (id != nullptr && known.is_null()) return bad(kInvalidRequest, "an id is a text or a whole number");
  Message message;
  message.id = known;
  if (method != nullptr) {
    if (!method->is_string()) return bad(kInvalidRequest, "\"method\" is a text", known);
    const json::value* params = body.if_contains("params");
    if (params != nullptr && !params->is_object())
      return bad(kInvalidParams, "\"params\" is an object", known);
    message.kind = id != nullptr ? Kind::Request : Kind::Notification;
    message.method = std::string(view(method->get_string()));
  } else if (id != nullptr && (body.contains("result") || body.contains("error"))) {
    message.kind = Kind::Response;
  } else {
    return bad(kInvalidRequest, "a message is a request, a notification or a response", known);
  }
  message.body = std::move(body);
  return message;
}

}  // namespace

const json::object& Message::params() const {
  const json::object* params = object_at(body, "params");
  return params != nullptr ? *params : kNoParams;
}

Message parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return bad(kParseError, "this is no JSON: " + error.message());
  if (value.is_array())
    return bad(kInvalidRequest, "batches are not part of this protocol: send one message at a time");
  if (!value.is_object()) return bad(kInvalidRequest, "a message is a JSON object");
  return classify(std::move(value.get_object()));
}

json::object error_object(int code, std::string_view message, json::object data) {
  json::object error;
  error["code"] = code;
  error["message"] = message;
  if (!data.empty()) error["data"] = std::move(data);
  return error;
}

json::object error_response(const json::value& id, json::object error) {
  json::object out;
  out["jsonrpc"] = "2.0";
  if (!id.is_null()) out["id"] = id;
  out["error"] = std::move(error);
  return out;
}

json::object result_response(const json::value& id, json::object result) {
  json::object out;
  out["jsonrpc"] = "2.0";
  out["id"] = id;
  out["result"] = std::move(result);
  return out;
}

json::object notification(std::string_view method, json::object params) {
  json::object out;
  out["jsonrpc"] = "2.0";
  out["method"] = method;
  if (!params.empty()) out["params"] = std::move(params);
  return out;
}

}  // namespace ttyward::mcp::rpc
