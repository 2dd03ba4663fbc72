#include "mcp/peer.h"

#include <utility>
#include <vector>

namespace ttyward::mcp {
namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr const char* kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
constexpr size_t kMaxInFlight = 1024;      // one more is refused
constexpr size_t kMaxSubscriptions = 256;  // resources one client watches

const json::object& meta_of(const json::object& params) {
  static const json::object kNone;
  const json::object* meta = object_at(params, "_meta");
  return meta != nullptr ? *meta : kNone;
}

std::string key_of(const json::value& id) {
  return json::serialize(id);
}

}  // namespace

Era era_of(const rpc::Message& message) {
  return member(meta_of(message.params()), kVersionKey) != nullptr ? Era::Modern : Era::Legacy;
}

Peer::Peer(Server& server, std::string name, std::shared_ptr<Outlet> unsolicited)
    : server_(server), name_(std::move(name)), unsolicited_(std::move(unsolicited)) {}

Peer::~Peer() {
  cancel_all();
  for (const auto& [key, listening] : listening_) {
    server_.notices().remove(listening.listener);
    for (const std::string& uri : listening.uris) server_.catalog().unwatch(uri);
  }
  if (!session_) return;
  if (const NoticeFilter* filter = server_.notices().filter(session_->listener)) {
    for (const std::string& uri : filter->uris) server_.catalog().unwatch(uri);
  }
  server_.notices().remove(session_->listener);
  server_.tasks().forget(name_);
}

void Peer::cancel_all() {
  for (const auto& [key, request] : std::exchange(in_flight_, {})) request->cancel();
  for (const auto& [id, done] : std::exchange(asked_, {})) done(Answer{std::nullopt, "the client is gone"});
}

void Peer::when_idle(std::function<void()> idle) {
  if (in_flight_.empty()) return idle();
  idle_ = std::move(idle);
}

void Peer::end_listening() {
  for (const auto& [key, listening] : std::exchange(listening_, {})) {
    server_.notices().remove(listening.listener);
    for (const std::string& uri : listening.uris) server_.catalog().unwatch(uri);
    listening.request->reply(
        json::object{{"_meta", json::object{{kSubscriptionKey, listening.request->id}}}});
  }
}

void Peer::receive(rpc::Message message, Era era, const std::shared_ptr<Outlet>& outlet) {
  switch (message.kind) {
    case rpc::Kind::Bad:
      return outlet->send(rpc::error_response(message.id, std::move(message.error)), Last::Yes);
    case rpc::Kind::Notification:
      notified(message);
      return outlet->close();
    case rpc::Kind::Response:
      answered(message);
      return outlet->close();
    case rpc::Kind::Request:
      return start(message, era, outlet);
  }
}

RequestPtr Peer::make_request(const rpc::Message& message, Era era, const std::shared_ptr<Outlet>& outlet) {
  auto request = std::make_shared<Request>();
  request->id = message.id;
  request->method = message.method;
  request->params = message.params();
  request->era = era;
  request->server_info = server_.info();
  request->loop = &server_.loop();
  const std::weak_ptr<Peer> weak = weak_from_this();
  request->carrier.finish = [weak, outlet, key = key_of(message.id)](const json::object& response) {
    const auto peer = weak.lock();
    if (peer) peer->in_flight_.erase(key);
    outlet->send(response, Last::Yes);
    if (peer && peer->idle_ && peer->in_flight_.empty()) std::exchange(peer->idle_, nullptr)();
  };
  request->carrier.notify = [outlet](const json::object& note) { outlet->send(note, Last::No); };
  request->carrier.dropped = [outlet] { outlet->close(); };
  request->carrier.pause = [outlet] { outlet->pause(); };
  if (era == Era::Legacy) {
    request->carrier.ask = [weak, outlet](const std::string& method, json::object params,
                                          std::function<void(Answer)> done) -> Withdraw {
      if (const auto peer = weak.lock()) return peer->ask(method, std::move(params), outlet, std::move(done));
      done(Answer{std::nullopt, "the client is gone"});
      return [] {};
    };
  }
  return request;
}

void Peer::start(const rpc::Message& message, Era era, const std::shared_ptr<Outlet>& outlet) {
  const std::string key = key_of(message.id);
  const RequestPtr request = make_request(message, era, outlet);
  if (in_flight_.contains(key) || listening_.contains(key)) {
    return outlet->send(rpc::error_response(message.id, rpc::error_object(rpc::kInvalidRequest,
                                                                          "this id is in use by a request "
                                                                          "that is not answered yet")),
                        Last::Yes);
  }
  if (in_flight_.size() >= kMaxInFlight)
    return request->fail(rpc::kInternalError, "too many requests at once: wait for some answers");
  in_flight_[key] = request;
  const bool accepted = era == Era::Modern ? fill_modern(request) : fill_legacy(request);
  if (accepted) handle(request);
}

