// The far end of a link: `ttyward-hold relay`, on the other machine or in the container.
//
// Flow at a glance
//   stdin  → frames: launches, questions, files, and per terminal what its holder is asked
//   stdout ← answers, and per terminal the bytes of its journal, as far as there is credit
//
// It keeps nothing that is not also in the holders and their journals: when the link is lost it ends, and the
// next relay goes on from the offset it is told. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "hold/launch.h"
#include "io/loop.h"
#include "journal/folder.h"
#include "relay/far_terminal.h"
#include "relay/protocol.h"

namespace ttyward::relay {

struct RelayOptions {
  std::string nonce;
  std::string folder;             // of journals, sockets and shells' files
  std::optional<unsigned> umask;  // of the commands
  std::string program = "/proc/self/exe";
  std::chrono::milliseconds silence{60'000};  // without a byte from the other end, after which it is gone
};

class Relay final : private io::Poller::Handler, private FarTerminal::Owner {
 public:
  static base::Result<std::unique_ptr<Relay>> create(io::Loop& loop, base::UniqueFd in, base::UniqueFd out,
                                                     RelayOptions options);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

 private:
  Relay(io::Loop& loop, base::UniqueFd in, base::UniqueFd out, RelayOptions options);
  void on_ready(int fd, uint32_t events) override;
  void read_frames();
  void take(const Frame& frame);
  void take_own(const Frame& frame);
  void greet(const Frame& frame);
  void launch(const Frame& frame);
  void launched(int fd);
  void reply_launched(uint32_t tag, const hold::LaunchReply& reply);
  void finish(uint32_t tag, const base::Result<void>& result);
  std::string path_inside(const std::string& path) const;
  void forget(const std::string& id);
  WelcomeMessage welcome() const;
  void watch_silence();
  void flush();
  void pump_all();
  void end();

  // FarTerminal::Owner
  void send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) override;
  bool may_send_bytes() const override;
  void more() override;
  io::Loop& loop() override { return loop_; }
  const std::string& sockets() const override { return sockets_; }
  journal::Folder& journals() override { return *journals_; }

  io::Loop& loop_;
  base::UniqueFd in_;
  base::UniqueFd out_fd_;
  RelayOptions options_;
  std::string sockets_;
  std::shared_ptr<journal::Folder> journals_;
  FrameReader frames_;
  std::string out_;
  bool writing_ = false;
  bool greeted_ = false;
  bool ended_ = false;
  bool pump_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<hold::ForkServer> forks_;
  struct Launching {
    hold::IdleHolder holder;
    uint32_t tag = 0;
  };
  std::map<int, Launching> launching_;
  std::map<uint16_t, std::unique_ptr<FarTerminal>> terminals_;
  uint16_t last_served_ = 0;
  io::Loop::Clock::time_point heard_;
  io::Loop::TimerId silence_ = 0;
};

// What `ttyward-hold relay` does. Ends with its stdin.
int relay_main(int argc, char** argv);

}  // namespace ttyward::relay
