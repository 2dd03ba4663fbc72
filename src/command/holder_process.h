// A command that is held by a ttyward-hold process, which outlives this one.
//
// Requests go out at once and are answered through callbacks, in order; events go to the
// observer. When the holder goes away every open request fails, then the observer hears
// on_gone(), once; the journal has the rest. Nothing here blocks. Thread rule: one
// thread, the one that waits on the poller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "command/source.h"
#include "hold/protocol.h"
#include "io/outgoing.h"
#include "io/poller.h"

namespace ttyward::command {

class HolderProcess final : public Source, private io::Poller::Handler {
 public:
  class Observer : public Source::Observer {
   public:
    // The first call: what the holder says of itself. Its command may have ended already.
    virtual void on_welcome(const hold::StatusMessage& status) = 0;

   protected:
    ~Observer() = default;
  };

  // `sockets` is the folder of the holders' sockets, `id` that of the journal.
  static base::Result<std::unique_ptr<HolderProcess>> connect(io::Poller& poller, const std::string& sockets,
                                                              const std::string& id, Observer& observer);
  HolderProcess(const HolderProcess&) = delete;
  HolderProcess& operator=(const HolderProcess&) = delete;
  ~HolderProcess() override;

  void turn(TimePoint /*now*/) override {}  // all is done when the socket is ready
  std::optional<TimePoint> deadline() const override { return std::nullopt; }
  void input(std::string_view bytes, Done done = {}) override;
  void close_input(Done done = {}) override;
  void resize(const pty::WindowSize& size, Done done = {}) override;
  void signal(int number, Target target, Done done = {}) override;
  void interrupt(Done done = {}) override;
  void terminate(const std::vector<pty::KillRung>& rungs, Done done = {}) override;
  void grant(uint64_t bytes, Done done = {}) override;
  void watch(uint64_t offset) override;
  size_t input_waiting() const override { return out_.size(); }
  void run_state(pty::AlternateScreen screen, RunStates done) override;
  void processes(Processes done) override;
  const place::Place& place() const override { return *place_; }
  // Where the holder is; this machine, unless said. It outlives this object.
  void set_place(const place::Place& place) { place_ = &place; }
  // In another place: the command ends when this connection does.
  void tie() { order(hold::MessageType::Tie, {}, {}); }

 private:
  using Frames = std::function<void(base::Result<hold::Frame>)>;

  HolderProcess(io::Poller& poller, base::UniqueFd fd, Observer& observer)
      : poller_(poller), fd_(std::move(fd)), observer_(observer) {}
  void send(hold::MessageType type, std::string_view payload, Frames answer);
  void order(hold::MessageType type, std::string_view payload, Done done);
  void on_ready(int fd, uint32_t events) override;
  void flush();
  bool read_frames();
  void take(hold::Frame frame);
  void lose();

  io::Poller& poller_;
  base::UniqueFd fd_;
  Observer& observer_;
  const place::Place* place_ = &place::local();
  hold::FrameReader in_;
  io::Outgoing out_;
  uint32_t last_tag_ = 0;
  std::map<uint32_t, Frames> open_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tells a callback that destroyed us
};

}  // namespace ttyward::command
