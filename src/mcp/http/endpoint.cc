#include "mcp/http/endpoint.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "mcp/error_codes.h"
#include "mcp/http/header_value.h"

namespace ttyward::mcp {
namespace {

constexpr const char* kVersionHeader = "MCP-Protocol-Version";
constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::chrono::minutes kSweep{5};

http::Headers json_type() {
  return {{"Content-Type", "application/json"}};
}

void refuse(const std::shared_ptr<http::Exchange>& exchange, int status, const json::value& id, int code,
            std::string_view text, json::object data = {}) {
  exchange->respond(status, json_type(),
                    json::serialize(rpc::error_response(id, rpc::error_object(code, text, std::move(data)))));
}

bool accepts(const http::Request& request, std::string_view type) {
  const std::string accept = request.header("accept").value_or("");
  return accept.find(type) != std::string::npos || accept.find("*/*") != std::string::npos;
}

int status_of(const json::object& response) {
  const json::object* error = object_at(response, "error");
  if (error == nullptr) return 200;
  switch (integer_at(*error, "code").value_or(0)) {
    case rpc::kMethodNotFound:
      return 404;
    case rpc::kParseError:
    case rpc::kInvalidRequest:
    case rpc::kInvalidParams:
    case kHeaderMismatch:
    case kMissingCapability:
    case kUnsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

// The answer to one modern request: JSON if it comes alone, a stream if something comes before it.
class ModernOutlet final : public Outlet {
 public:
  explicit ModernOutlet(std::shared_ptr<http::Exchange> exchange) : exchange_(std::move(exchange)) {}
  void send(const json::object& message, Last last) override {
    if (last == Last::Yes && !exchange_->streaming())
      return exchange_->respond(status_of(message), json_type(), json::serialize(message));
    if (!exchange_->streaming()) exchange_->begin_events({});
    exchange_->write_events("event: message\ndata: " + json::serialize(message) + "\n\n");
    if (last == Last::Yes) exchange_->end_events();
  }
  void close() override {
    if (exchange_->streaming()) return exchange_->end_events();
    exchange_->respond(202, {}, "");
  }

 private:
  std::shared_ptr<http::Exchange> exchange_;
};

class NoOutlet final : public Outlet {
 public:
  void send(const json::object&, Last) override {}
  void close() override {}
};

}  // namespace

Endpoint::Endpoint(Server& server, http::Admission admission)
    : server_(server), admission_(std::move(admission)) {
  sweep_timer_ = server_.loop().after(kSweep, [this] { sweep(); });
}

Endpoint::~Endpoint() {
  server_.loop().cancel(sweep_timer_);
}

void Endpoint::end_streams() {
  for (const auto& [id, session] : sessions_) session.news->close();
  const auto open = modern_;  // an exchange that ends leaves the set
  for (const auto& peer : open) peer->end_listening();
}

void Endpoint::sweep() {
  const auto now = io::Loop::Clock::now();
  std::erase_if(sessions_, [&](const auto& entry) {
    const Session& session = entry.second;
    return !session.news->attached() && now - session.used > kSessionIdle;
  });
  sweep_timer_ = server_.loop().after(kSweep, [this] { sweep(); });
}

void Endpoint::handle(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request;
  if (const http::Refusal refusal = http::check(request, admission_); refusal.status != 0) {
    http::Headers headers = {{"Content-Type", "text/plain"}};
    if (refusal.status == 401) headers.emplace_back("WWW-Authenticate", "Bearer");
    return exchange->respond(refusal.status, std::move(headers), refusal.text);
  }
  if (request.target != "/mcp") return exchange->respond(404, {}, "the endpoint is /mcp\n");
  if (request.method == "POST") return post(exchange);
  const bool modern = request.header(kVersionHeader).value_or("") == kModernVersion;
  if (request.method == "GET" && !modern) return get(exchange);
  if (request.method == "DELETE" && !modern) return remove(exchange);
  exchange->respond(405, {{"Allow", modern ? "POST" : "GET, POST, DELETE"}}, "");
}

void Endpoint::post(const std::shared_ptr<http::Exchange>& exchange) {
  const http::Request& request = exchange->request;
  const std::string type = request.header("content-type").value_or("");
  if (!http::same_name(std::string_view(type).substr(0, type.find(';')), "application/json"))
    return refuse(exchange, 415, nullptr, rpc::kInvalidRequest,
                  "the body must be JSON: send Content-Type: application/json");
  if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
    return refuse(exchange, 406, nullptr, rpc::kInvalidRequest,
                  "an answer may be JSON or a stream: send Accept: application/json, text/event-stream");
  rpc::Message message = rpc::parse(request.body);
  if (message.kind == rpc::Kind::Bad)
    return exchange->respond(400, json_type(),
                             json::serialize(rpc::error_response(message.id, message.error)));
  const bool modern_header = request.header(kVersionHeader).value_or("") == kModernVersion;
  if (modern_header || era_of(message) == Era::Modern) return post_modern(exchange, std::move(message));
  post_legacy(exchange, std::move(message));
}

std::string Endpoint::header_problem(const http::Request& request, const rpc::Message& message) const {
  const json::object* meta = object_at(message.params, "_meta");
  const std::string version = meta != nullptr ? text_or(*meta, kVersionKey) : "";
  if (!version.empty() && request.header(kVersionHeader) != version)
    return std::string(kVersionHeader) + " must be the version in _meta";
  if (request.header("Mcp-Method") != message.method) return "Mcp-Method must be the method in the body";
  if (message.method.starts_with("tasks/")) {
    const bool agrees = request.count("Mcp-Name") == 0 ||
                        decode_header_value(request.header("Mcp-Name")) == text_or(message.params, "taskId");
    return agrees ? "" : "Mcp-Name must be the task in the body";
  }
  const bool named =
      message.method == "tools/call" || message.method == "prompts/get" || message.method == "resources/read";
  if (!named) return {};
  const std::string name = text_or(message.params, message.method == "resources/read" ? "uri" : "name");
  if (decode_header_value(request.header("Mcp-Name")) != name) return "Mcp-Name must be the name in the body";
  if (message.method != "tools/call") return {};
  const json::object* arguments = object_at(message.params, "arguments");
  for (const auto& [header, argument] : server_.catalog().mirrored_arguments(name)) {
    const json::value* value = arguments != nullptr ? member(*arguments, argument) : nullptr;
    if (!header_repeats(request.header("Mcp-Param-" + header), value))
      return "Mcp-Param-" + header + " must be the argument \"" + argument + "\" in the body";
  }
  return {};
}

void Endpoint::post_modern(const std::shared_ptr<http::Exchange>& exchange, rpc::Message message) {
  if (message.kind == rpc::Kind::Response)
    return refuse(exchange, 400, message.id, rpc::kInvalidRequest,
                  "this protocol version has no requests from the server: put answers into a new request");
  if (const std::string problem = header_problem(exchange->request, message); !problem.empty())
    return refuse(exchange, 400, message.id, kHeaderMismatch, problem);
  auto peer = std::make_shared<Peer>(server_, "http", std::make_shared<NoOutlet>());
  modern_.insert(peer);
  const std::weak_ptr<Peer> weak = peer;
  // However the exchange ends, its conversation ends with it.
  const auto forget = [this, weak] {
    server_.loop().post([this, weak] {
      if (const auto over = weak.lock()) modern_.erase(over);
    });
  };
  exchange->on_gone = forget;
  class Ending final : public Outlet {
   public:
    Ending(std::shared_ptr<http::Exchange> to, std::function<void()> over)
        : outlet_(std::move(to)), over_(std::move(over)) {}
    void send(const json::object& note, Last last) override {
      outlet_.send(note, last);
      if (last == Last::Yes) over_();
    }
    void close() override {
      outlet_.close();
      over_();
    }

   private:
    ModernOutlet outlet_;
    std::function<void()> over_;
  };
  peer->receive(std::move(message), Era::Modern, std::make_shared<Ending>(exchange, forget));
}

Endpoint::Session* Endpoint::session_of(const std::shared_ptr<http::Exchange>& exchange,
                                        const json::value& id) {
  const auto name = exchange->request.header(kSessionHeader);
  if (!name) {
    refuse(exchange, 400, id, rpc::kInvalidRequest,
           "send initialize first, then its Mcp-Session-Id with every request");
    return nullptr;
  }
  const auto found = sessions_.find(*name);
  if (found == sessions_.end()) {
    refuse(exchange, 404, id, rpc::kInvalidRequest, "this session has ended: send initialize again");
    return nullptr;
  }
  found->second.used = io::Loop::Clock::now();
  return &found->second;
}

bool Endpoint::drop_abandoned() {
  auto oldest = sessions_.end();
  for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
    const Session& session = each->second;
    const bool works = std::any_of(session.streams.begin(), session.streams.end(), [](const auto& entry) {
      return entry.second->attached() || !entry.second->finished();
    });
    if (session.news->attached() || works) continue;
    if (oldest == sessions_.end() || session.used < oldest->second.used) oldest = each;
  }
  if (oldest == sessions_.end()) return false;
  sessions_.erase(oldest);
  return true;
}

Endpoint::Session* Endpoint::open_session(const std::shared_ptr<http::Exchange>& exchange,
                                          const json::value& id) {
  if (sessions_.size() >= kMaxSessions && !drop_abandoned()) {
    refuse(exchange, 503, id, rpc::kInternalError, "too many sessions are open: close some with DELETE");
    return nullptr;
  }
  const std::string name = base::random_nonce() + base::random_nonce();
  Session& session = sessions_[name];
  session.id = name;
  session.news = std::make_shared<EventStream>(0, http::Headers{}, false);
  session.peer = std::make_shared<Peer>(server_, name, session.news);
  session.used = io::Loop::Clock::now();
  return &session;
}

void Endpoint::post_legacy(const std::shared_ptr<http::Exchange>& exchange, rpc::Message message) {
  const auto version = exchange->request.header(kVersionHeader);
  if (version && !is_legacy_version(*version))
    return refuse(exchange, 400, message.id, rpc::kInvalidRequest,
                  "this protocol version is not supported: " + *version);
  const bool opening = message.kind == rpc::Kind::Request && message.method == "initialize" &&
                       !exchange->request.header(kSessionHeader);
  Session* session = opening ? open_session(exchange, message.id) : session_of(exchange, message.id);
  if (session == nullptr) return;
  const std::shared_ptr<Peer> peer = session->peer;
  if (message.kind == rpc::Kind::Batch && !peer->takes_batches())
    return refuse(exchange, 400, nullptr, rpc::kInvalidRequest,
                  "batches are not part of this protocol version: send one message at a time");
  if (message.kind != rpc::Kind::Request && message.kind != rpc::Kind::Batch) {
    exchange->respond(202, {}, "");
    return peer->receive(std::move(message), Era::Legacy, std::make_shared<NoOutlet>());
  }
  while (session->streams.size() >= kMaxStreams) {
    auto oldest = session->streams.begin();
    while (oldest != session->streams.end() && !oldest->second->finished()) ++oldest;
    if (oldest == session->streams.end()) break;
    session->streams.erase(oldest);
  }
  const bool primed = peer->initialized() && peer->version() == kNewestLegacyVersion;
  const uint64_t number = ++session->last_stream;
  auto stream = std::make_shared<EventStream>(number, http::Headers{{kSessionHeader, session->id}}, primed);
  session->streams[number] = stream;
  const bool long_running = message.method == "tools/call" || message.method == "tasks/result";
  stream->attach(exchange, long_running ? EventStream::Begin::AtOnce : EventStream::Begin::WithFirstMessage);
  peer->receive(std::move(message), Era::Legacy, stream);
}

void Endpoint::get(const std::shared_ptr<http::Exchange>& exchange) {
  if (!accepts(exchange->request, "text/event-stream"))
    return refuse(exchange, 406, nullptr, rpc::kInvalidRequest,
                  "the answer is a stream: send Accept: text/event-stream");
  Session* session = session_of(exchange, nullptr);
  if (session == nullptr) return;
  const auto last = exchange->request.header("Last-Event-ID");
  if (!last) return session->news->attach(exchange, EventStream::Begin::AtOnce);
  EventId id;
  if (!parse_event_id(*last, id))
    return refuse(exchange, 400, nullptr, rpc::kInvalidRequest,
                  "Last-Event-ID was not issued by this server");
  if (id.stream == 0) return session->news->resume(exchange, id.event);
  const auto stream = session->streams.find(id.stream);
  if (stream == session->streams.end())
    return refuse(exchange, 404, nullptr, rpc::kInvalidRequest,
                  "this stream is no longer available: send the request again");
  stream->second->resume(exchange, id.event);
}

void Endpoint::remove(const std::shared_ptr<http::Exchange>& exchange) {
  const Session* session = session_of(exchange, nullptr);
  if (session == nullptr) return;
  session->news->close();
  const std::string id = session->id;
  exchange->respond(200, {}, "");
  sessions_.erase(id);
}

}  // namespace ttyward::mcp
