// Listens on a loopback address and gives every connection to the endpoint.
//
// Thread rule: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "mcp/http/connection.h"
#include "mcp/http/endpoint.h"

namespace ttyward::mcp::http {

struct Address {
  bool v6 = false;
  int port = 0;  // 0: any that is free
};
// "127.0.0.1:8080", "[::1]:8080", "localhost:0". Anything that is not loopback is refused.
base::Result<Address> parse_address(const std::string& text);

class Listener final : private io::Poller::Handler {
 public:
  static base::Result<std::unique_ptr<Listener>> start(io::Loop& loop, const Address& address);
  ~Listener();

  int port() const { return port_; }
  // Whom to give requests to; until then connections wait.
  void serve(Endpoint& endpoint);

 private:
  static constexpr size_t kMaxConnections = 256;  // more wait until one closes

  Listener(io::Loop& loop, base::UniqueFd socket, int port)
      : loop_(loop), socket_(std::move(socket)), port_(port) {}
  void on_ready(int fd, uint32_t events) override;
  void watch(bool on);

  io::Loop& loop_;
  base::UniqueFd socket_;
  const int port_;
  Endpoint* endpoint_ = nullptr;
  bool watching_ = false;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  uint64_t last_ = 0;
};

}  // namespace ttyward::mcp::http
