#include "relay/far_terminal.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "io/local_socket.h"
#include "relay/feeder.h"

namespace ttyward::relay {
namespace {

constexpr size_t kChunk = 32 * 1024;
constexpr std::chrono::milliseconds kLookAgain{5};
// Tags of our own questions to the holder; the other end's are below.
constexpr uint32_t kHelloTag = 0xffffffff;
constexpr uint32_t kWatchTag = 0xfffffffe;

}  // namespace

FarTerminal::FarTerminal(Owner& owner, uint16_t channel, Start start)
    : owner_(owner), channel_(channel), start_(std::move(start)), sent_(start_.from), credit_(start_.window) {
  begin();
}

FarTerminal::~FarTerminal() {
  owner_.loop().cancel(timer_);
  if (socket_) owner_.loop().poller().remove(socket_.get());
  if (stdin_) owner_.loop().poller().remove(stdin_.get());
}

void FarTerminal::begin() {
  auto reader = journal::Reader::open_at(owner_.journals().fd(), start_.id, start_.id);
  if (!reader) {
    const base::ErrorCode code = reader.error().code;
    if (code == base::ErrorCode::Unavailable) return look_again();  // it is being made
    if (code != base::ErrorCode::NotFound) return lose(Loss::CannotRead, reader.error().message);
    if (start_.rule_out) {
      const auto used = journal::use_up(owner_.journals().fd(), start_.id, start_.id);
      if (!used && used.error().code == base::ErrorCode::AlreadyExists) return look_again();
    }
    return lose(Loss::NoJournal, "its journal is not there any more");
  }
  reader_ = std::move(*reader);
  connect();
}

void FarTerminal::connect() {
  auto folder = journal::open_private_folder(owner_.sockets(), journal::IfMissing::Fail);
  if (!folder) return holder_gone();
  auto fd = io::connect_in(folder->get(), start_.id + ".sock", "the holder is gone");
  if (!fd) {
    const int error = fd.error().sys_errno;
    return error == EMFILE || error == ENFILE ? look_again() : holder_gone();
  }
  if (!owner_.loop().poller().add(fd->get(), EPOLLIN, *this)) return holder_gone();
  socket_ = std::move(*fd);
  out_ = {};
  to_holder(hold::MessageType::Hello, kHelloTag,
            Encoder().number(hold::kHelloMagic).number(hold::kProtocolVersion).take());
}

void FarTerminal::on_ready(int fd, uint32_t events) {
  if (stdin_ && fd == stdin_.get()) {
    if ((events & EPOLLOUT) != 0) flush_stdin();
    if ((events & ~uint32_t{EPOLLOUT}) != 0) read_stdin_answers();
    return;
  }
  if (socket_ && fd == socket_.get()) on_holder_ready(events);
}

void FarTerminal::on_holder_ready(uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush_holder();
  if ((events & ~uint32_t{EPOLLOUT}) == 0) return;
  std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  bool open = true;
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.push({buffer.data(), static_cast<size_t>(got)});
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    open = got < 0 && errno == EAGAIN;
    break;
  }
  while (auto frame = in_.next()) take(std::move(*frame));
  if (!open || in_.broken()) holder_gone();
  owner_.more();
}

void FarTerminal::take(hold::Frame frame) {
  switch (frame.type) {
    case hold::MessageType::Welcome:
      if (const auto status = hold::StatusMessage::decode(frame.payload)) {
        if (status->has_exit != 0) exit_at_ = reader_->end();
        send_head(status->holder_pid, status->fallback_reason);
      }
      return;
    case hold::MessageType::Output:
      watching_ = false;
      return;
    case hold::MessageType::Paused:
      return owner_.send(Type::Paused, channel_, 0, {});
    case hold::MessageType::Exited:
      if (!exit_at_) exit_at_ = reader_->end();
      return;
    case hold::MessageType::Closed:
      return;  // the journal says so, too
    default:
      break;
  }
  if (frame.tag == kHelloTag) {
    // A holder of another version: its journal can be read, and it cannot be asked.
    Decoder in(frame.payload);
    in.number<uint32_t>();
    in.number<int32_t>();
    return lose(Loss::CannotRead, "its holder is from another version of ttyward: " + in.string());
  }
  Encoder reply;
  reply.number(static_cast<uint16_t>(frame.type)).raw(frame.payload.data(), frame.payload.size());
  owner_.send(Type::Reply, channel_, frame.tag, reply.take());
}