bool Peer::fill_modern(const RequestPtr& request) {
  const json::object& meta = meta_of(request->params);
  const auto version = text_at(meta, kVersionKey);
  const json::object* capabilities = object_at(meta, kCapabilitiesKey);
  if (!version || (*version == kModernVersion && capabilities == nullptr)) {
    request->fail(rpc::kInvalidParams,
                  std::string("_meta needs ") + (version ? kCapabilitiesKey : kVersionKey));
    return false;
  }
  if (*version != kModernVersion) {
    request->fail(rpc::kUnsupportedVersion, "this protocol version is not spoken here",
                  json::object{{"supported", json::array{kModernVersion}}, {"requested", *version}});
    return false;
  }
  request->version = *version;
  request->client_capabilities = *capabilities;
  if (const json::object* client = object_at(meta, kClientKey))
    request->client_name = text_or(*client, "name");
  request->log_level = text_or(meta, kLogLevelKey);
  return true;
}

bool Peer::fill_legacy(const RequestPtr& request) {
  if (request->method == "initialize" || request->method == "ping") return true;
  if (!session_) {
    if (request->method == "server/discover") {
      request->fail(rpc::kInvalidParams, std::string("_meta needs ") + kVersionKey);
    } else {
      request->fail(rpc::kInvalidRequest,
                    std::string("send initialize first, or name the protocol version in _meta as ") +
                        kModernVersion + " has it");
    }
    return false;
  }
  request->version = session_->version;
  request->client_capabilities = session_->capabilities;
  request->client_name = session_->client_name;
  request->log_level =
      server_.catalog().capabilities(Era::Legacy).contains("logging") ? session_->log_level : "";
  request->owner = name_;
  if (const json::object* task = object_at(request->params, "task");
      task != nullptr && request->method == "tools/call" && session_->version == kNewestLegacyVersion)
    request->as_task = *task;
  return true;
}

void Peer::handle(const RequestPtr& request) {
  if (request->era == Era::Legacy) {
    if (handle_legacy(request)) return;
  } else if (request->method == "subscriptions/listen") {
    return listen(request);
  }
  server_.dispatch(request);
}

bool Peer::handle_legacy(const RequestPtr& request) {
  const std::string& method = request->method;
  if (method == "initialize") {
    initialize(request);
  } else if (method == "ping") {
    request->reply({});
  } else if (method == "resources/subscribe") {
    subscribe(request);
  } else if (method == "resources/unsubscribe") {
    unsubscribe(request);
  } else if (method == "logging/setLevel" &&
             server_.catalog().capabilities(Era::Legacy).contains("logging")) {
    session_->log_level = text_or(request->params, "level", "info");
    request->reply({});
  } else {
    return false;
  }
  return true;
}

void Peer::initialize(const RequestPtr& request) {
  const std::string wanted = text_or(request->params, "protocolVersion");
  if (wanted.empty())
    return request->fail(rpc::kInvalidParams, "initialize needs \"protocolVersion\", a text");
  if (!session_) {
    session_ = Session{};
    const json::object capabilities = server_.catalog().capabilities(Era::Legacy);
    const auto announces = [&](std::string_view list) {
      const json::object* part = object_at(capabilities, list);
      return part != nullptr && flag_at(*part, "listChanged");
    };
    NoticeFilter filter;
    filter.tools = announces("tools");
    filter.prompts = announces("prompts");
    filter.resources = announces("resources");
    session_->listener = server_.notices().add(
        filter, [outlet = unsolicited_](const std::string& method, json::object params) {
          outlet->send(rpc::notification(method, std::move(params)), Last::No);
        });
  }
  session_->version = is_legacy_version(wanted) ? wanted : kNewestLegacyVersion;
  const json::object* capabilities = object_at(request->params, "capabilities");
  session_->capabilities = capabilities != nullptr ? *capabilities : json::object();
  if (const json::object* client = object_at(request->params, "clientInfo"))
    session_->client_name = text_or(*client, "name");
  json::object result;
  result["protocolVersion"] = session_->version;
  result["capabilities"] = server_.catalog().capabilities(Era::Legacy);
  if (session_->version != kNewestLegacyVersion) result["capabilities"].get_object().erase("tasks");
  result["serverInfo"] = server_.info();
  result["instructions"] = server_.catalog().instructions();
  request->reply(std::move(result));
}

void Peer::subscribe(const RequestPtr& request) {
  const auto uri = text_at(request->params, "uri");
  if (!uri) return request->fail(rpc::kInvalidParams, "resources/subscribe needs \"uri\", a text");
  NoticeFilter* filter = server_.notices().filter(session_->listener);
  if (filter->uris.size() >= kMaxSubscriptions)
    return request->fail(rpc::kInvalidParams, "too many subscriptions: end some first");
  if (filter->uris.insert(*uri).second) server_.catalog().watch(*uri);
  request->reply({});
}

