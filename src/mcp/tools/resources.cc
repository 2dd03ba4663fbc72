// Terminals as resources: what there is, what they show, what they printed.
#include <fmt/format.h>

#include <utility>

#include "mcp/content.h"
#include "mcp/error_codes.h"
#include "mcp/tools/result_text.h"
#include "mcp/tools/terminals.h"
#include "rpc/message.h"
#include "wire/types/events.h"
#include "wire/types/terminal_calls.h"
#include "wire/types/watching_calls.h"

namespace ttyward::mcp::tools {
namespace {

constexpr int64_t kReadLines = 2000;
constexpr int64_t kReadChars = 200'000;
constexpr std::string_view kList = "ttyward://terminals";
constexpr std::string_view kTerminal = "ttyward://terminals/";
constexpr std::string_view kCommand = "ttyward://commands/";
constexpr std::chrono::milliseconds kTellAfter{500};  // updates of one resource come at most this often

struct Place {
  enum class Kind { None, List, Screen, Transcript, Output } kind = Kind::None;
  std::string id;
};

Place place_of(std::string_view uri) {
  const auto between = [uri](std::string_view begin, std::string_view end) -> std::string {
    if (!uri.starts_with(begin) || !uri.ends_with(end) || uri.size() <= begin.size() + end.size()) return {};
    std::string id(uri.substr(begin.size(), uri.size() - begin.size() - end.size()));
    return id.find('/') == std::string::npos ? id : std::string();
  };
  if (uri == kList) return {Place::Kind::List, ""};
  if (std::string id = between(kTerminal, "/screen"); !id.empty()) return {Place::Kind::Screen, id};
  if (std::string id = between(kTerminal, "/transcript"); !id.empty()) return {Place::Kind::Transcript, id};
  if (std::string id = between(kCommand, "/output"); !id.empty()) return {Place::Kind::Output, id};
  return {};
}

void reply_fresh(const RequestPtr& request, json::object result) {
  if (request->era == Era::Modern) {
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  request->reply(std::move(result));
}

json::object entry(const std::string& uri, const std::string& name, const std::string& description,
                   const char* type) {
  json::object out;
  out["uri"] = uri;
  out["name"] = name;
  out["description"] = description;
  out["mimeType"] = type;
  return out;
}

Detached list(Context& context, RequestPtr request) {
  json::array resources;
  resources.push_back(
      entry(std::string(kList), "terminals", "The open terminals, as JSON", "application/json"));
  const CallReply reply = co_await call_daemon<wire::ListRequest>(context, request);
  const json::array* terminals = reply ? array_at(*reply, "terminals") : nullptr;
  for (size_t i = 0; terminals != nullptr && i < terminals->size(); i++) {
    const json::object* terminal = (*terminals)[i].if_object();
    if (terminal == nullptr) continue;
    const std::string id = text_or(*terminal, "id");
    const std::string what = terminal_line(*terminal);
    resources.push_back(
        entry(fmt::format("{}{}/screen", kTerminal, id), "screen of " + id, what, "text/plain"));
    resources.push_back(
        entry(fmt::format("{}{}/transcript", kTerminal, id), "transcript of " + id, what, "text/plain"));
  }
  reply_fresh(request, json::object{{"resources", std::move(resources)}});
}

Detached read(Context& context, RequestPtr request, std::string uri) {
  const Place place = place_of(uri);
  CallReply reply = tl::unexpected(call_failure(wire::Code::NotFound, "there is no such resource"));
  if (place.kind == Place::Kind::List) {
    reply = co_await call_daemon<wire::ListRequest>(context, request);
  } else if (place.kind == Place::Kind::Screen) {
    wire::ScreenRequest screen;
    screen.terminal = place.id;
    reply = co_await call_daemon(context, request, screen);
  } else if (place.kind != Place::Kind::None) {
    wire::ReadRequest end;
    (place.kind == Place::Kind::Output ? end.command : end.terminal) = place.id;
    end.tail = kReadLines;
    end.view.lines = kReadLines;
    end.view.chars = kReadChars;
    reply = co_await call_daemon(context, request, end);
  }
  if (!reply) {
    const bool missing = reply.error().code == wire::Code::NotFound;
    const int code = !missing                      ? rpc::kInternalError
                     : request->era == Era::Modern ? rpc::kInvalidParams
                                                   : kResourceNotFound;
    request->fail(code, visible_line(reply.error().message, 300), json::object{{"uri", uri}});
    co_return;
  }
  json::object contents;
  contents["uri"] = uri;
  contents["mimeType"] = place.kind == Place::Kind::List ? "application/json" : "text/plain";
  if (place.kind == Place::Kind::List) {
    contents["text"] = json::serialize(visible_value(*reply));
  } else {
    contents["text"] = visible_text(text_or(*reply, place.kind == Place::Kind::Screen ? "content" : "text"));
  }
  reply_fresh(request, json::object{{"contents", json::array{std::move(contents)}}});
}

}  // namespace

void Terminals::list_resources(RequestPtr request) {
  list(context_, std::move(request));
}

json::array Terminals::resource_templates() const {
  const auto shape = [](const char* uri, const char* name, const char* description) {
    json::object out;
    out["uriTemplate"] = uri;
    out["name"] = name;
    out["description"] = description;
    out["mimeType"] = "text/plain";
    return out;
  };
  return json::array{
      shape("ttyward://terminals/{id}/screen", "screen", "What a terminal shows now"),
      shape("ttyward://terminals/{id}/transcript", "transcript", "The last 2000 lines a terminal printed"),
      shape("ttyward://commands/{id}/output", "output", "The last 2000 lines a command printed")};
}

void Terminals::read_resource(RequestPtr request, std::string uri) {
  read(context_, std::move(request), std::move(uri));
}

void Terminals::watch(const std::string& uri) {
  watched_[uri]++;
  subscribe_output();
}

void Terminals::unwatch(const std::string& uri) {
  const auto found = watched_.find(uri);
  if (found == watched_.end() || --found->second > 0) return;
  watched_.erase(found);
  if (!watched_.empty() || output_subscription_ == 0) return;
  context_.backends.agent.call(wire::UnsubscribeRequest{std::exchange(output_subscription_, 0)}, {},
                               [](const client::AnswerOf<wire::UnsubscribeRequest>&) {});
}

void Terminals::subscribe_output() {
  if (output_subscription_ != 0 || subscribing_) return;
  subscribing_ = true;
  wire::SubscribeRequest request;
  for (const std::string_view kind : {wire::OutputCame::kEvent, wire::TerminalChanged::kEvent,
                                      wire::CommandStarted::kEvent, wire::CommandFinished::kEvent})
    request.kinds.emplace_back(kind);
  context_.backends.agent.call(request, {}, [this](const client::AnswerOf<wire::SubscribeRequest>& reply) {
    subscribing_ = false;
    if (reply) output_subscription_ = reply->subscription;
  });
}

void Terminals::happened(const json::object& event) {
  const std::string kind = text_or(event, "event");
  if (kind == "terminal_opened" || kind == "terminal_closed") {
    list_changed_ = true;
    changed(std::string(kList));
    return;
  }
  if (const json::object* approval = object_at(event, "approval")) {
    return kind == "approval_closed" ? settled_about(context_, *approval) : asked_about(context_, *approval);
  }
  std::string id = text_or(event, "id");
  if (const json::object* terminal = object_at(event, "terminal")) id = text_or(*terminal, "id");
  if (const json::object* result = object_at(event, "result")) {
    id = text_or(*result, "terminal_id");
    changed(fmt::format("{}{}/output", kCommand, text_or(*result, "command_id")));
  }
  if (id.empty()) return;
  changed(std::string(kList));
  changed(fmt::format("{}{}/screen", kTerminal, id));
  changed(fmt::format("{}{}/transcript", kTerminal, id));
}

// Gathers what is new for a moment: a flood of output is one update.
void Terminals::changed(const std::string& uri) {
  if (watched_.contains(uri)) news_.insert(uri);
  if ((news_.empty() && !list_changed_) || telling_ != 0) return;
  telling_ = context_.loop.after(kTellAfter, [this] {
    telling_ = 0;
    if (std::exchange(list_changed_, false)) notices_.resources_changed();
    for (const std::string& each : std::exchange(news_, {})) notices_.resource_updated(each);
  });
}

}  // namespace ttyward::mcp::tools
