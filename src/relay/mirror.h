// A terminal of another place, here: a copy of its journal, and a socket that speaks as its holder does.
//
// Users of the terminal read the copy and talk to the socket, and need not know that it is far away. What
// only the far holder can do is passed on while there is a link, and refused with a reason while there is
// none: nothing is queued. Bytes are kept in the order in which they came, and more are asked for only when
// they were (credit), so that at most one window of each terminal is in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "hold/clients.h"
#include "hold/protocol.h"
#include "io/loop.h"
#include "journal/folder.h"
#include "journal/writer.h"
#include "relay/protocol.h"

namespace ttyward::relay {

class Mirror final : private io::Poller::Handler, private hold::Clients::Owner {
 public:
  class Owner {
   public:
    // Over the stream, on the terminal's channel.
    virtual void send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) = 0;
    virtual bool linked() const = 0;
    // Why not, for people.
    virtual hold::LinkMessage link() const = 0;
    // Commands, and what was written for them, are passed on in the order in which they were sent.
    virtual void take_files_first() = 0;
    virtual io::Loop& loop() = 0;
    // Nothing is left to do for it. The mirror may be destroyed from within.
    virtual void finished(Mirror& mirror) = 0;

   protected:
    ~Owner() = default;
  };

  struct Birth {
    std::string id;
    std::string sockets;
    journal::WriterOptions journal;
    uint32_t holder_pid = 0;
    uint32_t child_pid = 0;
    std::string fallback_reason;
    std::string boot_id;
    uint64_t first_process = 0;
  };

  // A new copy; or, with `again`, the one that a link before us began.
  enum class Copy : uint8_t { New, Again };
  static base::Result<std::unique_ptr<Mirror>> create(Owner& owner, std::shared_ptr<journal::Folder> folder,
                                                      Birth birth, uint16_t channel, Copy copy);
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror();

  const Birth& birth() const { return birth_; }
  uint16_t channel() const { return channel_; }
  // Its standard input, to be passed on.
  void set_stdin(base::UniqueFd fd);

  // The link is there: asks for everything after what we have.
  void follow();
  void take(const Frame& frame);
  void link_changed();
  // The place is not what it was: the next word about its end has this reason.
  void set_reason(std::string why) { reason_ = std::move(why); }
  void lose(const std::string& why);

 private:
  using Client = hold::Clients::Client;
  struct Pending {
    int client = -1;
    uint32_t tag = 0;
    std::optional<size_t> input;  // bytes
    uint64_t grant = 0;
  };

  Mirror(Owner& owner, Birth birth, uint16_t channel, journal::Writer writer)
      : owner_(owner), birth_(std::move(birth)), channel_(channel), writer_(std::move(writer)) {}
  base::Result<void> listen();
  // The poller's: something to read on the standard input.
  void on_ready(int fd, uint32_t events) override;

  // hold::Clients::Owner
  bool open() const override { return !closed_; }
  std::string status() const override;
  uint64_t output_end() const override { return writer_ ? writer_->end() : 0; }
  void read_up_to(std::optional<uint64_t> least) override;
  bool handle(Client& client, const hold::Frame& frame) override;
  bool greeted(Client& client) override;
  void before_reading() override { owner_.take_files_first(); }
  void gone(const Client& client) override;

  bool pass_on(Client& client, const hold::Frame& frame);
  void tell_client(int fd, std::string_view message);
  void end_command();
  void take_head(const HeadMessage& head);
  void take_reply(const Frame& frame);
  void settle_pending(uint64_t input_bytes);
  void write_queued();
  bool write_bytes(Frame& frame);
  void take_closed(std::string_view payload);
  void finish_soon();
  void read_stdin();
  void send_stdin();
  void stdin_taken(uint64_t offset);

  Owner& owner_;
  Birth birth_;
  const uint16_t channel_;
  std::optional<journal::Writer> writer_;
  std::unique_ptr<hold::Clients> clients_;
  uint32_t last_tag_ = 0;
  std::map<uint32_t, Pending> pending_;
  std::deque<Frame> queue_;   // bytes, gaps and the end, in order
  size_t part_done_ = 0;      // bytes of the first in the queue that are in the journal
  size_t marks_done_ = 0;     // and marks
  uint64_t received_to_ = 0;  // the offset after the last byte that came
  uint64_t used_ = 0;         // credit to be given back
  uint64_t input_bytes_ = 0;
  journal::Stream stream_ = journal::Stream::Terminal;
  std::optional<journal::ExitRecord> exit_;
  bool paused_ = false;
  bool closed_ = false;
  bool followed_ = false;    // on this link
  bool end_wanted_ = false;  // whoever it was tied to is gone
  std::string reason_;
  io::Loop::TimerId retry_ = 0;
  io::Loop::TimerId linger_ = 0;
  base::UniqueFd stdin_;
  bool stdin_watched_ = false;
  bool stdin_ended_ = false;  // its end was read
  bool stdin_over_ = true;    // nothing more is to be sent
  uint64_t stdin_from_ = 0;   // offset of the first byte below
  std::string stdin_bytes_;   // not taken yet
  size_t stdin_sent_ = 0;     // of them, on this link
  bool stdin_end_sent_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::relay
