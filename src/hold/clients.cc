#include "hold/clients.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/local_socket.h"

namespace ttyward::hold {
namespace {

constexpr size_t kMostClients = 64;             // one more is accepted and closed at once
constexpr size_t kLargestBacklog = 256 * 1024;  // of answers a client has not read
constexpr int kListenBacklog = 16;

}  // namespace

std::string failure_payload(const base::Error& error) {
  return Encoder()
      .number(static_cast<uint32_t>(error.code))
      .number(static_cast<int32_t>(error.sys_errno))
      .string(error.message)
      .take();
}

base::Result<std::unique_ptr<Clients>> Clients::listen(io::Poller& poller, base::UniqueFd folder,
                                                       std::string file, const std::string& shown,
                                                       Owner& owner) {
  auto listener = io::listen_in(folder.get(), file, shown + "/" + file, kListenBacklog);
  if (!listener) return tl::unexpected(listener.error());
  const int number = listener->get();
  std::unique_ptr<Clients> made(
      new Clients(poller, std::move(folder), std::move(*listener), std::move(file), owner));
  if (auto added = poller.add(number, EPOLLIN, *made); !added) return tl::unexpected(added.error());
  return made;
}

Clients::~Clients() {
  *alive_ = false;
  poller_.remove(listener_.get());
  for (const auto& [fd, client] : clients_) poller_.remove(fd);
  ::unlinkat(folder_.get(), file_.c_str(), 0);
}

base::Result<void> Clients::rename(std::string file) {
  if (::renameat2(folder_.get(), file_.c_str(), folder_.get(), file.c_str(), RENAME_NOREPLACE) != 0)
    return base::fail_errno(errno, "cannot make the socket " + file);
  file_ = std::move(file);
  return {};
}

bool Clients::has_unsent() const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const auto& entry) { return !entry.second.out.empty(); });
}

Clients::Client* Clients::find(int fd) {
  const auto found = clients_.find(fd);
  return found == clients_.end() ? nullptr : &found->second;
}

void Clients::on_ready(int fd, uint32_t events) {
  if (fd == listener_.get()) return accept_all();
  Client* const client = find(fd);
  if (client == nullptr) return;
  const std::shared_ptr<bool> alive = alive_;
  bool good = true;
  if ((events & EPOLLOUT) != 0) good = client->out.flush(fd, poller_, *this);
  if (good && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) good = receive(*client, *alive);
  if (*alive && !good) close(fd);
}

void Clients::accept_all() {
  for (;;) {
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;  // EAGAIN; or EMFILE, until another client disconnects
    if (!io::same_user(fd.get()) || clients_.size() >= kMostClients) continue;
    const int number = fd.get();
    if (!poller_.add(number, EPOLLIN, *this)) continue;
    clients_[number].fd = std::move(fd);
  }
}

void Clients::close(int fd) {
  poller_.remove(fd);
  const auto gone = clients_.extract(fd);
  tell_how_far_read();
  owner_.gone(gone.mapped());
}

void Clients::tell_how_far_read() {
  std::optional<uint64_t> least;
  for (const auto& [fd, client] : clients_) {
    if (client.read_to) least = least ? std::min(*least, *client.read_to) : *client.read_to;
  }
  owner_.read_up_to(least);
}

bool Clients::receive(Client& client, const bool& alive) {
  std::array<char, 16 * 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // One read a turn: a client that floods has to queue behind the others.
  const ssize_t got = ::recv(client.fd.get(), buffer.data(), buffer.size(), 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  owner_.before_reading();
  if (!alive) return false;
  client.in.push({buffer.data(), static_cast<size_t>(got)});
  while (auto frame = client.in.next()) {
    const bool good = handle(client, *frame);
    if (!good || !alive) return false;
  }
  return !client.in.broken();
}

bool Clients::handle(Client& client, const Frame& frame) {
  if (!client.greeted) return owner_.open() && greet(client, frame);
  switch (frame.type) {
    case MessageType::GetStatus:
      return frame.payload.empty() && send(client, encode(MessageType::Status, frame.tag, owner_.status()));
    case MessageType::Watch:
      return watch(client, frame);
    default:
      return owner_.handle(client, frame);
  }
}

bool Clients::greet(Client& client, const Frame& frame) {
  Decoder in(frame.payload);
  const auto magic = in.number<uint32_t>();
  const auto version = in.number<uint32_t>();
  if (frame.type != MessageType::Hello || magic != kHelloMagic || !in.complete()) return false;
  if (version != kProtocolVersion) {
    const base::Error error{base::ErrorCode::Unsupported, 0,
                            "this holder speaks version " + std::to_string(kProtocolVersion)};
    send(client, encode(MessageType::Failed, frame.tag, failure_payload(error)));
    return false;
  }
  client.greeted = true;
  return send(client, encode(MessageType::Welcome, frame.tag, owner_.status())) && owner_.greeted(client);
}

bool Clients::watch(Client& client, const Frame& frame) {
  Decoder in(frame.payload);
  client.watch = Client::Watch{in.number<uint64_t>(), frame.tag};
  if (!in.complete()) return false;
  client.read_to = client.watch->offset;
  tell_how_far_read();
  return answer_watch(client);
}

bool Clients::answer_watch(Client& client) {
  const uint64_t end = owner_.output_end();
  if (!client.watch || end <= client.watch->offset) return true;
  const uint32_t tag = client.watch->tag;
  client.watch.reset();
  return send(client, encode(MessageType::Output, tag, Encoder().number(end).take()));
}

void Clients::output_came() {
  for (auto& [fd, client] : clients_) {
    if (!answer_watch(client)) drop(client);
  }
}

void Clients::tell_all(const std::string& message) {
  for (auto& [fd, client] : clients_) {
    if (client.greeted) send_or_drop(client, message);
  }
}

bool Clients::send(Client& client, std::string_view bytes) {
  if (client.out.size() + bytes.size() > kLargestBacklog) return false;
  client.out.push(bytes);
  return client.out.flush(client.fd.get(), poller_, *this);
}

void Clients::send_or_drop(Client& client, std::string_view bytes) {
  if (!send(client, bytes)) drop(client);
}

// Closed when the poller says so: whoever calls this may be in the middle of this client's messages.
void Clients::drop(Client& client) {
  client.out.clear();
  ::shutdown(client.fd.get(), SHUT_RDWR);
}

}  // namespace ttyward::hold
