#include "mcp/peer.h"

#include <set>
#include <utility>

#include "mcp/error_codes.h"

namespace ttyward::mcp {
namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kLogLevelKey = "io.modelcontextprotocol/logLevel";
constexpr const char* kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";
constexpr const char* kBatchVersion = "2025-03-26";
constexpr size_t kMaxSubscriptions = 256;  // resources one client watches

const json::object& meta_of(const json::object& params) {
  static const json::object kNone;
  const json::object* meta = object_at(params, "_meta");
  return meta != nullptr ? *meta : kNone;
}

}  // namespace

Era era_of(const rpc::Message& message) {
  return member(meta_of(message.params), kVersionKey) != nullptr ? Era::Modern : Era::Legacy;
}

Peer::Peer(Server& server, std::string name, std::shared_ptr<Outlet> unsolicited)
    : server_(server), name_(std::move(name)), unsolicited_(std::move(unsolicited)) {
  rpc::Dialect dialect;
  dialect.cancel_method = "notifications/cancelled";
  rpc_ = std::make_shared<rpc::Peer>(server.loop(), std::move(dialect), static_cast<rpc::Handler&>(*this),
                                     unsolicited_);
}

Peer::~Peer() {
  rpc_->cancel_all();
  if (!session_) return;
  if (const NoticeFilter* filter = server_.notices().filter(session_->listener)) {
    for (const std::string& uri : filter->uris) server_.catalog().unwatch(uri);
  }
  server_.notices().remove(session_->listener);
  server_.tasks().forget(name_);
}

void Peer::end_listening() {
  const auto streams = std::exchange(listening_, {});
  for (const auto& [listener, request] : streams) {
    if (const NoticeFilter* filter = server_.notices().filter(listener)) {
      for (const std::string& uri : filter->uris) server_.catalog().unwatch(uri);
    }
    server_.notices().remove(listener);
    request->reply(json::object{{"_meta", json::object{{kSubscriptionKey, request->id}}}});
  }
}

// One revision had batches: servers have to take them.
bool Peer::takes_batches() const {
  return session_ && session_->version == kBatchVersion;
}

void Peer::receive(rpc::Message message, const std::shared_ptr<Outlet>& outlet) {
  rpc_->receive(std::move(message), outlet, [](const rpc::Message& each) {
    auto request = std::make_shared<Request>();
    request->era = era_of(each);
    return request;
  });
}

void Peer::receive(rpc::Message message, Era era, const std::shared_ptr<Outlet>& outlet) {
  rpc_->receive(std::move(message), outlet, [era](const rpc::Message&) {
    auto request = std::make_shared<Request>();
    request->era = era;
    return request;
  });
}

void Peer::on_request(const rpc::RequestPtr& arrived) {
  const RequestPtr request = std::static_pointer_cast<Request>(arrived);
  request->server_info = server_.info();
  const bool modern = request->era == Era::Modern;
  if (modern) request->carrier.ask = nullptr;  // it is asked by need_input()
  const bool accepted = modern ? fill_modern(request) : fill_legacy(request);
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
    request->fail(kUnsupportedVersion, "this protocol version is not supported",
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
    return request->fail(rpc::kInvalidParams, "initialize needs \"protocolVersion\", a string");
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
  rpc_->set_batches(takes_batches() ? rpc::Peer::Batches::Taken : rpc::Peer::Batches::Refused);
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
  if (!uri) return request->fail(rpc::kInvalidParams, "resources/subscribe needs \"uri\", a string");
  NoticeFilter* filter = server_.notices().filter(session_->listener);
  if (filter->uris.size() >= kMaxSubscriptions)
    return request->fail(rpc::kInvalidParams, "too many subscriptions: end some first");
  if (filter->uris.insert(*uri).second) server_.catalog().watch(*uri);
  request->reply({});
}

void Peer::unsubscribe(const RequestPtr& request) {
  const auto uri = text_at(request->params, "uri");
  if (!uri) return request->fail(rpc::kInvalidParams, "resources/unsubscribe needs \"uri\", a string");
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
  const auto send = [request](const std::string& method, json::object params) {
    params["_meta"] = json::object{{kSubscriptionKey, request->id}};
    request->carrier.notify(rpc::notification(method, std::move(params)));
  };
  send("notifications/subscriptions/acknowledged", json::object{{"notifications", std::move(accepted)}});
  request->is_stream = true;
  const std::set<std::string> uris = filter.uris;
  const uint64_t listener = server_.notices().add(std::move(filter), send);
  listening_[listener] = request;
  for (const std::string& uri : uris) server_.catalog().watch(uri);
  request->on_cancel([this, listener, uris] {
    if (listening_.erase(listener) == 0) return;
    server_.notices().remove(listener);
    for (const std::string& uri : uris) server_.catalog().unwatch(uri);
  });
}

}  // namespace ttyward::mcp
