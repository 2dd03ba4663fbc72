// MCP over standard input and output: one JSON message per line, nothing else on standard output.
//
// Neither end blocks the loop: what a client does not read waits in a queue of kMaxUnsent bytes, and a client
// that lets it grow beyond is given up. End of input ends the conversation, after kGrace at most for calls
// that are about to be answered; terminals live in the daemon and go on.
//
// Thread rule: the loop thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "mcp/outlet.h"
#include "mcp/peer.h"

namespace ttyward::mcp {

class Stdio final : private io::Poller::Handler {
 public:
  // The descriptors stay the caller's. `ended` is called once: end of input, or a client that is gone.
  static base::Result<std::unique_ptr<Stdio>> start(Server& server, int in, int out,
                                                    std::function<void()> ended);
  ~Stdio();

 private:
  static constexpr size_t kMaxUnsent = 64u << 20;
  static constexpr std::chrono::milliseconds kGrace{1000};

  class Out;
  Stdio(Server& server, int in, int out, std::function<void()> ended);
  void on_ready(int fd, uint32_t events) override;
  // False: no more input now.
  bool read_some();
  void read_file();
  void take_lines();
  void take_line(std::string_view line);
  void send(const std::string& line);
  void flush();
  // `grace`: how long calls in flight may still take.
  void end(std::chrono::milliseconds grace);
  void all_answered();
  void finish();

  Server& server_;
  int in_;
  int out_;
  base::UniqueFd own_out_;  // standard output opened anew, so that it can be non-blocking for us alone
  bool out_is_socket_ = false;
  bool out_polled_ = false;
  bool skipping_ = false;  // inside a line that is too long
  bool ended_ = false;
  bool gone_ = false;      // the client does not read any more
  bool answered_ = false;  // the input has ended and everything is answered
  std::function<void()> on_end_;
  std::string input_;
  std::string unsent_;
  std::shared_ptr<Out> outlet_;
  std::shared_ptr<Peer> peer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::mcp
