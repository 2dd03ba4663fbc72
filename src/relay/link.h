// The near end: keeps one stream to another place, and a mirror for each terminal there.
//
// Flow at a glance
//   clients here            asks on the place's socket: state, questions, files
//   launches here           one connection each, as to an idle holder (hold/launch.h)
//   the stream              to the relay there (stream.h)
//   the stream breaks       mirrors say so to their clients; it is made again with growing pauses while there
//                           are terminals, and each goes on at the offset where it stopped
//
// It is a process of its own, one for each place (link_process.h), so that terminals go on whatever becomes
// of the daemon, and several programs share one connection. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "hold/launch.h"
#include "io/loop.h"
#include "io/outgoing.h"
#include "relay/link_protocol.h"
#include "relay/mirror.h"
#include "relay/place_name.h"
#include "relay/protocol.h"
#include "relay/stream.h"

namespace ttyward::relay {

struct LinkOptions {
  PlaceName place;
  std::string run;                            // folder of the sockets
  std::string state;                          // folder in which the terminals are noted
  std::chrono::milliseconds idle{60'000};     // without a terminal and a client, after which it ends
  std::chrono::milliseconds silence{15'000};  // without a byte, after which the link counts as lost
  std::chrono::milliseconds ping{5'000};
  std::chrono::milliseconds start{20'000};  // for the place to answer at all
};

class Link final : private io::Poller::Handler, private Mirror::Owner, private Stream::Owner {
 public:
  static base::Result<std::unique_ptr<Link>> create(io::Loop& loop, LinkOptions options);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

 private:
  using Clock = io::Loop::Clock;
  struct Client {
    base::UniqueFd fd;
    FrameReader in;
    io::Outgoing out;
    std::vector<uint32_t> waiting;  // tags of calls that want to know when there is a link
  };
  struct Asked {
    int client = -1;
    uint32_t tag = 0;
    uint64_t serial = 0;
  };
  struct Launching {
    base::UniqueFd control;
    hold::LaunchRequest request;
    base::UniqueFd stdin_fd;
    uint32_t tag = 0;      // of the launch under way; 0: not sent on this link
    uint16_t channel = 0;  // on which we ask whether it was started before the link was lost
    bool sent = false;     // on some link
  };

  Link(io::Loop& loop, LinkOptions options);
  base::Result<base::UniqueFd> listen(const std::string& file);
  base::Result<void> prepare();
  void find_terminals();

  void on_ready(int fd, uint32_t events) override;
  void accept(int listener);
  void read_client(int fd);
  bool handle(int fd, Client& client, const Frame& frame);
  void send_client(int fd, std::string_view bytes);
  void close_client(int fd);
  void tell_state();
  std::string state_message() const;

  void take_launch(int fd);
  void send_launch(Launching& launching);
  void launched(uint32_t tag, std::string_view payload);
  void answer_launch(Launching& launching, const hold::LaunchReply& reply);
  void refuse_launch(Launching& launching, base::ErrorCode code, const std::string& why);
  base::Result<void> begin_mirror(Launching& launching, const hold::LaunchReply& reply);
  void probe_launch(Launching& launching);
  void probed(std::list<Launching>::iterator launching, const Frame& frame);

  void connect();
  void wanted();
  // Stream::Owner
  void take(const Frame& frame) override;
  void stream_lost(ConnectProblem problem) override;
  void greeted(const WelcomeMessage& welcome);
  void try_again_later();
  void watch_life();
  void consider_idle();
  bool busy() const;
  uint16_t next_channel();
  void note(const Mirror::Birth& birth, const std::string& journals, uint64_t total_quota);
  std::shared_ptr<journal::Folder> folder_of(const std::string& path, uint64_t total_quota);

  // Mirror::Owner
  void send(Type type, uint16_t channel, uint32_t tag, std::string_view payload) override;
  bool linked() const override { return stream_ && greeted_; }
  hold::LinkMessage link() const override;
  void take_files_first() override;
  io::Loop& loop() override { return loop_; }
  void finished(Mirror& mirror) override;

  io::Loop& loop_;
  LinkOptions options_;
  Program program_;
  base::UniqueFd lock_;
  base::UniqueFd run_;
  base::UniqueFd asks_;
  base::UniqueFd launches_;
  std::map<int, Client> clients_;
  std::list<Launching> launching_;
  std::map<uint16_t, std::unique_ptr<Mirror>> mirrors_;
  uint16_t last_channel_ = 0;
  std::map<std::string, std::shared_ptr<journal::Folder>> folders_;

  std::unique_ptr<Stream> stream_;
  bool greeted_ = false;  // by the relay at its other end
  Clock::time_point pinged_;
  std::optional<WelcomeMessage> welcome_;  // of the last link
  std::optional<ConnectProblem> problem_;  // why there is no link
  uint64_t lost_since_ms_ = 0;
  uint32_t last_tag_ = 0;
  std::map<uint32_t, Asked> asked_;
  int attempts_ = 0;
  bool ever_linked_ = false;
  io::Loop::TimerId again_ = 0;
  io::Loop::TimerId life_ = 0;
  io::Loop::TimerId idle_ = 0;
  std::minstd_rand random_;
};

}  // namespace ttyward::relay
