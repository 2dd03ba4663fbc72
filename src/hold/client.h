// The other end of a holder's socket, for programs that wait with poll.
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/protocol.h"
#include "journal/format.h"
#include "pty/kill_ladder.h"
#include "pty/process_tree.h"
#include "pty/pseudo_terminal.h"
#include "pty/run_state.h"

namespace ttyward::hold {

class Client {
 public:
  using Patience = std::chrono::milliseconds;

  // Connects and says hello.
  static base::Result<Client> connect(const std::string& sockets, const std::string& id, Patience patience);

  int fd() const { return fd_.get(); }
  // As the holder was when we connected.
  const StatusMessage& welcome() const { return welcome_; }

  base::Result<void> send_input(std::string_view bytes, Patience patience);
  base::Result<void> close_input(Patience patience);
  base::Result<void> resize(const pty::WindowSize& size, Patience patience);
  base::Result<void> signal(int number, uint32_t target, Patience patience);
  base::Result<void> interrupt(Patience patience);
  base::Result<void> terminate(const std::vector<pty::KillRung>& rungs, Patience patience);
  base::Result<void> grant(uint64_t bytes, Patience patience);
  base::Result<StatusMessage> status(Patience patience);
  // Living processes below the holder.
  base::Result<std::vector<pty::ProcessInfo>> processes(Patience patience);
  base::Result<pty::RunState> run_state(pty::AlternateScreen screen, Patience patience);

  // Asks to be told, once, when there is output beyond `offset`.
  base::Result<void> watch(uint64_t offset);
  // The next event: Output, Paused, Exited, Closed. Unavailable: none in time.
  // NotFound: the holder closed the connection; the journal has the rest.
  base::Result<Frame> next_event(Patience patience);
  // Whether one came with the answer to something else: the socket will not become readable for it.
  bool has_event() const { return !events_.empty(); }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  Client() = default;
  base::Result<uint32_t> send(MessageType type, std::string_view payload);
  base::Result<Frame> receive(Deadline until);
  base::Result<Frame> ask(MessageType type, std::string_view payload, Patience patience);
  base::Result<void> order(MessageType type, std::string_view payload, Patience patience);

  base::UniqueFd fd_;
  FrameReader in_;
  StatusMessage welcome_;
  std::deque<Frame> events_;
  uint32_t last_tag_ = 0;
};

}  // namespace ttyward::hold
