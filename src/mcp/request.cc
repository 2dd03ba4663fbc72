#include "mcp/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "mcp/rpc.h"

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

void Request::end(json::object response) {
  if (done_) return;
  done_ = true;
  cancel_hooks_.clear();
  if (!cancelled_) carrier.finish(std::move(response));
}

void Request::reply(json::object result) {
  if (era == Era::Modern) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    if (!result.contains("_meta")) result["_meta"] = json::object();
    if (json::object* meta = result["_meta"].if_object())
      (*meta)["io.modelcontextprotocol/serverInfo"] = server_info;
  }
  end(rpc::result_response(id, std::move(result)));
}

void Request::fail(int code, std::string_view message, json::object data) {
  end(rpc::error_response(id, rpc::error_object(code, message, std::move(data))));
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
  if (token == nullptr || done_ || cancelled_ || progress <= last_progress_) return;
  last_progress_ = progress;
  json::object note;
  note["progressToken"] = *token;
  note["progress"] = progress;
  if (total) note["total"] = *total;
  if (!message.empty()) note["message"] = message;
  carrier.notify(rpc::notification("notifications/progress", std::move(note)));
}

void Request::log(std::string_view level, json::value data) {
  if (log_level.empty() || done_ || cancelled_ || rank(level) < rank(log_level)) return;
  json::object note;
  note["level"] = level;
  note["logger"] = "ttyward";
  note["data"] = std::move(data);
  carrier.notify(rpc::notification("notifications/message", std::move(note)));
}

Callback<Answer> Request::ask(std::string ask_method, json::object ask_params) {
  const RequestPtr self = shared_from_this();
  return Callback<Answer>([self, ask_method = std::move(ask_method),
                           ask_params = std::move(ask_params)](const std::function<void(Answer)>& done) {
    self->ask(ask_method, ask_params, done);
  });
}

Withdraw Request::ask(std::string ask_method, json::object ask_params,
                      const std::function<void(Answer)>& done) {
  if (cancelled_ || done_ || !carrier.ask) {
    done(Answer{std::nullopt, "the client cannot be asked"});
    return [] {};
  }
  const auto over = std::make_shared<bool>(false);
  const auto once = [done, over](Answer answer) {
    if (!std::exchange(*over, true)) done(std::move(answer));
  };
  const Withdraw at_carrier = carrier.ask(std::move(ask_method), std::move(ask_params), once);
  const Withdraw withdraw = [over, at_carrier] {
    if (!std::exchange(*over, true)) at_carrier();
  };
  on_cancel([done, over, withdraw] {
    if (*over) return;
    withdraw();
    done(Answer{std::nullopt, "cancelled"});
  });
  return withdraw;
}

Callback<bool> Request::sleep(std::chrono::milliseconds delay) {
  const RequestPtr self = shared_from_this();
  return Callback<bool>([self, delay](const std::function<void(bool)>& done) {
    if (self->cancelled_) return done(false);
    auto timer = std::make_shared<io::Loop::TimerId>(0);
    *timer = self->loop->after(delay, [done, timer] {
      *timer = 0;
      done(true);
    });
    self->on_cancel([self, done, timer] {
      self->loop->cancel(*timer);
      done(false);
    });
  });
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

void Request::cancel() {
  if (cancelled_ || done_) return;
  cancelled_ = true;
  const RequestPtr self = shared_from_this();  // a hook may end the last coroutine that holds us
  const auto hooks = std::exchange(cancel_hooks_, {});
  for (const auto& hook : hooks) hook();
  if (carrier.dropped) carrier.dropped();
}

void Request::on_cancel(std::function<void()> hook) {
  if (cancelled_) return hook();
  if (!done_) cancel_hooks_.push_back(std::move(hook));
}

}  // namespace ttyward::mcp
