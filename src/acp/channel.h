// One side of a conversation: lines in, lines out, over two descriptors.
//
// Neither direction blocks the loop. What the other side does not read waits in memory; whoever fills it
// stops reading its own source meanwhile (pause), so memory stays bounded without dropping anything.
//
// Thread rule: the loop thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "rpc/line_reader.h"

namespace ttyward::acp {

class Channel final : private io::Poller::Handler {
 public:
  // Unsent bytes from which on `on_pressure(true)` is told; at half of it, false.
  static constexpr size_t kPressure = size_t{8} << 20;
  // From here on this side is not listened to, either: it asks for more than it reads. More than the largest
  // message, so that one who only writes while it is being written to is not stopped.
  static constexpr size_t kFull = size_t{64} << 20;

  struct Events {
    std::function<void(const rpc::LineReader::Line&)> line;
    std::function<void()> end_of_input;
    std::function<void()> gone;  // it does not read any more
    std::function<void(bool under)> pressure;
  };

  // The descriptors stay the caller's; `in` and `out` may be the same socket.
  static base::Result<std::unique_ptr<Channel>> start(io::Loop& loop, int in, int out, Events events);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // One line; its end is added.
  void send(std::string_view line);
  void pause(bool paused);
  bool drained() const { return unsent_.size() == sent_; }
  bool under_pressure() const { return pressed_; }
  // Reads what is there now, and no more.
  void read_rest();
  // Nothing is read any more.
  void close_input();
  // Nothing is sent any more; what waits is dropped.
  void close_output();

 private:
  Channel(io::Loop& loop, int in, int out, Events events);
  void on_ready(int fd, uint32_t events) override;
  // False: nothing more now.
  bool read_some();
  void read_file();
  void flush();
  void watch_output(bool wanted);
  void listen();

  io::Loop& loop_;
  const int in_;
  int out_;
  base::UniqueFd own_out_;  // the output opened anew, so that it is non-blocking for us alone
  const Events events_;
  rpc::LineReader input_;
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
  bool is_file_ = false;
  bool out_is_socket_ = false;
  bool reading_ = false;
  bool paused_ = false;   // by whoever gets our lines
  bool full_ = false;     // by what is unsent
  bool stopped_ = false;  // one of the two
  bool input_ended_ = false;
  bool writing_ = false;
  bool gone_ = false;
  bool pressed_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::acp
