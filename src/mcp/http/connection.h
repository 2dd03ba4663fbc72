// One HTTP connection: reads requests, hands each on as an Exchange, writes the answer, then reads the next.
//
// An answer is either whole or a stream of server-sent events. A client that goes away while its answer is
// under way is noticed at once. A client that does not read has kMaxUnsent bytes of patience, one that does
// not write its request kRequestTime.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "io/loop.h"
#include "mcp/http/message.h"

namespace ttyward::mcp::http {

class Connection;
using Headers = std::vector<std::pair<std::string, std::string>>;

// One request and the answer to it. Outlives its connection; then what is written goes nowhere.
class Exchange {
 public:
  explicit Exchange(HttpRequest asked) : request(std::move(asked)) {}

  const HttpRequest request;
  std::function<void()> on_gone;  // the client went away before the answer was complete

  void respond(int status, Headers headers, std::string_view body);
  void begin_events(Headers headers);
  void write_events(std::string_view text);
  void end_events();
  bool streaming() const { return streaming_; }
  bool open() const { return connection_ != nullptr && !answered_; }

 private:
  friend class Connection;
  void gone();

  Connection* connection_ = nullptr;
  bool answered_ = false;
  bool streaming_ = false;
};

class Connection final : private io::Poller::Handler {
 public:
  using Handle = std::function<void(std::shared_ptr<Exchange>)>;

  Connection(io::Loop& loop, base::UniqueFd socket, Handle handle, std::function<void()> closed);
  ~Connection();

 private:
  friend class Exchange;
  static constexpr size_t kMaxUnsent = 32u << 20;
  static constexpr std::chrono::seconds kRequestTime{30};  // for a whole request, from its first byte
  static constexpr std::chrono::seconds kIdleTime{300};    // between requests
  static constexpr std::chrono::seconds kKeepAlive{15};    // between comments on a silent stream

  void on_ready(int fd, uint32_t events) override;
  void read_some();
  void advance();
  void send(std::string_view bytes);
  void flush();
  void answer_complete();
  void arm(std::chrono::seconds time);
  void keep_alive();
  void close();

  io::Loop& loop_;
  base::UniqueFd socket_;
  Handle handle_;
  std::function<void()> closed_;
  RequestReader reader_;
  std::string input_;
  std::string unsent_;
  std::shared_ptr<Exchange> exchange_;  // being answered
  bool closing_ = false;                // after what is unsent
  bool writing_ = false;
  bool advancing_ = false;
  io::Loop::TimerId timer_ = 0;
  io::Loop::TimerId comment_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::mcp::http
