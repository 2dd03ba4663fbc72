// What the panel lets in, over a real socket. Real browsers come in tests/panel.
#include "panel/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "http/testing.h"

namespace ttyward::panel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMetricsToken = "0123456789abcdef0123456789abcdef";

class SiteTest : public ::testing::Test {
 protected:
  SiteTest()
      : server_([this](io::Loop& loop, http::Server& server) {
          const auto sessions = std::make_shared<Sessions>(Sessions::Options{});
          client::Options daemon;
          daemon.start_daemon = false;
          const auto site = std::make_shared<Site>(loop, *sessions, server.port(), daemon, kMetricsToken);
          token_ = site->link_address(Role::Person);
          token_ = token_.substr(token_.find('=') + 1);
          return
              [sessions, site](const std::shared_ptr<http::Exchange>& exchange) { site->handle(exchange); };
        }) {}

  std::string port() const { return std::to_string(server_.port()); }
  std::string here() const { return "http://127.0.0.1:" + port(); }
  std::string ask(const std::string& line, const std::string& headers, const std::string& body = "") const {
    return server_.say(line + " HTTP/1.1\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
                       "\r\nConnection: close\r\n\r\n" + body);
  }
  std::string get(const std::string& target, const std::string& headers = "") const {
    return ask("GET " + target, "Host: 127.0.0.1:" + port() + "\r\n" + headers);
  }
  std::string sign_in(const std::string& token, const std::string& headers) const {
    return ask("POST /api/session", "Host: 127.0.0.1:" + port() + "\r\n" + headers,
               "{\"token\":\"" + token + "\"}");
  }
  std::string good_headers() const {
    return "Origin: " + here() + "\r\nContent-Type: application/json\r\nX-Ttyward-Panel: 1\r\n";
  }
  // The head of the answer to a page that wants a WebSocket.
  std::string upgrade(const std::string& headers) const {
    http::testing::Wire wire = server_.connect();
    wire.send("GET /ws HTTP/1.1\r\nHost: 127.0.0.1:" + port() +
              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
              headers + "\r\n");
    return wire.read_to("\r\n\r\n");
  }
  static std::string status(const std::string& answer) { return answer.substr(0, 12); }

  std::string token_;
  http::testing::TestServer server_;
};

