#include "command/holder_process.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "hold/run_state_message.h"
#include "io/local_socket.h"
#include "journal/folder.h"

namespace ttyward::command {

using hold::Decoder;
using hold::Encoder;
using hold::Frame;
using hold::MessageType;

namespace {

base::Error decode_failure(const Frame& frame) {
  Decoder in(frame.payload);
  base::Error error;
  const auto code = in.number<uint32_t>();
  error.code = code <= static_cast<uint32_t>(base::ErrorCode::Io) ? static_cast<base::ErrorCode>(code)
                                                                  : base::ErrorCode::Io;
  error.sys_errno = in.number<int32_t>();
  error.message = in.string();
  return error;
}

tl::unexpected<base::Error> off_protocol() {
  return base::fail(base::ErrorCode::Corrupt, "the holder violated the protocol");
}

}  // namespace

base::Result<std::unique_ptr<HolderProcess>> HolderProcess::connect(io::Poller& poller,
                                                                    const std::string& sockets,
                                                                    const std::string& id,
                                                                    Observer& observer) {
  auto folder = journal::open_private_folder(sockets, journal::IfMissing::Fail);
  if (!folder) return tl::unexpected(folder.error());
  if (!journal::valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not an id: '" + id + "'");
  auto fd = io::connect_in(folder->get(), id + ".sock", "cannot connect to the holder of " + id);
  if (!fd) return tl::unexpected(fd.error());
  const int raw = fd->get();
  std::unique_ptr<HolderProcess> link(new HolderProcess(poller, std::move(*fd), observer));
  if (auto added = poller.add(raw, EPOLLIN, *link); !added) return tl::unexpected(added.error());
  link->send(MessageType::Hello, Encoder().number(hold::kHelloMagic).number(hold::kProtocolVersion).take(),
             [link = link.get()](const base::Result<Frame>& answer) {
               if (!answer) return;
               if (const auto status = hold::StatusMessage::decode(answer->payload)) {
                 link->observer_.on_welcome(*status);
               }
             });
  return link;
}

HolderProcess::~HolderProcess() {
  *alive_ = false;
  if (fd_) poller_.remove(fd_.get());
}

void HolderProcess::send(MessageType type, std::string_view payload, Frames answer) {
  if (!fd_) {
    if (answer) answer(base::fail(base::ErrorCode::NotFound, "the holder is gone"));
    return;
  }
  // Tag 0 is for events.
  if (++last_tag_ == 0) last_tag_ = 1;
  out_.push(hold::encode(type, last_tag_, payload));
  if (answer) open_.emplace(last_tag_, std::move(answer));
  flush();
}

void HolderProcess::order(MessageType type, std::string_view payload, Done done) {
  send(type, payload, [done = std::move(done)](const base::Result<Frame>& answer) {
    if (!done) return;
    if (!answer) return done(tl::unexpected(answer.error()));
    done({});
  });
}

void HolderProcess::input(std::string_view bytes, Done done) {
  for (; bytes.size() > hold::kLargestPayload; bytes.remove_prefix(hold::kLargestPayload)) {
    order(MessageType::Input, bytes.substr(0, hold::kLargestPayload), {});
  }
  order(MessageType::Input, bytes, std::move(done));
}

void HolderProcess::close_input(Done done) {
  order(MessageType::CloseInput, {}, std::move(done));
}

void HolderProcess::resize(const pty::WindowSize& size, Done done) {
  order(MessageType::Resize,
        Encoder().number(size.columns).number(size.rows).number(size.width_px).number(size.height_px).take(),
        std::move(done));
}

void HolderProcess::signal(int number, Target target, Done done) {
  order(MessageType::Signal,
        Encoder().number(static_cast<uint32_t>(number)).number(static_cast<uint32_t>(target)).take(),
        std::move(done));
}

void HolderProcess::interrupt(Done done) {
  order(MessageType::Interrupt, {}, std::move(done));
}

void HolderProcess::terminate(const std::vector<pty::KillRung>& rungs, Done done) {
  Encoder out;
  out.number(static_cast<uint32_t>(rungs.size()));
  for (const pty::KillRung& rung : rungs) {
    out.number(static_cast<uint32_t>(rung.signal)).number(static_cast<uint32_t>(rung.grace.count()));
  }
  order(MessageType::Terminate, out.take(), std::move(done));
}

void HolderProcess::grant(uint64_t bytes, Done done) {
  order(MessageType::Grant, Encoder().number(bytes).take(), std::move(done));
}

void HolderProcess::watch(uint64_t offset) {
  send(MessageType::Watch, Encoder().number(offset).take(), {});
}

void HolderProcess::run_state(pty::AlternateScreen screen, RunStates done) {
  const uint32_t on = screen == pty::AlternateScreen::On ? 1 : 0;
  send(MessageType::GetRunState, Encoder().number(on).take(),
       [done = std::move(done)](const base::Result<Frame>& answer) {
         if (!answer) return done(tl::unexpected(answer.error()));
         auto state = hold::decode_run_state(answer->payload);
         if (!state) return done(off_protocol());
         done(std::move(*state));
       });
}

void HolderProcess::processes(Processes done) {
  send(MessageType::GetProcesses, {}, [done = std::move(done)](const base::Result<Frame>& answer) {
    if (!answer) return done(tl::unexpected(answer.error()));
    std::vector<Process> list;
    Decoder in(answer->payload);
    while (in.ok() && !in.rest().empty()) {
      Process process;
      process.pid = static_cast<pid_t>(in.number<uint32_t>());
      process.parent = static_cast<pid_t>(in.number<uint32_t>());
      in.number<uint64_t>();
      process.command = in.string();
      if (in.ok()) list.push_back(std::move(process));
    }
    done(std::move(list));
  });
}

void HolderProcess::flush() {
  // A broken connection is noticed when it is read.
  static_cast<void>(out_.flush(fd_.get(), poller_, *this));
}

void HolderProcess::on_ready(int, uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & ~uint32_t{EPOLLOUT}) == 0) return;
  const std::shared_ptr<bool> alive = alive_;
  const bool open = read_frames();
  if (*alive && !open) lose();
}

