#include "relay/mirror.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "io/socket_address.h"

namespace ttyward::relay {

using hold::MessageType;

namespace {

constexpr size_t kMostClients = 64;
constexpr size_t kLargestBacklog = 256 * 1024;
constexpr std::chrono::milliseconds kRetry{20};
constexpr std::chrono::seconds kLinger{2};
constexpr size_t kStdinChunk = 32 * 1024;
constexpr size_t kStdinAhead = 256 * 1024;

std::string failure(base::ErrorCode code, const std::string& text) {
  return Encoder().number(static_cast<uint32_t>(code)).number(int32_t{0}).string(text).take();
}

bool same_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
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
  auto dir = base::open_private_folder(birth_.sockets, base::IfMissing::Create);
  if (!dir) return tl::unexpected(dir.error());
  folder_ = std::move(*dir);
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_) return base::fail_errno(errno, "cannot make a socket");
  const std::string file = birth_.id + ".sock";
  ::unlinkat(folder_.get(), file.c_str(), 0);  // of a link that was killed: the journal's lock says so
  const sockaddr_un address = io::socket_address(folder_.get(), file);
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0 || ::listen(listener_.get(), 16) != 0)
    return base::fail_errno(error, "cannot listen on " + birth_.sockets + "/" + file);
  return owner_.loop().poller().add(listener_.get(), EPOLLIN, *this);
}

Mirror::~Mirror() {
  *alive_ = false;
  io::Loop& loop = owner_.loop();
  loop.cancel(retry_);
  loop.cancel(linger_);
  if (listener_) {
    loop.poller().remove(listener_.get());
    ::unlinkat(folder_.get(), (birth_.id + ".sock").c_str(), 0);
  }
  for (const auto& [fd, client] : clients_) loop.poller().remove(fd);
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
      return tell_all(hold::encode(MessageType::Paused, 0));
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
    const auto client = clients_.find(pending.client);
    const bool arrived = pending.input && known + *pending.input <= input_bytes;
    if (arrived) known += *pending.input;
    if (client == clients_.end()) continue;
    const std::string answer =
        arrived ? hold::encode(MessageType::Done, pending.tag)
                : hold::encode(MessageType::Failed, pending.tag,
                               failure(base::ErrorCode::Unavailable,
                                       "the link was lost before it arrived; send it again"));
    if (!send(client->second, answer)) hang_up(client->first);
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
  const auto client = clients_.find(pending.client);
  if (client == clients_.end()) return;
  if (!send(client->second, hold::encode(type, pending.tag, in.rest()))) hang_up(client->first);
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
        tell_all(
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
  if (writer_->end() > before) {
    std::vector<int> bad;
    for (auto& [fd, client] : clients_) {
      if (!answer_watch(client)) bad.push_back(fd);
    }
    for (const int fd : bad) hang_up(fd);
  }
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
  tell_all(hold::encode(MessageType::Closed, 0, Encoder().number(end).take()));
  owner_.send(Type::Unfollow, channel_, 0, {});
  owner_.send(Type::Forget, 0, 0, Encoder().string(birth_.id).take());
  finish_soon();
}

void Mirror::lose(const std::string& why) {
  if (closed_) return;
  closed_ = true;
  tell_all(hold::encode(MessageType::Lost, 0, Encoder().string(why).take()));
  writer_.reset();  // its lock goes: whoever looks knows that nobody writes it any more
  if (owner_.linked()) owner_.send(Type::Unfollow, channel_, 0, {});
  finish_soon();
}

// Clients get the last word before their connection is closed.
void Mirror::finish_soon() {
  const bool unsent = std::any_of(clients_.begin(), clients_.end(),
                                  [](const auto& entry) { return !entry.second.out.empty(); });
  owner_.loop().cancel(linger_);
  const auto wait = unsent ? std::chrono::milliseconds(kLinger) : std::chrono::milliseconds(0);
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
    for (auto at = pending_.begin(); at != pending_.end();) {
      const auto client = clients_.find(at->second.client);
      if (at->second.input) {
        ++at;
        continue;
      }
      if (client != clients_.end()) {
        static_cast<void>(
            send(client->second, hold::encode(MessageType::Failed, at->second.tag,
                                              failure(base::ErrorCode::Unavailable, link.why))));
      }
      at = pending_.erase(at);
    }
  }
  tell_all(hold::encode(MessageType::Link, 0, link.encode()));
}

// --- clients

void Mirror::on_ready(int fd, uint32_t events) {
  if (fd == listener_.get()) return accept_all();
  if (stdin_ && fd == stdin_.get()) return read_stdin();
  const auto found = clients_.find(fd);
  if (found == clients_.end()) return;
  const std::shared_ptr<bool> alive = alive_;
  bool good = true;
  if ((events & EPOLLOUT) != 0) good = flush(found->second);
  if (good && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) good = receive(found->second);
  if (*alive && !good) close_client(fd);
}

void Mirror::accept_all() {
  for (;;) {
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    if (!same_user(fd.get()) || clients_.size() >= kMostClients || closed_) continue;
    const int number = fd.get();
    if (!owner_.loop().poller().add(number, EPOLLIN, *this)) continue;
    clients_[number].fd = std::move(fd);
  }
}

