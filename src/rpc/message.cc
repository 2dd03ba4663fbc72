#include "rpc/message.h"

#include <utility>

namespace ttyward::rpc {
namespace {

Message bad(int code, std::string_view text, json::value id = nullptr) {
  Message message;
  message.error = error_object(code, text);
  message.id = std::move(id);
  return message;
}

bool is_id(const json::value& id) {
  return id.is_string() || id.is_int64() || id.is_uint64();
}

Message classify_call(json::object& body, bool has_id, json::value id, const json::value& method) {
  if (!method.is_string()) return bad(kInvalidRequest, "\"method\" must be a string", std::move(id));
  Message message;
  if (json::value* params = body.if_contains("params")) {
    if (!params->is_object()) return bad(kInvalidParams, "\"params\" must be an object", std::move(id));
    message.params = std::move(params->get_object());
  }
  message.kind = has_id ? Kind::Request : Kind::Notification;
  message.method = std::string(view(method.get_string()));
  message.id = std::move(id);
  return message;
}

}  // namespace

Message classify(json::value value) {
  if (!value.is_object()) return bad(kInvalidRequest, "a message must be a JSON object");
  json::object& body = value.get_object();
  const json::value* given = body.if_contains("id");
  json::value id = given != nullptr && is_id(*given) ? *given : json::value();
  if (text_or(body, "jsonrpc") != "2.0")
    return bad(kInvalidRequest, "a message must contain \"jsonrpc\": \"2.0\"", std::move(id));
  if (given != nullptr && id.is_null())
    return bad(kInvalidRequest, "\"id\" must be a string or a whole number");
  if (const json::value* method = body.if_contains("method"))
    return classify_call(body, given != nullptr, std::move(id), *method);
  json::value* result = body.if_contains("result");
  json::value* error = body.if_contains("error");
  if (given == nullptr || (result == nullptr && error == nullptr))
    return bad(kInvalidRequest, "a message must be a request, a notification or a response", std::move(id));
  Message message;
  message.kind = Kind::Response;
  message.id = std::move(id);
  if (result != nullptr) {
    message.result = std::move(*result);
  } else if (json::object* described = error->if_object()) {
    message.error = std::move(*described);
  }
  return message;
}

Message parse(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return bad(kParseError, "this is not valid JSON: " + error.message());
  if (!value.is_array()) return classify(std::move(value));
  if (value.get_array().empty()) return bad(kInvalidRequest, "a batch must contain a message");
  Message message;
  message.kind = Kind::Batch;
  message.batch = std::move(value.get_array());
  return message;
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

json::object result_response(const json::value& id, json::value result) {
  json::object out;
  out["jsonrpc"] = "2.0";
  out["id"] = id;
  out["result"] = std::move(result);
  return out;
}

json::object request(int64_t id, std::string_view method, json::object params) {
  json::object out;
  out["jsonrpc"] = "2.0";
  out["id"] = id;
  out["method"] = method;
  out["params"] = std::move(params);
  return out;
}

json::object notification(std::string_view method, json::object params) {
  json::object out;
  out["jsonrpc"] = "2.0";
  out["method"] = method;
  if (!params.empty()) out["params"] = std::move(params);
  return out;
}

}  // namespace ttyward::rpc