void Peer::unsubscribe(const RequestPtr& request) {
  const auto uri = text_at(request->params, "uri");
  if (!uri) return request->fail(rpc::kInvalidParams, "resources/unsubscribe needs \"uri\", a text");
  if (server_.notices().filter(session_->listener)->uris.erase(*uri) != 0) server_.catalog().unwatch(*uri);
  request->reply({});
}

void Peer::listen(const RequestPtr& request) {
  const json::object* wanted = object_at(request->params, "notifications");
  if (wanted == nullptr)
    return request->fail(rpc::kInvalidParams, "subscriptions/listen needs \"notifications\", an object");
  const json::object capabilities = server_.catalog().capabilities(Era::Modern);
  const auto announces = [&](std::string_view list, std::string_view what) {
    const json::object* part = object_at(capabilities, list);
    return part != nullptr && flag_at(*part, what);
  };
  NoticeFilter filter;
  json::object accepted;
  const auto accept = [&](bool& wish, const char* name, const char* list) {
    wish = flag_at(*wanted, name) && announces(list, "listChanged");
    if (wish) accepted[name] = true;
  };
  accept(filter.tools, "toolsListChanged", "tools");
  accept(filter.prompts, "promptsListChanged", "prompts");
  accept(filter.resources, "resourcesListChanged", "resources");
  if (const json::array* uris = array_at(*wanted, "resourceSubscriptions");
      uris != nullptr && announces("resources", "subscribe")) {
    for (const json::value& uri : *uris) {
      if (uri.is_string() && filter.uris.size() < kMaxSubscriptions)
        filter.uris.emplace(view(uri.get_string()));
    }
    json::array kept;
    for (const std::string& uri : filter.uris) kept.emplace_back(uri);
    accepted["resourceSubscriptions"] = std::move(kept);
  }
  if (const json::array* tasks = array_at(*wanted, "taskIds");
      tasks != nullptr && request->has_extension(kTasksExtension)) {
    for (const json::value& task : *tasks) {
      if (task.is_string()) filter.tasks.emplace(view(task.get_string()));
    }
    accepted["taskIds"] = *tasks;
  }
  // From here on it is no call in flight but a stream: the id tags every notification on it.
  const std::string key = key_of(request->id);
  const auto send = [request](const std::string& method, json::object params) {
    params["_meta"] = json::object{{kSubscriptionKey, request->id}};
    request->carrier.notify(rpc::notification(method, std::move(params)));
  };
  send("notifications/subscriptions/acknowledged", json::object{{"notifications", std::move(accepted)}});
  in_flight_.erase(key);
  const std::set<std::string> uris = filter.uris;
  const uint64_t listener = server_.notices().add(std::move(filter), send);
  listening_[key] = Listening{request, listener, uris};
  for (const std::string& uri : uris) server_.catalog().watch(uri);
}

void Peer::notified(const rpc::Message& message) {
  if (message.method != "notifications/cancelled") return;  // the others ask for nothing
  const json::value* id = member(message.params(), "requestId");
  if (id == nullptr) return;
  const std::string key = key_of(*id);
  if (const auto listening = listening_.find(key); listening != listening_.end()) {
    server_.notices().remove(listening->second.listener);
    for (const std::string& uri : listening->second.uris) server_.catalog().unwatch(uri);
    listening_.erase(listening);
    return;
  }
  const auto found = in_flight_.find(key);
  if (found == in_flight_.end() || found->second->method == "initialize") return;
  const RequestPtr request = found->second;
  in_flight_.erase(found);
  request->cancel();
}

void Peer::answered(const rpc::Message& message) {
  if (!message.id.is_int64()) return;
  const auto found = asked_.find(message.id.get_int64());
  if (found == asked_.end()) return;
  const auto done = std::move(found->second);
  asked_.erase(found);
  Answer answer;
  if (const json::object* result = object_at(message.body, "result")) {
    answer.result = *result;
  } else if (const json::object* error = object_at(message.body, "error")) {
    answer.error = text_or(*error, "message", "the client answered with an error");
  } else {
    answer.error = "the client's answer has no result";
  }
  done(std::move(answer));
}

Withdraw Peer::ask(const std::string& method, json::object params, const std::shared_ptr<Outlet>& outlet,
                   std::function<void(Answer)> done) {
  const int64_t id = ++last_ask_;
  asked_[id] = std::move(done);
  json::object message;
  message["jsonrpc"] = "2.0";
  message["id"] = id;
  message["method"] = method;
  message["params"] = std::move(params);
  outlet->send(message, Last::No);
  return [weak = weak_from_this(), outlet, id] {
    const auto peer = weak.lock();
    if (!peer || peer->asked_.erase(id) == 0) return;
    outlet->send(rpc::notification("notifications/cancelled",
                                   {{"requestId", id}, {"reason", "it was answered elsewhere"}}),
                 Last::No);
  };
}

}  // namespace ttyward::mcp
