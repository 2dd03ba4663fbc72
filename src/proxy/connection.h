// One client of a proxy, from its first byte to its last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "io/loop.h"
#include "proxy/handshake.h"
#include "proxy/proxy.h"

namespace ttyward::proxy {

// Bytes that were read from one side and not yet written to the other.
class Buffer {
 public:
  explicit Buffer(size_t most) : most_(most) {}
  std::string_view bytes() const { return std::string_view(bytes_).substr(begin_); }
  bool empty() const { return begin_ == bytes_.size(); }
  size_t room() const { return bytes().size() < most_ ? most_ - bytes().size() : 0; }
  void add(std::string_view more);
  void drop(size_t count);

 private:
  size_t most_;
  std::string bytes_;
  size_t begin_ = 0;
};

class Proxy::Connection final : public io::Poller::Handler, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Proxy& proxy, uint64_t number, base::UniqueFd client);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  void start();

 private:
  enum class State : uint8_t { Greeting, SocksRequest, LookingUp, Connecting, Relaying, Answering };

  // A side of the connection and what is on its way to it.
  struct Side {
    base::UniqueFd fd;
    uint32_t watched = 0;  // 0: not in the poller
    bool ended = false;    // it sends no more
    bool told = false;     // it was told that no more comes
  };

  void on_ready(int fd, uint32_t events) override;
  void read_client();
  void converse();
  void take_http(const HttpRequest& request);
  void ask_for(const HostPort& wanted);
  void found(const base::Result<std::vector<Address>>& addresses);
  void connect_next();
  void connected();
  void relay();
  // Moves bytes one way, within bounds. False: a side is broken.
  bool move(Side& from, Side& to, Buffer& buffer);
  void refuse(const std::string& host, uint16_t port, const std::string& why);
  void fail(int status, SocksCode code, const std::string& why);
  // Sends what is left and closes.
  void answer(const std::string& text);
  void flush_answer();
  void watch();
  void watch_side(Side& side, uint32_t events);
  void set_deadline(std::chrono::milliseconds after);
  void on_deadline();
  void end();

  Proxy& proxy_;
  const uint64_t number_;
  State state_ = State::Greeting;
  bool ended_ = false;
  Speech speech_ = Speech::Http;
  Side client_;
  Side server_;
  Buffer up_;    // to the server
  Buffer down_;  // to the client
  HostPort wanted_;
  bool told_established_ = false;  // an HTTP tunnel begins with a line that says so
  std::string early_;              // for the server, before there is one
  std::vector<Address> addresses_;
  size_t next_address_ = 0;
  std::string last_error_;
  io::Loop::TimerId timer_ = 0;
  io::Loop::Clock::time_point last_byte_;
};

}  // namespace ttyward::proxy
