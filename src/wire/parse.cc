#include <limits>
#include <utility>

#include <boost/json/value.hpp>

#include "wire/json.h"
#include "wire/messages.h"

namespace ttyward::wire {
namespace {

namespace json = boost::json;

tl::unexpected<Problem> problem(std::string message, uint64_t id = 0) {
  return tl::unexpected(Problem{id, std::move(message)});
}

// A call's number; 0: it is none.
uint64_t id_of(const json::value* value) {
  if (value == nullptr) return 0;
  if (const uint64_t* number = value->if_uint64()) return *number;
  const int64_t* number = value->if_int64();
  return number != nullptr && *number > 0 ? static_cast<uint64_t>(*number) : 0;
}

// Text that may be left out or null. False: it is something else.
bool read_text(const json::object& from, json::string_view name, std::string& into) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr || value->is_null()) return true;
  const json::string* text = value->if_string();
  if (text == nullptr) return false;
  into.assign(text->data(), text->size());
  return true;
}

tl::expected<FromClient, Problem> parse_hello(const json::value& value) {
  const json::object* body = value.if_object();
  if (body == nullptr) return problem("'hello' must be an object");
  Hello hello;
  hello.role.clear();
  const json::value* protocol = body->if_contains("protocol");
  const int64_t* number = protocol != nullptr ? protocol->if_int64() : nullptr;
  if (number == nullptr) return problem("'hello.protocol' must be a number");
  hello.protocol = *number;
  if (!read_text(*body, "role", hello.role)) return problem("'hello.role' must be text");
  if (!read_text(*body, "client", hello.client)) return problem("'hello.client' must be text");
  if (!read_text(*body, "reader", hello.reader)) return problem("'hello.reader' must be text or null");
  if (!read_text(*body, "session", hello.session)) return problem("'hello.session' must be text or null");
  if (!read_text(*body, "secret", hello.secret)) return problem("'hello.secret' must be text or null");
  if (!read_text(*body, "token", hello.token)) return problem("'hello.token' must be text or null");
  return hello;
}

tl::expected<FromClient, Problem> parse_call(json::object& message) {
  const uint64_t id = id_of(message.if_contains("id"));
  if (id == 0) return problem("'id' must be a number above 0");
  Call call;
  call.id = id;
  if (!read_text(message, "call", call.name) || call.name.empty()) {
    return problem("'call' must be the name of a call", id);
  }
  if (json::value* args = message.if_contains("args"); args != nullptr && !args->is_null()) {
    if (!args->is_object()) return problem("'args' must be an object", id);
    call.args = std::move(args->get_object());
  }
  return call;
}

CallError parse_error(const json::object& body) {
  CallError error;
  std::string code;
  read_text(body, "code", code);
  read_text(body, "message", error.message);
  error.code = code_named(code).value_or(Code::Io);  // of a newer daemon, perhaps
  return error;
}

tl::expected<FromDaemon, Problem> parse_welcome(const json::value& value) {
  const json::object* body = value.if_object();
  if (body == nullptr) return problem("'welcome' must be an object");
  Welcome welcome;
  const json::value* protocol = body->if_contains("protocol");
  const json::value* pid = body->if_contains("pid");
  if (protocol == nullptr || !protocol->is_int64()) return problem("'welcome.protocol' must be a number");
  if (pid == nullptr || !pid->is_int64() || pid->get_int64() < 0 ||
      pid->get_int64() > std::numeric_limits<pid_t>::max()) {
    return problem("'welcome.pid' must be a process number");
  }
  welcome.protocol = protocol->get_int64();
  welcome.pid = static_cast<pid_t>(pid->get_int64());
  if (!read_text(*body, "version", welcome.version) || !read_text(*body, "daemon", welcome.daemon) ||
      !read_text(*body, "role", welcome.role) || !read_text(*body, "why", welcome.why)) {
    return problem("'welcome' must contain text");
  }
  const json::value* notices = body->if_contains("notices");
  if (notices != nullptr && notices->is_array()) {
    for (const json::value& notice : notices->get_array()) {
      if (notice.is_string()) welcome.notices.emplace_back(notice.get_string());
    }
  }
  return welcome;
}

}  // namespace

tl::expected<FromClient, Problem> parse_from_client(std::string_view line) {
  auto message = parse_object(line);
  if (!message) return problem(message.error());
  if (const json::value* hello = message->if_contains("hello")) return parse_hello(*hello);
  if (message->contains("call")) return parse_call(*message);
  if (const json::value* cancel = message->if_contains("cancel")) {
    const uint64_t id = id_of(cancel);
    if (id == 0) return problem("'cancel' must be the id of a call");
    return Cancel{id};
  }
  return problem("a message has one of 'hello', 'call', 'cancel'");
}

tl::expected<FromDaemon, Problem> parse_from_daemon(std::string_view line) {
  auto message = parse_object(line);
  if (!message) return problem(message.error());
  if (const json::value* welcome = message->if_contains("welcome")) return parse_welcome(*welcome);
  if (const json::value* event = message->if_contains("event")) {
    if (!event->is_string()) return problem("'event' must be text");
    return Event{std::move(*message)};
  }
  const uint64_t id = id_of(message->if_contains("id"));
  if (const json::value* error = message->if_contains("error")) {
    if (!error->is_object()) return problem("'error' must be an object");
    return Failed{id, parse_error(error->get_object())};
  }
  if (id == 0) return problem("'id' must be a number above 0");
  for (const char* kind : {"part", "ok"}) {
    json::value* body = message->if_contains(kind);
    if (body == nullptr) continue;
    if (!body->is_object()) return problem(std::string("'") + kind + "' must be an object");
    if (*kind == 'p') return Part{id, std::move(body->get_object())};
    return Ok{id, std::move(body->get_object())};
  }
  return problem("a message has one of 'welcome', 'part', 'ok', 'error', 'event'");
}

}  // namespace ttyward::wire
