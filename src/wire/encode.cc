#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/json_text.h"
#include "base/utf8.h"
#include "wire/messages.h"

namespace ttyward::wire {
namespace {

namespace json = boost::json;

// File names and the like need not be UTF-8, and a peer closes the connection on
// what is not; such bytes become U+FFFD here, whoever put them in.
std::string repaired(const std::string& text) {
  std::string out;
  out.reserve(text.size() + 64);
  for (size_t at = 0; at < text.size();) base::append_utf8(out, base::decode_utf8(text, at));
  return out;
}

std::string enveloped(uint64_t id, std::string_view kind, std::string_view body) {
  std::string line = "{\"id\":" + std::to_string(id) + ",\"";
  line.reserve(line.size() + kind.size() + body.size() + 4);
  line += kind;
  line += "\":";
  line += body;
  line += "}\n";
  return line;
}

std::string error_text(const CallError& error) {
  return base::JsonObject().text("code", code_name(error.code)).text("message", error.message).str();
}

}  // namespace

std::string object_text(const json::object& object) {
  std::string text = json::serialize(object);
  return base::is_valid_utf8(text) ? text : repaired(text);
}

std::string encode_ok(uint64_t id, std::string_view body) {
  return enveloped(id, "ok", body);
}

std::string encode_part(uint64_t id, std::string_view body) {
  return enveloped(id, "part", body);
}

std::string encode(const Hello& hello) {
  base::JsonObject body;
  body.number("protocol", hello.protocol).text("role", hello.role).text("client", hello.client);
  hello.reader.empty() ? body.null("reader") : body.text("reader", hello.reader);
  hello.session.empty() ? body.null("session") : body.text("session", hello.session);
  if (!hello.secret.empty()) body.text("secret", hello.secret);
  if (!hello.token.empty()) body.text("token", hello.token);
  return "{\"hello\":" + body.str() + "}\n";
}

std::string encode(const Call& call) {
  return "{\"id\":" + std::to_string(call.id) + ",\"call\":" + base::json_quoted(call.name) +
         ",\"args\":" + object_text(call.args) + "}\n";
}

std::string encode(const Cancel& cancel) {
  return "{\"cancel\":" + std::to_string(cancel.id) + "}\n";
}

std::string encode(const Welcome& welcome) {
  base::JsonObject body;
  body.number("protocol", welcome.protocol).text("version", welcome.version).text("daemon", welcome.daemon);
  body.number("pid", welcome.pid).text("role", welcome.role);
  if (!welcome.why.empty()) body.text("why", welcome.why);
  if (!welcome.notices.empty()) {
    std::string notices;
    for (const std::string& notice : welcome.notices)
      notices += (notices.empty() ? "" : ",") + base::json_quoted(notice);
    body.raw("notices", "[" + notices + "]");
  }
  return "{\"welcome\":" + body.str() + "}\n";
}

std::string encode(const Part& part) {
  return encode_part(part.id, object_text(part.part));
}

std::string encode(const Ok& ok) {
  return encode_ok(ok.id, object_text(ok.value));
}

std::string encode(const Failed& failed) {
  const std::string id = failed.id != 0 ? "\"id\":" + std::to_string(failed.id) + "," : "";
  return "{" + id + "\"error\":" + error_text(failed.error) + "}\n";
}

std::string encode(const Event& event) {
  return object_text(event.event) + "\n";
}

std::string encode_unsupported(const std::string& message) {
  const std::string body = base::JsonObject()
                               .text("code", code_name(Code::Unsupported))
                               .text("message", message)
                               .raw("protocols", "[" + std::to_string(kProtocol) + "]")
                               .str();
  return "{\"error\":" + body + "}\n";
}

}  // namespace ttyward::wire
