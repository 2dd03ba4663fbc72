#include <gtest/gtest.h>

#include "http/testing.h"
#include "mcp/conformance/fixtures.h"
#include "mcp/http/endpoint.h"
#include "mcp/http/header_value.h"
#include "mcp/testing.h"

namespace ttyward::mcp {
namespace {

TEST(HeaderValue, RepeatsTheArgument) {
  const json::value text("H\xC3\xA9");
  EXPECT_TRUE(header_repeats("=?base64?SMOp?=", &text));
  EXPECT_FALSE(header_repeats("=?base64?SMO?=", &text));
  EXPECT_FALSE(header_repeats(std::nullopt, &text));
  EXPECT_TRUE(header_repeats(std::nullopt, nullptr));
  const json::value number(7);
  EXPECT_TRUE(header_repeats("7", &number));
}

// A server with the fixtures behind a token.
class HttpServer {
 public:
  std::string say(const std::string& bytes) const { return server_.say(bytes); }
  std::string post(const std::string& body, const std::string& headers = kGood) const {
    return say("POST /mcp HTTP/1.1\r\nHost: localhost:" + std::to_string(server_.port()) +
               "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
               "\r\n" + body);
  }
  static constexpr const char* kGood =
      "Authorization: Bearer secret-secret-secret-secret-secret\r\nContent-Type: application/json\r\nAccept: "
      "application/json, text/event-stream\r\n";

 private:
  // What handles the requests has to live on the server's thread.
  struct Parts {
    explicit Parts(io::Loop& loop, int port)
        : server(loop, fixtures, notices), endpoint(server, admission(port)) {}
    static http::Admission admission(int port) {
      http::Admission made;
      made.port = port;
      made.token = "secret-secret-secret-secret-secret";
      return made;
    }
    Notices notices;
    conformance::Fixtures fixtures{notices};
    Server server;
    Endpoint endpoint;
  };
  http::testing::TestServer server_{[](io::Loop& loop, http::Server& web) -> http::Server::Handle {
    const auto parts = std::make_shared<Parts>(loop, web.port());
    return [parts](const std::shared_ptr<http::Exchange>& exchange) { parts->endpoint.handle(exchange); };
  }};
};

constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";

TEST(Http, AsksForTheTokenAndTheRightWords) {
  const HttpServer server;
  EXPECT_TRUE(server.post(kInitialize).starts_with("HTTP/1.1 200"));
  const auto without = [&](const std::string& headers) {
    return server.post(kInitialize, headers).substr(9, 3);
  };
  EXPECT_EQ(without("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"),
            "401");
  EXPECT_EQ(without("Authorization: Bearer wrong\r\nContent-Type: application/json\r\nAccept: */*\r\n"),
            "401");
  const std::string token = "Authorization: Bearer secret-secret-secret-secret-secret\r\n";
  EXPECT_EQ(without(token + "Content-Type: text/plain\r\nAccept: */*\r\n"), "415");
  EXPECT_EQ(without(token + "Content-Type: application/json\r\nAccept: application/json\r\n"), "406");
  EXPECT_EQ(without(std::string(HttpServer::kGood) + "Origin: http://evil.com\r\n"), "403");
  EXPECT_EQ(without(std::string(HttpServer::kGood) + "Origin: null\r\n"), "403");
  EXPECT_EQ(without(std::string(HttpServer::kGood) + "Host: evil.com\r\n"), "403") << "two hosts";
  EXPECT_EQ(server.say("GET / HTTP/1.1\r\nHost: evil.com\r\nConnection: close\r\n\r\n").substr(9, 3), "403");
}

TEST(Http, SessionsOfClientsThatDiedLockNobodyOut) {
  const HttpServer server;
  const auto opened = [&] {
    const std::string answer = server.post(kInitialize);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    const size_t begin = answer.find("Mcp-Session-Id: ") + 16;
    return answer.substr(begin, answer.find("\r\n", begin) - begin);
  };
  const std::string first = opened();
  for (int i = 0; i < 200; ++i) opened();  // more than there is room for, and none says goodbye
  const auto list = [&](const std::string& session) {
    return server
        .post(R"({"jsonrpc":"2.0","id":1,"method":"ping"})",
              std::string(HttpServer::kGood) + "Mcp-Session-Id: " + session + "\r\n")
        .substr(9, 3);
  };
  EXPECT_EQ(list(first), "404");
  EXPECT_EQ(list(opened()), "200");
}

TEST(Http, BadBytesAndTooManyOfThemGetTheRightStatus) {
  const HttpServer server;
  EXPECT_EQ(server.say("NONSENSE\r\n\r\n").substr(9, 3), "400");
  EXPECT_EQ(server.say("GET /mcp HTTP/1.1\r\nX: " + std::string(40'000, 'x') + "\r\n\r\n").substr(9, 3),
            "431");
  EXPECT_EQ(
      server.say("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n").substr(9, 3),
      "413");
  EXPECT_EQ(server.post("{").substr(9, 3), "400");
  EXPECT_EQ(server.post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})").substr(9, 3), "400")
      << "no session";
  EXPECT_EQ(server
                .post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})",
                      std::string(HttpServer::kGood) + "Mcp-Session-Id: none\r\n")
                .substr(9, 3),
            "404");
  EXPECT_EQ(server.post(kInitialize, std::string(HttpServer::kGood) + "MCP-Protocol-Version: 2031-01-01\r\n")
                .substr(9, 3),
            "400");
}

TEST(Http, TakesBatchesInTheOneRevisionThatHasThem) {
  const HttpServer server;
  const std::string batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}])";
  const auto post = [&](const char* version) {
    const std::string opened = server.post(
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")") +
        version + R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    const size_t at = opened.find("Mcp-Session-Id: ") + 16;
    return server.post(batch, std::string(HttpServer::kGood) + "Mcp-Session-Id: " +
                                  opened.substr(at, opened.find('\r', at) - at) + "\r\n");
  };
  const std::string taken = post("2025-03-26");
  EXPECT_TRUE(
      taken.ends_with(R"([{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}])"))
      << taken;
  EXPECT_EQ(post("2025-06-18").substr(9, 3), "400");
}

TEST(Http, ABrokenStreamIsFetchedAgain) {
  const HttpServer server;
  const std::string opened = server.post(kInitialize);
  const size_t at = opened.find("Mcp-Session-Id: ") + 16;
  const std::string session = "Mcp-Session-Id: " + opened.substr(at, opened.find('\r', at) - at) + "\r\n";
  const std::string first = server.post(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_reconnection","arguments":{}}})",
      std::string(HttpServer::kGood) + session);
  EXPECT_EQ(first.find("\"result\""), std::string::npos);
  const size_t id = first.find("id: ") + 4;
  const std::string rest = server.say(
      "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + std::string(HttpServer::kGood) +
      session + "Last-Event-ID: " + first.substr(id, first.find('\n', id) - id) + "\r\n\r\n");
  EXPECT_NE(rest.find("Reconnection test completed"), std::string::npos) << rest;
}

}  // namespace
}  // namespace ttyward::mcp
