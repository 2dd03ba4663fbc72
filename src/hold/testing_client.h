// For tests and benchmarks: the other end of a holder's socket, asked and waited for with poll. The program's
// own is command/holder_process.h, on a loop. Thread rule: one thread.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/protocol.h"
#include "hold/run_state_message.h"
#include "io/local_socket.h"
#include "journal/folder.h"
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

namespace testing_detail {

using Clock = std::chrono::steady_clock;

inline base::Result<void> wait_for(int fd, short events, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, left > 0 ? static_cast<int>(left) : 0);
    if (ready > 0) return {};
    if (ready == 0) return base::fail(base::ErrorCode::Unavailable, "the holder did not answer in time");
    if (errno != EINTR) return base::fail_errno(errno, "cannot wait for the holder");
  }
}

inline bool is_event(const Frame& frame) {
  return frame.type == MessageType::Output || frame.type >= MessageType::Paused;
}

}  // namespace testing_detail

inline base::Result<Client> Client::connect(const std::string& sockets, const std::string& id,
                                            Patience patience) {
  auto folder = journal::open_private_folder(sockets, journal::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  if (!journal::valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + id + "'");
  Client client;
  auto fd =
      io::connect_in(folder->get(), id + ".sock", "cannot connect to the holder of " + id, io::Blocking::Yes);
  if (!fd) return tl::unexpected(fd.error());
  client.fd_ = std::move(*fd);
  const std::string hello = Encoder().number(kHelloMagic).number(kProtocolVersion).take();
  auto answer = client.ask(MessageType::Hello, hello, patience);
  if (!answer) return tl::unexpected(answer.error());
  auto welcome = StatusMessage::decode(answer->payload);
  if (answer->type != MessageType::Welcome || !welcome) {
    return base::fail(base::ErrorCode::Corrupt, "the process that answers for " + id + " is not a holder");
  }
  client.welcome_ = std::move(*welcome);
  return client;
}

inline base::Result<uint32_t> Client::send(MessageType type, std::string_view payload) {
  const uint32_t tag = ++last_tag_ != 0 ? last_tag_ : ++last_tag_;
  const std::string frame = encode(type, tag, payload);
  for (size_t sent = 0; sent < frame.size();) {
    const ssize_t n = ::send(fd_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail(base::ErrorCode::NotFound, "the holder is gone");
    sent += static_cast<size_t>(n);
  }
  return tag;
}

inline base::Result<Frame> Client::receive(Deadline until) {
  for (;;) {
    if (auto frame = in_.next()) return std::move(*frame);
    if (in_.broken()) return base::fail(base::ErrorCode::Corrupt, "the holder violated the protocol");
    if (auto ready = testing_detail::wait_for(fd_.get(), POLLIN, until); !ready)
      return tl::unexpected(ready.error());
    std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.push({buffer.data(), static_cast<size_t>(got)});
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      return base::fail(base::ErrorCode::NotFound, "the holder closed the connection");
    }
  }
}

inline base::Result<Frame> Client::ask(MessageType type, std::string_view payload, Patience patience) {
  const auto until = testing_detail::Clock::now() + patience;
  auto tag = send(type, payload);
  if (!tag) return tl::unexpected(tag.error());
  for (;;) {
    auto frame = receive(until);
    if (!frame) return frame;
    if (testing_detail::is_event(*frame)) {
      events_.push_back(std::move(*frame));
      continue;
    }
    if (frame->tag != *tag) continue;  // the late answer to something we gave up on
    if (frame->type != MessageType::Failed) return frame;
    Decoder in(frame->payload);
    base::Error error;
    const auto code = in.number<uint32_t>();
    error.code = code <= static_cast<uint32_t>(base::ErrorCode::Io) ? static_cast<base::ErrorCode>(code)
                                                                    : base::ErrorCode::Io;
    error.sys_errno = in.number<int32_t>();
    error.message = in.string();
    return tl::unexpected(std::move(error));
  }
}

inline base::Result<void> Client::order(MessageType type, std::string_view payload, Patience patience) {
  auto answer = ask(type, payload, patience);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

inline base::Result<void> Client::send_input(std::string_view bytes, Patience patience) {
  for (size_t at = 0; at < bytes.size(); at += kLargestPayload) {
    if (auto sent = order(MessageType::Input, bytes.substr(at, kLargestPayload), patience); !sent)
      return sent;
  }
  return {};
}

inline base::Result<void> Client::close_input(Patience patience) {
  return order(MessageType::CloseInput, {}, patience);
}

inline base::Result<void> Client::resize(const pty::WindowSize& size, Patience patience) {
  const std::string payload =
      Encoder().number(size.columns).number(size.rows).number(size.width_px).number(size.height_px).take();
  return order(MessageType::Resize, payload, patience);
}

inline base::Result<void> Client::signal(int number, uint32_t target, Patience patience) {
  return order(MessageType::Signal, Encoder().number(static_cast<uint32_t>(number)).number(target).take(),
               patience);
}

inline base::Result<void> Client::interrupt(Patience patience) {
  return order(MessageType::Interrupt, {}, patience);
}

inline base::Result<void> Client::terminate(const std::vector<pty::KillRung>& rungs, Patience patience) {
  Encoder out;
  out.number(static_cast<uint32_t>(rungs.size()));
  for (const pty::KillRung& rung : rungs) {
    out.number(static_cast<uint32_t>(rung.signal)).number(static_cast<uint32_t>(rung.grace.count()));
  }
  return order(MessageType::Terminate, out.take(), patience);
}

inline base::Result<void> Client::grant(uint64_t bytes, Patience patience) {
  return order(MessageType::Grant, Encoder().number(bytes).take(), patience);
}

inline base::Result<StatusMessage> Client::status(Patience patience) {
  auto answer = ask(MessageType::GetStatus, {}, patience);
  if (!answer) return tl::unexpected(answer.error());
  auto status = StatusMessage::decode(answer->payload);
  if (!status) return base::fail(base::ErrorCode::Corrupt, "the holder violated the protocol");
  return std::move(*status);
}

inline base::Result<std::vector<pty::ProcessInfo>> Client::processes(Patience patience) {
  auto answer = ask(MessageType::GetProcesses, {}, patience);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<pty::ProcessInfo> found;
  Decoder in(answer->payload);
  while (in.ok() && !in.complete()) {
    pty::ProcessInfo& process = found.emplace_back();
    process.id.pid = static_cast<pid_t>(in.number<uint32_t>());
    process.parent = static_cast<pid_t>(in.number<uint32_t>());
    process.id.start_time = in.number<uint64_t>();
    process.command = in.string();
  }
  if (!in.ok()) return base::fail(base::ErrorCode::Corrupt, "the holder violated the protocol");
  return found;
}

inline base::Result<pty::RunState> Client::run_state(pty::AlternateScreen screen, Patience patience) {
  const uint32_t on = screen == pty::AlternateScreen::On ? 1 : 0;
  auto answer = ask(MessageType::GetRunState, Encoder().number(on).take(), patience);
  if (!answer) return tl::unexpected(answer.error());
  auto state = decode_run_state(answer->payload);
  if (!state) return base::fail(base::ErrorCode::Corrupt, "the holder violated the protocol");
  return std::move(*state);
}

inline base::Result<void> Client::watch(uint64_t offset) {
  auto sent = send(MessageType::Watch, Encoder().number(offset).take());
  if (!sent) return tl::unexpected(sent.error());
  return {};
}

inline base::Result<Frame> Client::next_event(Patience patience) {
  if (!events_.empty()) {
    Frame frame = std::move(events_.front());
    events_.pop_front();
    return frame;
  }
  const auto until = testing_detail::Clock::now() + patience;
  for (;;) {
    auto frame = receive(until);
    if (!frame || testing_detail::is_event(*frame)) return frame;
  }
}

}  // namespace ttyward::hold
