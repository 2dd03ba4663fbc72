// A server for web_socket_test.mjs: says its port, then what happens to its WebSockets, one line each.
//
// "/socket" gives every message back; a text "close CODE REASON" closes, "flood COUNT" sends that many
// messages of 64 KiB. Only pages of this server with the cookie t=good are let in.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "http/guard.h"
#include "http/server.h"
#include "io/loop.h"
#include "io/signals.h"

namespace {

using namespace ttyward;
using Kind = http::WebSocket::Kind;

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void serve(const std::shared_ptr<http::WebSocket>& socket) {
  const std::weak_ptr<http::WebSocket> weak = socket;
  socket->on_message = [weak](std::string_view message, Kind kind) {
    const auto self = weak.lock();
    const std::string text(message);
    if (text.starts_with("close "))
      return self->close(static_cast<uint16_t>(std::atoi(text.c_str() + 6)), "as you like");
    if (text.starts_with("flood ")) {
      for (int i = std::atoi(text.c_str() + 6); i > 0; i--)
        self->send(std::string(64 << 10, 'x'), Kind::Binary);
      return;
    }
    self->send(text, kind);
  };
  socket->on_drained = [] { say("drained"); };
  socket->on_closed = [](uint16_t code) { say("closed " + std::to_string(code)); };
}

}  // namespace

int main() {
  auto loop = std::move(io::Loop::create().value());
  http::Limits limits;
  limits.ping_after = std::chrono::milliseconds(200);
  auto server = std::move(http::Server::listen(*loop, {}, limits).value());
  http::Admission admission;
  admission.port = server->port();
  admission.origins = http::Admission::Origins::Same;
  admission.cookie_name = "t";
  admission.is_good_cookie = [](std::string_view value) { return value == "good"; };
  server->serve([&](const std::shared_ptr<http::Exchange>& exchange) {
    if (const auto refusal = http::check(exchange->request, admission); refusal.status != 0)
      return exchange->respond(refusal.status, {}, refusal.text);
    if (exchange->request.target != "/socket") return exchange->respond(404, {}, "");
    if (const auto socket = exchange->accept_web_socket({{"Sec-WebSocket-Protocol", "test.1"}}))
      serve(socket);
  });
  auto signals = io::Signals::watch(*loop, {SIGTERM}, [&](int) {
    server->shut_down(std::chrono::milliseconds(10'000), [&] { loop->stop(); });
  });
  say(std::to_string(server->port()));
  server->run();
  say("over");
  return 0;
}
