// What the panel serves: the page and its files, the exchange of a link for a session, WebSockets, and
// metrics.
//
// Every request passes the guard first: Host and Origin must be this very server, port included. The page and
// its files hold no secret, so they need no session; a WebSocket needs one. Metrics need a token of their
// own. docs/security.md says what is defended against what.
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
#include "panel/scrape.h"
#include "panel/sessions.h"

namespace ttyward::panel {

class Site {
 public:
  static constexpr size_t kMostPages = 32;
  static constexpr size_t kMostScrapes = 4;  // at once

  // `metrics_token` is what a program has to know that reads /metrics; empty: nobody may.
  Site(io::Loop& loop, Sessions& sessions, int port, client::Options daemon, std::string metrics_token = {});

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
  void serve_metrics(const Given& exchange);

  io::Loop& loop_;
  Sessions& sessions_;
  const std::string port_;
  const std::string cookie_name_;
  http::Admission admission_;
  client::Options daemon_;
  const std::string metrics_token_;
  std::map<uint64_t, std::unique_ptr<Page>> pages_;
  std::map<uint64_t, std::unique_ptr<Scrape>> scrapes_;
  uint64_t last_page_ = 0;
  uint64_t last_scrape_ = 0;
};

}  // namespace ttyward::panel
