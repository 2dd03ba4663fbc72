// What the panel serves: the page and its files, the exchange of a link for a session, and WebSockets.
//
// Every request passes the guard first: Host and Origin must be this very server, port included. The page and
// its files hold no secret, so they need no session; a WebSocket needs one. docs/security.md says what is
// defended against what.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "client/connection.h"
#include "http/exchange.h"
#include "http/guard.h"
#include "io/loop.h"
#include "panel/page.h"
#include "panel/sessions.h"

namespace ttyward::panel {

class Site {
 public:
  static constexpr size_t kMostPages = 32;

  Site(io::Loop& loop, Sessions& sessions, int port, client::Options daemon);

  void handle(const std::shared_ptr<http::Exchange>& exchange);
  // Where a browser begins: with a new link's token in the fragment, which no server ever sees.
  std::string link_address(Role role);

 private:
  using Given = std::shared_ptr<http::Exchange>;
  void answer(const Given& exchange, int status, std::string_view type, std::string_view body,
              http::Headers more = {});
  void serve_page(const Given& exchange);
  void serve_asset(const Given& exchange, std::string_view path);
  void begin_session(const Given& exchange);
  void open_page(const Given& exchange);

  io::Loop& loop_;
  Sessions& sessions_;
  const std::string port_;
  const std::string cookie_name_;
  http::Admission admission_;
  client::Options daemon_;
  std::map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_page_ = 0;
};

}  // namespace ttyward::panel
