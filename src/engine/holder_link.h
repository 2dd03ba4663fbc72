// A connection to a holder for a program with a loop: nothing here blocks.
//
// Requests go out at once and are answered through callbacks, in order; events go
// to the observer. When the holder goes away every open request fails, then the
// observer hears on_gone(), once; the journal has the rest.
// Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/protocol.h"
#include "io/loop.h"
#include "journal/format.h"
#include "pty/kill_ladder.h"
#include "pty/pseudo_terminal.h"
#include "pty/run_state.h"

namespace ttyward::engine {

class HolderLink final : private io::Poller::Handler {
 public:
  class Observer {
   public:
    virtual void on_welcome(const hold::StatusMessage& status) = 0;
    virtual void on_output(uint64_t end) = 0;
    virtual void on_paused() = 0;
    virtual void on_exited(const journal::ExitRecord& record) = 0;
    // Nothing of the command is left; the holder ends.
    virtual void on_closed() = 0;
    // Last call: the link may be destroyed from within it.
    virtual void on_gone() = 0;

   protected:
    ~Observer() = default;
  };
  using Done = std::function<void(base::Result<void>)>;
  using Frames = std::function<void(base::Result<hold::Frame>)>;

  static base::Result<std::unique_ptr<HolderLink>> connect(io::Loop& loop, const std::string& sockets,
                                                           const std::string& id, Observer& observer);
  HolderLink(const HolderLink&) = delete;
  HolderLink& operator=(const HolderLink&) = delete;
  ~HolderLink();

  void input(std::string_view bytes, Done done = {});
  void close_input(Done done = {});
  void resize(const pty::WindowSize& size, Done done = {});
  enum class Target : uint32_t { Leader = 0, Foreground = 1, Everything = 2 };
  void signal(int number, Target target, Done done = {});
  void interrupt(Done done = {});
  void terminate(const std::vector<pty::KillRung>& rungs, Done done = {});
  void grant(uint64_t bytes, Done done = {});
  // on_output() will be called, once, when there is something beyond `offset`.
  void watch(uint64_t offset);
  void run_state(pty::AlternateScreen screen, std::function<void(base::Result<pty::RunState>)> done);
  struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string command;
  };
  void processes(std::function<void(base::Result<std::vector<Process>>)> done);

 private:
  HolderLink(io::Loop& loop, base::UniqueFd fd, Observer& observer)
      : loop_(loop), fd_(std::move(fd)), observer_(observer) {}
  void send(hold::MessageType type, std::string_view payload, Frames answer);
  void order(hold::MessageType type, std::string_view payload, Done done);
  void on_ready(int fd, uint32_t events) override;
  void flush();
  bool read_frames();
  void take(hold::Frame frame);
  void lose();

  io::Loop& loop_;
  base::UniqueFd fd_;
  Observer& observer_;
  hold::FrameReader in_;
  std::string out_;
  bool writing_ = false;
  uint32_t last_tag_ = 0;
  std::map<uint32_t, Frames> open_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // tells a callback that destroyed us
};

}  // namespace ttyward::engine
