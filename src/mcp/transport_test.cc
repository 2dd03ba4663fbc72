#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "base/secret_file.h"
#include "mcp/conformance/fixtures.h"
#include "mcp/http/endpoint.h"
#include "mcp/http/guard.h"
#include "mcp/http/header_value.h"
#include "mcp/http/listener.h"
#include "mcp/testing.h"

namespace ttyward::mcp {
namespace {

TEST(Guard, OnlyLoopbackNamesAndOurPort) {
  for (const char* good : {"localhost", "localhost:80", "127.0.0.1:80", "[::1]:80", "[::1]", "LOCALHOST:80"})
    EXPECT_TRUE(http::is_local_host(good, 80)) << good;
  for (const char* bad : {"", "evil.com", "localhost:81", "127.0.0.1.evil.com", "localhost.evil.com:80",
                          "127.0.0.2", "0.0.0.0:80", "[::1]evil:80", "user@localhost"})
    EXPECT_FALSE(http::is_local_host(bad, 80)) << bad;
  for (const char* good : {"http://localhost:5173", "https://127.0.0.1", "http://[::1]:9"})
    EXPECT_TRUE(http::is_local_origin(good)) << good;
  for (const char* bad :
       {"null", "", "http://evil.com", "file://", "http://localhost.evil.com", "http://evil.com/localhost"})
    EXPECT_FALSE(http::is_local_origin(bad)) << bad;
}

TEST(Guard, TokenFilesAreOursAlone) {
  char folder[] = "/tmp/ttyward-token-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/token";
  const auto made = http::make_token_file(path);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 64u);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(base::read_secret_file(path).value(), *made);
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(base::read_secret_file(path));
  const auto next = http::make_token_file(path);
  ASSERT_TRUE(next) << "a new one replaces it";
  http::remove_token_file(path, *made);
  EXPECT_EQ(base::read_secret_file(path).value(), *next) << "the file is another server's by now";
  const std::string link = std::string(folder) + "/link";
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(base::read_secret_file(link));
  ::unlink(link.c_str());
  http::remove_token_file(path, *next);
  EXPECT_NE(::stat(path.c_str(), &status), 0);
  ::rmdir(folder);
}

TEST(HeaderValue, RepeatsTheArgument) {
  const json::value text("H\xC3\xA9");
  EXPECT_TRUE(http::header_repeats("=?base64?SMOp?=", &text));
  EXPECT_FALSE(http::header_repeats("=?base64?SMO?=", &text));
  EXPECT_FALSE(http::header_repeats(std::nullopt, &text));
  EXPECT_TRUE(http::header_repeats(std::nullopt, nullptr));
  const json::value number(7);
  EXPECT_TRUE(http::header_repeats("7", &number));
}

TEST(Listener, RefusesToListenToOtherMachines) {
  for (const char* bad : {"0.0.0.0:1", "192.168.1.1:80", "8080", ":8080", "127.0.0.1", "127.0.0.1:99999",
                          "127.0.0.1:", "[::]:1"})
    EXPECT_FALSE(http::parse_address(bad)) << bad;
  EXPECT_EQ(http::parse_address("127.0.0.1:0").value().port, 0);
  EXPECT_TRUE(http::parse_address("[::1]:81").value().v6);
}

// A server with the fixtures behind a token, on a port of its own and a thread of its own.
class HttpServer {
 public:
  HttpServer() {
    thread_ = std::thread([this] {
      loop_ = std::move(io::Loop::create().value());
      Notices notices;
      conformance::Fixtures fixtures(notices);
      Server server(*loop_, fixtures, notices);
      auto listener = std::move(http::Listener::start(*loop_, {}).value());
      http::Endpoint endpoint(server, listener->port(), "secret-secret-secret-secret-secret");
      listener->serve(endpoint);
      ready_.set_value(listener->port());
      loop_->run();
    });
    port_ = ready_.get_future().get();
  }
  ~HttpServer() {
    loop_->stop();
    thread_.join();
  }
  int connect() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  // Everything the server says until it closes.
  std::string say(const std::string& bytes) const {
    const int fd = connect();
    EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    std::string text;
    char buffer[4096];
    for (ssize_t n = ::recv(fd, buffer, sizeof buffer, 0); n > 0; n = ::recv(fd, buffer, sizeof buffer, 0))
      text.append(buffer, static_cast<size_t>(n));
    ::close(fd);
    return text;
  }
  std::string post(const std::string& body, const std::string& headers = kGood) const {
    return say("POST /mcp HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) +
               "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
               "\r\n" + body);
  }
  static constexpr const char* kGood =
      "Authorization: Bearer secret-secret-secret-secret-secret\r\nContent-Type: application/json\r\nAccept: "
      "application/json, text/event-stream\r\n";

 private:
  std::promise<int> ready_;
  std::unique_ptr<io::Loop> loop_;
  std::thread thread_;
  int port_ = 0;
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
