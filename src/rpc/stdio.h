// A conversation over standard input and output: one JSON message per line, nothing else on standard output.
//
// Neither end blocks the loop: what the other side does not read waits in a queue of kMaxUnsent bytes, and a
// peer that lets it grow beyond is given up. End of input ends the conversation, after kGrace at most for
// requests that are about to be answered.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "rpc/line_reader.h"
#include "rpc/outlet.h"
#include "rpc/peer.h"

namespace ttyward::rpc {

class Stdio final : private io::Poller::Handler {
 public:
  // Makes the conversation; `out` is standard output.
  using Converse = std::function<std::shared_ptr<Conversation>(std::shared_ptr<Outlet> out)>;

  // The descriptors stay the caller's. `ended` is called once: end of input, or a peer that is gone.
  static base::Result<std::unique_ptr<Stdio>> start(io::Loop& loop, int in, int out, const Converse& converse,
                                                    std::function<void()> ended);
  ~Stdio();

 private:
  static constexpr size_t kMaxUnsent = size_t{64} << 20;
  static constexpr std::chrono::milliseconds kGrace{1000};

  class Out;
  Stdio(io::Loop& loop, int in, int out, const Converse& converse, std::function<void()> ended);
  void on_ready(int fd, uint32_t events) override;
  // False: no more input now.
  bool read_some();
  void read_file();
  void take(const LineReader::Line& line);
  void send(const std::string& line);
  void flush();
  // `grace`: how long requests in flight may still take.
  void end(std::chrono::milliseconds grace);
  void all_answered();
  void finish();

  io::Loop& loop_;
  int in_;
  int out_;
  base::UniqueFd own_out_;  // standard output opened anew, so that it can be non-blocking for us alone
  bool is_file_ = false;    // the input is a regular file, which epoll does not take
  bool out_is_socket_ = false;
  bool out_polled_ = false;
  bool ended_ = false;
  bool gone_ = false;      // the other side does not read any more
  bool answered_ = false;  // the input has ended and everything is answered
  std::function<void()> on_end_;
  LineReader input_{kMaxMessage};
  std::string unsent_;
  std::shared_ptr<Out> outlet_;
  std::shared_ptr<Conversation> conversation_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::rpc
