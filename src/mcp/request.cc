#include "mcp/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rpc/message.h"

namespace ttyward::mcp {
namespace {

constexpr std::array kLevels = {"debug", "info",     "notice", "warning",
                                "error", "critical", "alert",  "emergency"};

size_t rank(std::string_view level) {
  return static_cast<size_t>(std::find(kLevels.begin(), kLevels.end(), level) - kLevels.begin());
}

const json::value* progress_token(const json::object& params) {
  const json::object* meta = object_at(params, "_meta");
  const json::value* token = meta != nullptr ? member(*meta, "progressToken") : nullptr;
  const bool usable = token != nullptr && (token->is_string() || token->is_int64() || token->is_uint64());
  return usable ? token : nullptr;
}

}  // namespace

void Request::reply(json::object result) {
  if (era == Era::Modern) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    if (!result.contains("_meta")) result["_meta"] = json::object();
    if (json::object* meta = result["_meta"].if_object())
      (*meta)["io.modelcontextprotocol/serverInfo"] = server_info;
  }
  rpc::Request::reply(std::move(result));
}

void Request::need_input(json::object requests, const std::string& state) {
  json::object result;
  result["resultType"] = "input_required";
  result["inputRequests"] = std::move(requests);
  if (!state.empty()) result["requestState"] = state;
  reply(std::move(result));
}

bool Request::wants_progress() const {
  return progress_token(params) != nullptr;
}

void Request::progress(double progress, std::optional<double> total, const std::string& message) {
  const json::value* token = progress_token(params);
  if (token == nullptr || done() || cancelled() || progress <= last_progress_) return;
  last_progress_ = progress;
  json::object note;
  note["progressToken"] = *token;
  note["progress"] = progress;
  if (total) note["total"] = *total;
  if (!message.empty()) note["message"] = message;
  carrier.notify(rpc::notification("notifications/progress", std::move(note)));
}

void Request::log(std::string_view level, json::value data) {
  if (log_level.empty() || done() || cancelled() || rank(level) < rank(log_level)) return;
  json::object note;
  note["level"] = level;
  note["logger"] = "ttyward";
  note["data"] = std::move(data);
  carrier.notify(rpc::notification("notifications/message", std::move(note)));
}

bool Request::can_elicit_form() const {
  const json::object* elicitation = object_at(client_capabilities, "elicitation");
  return elicitation != nullptr && (elicitation->empty() || elicitation->contains("form"));
}

bool Request::has_extension(std::string_view name) const {
  const json::object* extensions = object_at(client_capabilities, "extensions");
  return extensions != nullptr && object_at(*extensions, name) != nullptr;
}

const json::object* Request::input_response(std::string_view key) const {
  const json::object* responses = object_at(params, "inputResponses");
  return responses != nullptr ? object_at(*responses, key) : nullptr;
}

}  // namespace ttyward::mcp