TEST_F(SiteTest, every_view_is_the_page_with_a_strict_policy_and_a_nonce_of_its_own) {
  for (const char* view :
       {"/", "/terminals?state=running", "/t/tabc", "/c/cabc", "/history", "/overview", "/settings/about"}) {
    const std::string answer = get(view);
    EXPECT_EQ(status(answer), "HTTP/1.1 200") << view;
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';"));
    EXPECT_THAT(answer, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(answer, HasSubstr("X-Frame-Options: DENY"));
    EXPECT_THAT(answer, HasSubstr("Cache-Control: no-store"));
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer"));
    EXPECT_THAT(answer, Not(HasSubstr("Access-Control")));
    EXPECT_THAT(answer, Not(HasSubstr("{{nonce}}")));
    EXPECT_THAT(answer, Not(HasSubstr("Set-Cookie")));
  }
  const auto nonce = [&] {
    const std::string answer = get("/");
    return answer.substr(answer.find("'nonce-"), 30);
  };
  EXPECT_NE(nonce(), nonce());
  for (const char* none : {"/nothing", "/etc/passwd", "/../etc/passwd", "/settings/../../etc", "/index.html"})
    EXPECT_EQ(status(get(none)), "HTTP/1.1 404") << none;
  EXPECT_EQ(status(ask("DELETE /", "Host: 127.0.0.1:" + port() + "\r\nOrigin: " + here() + "\r\n")),
            "HTTP/1.1 405");
  EXPECT_EQ(
      status(ask("OPTIONS /api/session", "Host: 127.0.0.1:" + port() + "\r\nOrigin: " + here() + "\r\n")),
      "HTTP/1.1 405")
      << "no preflight is ever answered";
}

TEST_F(SiteTest, only_our_own_host_and_port) {
  for (const std::string& host :
       {std::string("evil.test:") + port(), std::string("127.0.0.1:1"), std::string("127.0.0.1"),
        std::string("localhost"), std::string("evil.localhost:") + port(), std::string()})
    EXPECT_EQ(status(ask("GET /", "Host: " + host + "\r\n")), "HTTP/1.1 403") << host;
  EXPECT_EQ(status(ask("GET /", "Host: localhost:" + port() + "\r\n")), "HTTP/1.1 200");
  EXPECT_EQ(status(get("/", "Origin: http://evil.test\r\n")), "HTTP/1.1 403");
}

TEST_F(SiteTest, a_link_becomes_a_session_once) {
  const std::string answer = sign_in(token_, good_headers());
  EXPECT_EQ(status(answer), "HTTP/1.1 200");
  EXPECT_THAT(answer, HasSubstr("Set-Cookie: ttyward-panel-" + port() + "="));
  EXPECT_THAT(answer, HasSubstr("; HttpOnly; SameSite=Strict; Path=/; Max-Age="));
  EXPECT_THAT(answer, HasSubstr("\"key\":\""));
  const std::string again = sign_in(token_, good_headers());
  EXPECT_EQ(status(again), "HTTP/1.1 403");
  EXPECT_THAT(again, HasSubstr("\"used\""));
}

TEST_F(SiteTest, a_link_is_taken_from_our_own_page_only) {
  const std::string json = "Content-Type: application/json\r\n";
  const std::string header = "X-Ttyward-Panel: 1\r\n";
  const std::string origin = "Origin: " + here() + "\r\n";
  EXPECT_EQ(status(sign_in(token_, json + header)), "HTTP/1.1 403") << "no origin";
  EXPECT_EQ(status(sign_in(token_, json + header + "Origin: null\r\n")), "HTTP/1.1 403");
  EXPECT_EQ(status(sign_in(token_, json + header + "Origin: http://127.0.0.1:1\r\n")), "HTTP/1.1 403")
      << "another port of this machine";
  EXPECT_EQ(status(sign_in(token_, json + header + "Origin: http://localhost:" + port() + "\r\n")),
            "HTTP/1.1 403");
  EXPECT_EQ(status(sign_in(token_, header + origin + "Content-Type: text/plain\r\n")), "HTTP/1.1 415")
      << "what a form can send";
  EXPECT_EQ(status(sign_in(token_, json + origin)), "HTTP/1.1 415") << "without our header";
  EXPECT_EQ(status(sign_in(token_, good_headers() + "Sec-Fetch-Site: same-site\r\n")), "HTTP/1.1 403");
  EXPECT_EQ(status(sign_in(token_, good_headers() + "Sec-Fetch-Site: same-origin\r\n")), "HTTP/1.1 200")
      << "none of those used it up";
}

TEST_F(SiteTest, wrong_links_are_told_to_wait) {
  for (size_t i = 0; i < Sessions::kMostWrong; i++)
    EXPECT_EQ(status(sign_in("00", good_headers())), "HTTP/1.1 403");
  const std::string answer = sign_in("00", good_headers());
  EXPECT_EQ(status(answer), "HTTP/1.1 429");
  EXPECT_THAT(answer, HasSubstr("Retry-After: 60"));
}

TEST_F(SiteTest, a_web_socket_needs_origin_protocol_and_a_good_cookie) {
  const std::string answer = sign_in(token_, good_headers());
  const size_t begin = answer.find("Set-Cookie: ") + 12;
  const std::string cookie = "Cookie: " + answer.substr(begin, answer.find(';', begin) - begin) + "\r\n";
  const std::string protocol = "Sec-WebSocket-Protocol: ttyward.panel.1\r\n";
  const std::string origin = "Origin: " + here() + "\r\n";
  EXPECT_EQ(status(upgrade(protocol + cookie)), "HTTP/1.1 403") << "no origin";
  EXPECT_EQ(status(upgrade(protocol + cookie + "Origin: http://127.0.0.1:1\r\n")), "HTTP/1.1 403")
      << "a page of another port, which the browser lets ride on the cookie";
  EXPECT_EQ(status(upgrade(protocol + cookie + "Origin: http://evil.test:" + port() + "\r\n")),
            "HTTP/1.1 403");
  EXPECT_EQ(status(upgrade(origin + cookie)), "HTTP/1.1 426");
  EXPECT_EQ(status(upgrade(origin + protocol)), "HTTP/1.1 401");
  EXPECT_EQ(status(upgrade(origin + protocol + "Cookie: ttyward-panel-" + port() + "=0123\r\n")),
            "HTTP/1.1 401");
  EXPECT_EQ(status(upgrade(origin + protocol + cookie + "Sec-Fetch-Site: cross-site\r\n")), "HTTP/1.1 403");
  EXPECT_EQ(status(upgrade(origin + protocol + cookie)), "HTTP/1.1 101");
}

TEST_F(SiteTest, files_are_sent_as_they_were_packed) {
  EXPECT_EQ(status(get("/assets/none.js")), "HTTP/1.1 404");
}

TEST_F(SiteTest, metrics_are_for_who_has_their_token) {
  const std::string bearer = "Authorization: Bearer ";
  for (const std::string& headers :
       {std::string(), bearer + "wrong\r\n", "Authorization: Basic " + std::string(kMetricsToken) + "\r\n",
        "Cookie: ttyward-panel-" + port() + "=" + kMetricsToken + "\r\n",
        bearer + kMetricsToken + "\r\n" + bearer + kMetricsToken + "\r\n"}) {
    const std::string answer = get("/metrics", headers);
    EXPECT_EQ(status(answer), "HTTP/1.1 401") << headers;
    EXPECT_THAT(answer, HasSubstr("WWW-Authenticate: Bearer"));
    EXPECT_THAT(answer, HasSubstr("--metrics-token"));
  }
  // No daemon runs here, and none is started.
  const std::string good = bearer + kMetricsToken + "\r\n";
  EXPECT_EQ(status(get("/metrics", good)), "HTTP/1.1 503");
  EXPECT_EQ(status(get("/metrics", good + "Origin: http://evil.example\r\n")), "HTTP/1.1 403");
  EXPECT_EQ(status(ask("GET /metrics", "Host: evil.example\r\n" + good)), "HTTP/1.1 403");
  EXPECT_EQ(
      status(ask("POST /metrics", "Host: 127.0.0.1:" + port() + "\r\nOrigin: " + here() + "\r\n" + good)),
      "HTTP/1.1 405");
  for (int i = 0; i < 20; ++i) get("/metrics", bearer + "guess\r\n");
  EXPECT_EQ(status(get("/metrics", bearer + "guess\r\n")), "HTTP/1.1 429");
  EXPECT_EQ(status(get("/metrics", good)), "HTTP/1.1 503") << "the right token still counts";
}

}  // namespace
}  // namespace ttyward::panel