void FarTerminal::send_head(uint32_t holder_pid, const std::string& fallback_reason) {
  if (std::exchange(headed_, true)) return;
  const auto status = reader_->status();
  if (!status) return lose(Loss::CannotRead, status.error().message);
  HeadMessage head;
  head.created_unix_ns = reader_->created_unix_ns();
  head.provider = journal::stored(reader_->provider());
  head.flags = reader_->flags();
  head.size = uint32_t{status->cols} << 16 | status->rows;
  head.child_pid = status->child_pid;
  head.child_started = status->child_started;
  head.quota = status->quota;
  head.overflow = static_cast<uint32_t>(journal::Overflow::DropMiddle);
  head.input_bytes = status->input_bytes;
  head.end = status->end;
  head.holder_pid = holder_pid;
  head.fallback_reason = fallback_reason;
  owner_.send(Type::Head, channel_, 0, head.encode());
}

void FarTerminal::holder_gone() {
  if (std::exchange(gone_, true)) return;
  if (socket_) owner_.loop().poller().remove(socket_.get());
  socket_.reset();
  send_head(0, {});
  owner_.send(Type::HolderGone, channel_, 0, {});
  owner_.more();
}

void FarTerminal::to_holder(hold::MessageType type, uint32_t tag, std::string_view payload) {
  out_.push(hold::encode(type, tag, payload));
  flush_holder();
}

void FarTerminal::flush_holder() {
  // A broken connection is noticed when it is read.
  static_cast<void>(out_.flush(socket_.get(), owner_.loop().poller(), *this));
}

void FarTerminal::request(uint32_t tag, std::string_view payload) {
  Decoder in(payload);
  const auto type = static_cast<hold::MessageType>(in.number<uint16_t>());
  if (socket_) return to_holder(type, tag, in.rest());
  const std::string failure = Encoder()
                                  .number(static_cast<uint32_t>(base::ErrorCode::NotFound))
                                  .number(int32_t{0})
                                  .string("the holder is gone")
                                  .take();
  owner_.send(Type::Reply, channel_, tag,
              Encoder()
                  .number(static_cast<uint16_t>(hold::MessageType::Failed))
                  .raw(failure.data(), failure.size())
                  .take());
}

void FarTerminal::add_credit(uint64_t bytes) {
  credit_ += bytes;
  owner_.more();
}

// The offset says how far the other end has come: the holder keeps what is beyond it.
void FarTerminal::watch() {
  if (!socket_ || std::exchange(watching_, true)) return;
  to_holder(hold::MessageType::Watch, kWatchTag, Encoder().number(sent_).take());
}

bool FarTerminal::pump() {
  if (over_ || !reader_ || !headed_) return false;
  // One chunk a turn: the terminals share the stream.
  if (owner_.may_send_bytes() && send_chunk()) return true;
  const bool all = sent_ >= reader_->end();
  if (!over_ && exit_at_ && !exit_sent_ && sent_ >= *exit_at_) {
    if (const auto record = reader_->exit_record()) {
      exit_sent_ = true;
      owner_.send(Type::Exited, channel_, 0,
                  std::string_view(reinterpret_cast<const char*>(&*record), sizeof *record));
    }
  }
  if (all && !gone_) watch();
  if (all && gone_) send_end();
  return false;
}

bool FarTerminal::send_chunk() {
  const uint64_t end = reader_->end();
  if (sent_ >= end || credit_ == 0) return false;
  std::array<std::byte, kChunk> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const auto chunk = reader_->read(sent_, std::span(buffer).first(std::min<uint64_t>(kChunk, credit_)));
  if (!chunk) {
    lose(Loss::CannotRead, chunk.error().message);
    return false;
  }
  if (chunk->gap > 0) {
    owner_.send(Type::Gap, channel_, 0,
                Encoder().number(sent_).number(chunk->gap).number(chunk->newlines.value_or(0)).take());
    sent_ += chunk->gap;
    return true;
  }
  if (chunk->bytes == 0) return false;
  std::vector<journal::Mark> marks;
  if (auto found = reader_->marks({sent_, sent_ + chunk->bytes - 1})) marks = std::move(*found);
  if (!std::exchange(began_, true) && sent_ > 0) begin_with_state(marks);
  Encoder out;
  const std::string noted = encode_marks(marks);
  out.number(sent_).raw(noted.data(), noted.size()).raw(buffer.data(), chunk->bytes);
  owner_.send(Type::Bytes, channel_, 0, out.take());
  sent_ += chunk->bytes;
  credit_ -= chunk->bytes;
  return true;
}

