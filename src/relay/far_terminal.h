// One terminal as its relay sees it: the holder's socket, and the journal, which is sent from an offset on.
//
// Bytes, gaps and the end go out in the order in which they are in the journal, so that the copy never knows
// of an end before it has what was printed until then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "hold/protocol.h"
#include "io/loop.h"
#include "io/outgoing.h"
#include "journal/folder.h"
#include "journal/reader.h"
#include "relay/protocol.h"

namespace ttyward::relay {

class FarTerminal final : private io::Poller::Handler {
 public:
  class Owner {
   public:
    virtual void send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) = 0;
    // Whether the stream takes more output now; if not, pump() is called again when it does.
    virtual bool may_send_bytes() const = 0;
    // pump() is to be called soon.
    virtual void more() = 0;
    virtual io::Loop& loop() = 0;
    virtual const std::string& sockets() const = 0;
    virtual journal::Folder& journals() = 0;

   protected:
    ~Owner() = default;
  };

  struct Start {
    std::string id;
    uint64_t from = 0;
    uint64_t window = 0;
    bool rule_out = false;  // if there is no journal, there must never be one
  };

  FarTerminal(Owner& owner, uint16_t channel, Start start);
  FarTerminal(const FarTerminal&) = delete;
  FarTerminal& operator=(const FarTerminal&) = delete;
  ~FarTerminal();

  const std::string& id() const { return start_.id; }
  void add_credit(uint64_t bytes);
  // A message for the holder, with its type, from the other end.
  void request(uint32_t tag, std::string_view payload);
  // More of its standard input.
  void stdin_bytes(std::string_view payload);
  // Sends what may be sent. True: there is more.
  bool pump();

 private:
  void begin();
  void connect();
  void on_ready(int fd, uint32_t events) override;
  void on_holder_ready(uint32_t events);
  void take(hold::Frame frame);
  void holder_gone();
  void send_head(uint32_t holder_pid, const std::string& fallback_reason);
  void to_holder(hold::MessageType type, uint32_t tag, std::string_view payload);
  void flush_holder();
  void watch();
  bool send_chunk();
  void begin_with_state(std::vector<journal::Mark>& marks);
  void send_end();
  void look_again();
  void lose(Loss loss, const std::string& why);
  void connect_stdin();
  void read_stdin_answers();
  void flush_stdin();

  Owner& owner_;
  const uint16_t channel_;
  const Start start_;
  std::optional<journal::Reader> reader_;
  base::UniqueFd socket_;
  hold::FrameReader in_;
  io::Outgoing out_;
  bool headed_ = false;  // Head was sent
  bool watching_ = false;
  bool gone_ = false;   // the holder
  bool over_ = false;   // nothing more to send
  bool began_ = false;  // bytes were sent
  uint64_t sent_ = 0;
  uint64_t credit_ = 0;
  std::optional<uint64_t> exit_at_;  // the journal's end when the exit was reported
  bool exit_sent_ = false;
  io::Loop::TimerId timer_ = 0;
  base::UniqueFd stdin_;
  std::string stdin_in_;
  io::Outgoing stdin_out_;
};

}  // namespace ttyward::relay
