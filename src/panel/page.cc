#include "panel/page.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "rpc/json.h"
#include "wire/messages.h"
#include "wire/types/call_error.h"

namespace ttyward::panel {

namespace json = boost::json;

namespace {

// What a page may ask. The daemon decides by role as well; what no page needs is not even passed on.
constexpr std::string_view kCalls[] = {"answer",
                                       "apply",
                                       "approvals",
                                       "assign",
                                       "attach",
                                       "attach_input",
                                       "changes",
                                       "change_sets",
                                       "check",
                                       "decisions",
                                       "detach",
                                       "discard",
                                       "history",
                                       "input",
                                       "interrupt",
                                       "kill",
                                       "list",
                                       "mode",
                                       "open",
                                       "read",
                                       "rename",
                                       "resize",
                                       "result",
                                       "resume",
                                       "rule_add",
                                       "rule_remove",
                                       "rules",
                                       "rules_confirm",
                                       "rules_unconfirmed",
                                       "screen",
                                       "select",
                                       "settings",
                                       "settings_change",
                                       "show",
                                       "status",
                                       "subscribe",
                                       "undo",
                                       "unsubscribe"};

bool is_allowed(std::string_view name) {
  return std::find(std::begin(kCalls), std::end(kCalls), name) != std::end(kCalls);
}

// Paths are shown relative to it.
std::string home() {
  const char* const path = std::getenv("HOME");
  return path != nullptr ? path : "";
}

json::object welcome_object(const wire::Welcome& from, const std::string& client, Role asked) {
  json::array notices;
  for (const std::string& each : from.notices) notices.emplace_back(each);
  return {{"version", from.version}, {"daemon", from.daemon},     {"role", from.role},  {"why", from.why},
          {"client", client},        {"asked", role_name(asked)}, {"notices", notices}, {"home", home()}};
}

}  // namespace

Page::Page(io::Loop& loop, std::shared_ptr<http::WebSocket> socket, client::Options daemon, Ties ties)
    : loop_(loop), socket_(std::move(socket)), daemon_(std::move(daemon)), ties_(std::move(ties)) {
  socket_->on_message = [this](std::string_view text, http::WebSocket::Kind kind) {
    if (kind != http::WebSocket::Kind::Text) return refuse("messages are JSON");
    take(text);
  };
  socket_->on_closed = [this](uint16_t) {
    loop_.cancel(timer_);
    loop_.post([closed = ties_.closed] { closed(); });
  };
  timer_ = loop_.after(kHelloTime, [this] { refuse("no hello came"); });
}

Page::~Page() {
  *alive_ = false;
  loop_.cancel(timer_);
  socket_->on_message = nullptr;
  socket_->on_closed = nullptr;
  socket_->close(http::WebSocket::kGoingAway, "the panel is ending");
}

void Page::refuse(const char* why) {
  loop_.cancel(timer_);
  socket_->close(http::WebSocket::kPolicy, why);
}

void Page::send(const json::object& message) {
  socket_->send(json::serialize(message), http::WebSocket::Kind::Text);
}

void Page::fail(int64_t id, const char* code, const std::string& message) {
  send({{"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void Page::take(std::string_view text) {
  json::parse_options bounds;
  bounds.max_depth = 32;
  boost::system::error_code error;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), error, {}, bounds);
  if (error || !parsed.is_object()) return refuse("messages are JSON objects");
  const json::object& message = parsed.get_object();
  if (!role_) return say_hello(message);
  if (const auto painted_one = rpc::integer_at(message, "painted"))
    return painted(static_cast<uint64_t>(*painted_one));
  if (const auto cancelled = rpc::integer_at(message, "cancel")) {
    const auto found = calls_.find(*cancelled);
    if (found != calls_.end() && client_) client_->cancel(found->second);
    return;
  }
  if (rpc::flag_at(message, "connect")) return connect(Start::Daemon);
  const int64_t id = rpc::integer_at(message, "id").value_or(0);
  const std::string name = rpc::text_or(message, "call");
  if (id <= 0 || name.empty() || calls_.contains(id))
    return refuse("a call needs a number of its own and a name");
  const json::object* const args = rpc::object_at(message, "args");
  call(id, name, args != nullptr ? *args : json::object());
}

void Page::say_hello(const json::object& message) {
  const json::object* const hello = rpc::object_at(message, "hello");
  if (hello == nullptr || rpc::integer_at(*hello, "protocol") != 1) return refuse("say hello first");
  role_ = ties_.admit(rpc::text_or(*hello, "key"));
  if (!role_) return refuse("this page is not signed in");
  loop_.cancel(timer_);
  daemon_.role = role_name(*role_);
  connect(daemon_.start_daemon ? Start::Daemon : Start::Nothing);
}

void Page::connect(Start what) {
  loop_.cancel(timer_);
  if (client_ && !client_->stopped() && what == start_) return client_->connect();
  start_ = what;
  client::Options options = daemon_;
  options.start_daemon = what == Start::Daemon && daemon_.start_daemon;
  client_ = std::make_unique<client::Client>(loop_, options, client::Client::Presence::Kept);
  client_->on_connected([this] { connected(); });
  client_->on_disconnected([this] { send({{"daemon", {{"state", "gone"}}}}); });
  client_->on_unreachable([this](const base::Error& why) { unreachable(why.message); });
  client_->on_event([this](const json::object& event) { take_event(event); });
  client_->connect();
}

void Page::connected() {
  screens_.clear();
  send({{"daemon",
         {{"state", "connected"}, {"welcome", welcome_object(client_->welcome(), daemon_.client, *role_)}}}});
}

// Somebody stopped it, or it cannot be started. Whoever starts it again is noticed.
void Page::unreachable(const std::string& why) {
  send({{"daemon", {{"state", "unreachable"}, {"message", why}}}});
  loop_.cancel(timer_);
  timer_ = loop_.after(kLookTime, [this] {
    timer_ = 0;
    client_.reset();
    connect(Start::Nothing);
  });
}

void Page::call(int64_t id, const std::string& name, json::object args) {
  if (name == "panel_link") return make_link(id, args);
  if (!is_allowed(name)) return fail(id, "permission_denied", "the panel does not pass on '" + name + "'");
  if (calls_.size() >= kMostCalls)
    return fail(id, "exhausted", "too many calls are open; wait for some of them");
  if (!client_) return fail(id, "unavailable", "the daemon does not answer");
  calls_[id] = 0;
  const uint64_t number = client_->call(
      name, std::move(args), [](const json::object&) {},
      [this, alive = alive_, id, name](const client::CallResult& result) {
        if (*alive) answered(id, name, result);
      });
  const auto open = calls_.find(id);
  if (open != calls_.end()) open->second = number;
}

void Page::answered(int64_t id, const std::string& name, const client::CallResult& result) {
  calls_.erase(id);
  if (!result) return fail(id, wire::code_name(result.error().code), result.error().message);
  if (name == "attach") {
    const auto subscription = rpc::integer_at(*result, "subscription");
    if (subscription) screens_[static_cast<uint64_t>(*subscription)] = ScreenStream();
  }
  send({{"id", id}, {"ok", *result}});
}

void Page::take_event(const json::object& event) {
  const std::string kind = rpc::text_or(event, "event");
  const auto number = rpc::integer_at(event, "subscription");
  const auto stream = number ? screens_.find(static_cast<uint64_t>(*number)) : screens_.end();
  if (stream == screens_.end()) return send(event);
  if (kind == "attach_screen") {
    if (const auto now = stream->second.offer(event)) send(*now);
    return;
  }
  if (kind == "attach_closed") {
    if (const auto last = stream->second.take_waiting()) send(*last);
    screens_.erase(stream);
  }
  send(event);
}

void Page::painted(uint64_t subscription) {
  const auto stream = screens_.find(subscription);
  if (stream == screens_.end()) return;
  if (const auto next = stream->second.painted()) send(*next);
}

void Page::make_link(int64_t id, const json::object& args) {
  if (role_ != Role::Person) return fail(id, "permission_denied", "a view link makes no links");
  const Role role = rpc::text_or(args, "role") == "person" ? Role::Person : Role::Viewer;
  send({{"id", id}, {"ok", {{"url", ties_.make_link(role)}}}});
}

}  // namespace ttyward::panel