// Whoever goes on in the middle has to know to which stream the next byte belongs.
void FarTerminal::begin_with_state(std::vector<journal::Mark>& marks) {
  const auto before = reader_->marks({0, sent_ - 1});
  if (!before || before->empty()) return;
  uint64_t stream = 0;
  for (const journal::Mark& mark : *before) {
    if (mark.kind() == journal::Mark::Kind::Stream) stream = mark.value;
  }
  marks.insert(marks.begin(),
               journal::Mark(journal::Mark::Kind::Stream, sent_, before->back().time_us(), stream));
}

// The holder is gone and all it wrote was sent; it may still be closing its journal.
void FarTerminal::send_end() {
  const auto status = reader_->status();
  const auto writer = reader_->writer();
  if (!status) return lose(Loss::CannotRead, status.error().message);
  const bool closed = status->state == journal::State::Closed;
  if (!closed && (!writer || *writer == journal::WriterLife::Alive)) return look_again();
  // Asked again: it may have been closed between the two questions.
  const auto now = reader_->status();
  if (!now || reader_->end() > sent_) return look_again();
  if (now->exit && !exit_sent_) {
    exit_sent_ = true;
    owner_.send(Type::Exited, channel_, 0,
                std::string_view(reinterpret_cast<const char*>(&*now->exit), sizeof *now->exit));
  }
  if (now->state != journal::State::Closed)
    return lose(Loss::HolderDied, "its holder was killed, so how it ended is not known");
  over_ = true;
  std::vector<journal::Mark> marks;
  if (auto found = reader_->marks({sent_, sent_})) marks = std::move(*found);
  const std::string noted = encode_marks(marks);
  owner_.send(Type::Closed, channel_, 0,
              Encoder()
                  .number(static_cast<uint32_t>(now->output_end.value_or(journal::OutputEnd::ReadError)))
                  .raw(noted.data(), noted.size())
                  .take());
}

void FarTerminal::look_again() {
  owner_.loop().cancel(timer_);
  timer_ = owner_.loop().after(kLookAgain, [this] {
    timer_ = 0;
    if (reader_) {
      if (!gone_ && !socket_) connect();
      owner_.more();
    } else {
      begin();
    }
  });
}

void FarTerminal::lose(Loss loss, const std::string& why) {
  over_ = true;
  owner_.send(Type::Missing, channel_, 0, Encoder().number(static_cast<uint8_t>(loss)).string(why).take());
}

// --- its standard input

void FarTerminal::stdin_bytes(std::string_view payload) {
  if (!stdin_) connect_stdin();
  if (!stdin_) {
    owner_.send(Type::StdinTaken, channel_, 0, Encoder().number(kStdinNotWanted).take());
    return;
  }
  Decoder in(payload);
  const auto offset = in.number<uint64_t>();
  stdin_out_.push(Encoder()
                      .number(offset)
                      .number(static_cast<uint32_t>(in.rest().size()))
                      .raw(in.rest().data(), in.rest().size())
                      .take());
  flush_stdin();
}

void FarTerminal::connect_stdin() {
  auto fd = connect_feeder(owner_.sockets(), start_.id);
  if (!fd || !owner_.loop().poller().add(fd->get(), EPOLLIN, *this)) return;
  stdin_ = std::move(*fd);
  stdin_out_ = {};
}

void FarTerminal::flush_stdin() {
  static_cast<void>(stdin_out_.flush(stdin_.get(), owner_.loop().poller(), *this));
}

void FarTerminal::read_stdin_answers() {
  std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::recv(stdin_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    owner_.loop().poller().remove(stdin_.get());
    stdin_.reset();
    owner_.send(Type::StdinTaken, channel_, 0, Encoder().number(kStdinNotWanted).take());
    return;
  }
  stdin_in_.append(buffer.data(), static_cast<size_t>(got));
  while (stdin_in_.size() >= sizeof(uint64_t)) {
    owner_.send(Type::StdinTaken, channel_, 0, std::string_view(stdin_in_).substr(0, sizeof(uint64_t)));
    stdin_in_.erase(0, sizeof(uint64_t));
  }
}

}  // namespace ttyward::relay
