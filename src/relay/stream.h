// The stream to another place: ssh, podman or docker as a child, whose stdin and stdout carry frames.
//
//   noise     what the far shell and its start files print, until the bootstrap script's first line
//   script    the script says what it needs: our program, if it is not there yet
//   stream    frames, until one of the ends goes
//
// Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "io/loop.h"
#include "pty/child.h"
#include "relay/link_protocol.h"
#include "relay/place_name.h"
#include "relay/protocol.h"

namespace ttyward::relay {

// Our own, to be sent there.
struct Program {
  std::string bytes;
  std::string hash;  // SHA-256, in hexadecimal
};

class Stream final : private io::Poller::Handler {
 public:
  using Clock = io::Loop::Clock;

  class Owner {
   public:
    virtual void take(const Frame& frame) = 0;
    // It has ended, or cannot be used. The stream may be destroyed from within this and the other call.
    virtual void stream_lost(ConnectProblem problem) = 0;

   protected:
    ~Owner() = default;
  };

  // `known_folder` is the place's own folder, if it is known. The owner, place and program outlive the
  // stream.
  static tl::expected<std::unique_ptr<Stream>, ConnectProblem> open(io::Loop& loop, const PlaceName& place,
                                                                    const Program& program,
                                                                    const std::string& known_folder,
                                                                    Owner& owner);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  void send(std::string_view bytes);
  // When it was begun, and when the last byte came.
  Clock::time_point began() const { return began_; }
  Clock::time_point heard() const { return heard_; }

 private:
  enum class Stage : uint8_t { Noise, Script, Frames };

  Stream(io::Loop& loop, const PlaceName& place, const Program& program, std::string nonce, Owner& owner);
  void on_ready(int fd, uint32_t events) override;
  void read_error();
  void read_output();
  void read_script();
  void script_line(const std::string& line);
  void read_frames();
  void flush();
  // The child's last words, and how it ended.
  void ended();

  io::Loop& loop_;
  const PlaceName& place_;
  const Program& program_;
  Owner& owner_;
  const std::string nonce_;
  std::optional<pty::Child> child_;
  base::UniqueFd in_;
  base::UniqueFd out_;
  base::UniqueFd error_;
  std::string error_text_;
  Stage stage_ = Stage::Noise;
  MarkerSearch search_;
  std::string lines_;  // of the script
  FrameReader frames_;
  std::string to_send_;
  bool writing_ = false;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point heard_ = began_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::relay
