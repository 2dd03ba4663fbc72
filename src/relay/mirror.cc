#include "relay/mirror.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

namespace ttyward::relay {

using hold::MessageType;

namespace {

constexpr std::chrono::milliseconds kRetry{20};
constexpr std::chrono::seconds kLinger{2};
constexpr size_t kStdinChunk = 32 * 1024;
constexpr size_t kStdinAhead = 256 * 1024;

std::string unavailable(uint32_t tag, const std::string& why) {
  return hold::encode(MessageType::Failed, tag,
                      hold::failure_payload({base::ErrorCode::Unavailable, 0, why}));
}

}  // namespace

base::Result<std::unique_ptr<Mirror>> Mirror::create(Owner& owner, std::shared_ptr<journal::Folder> folder,
                                                     Birth birth, uint16_t channel, Copy copy) {
  // What the far holder does at its limit it does there; the copy keeps what it gets.
  if (birth.journal.overflow == journal::Overflow::Kill)
    birth.journal.overflow = journal::Overflow::DropMiddle;
  auto writer = copy == Copy::New ? journal::Writer::create(std::move(folder), birth.journal)
                                  : journal::Writer::resume(std::move(folder), birth.id);
  if (!writer) return tl::unexpected(writer.error());
  std::unique_ptr<Mirror> mirror(new Mirror(owner, std::move(birth), channel, std::move(*writer)));
  mirror->received_to_ = mirror->writer_->end();
  if (auto listening = mirror->listen(); !listening) return tl::unexpected(listening.error());
  return mirror;
}

base::Result<void> Mirror::listen() {
  auto folder = base::open_private_folder(birth_.sockets, base::IfMissing::Create);
  if (!folder) return tl::unexpected(folder.error());
  const std::string file = birth_.id + ".sock";
  ::unlinkat(folder->get(), file.c_str(), 0);  // of a link that was killed: the journal's lock says so
  auto clients =
      hold::Clients::listen(owner_.loop().poller(), std::move(*folder), file, birth_.sockets, *this);
  if (!clients) return tl::unexpected(clients.error());
  clients_ = std::move(*clients);
  return {};
}

Mirror::~Mirror() {
  *alive_ = false;
  io::Loop& loop = owner_.loop();
  loop.cancel(retry_);
  loop.cancel(linger_);
  if (stdin_watched_) loop.poller().remove(stdin_.get());
}

// --- the stream

void Mirror::follow() {
  followed_ = true;
  const uint64_t under_way = used_ + (queue_.empty() ? 0 : kWindow / 2);
  const uint64_t window = kWindow > under_way ? kWindow - under_way : kWindow / 4;
  used_ = 0;
  owner_.send(Type::Follow, channel_, 0,
              Encoder().string(birth_.id).number(received_to_).number(window).number(uint8_t{0}).take());
}

void Mirror::take(const Frame& frame) {
  if (!followed_ || closed_) return;
  switch (frame.type) {
    case Type::Head:
      if (const auto head = HeadMessage::decode(frame.payload)) take_head(*head);
      return;
    case Type::Reply:
      return take_reply(frame);
    case Type::Paused:
      paused_ = true;
      return clients_->tell_all(hold::encode(MessageType::Paused, 0));
    case Type::StdinTaken:
      return stdin_taken(Decoder(frame.payload).number<uint64_t>());
    case Type::HolderGone:
      birth_.holder_pid = 0;
      return;
    case Type::Bytes: {
      Decoder in(frame.payload);
      const auto offset = in.number<uint64_t>();
      std::vector<journal::Mark> marks;
      if (!decode_marks(in, marks) || offset != received_to_)
        return lose("the place sent bytes out of order");
      received_to_ += in.rest().size();
      break;
    }
    case Type::Gap: {
      Decoder in(frame.payload);
      const auto offset = in.number<uint64_t>();
      if (offset != received_to_) return lose("the place sent bytes out of order");
      received_to_ += in.number<uint64_t>();
      break;
    }
    case Type::Exited:
    case Type::Closed:
    case Type::Missing:
      break;
    default:
      return;
  }
  queue_.push_back(frame);
  write_queued();
}

void Mirror::take_head(const HeadMessage& head) {
  birth_.holder_pid = head.holder_pid;
  birth_.child_pid = head.child_pid;
  if (!head.fallback_reason.empty()) birth_.fallback_reason = head.fallback_reason;
  if (writer_) {
    writer_->set_child(head.child_pid, head.child_started);
    settle_pending(head.input_bytes);
    input_bytes_ = head.input_bytes;
    writer_->set_input_bytes(input_bytes_);
  }
  if (received_to_ > head.end) return lose("the journal there is shorter than what was read of it");
  link_changed();
  send_stdin();
  end_command();
}

// Whether what was typed when the link was lost has arrived: the far journal counts what was.
void Mirror::settle_pending(uint64_t input_bytes) {
  uint64_t known = input_bytes_;
  for (auto& [tag, pending] : std::exchange(pending_, {})) {
    const bool arrived = pending.input && known + *pending.input <= input_bytes;
    if (arrived) known += *pending.input;
    tell_client(pending.client,
                arrived ? hold::encode(MessageType::Done, pending.tag)
                        : unavailable(pending.tag, "the link was lost before it arrived; send it again"));
  }
}

void Mirror::take_reply(const Frame& frame) {
  auto found = pending_.extract(frame.tag);
  if (found.empty()) return;
  const Pending& pending = found.mapped();
  Decoder in(frame.payload);
  const auto type = static_cast<MessageType>(in.number<uint16_t>());
  if (type == MessageType::Done && pending.input) {
    input_bytes_ += *pending.input;
    writer_->set_input_bytes(input_bytes_);
  }
  if (type == MessageType::Done && pending.grant > 0) {
    writer_->grant(pending.grant);
    paused_ = false;
    write_queued();
  }
  tell_client(pending.client, hold::encode(type, pending.tag, in.rest()));
}

// All that the journal takes now; the rest when its reader has come further.
void Mirror::write_queued() {
  const std::shared_ptr<bool> alive = alive_;
  while (!queue_.empty() && !closed_) {
    Frame& frame = queue_.front();
    Decoder in(frame.payload);
    switch (frame.type) {
      case Type::Bytes:
        if (!write_bytes(frame)) {
          if (retry_ == 0) {
            retry_ = owner_.loop().after(kRetry, [this] {
              retry_ = 0;
              write_queued();
            });
          }
          return;
        }
        break;
      case Type::Gap: {
        in.number<uint64_t>();
        const auto bytes = in.number<uint64_t>();
        writer_->skip(bytes, in.number<uint64_t>());
        break;
      }
      case Type::Exited: {
        journal::ExitRecord record;
        in.raw(&record, sizeof record);
        exit_ = record;
        writer_->record_exit(record);
        clients_->tell_all(
            hold::encode(MessageType::Exited, 0, {reinterpret_cast<const char*>(&record), sizeof record}));
        break;
      }
      case Type::Closed:
        take_closed(frame.payload);
        return;
      case Type::Missing: {
        in.number<uint8_t>();
        const std::string why = in.string();
        return lose(reason_.empty() ? why : reason_);
      }
      default:
        break;
    }
    queue_.pop_front();
    part_done_ = 0;
    marks_done_ = 0;
  }
  if (!*alive) return;
  if (used_ >= kWindow / 4 && owner_.linked()) {
    owner_.send(Type::Credit, channel_, 0, Encoder().number(std::exchange(used_, 0)).take());
  }
}

// Bytes and the marks among them, in order. False: the journal waits for its reader, or is full.
bool Mirror::write_bytes(Frame& frame) {
  Decoder in(frame.payload);
  const auto offset = in.number<uint64_t>();
  std::vector<journal::Mark> marks;
  decode_marks(in, marks);
  const std::string_view bytes = in.rest();
  size_t& mark = marks_done_;
  bool whole = true;
  const uint64_t before = writer_->end();
  for (;;) {
    while (mark < marks.size() && marks[mark].offset <= offset + part_done_) {
      if (marks[mark].kind() == journal::Mark::Kind::Stream) {
        stream_ = static_cast<journal::Stream>(marks[mark].value);
      }
      writer_->copy_mark(marks[mark++]);
    }
    const size_t next =
        mark < marks.size() ? std::min<size_t>(marks[mark].offset - offset, bytes.size()) : bytes.size();
    if (part_done_ == bytes.size()) break;
    const std::string_view part = bytes.substr(part_done_, next - part_done_);
    const size_t done = writer_->append(std::as_bytes(std::span(part.data(), part.size())), stream_);
    part_done_ += done;
    used_ += done;
    if (done < part.size()) {
      whole = false;
      break;
    }
  }
  if (writer_->end() > before) clients_->output_came();
  return whole;
}

void Mirror::take_closed(std::string_view payload) {
  Decoder in(payload);
  const auto end = in.number<uint32_t>();
  std::vector<journal::Mark> marks;
  if (decode_marks(in, marks)) {
    for (const journal::Mark& mark : marks) writer_->copy_mark(mark);
  }
  writer_->close(static_cast<journal::OutputEnd>(end));
  closed_ = true;
  clients_->tell_all(hold::encode(MessageType::Closed, 0, Encoder().number(end).take()));
  owner_.send(Type::Unfollow, channel_, 0, {});
  owner_.send(Type::Forget, 0, 0, Encoder().string(birth_.id).take());
  finish_soon();
}

void Mirror::lose(const std::string& why) {
  if (closed_) return;
  closed_ = true;
  clients_->tell_all(hold::encode(MessageType::Lost, 0, Encoder().string(why).take()));
  writer_.reset();  // its lock goes: whoever looks knows that nobody writes it any more
  if (owner_.linked()) owner_.send(Type::Unfollow, channel_, 0, {});
  finish_soon();
}

// Clients get the last word before their connection is closed.
void Mirror::finish_soon() {
  owner_.loop().cancel(linger_);
  const auto wait =
      clients_->has_unsent() ? std::chrono::milliseconds(kLinger) : std::chrono::milliseconds(0);
  linger_ = owner_.loop().after(wait, [this] {
    linger_ = 0;
    owner_.finished(*this);
  });
}

void Mirror::link_changed() {
  if (closed_) return;
  const hold::LinkMessage link = owner_.link();
  if (!link.linked) {
    followed_ = false;
    stdin_sent_ = 0;
    stdin_end_sent_ = false;
    // What was typed may have arrived: that is settled when the link is back.
    std::erase_if(pending_, [&](const auto& entry) {
      const Pending& pending = entry.second;
      if (!pending.input) tell_client(pending.client, unavailable(pending.tag, link.why));
      return !pending.input;
    });
  }
  clients_->tell_all(hold::encode(MessageType::Link, 0, link.encode()));
}

// --- clients

void Mirror::on_ready(int, uint32_t) {
  read_stdin();
}

void Mirror::tell_client(int fd, std::string_view message) {
  if (Client* const client = clients_->find(fd)) clients_->send_or_drop(*client, message);
}

void Mirror::gone(const Client& client) {
  if (!client.tied || exit_ || closed_) return;
  end_wanted_ = true;
  end_command();
}

// With the usual signals; now, or when there is a link again.
void Mirror::end_command() {
  if (!end_wanted_ || !owner_.linked() || !followed_) return;
  end_wanted_ = false;
  owner_.send(Type::Request, channel_, 0,
              Encoder().number(static_cast<uint16_t>(MessageType::Terminate)).number(uint32_t{0}).take());
}

void Mirror::read_up_to(std::optional<uint64_t> least) {
  if (!writer_) return;
  writer_->set_unread_from(least.value_or(journal::Writer::kNobodyReads));
  if (!queue_.empty()) write_queued();
}

bool Mirror::greeted(Client& client) {
  return owner_.linked() ||
         clients_->send(client, hold::encode(MessageType::Link, 0, owner_.link().encode()));
}

bool Mirror::handle(Client& client, const hold::Frame& frame) {
  switch (frame.type) {
    case MessageType::Tie:
      client.tied = true;
      return clients_->send(client, hold::encode(MessageType::Done, frame.tag));
    case MessageType::Input:
    case MessageType::CloseInput:
    case MessageType::Resize:
    case MessageType::Signal:
    case MessageType::Interrupt:
    case MessageType::Terminate:
    case MessageType::Grant:
    case MessageType::GetProcesses:
    case MessageType::GetRunState:
      return pass_on(client, frame);
    default:
      return false;
  }
}

bool Mirror::pass_on(Client& client, const hold::Frame& frame) {
  if (!owner_.linked() || !followed_ || closed_) {
    const hold::LinkMessage link = owner_.link();
    const std::string why = closed_       ? "the holder is gone"
                            : link.linked ? "the link is just coming back"
                                          : link.why;
    return clients_->send(client, unavailable(frame.tag, why));
  }
  Pending pending{client.fd.get(), frame.tag, std::nullopt, 0};
  if (frame.type == MessageType::Input) pending.input = frame.payload.size();
  if (frame.type == MessageType::Grant) pending.grant = Decoder(frame.payload).number<uint64_t>();
  // The highest tags are the relay's own.
  if (++last_tag_ >= 0xf0000000) last_tag_ = 1;
  pending_.emplace(last_tag_, pending);
  owner_.send(Type::Request, channel_, last_tag_,
              Encoder()
                  .number(static_cast<uint16_t>(frame.type))
                  .raw(frame.payload.data(), frame.payload.size())
                  .take());
  return true;
}

std::string Mirror::status() const {
  hold::StatusMessage message;
  message.state = static_cast<uint32_t>(closed_ ? journal::State::Closed
                                        : exit_ ? journal::State::Exited
                                                : journal::State::Running);
  message.provider = journal::stored(birth_.journal.provider);
  message.holder_pid = birth_.holder_pid;
  message.child_pid = birth_.child_pid;
  message.end = writer_ ? writer_->end() : received_to_;
  message.dropped = writer_ ? writer_->dropped() : 0;
  message.paused = paused_ ? 1 : 0;
  message.has_exit = exit_ ? 1 : 0;
  if (exit_) message.exit.assign(reinterpret_cast<const char*>(&*exit_), sizeof *exit_);
  message.journal_id = birth_.id;
  message.fallback_reason = birth_.fallback_reason;
  return message.encode();
}

// --- its standard input

void Mirror::set_stdin(base::UniqueFd fd) {
  stdin_ = std::move(fd);
  stdin_over_ = false;
  send_stdin();
}

// Reads ahead a little, and keeps what was not taken yet: a link that comes back sends it again.
void Mirror::read_stdin() {
  std::array<char, kStdinChunk> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::read(stdin_.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got > 0) {
    stdin_bytes_.append(buffer.data(), static_cast<size_t>(got));
  } else {
    stdin_ended_ = true;
  }
  send_stdin();
}

void Mirror::send_stdin() {
  if (stdin_over_) return;
  // A file is read at once; anything else when the poller says so.
  const bool wanted = !stdin_ended_ && stdin_bytes_.size() < kStdinAhead;
  if (wanted && !stdin_watched_) {
    const auto added = owner_.loop().poller().add(stdin_.get(), EPOLLIN, *this);
    stdin_watched_ = added.has_value();
    if (!added) return read_stdin();
  } else if (!wanted && std::exchange(stdin_watched_, false)) {
    owner_.loop().poller().remove(stdin_.get());
  }
  if (!owner_.linked() || !followed_) return;
  while (stdin_sent_ < stdin_bytes_.size()) {
    const std::string_view part = std::string_view(stdin_bytes_).substr(stdin_sent_, kStdinChunk);
    owner_.send(Type::Stdin, channel_, 0,
                Encoder().number(stdin_from_ + stdin_sent_).raw(part.data(), part.size()).take());
    stdin_sent_ += part.size();
  }
  if (stdin_ended_ && !std::exchange(stdin_end_sent_, true))
    owner_.send(Type::Stdin, channel_, 0, Encoder().number(stdin_from_ + stdin_sent_).take());
}

void Mirror::stdin_taken(uint64_t offset) {
  if (stdin_over_) return;
  if (offset == ~uint64_t{0}) {
    if (std::exchange(stdin_watched_, false)) owner_.loop().poller().remove(stdin_.get());
    stdin_.reset();
    stdin_bytes_.clear();
    stdin_over_ = true;
    return;
  }
  if (offset > stdin_from_) {
    const size_t taken = std::min<uint64_t>(offset - stdin_from_, stdin_bytes_.size());
    stdin_bytes_.erase(0, taken);
    stdin_from_ += taken;
    stdin_sent_ -= std::min(stdin_sent_, taken);
  }
  send_stdin();
}

}  // namespace ttyward::relay
