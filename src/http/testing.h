// For tests: a server on a port and a thread of its own, and a client that says any bytes.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "http/server.h"
#include "io/loop.h"

namespace ttyward::http::testing {

// A plain connection.
class Wire {
 public:
  explicit Wire(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire() { close(); }

  bool send(std::string_view bytes) const {
    return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  // Until `end` was read, or the server closes.
  std::string read_to(std::string_view end) {
    while (text_.find(end) == std::string::npos && read_some()) {
    }
    const size_t at = text_.find(end);
    const size_t size = at == std::string::npos ? text_.size() : at + end.size();
    std::string found = text_.substr(0, size);
    text_.erase(0, size);
    return found;
  }
  std::string read_all() {
    while (read_some()) {
    }
    return std::exchange(text_, {});
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) text_.append(buffer, static_cast<size_t>(got));
    return got > 0;
  }
  int fd_;
  std::string text_;
};

class TestServer {
 public:
  // `setup` is called on the server's thread, and what it returns handles the requests.
  using Setup = std::function<Server::Handle(io::Loop& loop, Server& server)>;

  explicit TestServer(const Setup& setup, const Limits& limits = {}) {
    std::promise<int> ready;
    auto port = ready.get_future();
    thread_ = std::thread([this, setup, limits, &ready] {
      loop_ = std::move(io::Loop::create().value());
      auto server = std::move(Server::listen(*loop_, {}, limits).value());
      server_ = server.get();
      Server::Handle handle = setup(*loop_, *server);
      server->serve([&handle](const std::shared_ptr<Exchange>& exchange) { handle(exchange); });
      ready.set_value(server->port());
      server->run();
      handle = nullptr;
    });
    port_ = port.get();
  }
  ~TestServer() {
    loop_->stop();
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  int port() const { return port_; }
  Wire connect() const { return Wire(port_); }
  // Everything the server says until it closes.
  std::string say(const std::string& bytes) const {
    Wire wire(port_);
    EXPECT_TRUE(wire.send(bytes));
    return wire.read_all();
  }
  // Runs on the server's thread.
  void post(const std::function<void(Server&)>& task) const {
    loop_->post([this, task] { task(*server_); });
  }

 private:
  std::thread thread_;
  std::unique_ptr<io::Loop> loop_;
  Server* server_ = nullptr;
  int port_ = 0;
};

}  // namespace ttyward::http::testing