// False: there is nobody at the other end any more. May destroy this object.
bool HolderProcess::read_frames() {
  const std::shared_ptr<bool> alive = alive_;
  bool open = true;
  for (;;) {
    std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.push({buffer.data(), static_cast<size_t>(got)});
      if (static_cast<size_t>(got) == buffer.size()) continue;
      break;
    }
    if (got < 0 && errno == EINTR) continue;
    open = got < 0 && errno == EAGAIN;
    break;
  }
  // Frames that arrived before the connection closed still count, so they are handled before the loss.
  while (auto frame = in_.next()) {
    take(std::move(*frame));
    if (!*alive) return false;
  }
  return open && !in_.broken();
}

void HolderProcess::take(Frame frame) {
  switch (frame.type) {
    case MessageType::Output:
      return observer_.on_output(Decoder(frame.payload).number<uint64_t>());
    case MessageType::Paused:
      return observer_.on_paused();
    case MessageType::Exited: {
      journal::ExitRecord record;
      Decoder(frame.payload).raw(&record, sizeof record);
      return observer_.on_exited(record);
    }
    case MessageType::Closed:
      return observer_.on_closed();
    case MessageType::Link:
      if (const auto link = hold::LinkMessage::decode(frame.payload)) observer_.on_link(*link);
      return;
    case MessageType::Lost:
      return observer_.on_lost(Decoder(frame.payload).string());
    default:
      break;
  }
  const auto found = open_.find(frame.tag);
  if (found == open_.end()) return;
  const Frames answer = std::move(found->second);
  open_.erase(found);
  if (frame.type == MessageType::Failed) return answer(tl::unexpected(decode_failure(frame)));
  answer(std::move(frame));
}

void HolderProcess::lose() {
  const std::shared_ptr<bool> alive = alive_;
  poller_.remove(fd_.get());
  fd_.reset();
  // Taken out first: a callback may destroy this object.
  auto open = std::exchange(open_, {});
  for (const auto& [tag, answer] : open) {
    answer(base::fail(base::ErrorCode::NotFound, "the holder is gone"));
    if (!*alive) return;
  }
  observer_.on_gone();
}

}  // namespace ttyward::command