void Mirror::close_client(int fd) {
  owner_.loop().poller().remove(fd);
  const bool tied = clients_.at(fd).tied;
  clients_.erase(fd);
  tell_how_far_read();
  if (!tied || exit_ || closed_) return;
  end_wanted_ = true;
  end_command();
}

// Closed when the poller says so: whoever calls this may be in the middle of its messages.
void Mirror::hang_up(int fd) {
  clients_.at(fd).out.clear();
  ::shutdown(fd, SHUT_RDWR);
}

// With the usual signals; now, or when there is a link again.
void Mirror::end_command() {
  if (!end_wanted_ || !owner_.linked() || !followed_) return;
  end_wanted_ = false;
  owner_.send(Type::Request, channel_, 0,
              Encoder().number(static_cast<uint16_t>(MessageType::Terminate)).number(uint32_t{0}).take());
}

void Mirror::tell_how_far_read() {
  if (!writer_) return;
  uint64_t least = journal::Writer::kNobodyReads;
  for (const auto& [fd, client] : clients_) {
    if (client.read_to) least = std::min(least, *client.read_to);
  }
  writer_->set_unread_from(least);
  if (!queue_.empty()) write_queued();
}

bool Mirror::receive(Client& client) {
  std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::recv(client.fd.get(), buffer.data(), buffer.size(), 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  owner_.take_files_first();
  client.in.push({buffer.data(), static_cast<size_t>(got)});
  const int fd = client.fd.get();
  while (auto frame = client.in.next()) {
    if (!handle(fd, client, *frame)) return false;
  }
  return !client.in.broken();
}

bool Mirror::handle(int fd, Client& client, const hold::Frame& frame) {
  if (!client.greeted) {
    Decoder in(frame.payload);
    const auto magic = in.number<uint32_t>();
    const auto version = in.number<uint32_t>();
    if (frame.type != MessageType::Hello || magic != hold::kHelloMagic || version != hold::kProtocolVersion)
      return false;
    client.greeted = true;
    if (!send(client, hold::encode(MessageType::Welcome, frame.tag, status()))) return false;
    return owner_.linked() || send(client, hold::encode(MessageType::Link, 0, owner_.link().encode()));
  }
  switch (frame.type) {
    case MessageType::GetStatus:
      return send(client, hold::encode(MessageType::Status, frame.tag, status()));
    case MessageType::Watch: {
      Decoder in(frame.payload);
      client.watch = Client::Watch{in.number<uint64_t>(), frame.tag};
      if (!in.complete()) return false;
      client.read_to = client.watch->offset;
      tell_how_far_read();
      return answer_watch(client);
    }
    case MessageType::Tie:
      client.tied = true;
      return send(client, hold::encode(MessageType::Done, frame.tag));
    case MessageType::Input:
    case MessageType::CloseInput:
    case MessageType::Resize:
    case MessageType::Signal:
    case MessageType::Interrupt:
    case MessageType::Terminate:
    case MessageType::Grant:
    case MessageType::GetProcesses:
    case MessageType::GetRunState:
      return pass_on(fd, client, frame);
    default:
      return false;
  }
}

bool Mirror::pass_on(int fd, const Client& client, const hold::Frame& frame) {
  static_cast<void>(client);
  if (!owner_.linked() || !followed_ || closed_) {
    const hold::LinkMessage link = owner_.link();
    const std::string why = closed_       ? "the holder is gone"
                            : link.linked ? "the link is just coming back"
                                          : link.why;
    return send(clients_[fd],
                hold::encode(MessageType::Failed, frame.tag, failure(base::ErrorCode::Unavailable, why)));
  }
  Pending pending{fd, frame.tag, std::nullopt, 0};
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

bool Mirror::answer_watch(Client& client) {
  if (!client.watch || !writer_ || writer_->end() <= client.watch->offset) return true;
  const uint32_t tag = client.watch->tag;
  client.watch.reset();
  return send(client, hold::encode(MessageType::Output, tag, Encoder().number(writer_->end()).take()));
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

void Mirror::tell_all(const std::string& message) {
  std::vector<int> bad;
  for (auto& [fd, client] : clients_) {
    if (client.greeted && !send(client, message)) bad.push_back(fd);
  }
  for (const int fd : bad) hang_up(fd);
}

bool Mirror::send(Client& client, std::string_view bytes) {
  if (client.out.size() + bytes.size() > kLargestBacklog) return false;
  client.out.append(bytes);
  return flush(client);
}

bool Mirror::flush(Client& client) {
  while (!client.out.empty()) {
    const ssize_t sent = ::send(client.fd.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      client.out.erase(0, static_cast<size_t>(sent));
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && errno == EAGAIN) {
      break;
    } else {
      return false;
    }
  }
  const bool wanted = !client.out.empty();
  if (wanted != std::exchange(client.writing, wanted))
    owner_.loop().poller().change(client.fd.get(), wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, *this);
  return true;
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
