#include "proxy/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace ttyward::proxy {

namespace {

constexpr size_t kReadAtOnce = size_t{16} << 10;
// What one connection may move before others get their turn.
constexpr size_t kMovedPerTurn = size_t{256} << 10;

// For answers and the list of refused hosts: a name that is no name can hold anything.
std::string harmless(std::string_view text) {
  constexpr size_t kMost = 100;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte > 0x20 && byte < 0x7f ? c : '?';
  }
  return out + (text.size() > kMost ? "..." : "");
}

}  // namespace

void Buffer::add(std::string_view more) {
  if (begin_ > 0) {
    bytes_.erase(0, begin_);
    begin_ = 0;
  }
  bytes_ += more;
}

void Buffer::drop(size_t count) {
  begin_ += count;
  if (begin_ < bytes_.size()) return;
  bytes_.clear();
  begin_ = 0;
}

Proxy::Connection::Connection(Proxy& proxy, uint64_t number, base::UniqueFd client)
    : proxy_(proxy), number_(number), up_(proxy.limits_.buffered), down_(proxy.limits_.buffered) {
  client_.fd = std::move(client);
}

Proxy::Connection::~Connection() {
  proxy_.loop_.cancel(timer_);
  for (const Side* side : {&client_, &server_})
    if (side->watched != 0) proxy_.loop_.poller().remove(side->fd.get());
}

void Proxy::Connection::start() {
  set_deadline(proxy_.limits_.handshake_time);
  watch();
}

void Proxy::Connection::set_deadline(std::chrono::milliseconds after) {
  proxy_.loop_.cancel(timer_);
  timer_ = proxy_.loop_.after(after, [self = weak_from_this()] {
    if (const auto alive = self.lock()) alive->on_deadline();
  });
}

void Proxy::Connection::on_deadline() {
  timer_ = 0;
  switch (state_) {
    case State::Greeting:
    case State::SocksRequest:
    case State::Answering:
      return end();
    case State::LookingUp:
      return fail(504, SocksCode::Unreachable, "looking up " + wanted_.text() + " took too long");
    case State::Connecting:
      last_error_ = "no answer in time";
      return connect_next();
    case State::Relaying: {
      const auto silent = proxy_.loop_.now() - last_byte_;
      if (silent >= proxy_.limits_.idle_time) return end();
      return set_deadline(std::chrono::ceil<std::chrono::milliseconds>(proxy_.limits_.idle_time - silent));
    }
  }
}

void Proxy::Connection::end() {
  if (ended_) return;
  ended_ = true;
  proxy_.end(number_);
}

void Proxy::Connection::on_ready(int fd, uint32_t /*events*/) {
  const auto alive = shared_from_this();
  switch (state_) {
    case State::Greeting:
    case State::SocksRequest:
      read_client();
      break;
    case State::LookingUp:
      break;
    case State::Connecting:
      if (fd == server_.fd.get()) connected();
      break;
    case State::Relaying:
      relay();
      break;
    case State::Answering:
      flush_answer();
      break;
  }
  if (!ended_) watch();
}

void Proxy::Connection::read_client() {
  char bytes[kReadAtOnce];
  const size_t most = std::min(sizeof bytes, kLongestHead - std::min(kLongestHead, up_.bytes().size()) + 1);
  const ssize_t count = ::recv(client_.fd.get(), bytes, most, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return end();
  up_.add({bytes, static_cast<size_t>(count)});
  converse();
}

void Proxy::Connection::converse() {
  if (up_.empty()) return;
  if (state_ == State::Greeting) {
    const char first = up_.bytes().front();
    if (first == 5) {
      speech_ = Speech::Socks5;
      const auto greeting = read_socks_greeting(up_.bytes());
      if (!greeting) return;
      up_.drop((*greeting)->used);
      if (!(*greeting)->no_authentication) return answer(std::string("\x05\xff", 2));
      down_.add(std::string_view("\x05\x00", 2));
      if (!move(client_, client_, down_)) return end();
      state_ = State::SocksRequest;
      return converse();
    }
    const auto request = read_http(up_.bytes());
    if (!request) return;
    if (!*request) return answer(http_answer((*request).error().status, (*request).error().why));
    return take_http(**request);
  }
  const auto request = read_socks_request(up_.bytes());
  if (!request) return;
  if (!*request) {
    const SocksRefusal& why = (*request).error();
    if (!why.host_text.empty()) proxy_.remember(harmless(why.host_text), 0, why.why);
    return answer(socks_answer(why.code));
  }
  up_.drop((*request)->used);
  early_ = up_.bytes();
  up_.drop(early_.size());
  ask_for((*request)->wanted);
}

void Proxy::Connection::take_http(const HttpRequest& request) {
  early_ = request.head + std::string(up_.bytes().substr(request.used));
  up_.drop(up_.bytes().size());
  speech_ = Speech::Http;
  told_established_ = request.connect;
  ask_for(request.wanted);
}

void Proxy::Connection::ask_for(const HostPort& wanted) {
  wanted_ = wanted;
  if (const auto why = proxy_.allowed_.refusal(wanted)) return refuse(wanted.host.text(), wanted.port, *why);
  state_ = State::LookingUp;
  set_deadline(proxy_.limits_.connect_time);
  if (wanted.host.address) return found(std::vector<Address>{*wanted.host.address});
  proxy_.resolver_.resolve(wanted.host.name,
                           [self = weak_from_this()](const base::Result<std::vector<Address>>& addresses) {
                             const auto alive = self.lock();
                             if (!alive || alive->ended_ || alive->state_ != State::LookingUp) return;
                             alive->found(addresses);
                             if (!alive->ended_) alive->watch();
                           });
}

void Proxy::Connection::found(const base::Result<std::vector<Address>>& addresses) {
  if (!addresses) return fail(502, SocksCode::Unreachable, addresses.error().message);
  std::string why;
  for (const Address& address : *addresses) {
    if (const auto refusal = proxy_.allowed_.refusal(wanted_, address)) {
      why = *refusal;
    } else {
      addresses_.push_back(address);
    }
  }
  if (addresses_.empty() && !why.empty()) return refuse(wanted_.host.text(), wanted_.port, why);
  last_error_ = "the name has no address";
  connect_next();
}

void Proxy::Connection::connect_next() {
  for (;;) {
    if (server_.watched != 0) watch_side(server_, 0);
    server_.fd.reset();
    if (next_address_ == addresses_.size())
      return fail(502, SocksCode::Refused, wanted_.text() + " cannot be reached: " + last_error_);
    const Address address = addresses_[next_address_++];
    server_.fd.reset(
        ::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
    if (!server_.fd) {
      last_error_ = std::strerror(errno);
      continue;
    }
    const int yes = 1;
    ::setsockopt(server_.fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_storage to{};
    const socklen_t length = address.fill(to, wanted_.port);
    state_ = State::Connecting;
    set_deadline(proxy_.limits_.connect_time);
    if (::connect(server_.fd.get(), reinterpret_cast<const sockaddr*>(&to), length) == 0 ||
        errno == EINPROGRESS) {
      watch();
      return;
    }
    last_error_ = std::strerror(errno);
  }
}

void Proxy::Connection::connected() {
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(server_.fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    last_error_ = std::strerror(error);
    return connect_next();
  }
  if (speech_ == Speech::Socks5) down_.add(socks_answer(SocksCode::Done));
  if (told_established_) down_.add("HTTP/1.1 200 Connection established\r\n\r\n");
  up_.add(std::exchange(early_, {}));
  state_ = State::Relaying;
  last_byte_ = proxy_.loop_.now();
  set_deadline(proxy_.limits_.idle_time);
  relay();
}

bool Proxy::Connection::move(Side& from, Side& to, Buffer& buffer) {
  const auto bytes = std::make_unique<char[]>(kReadAtOnce);
  for (size_t moved = 0; moved < kMovedPerTurn;) {
    bool progress = false;
    // A side that only gets an answer is its own source.
    if (&from != &to && !from.ended && buffer.room() > 0) {
      const ssize_t count =
          ::recv(from.fd.get(), bytes.get(), std::min(kReadAtOnce, buffer.room()), MSG_DONTWAIT);
      if (count > 0) {
        buffer.add({bytes.get(), static_cast<size_t>(count)});
        moved += static_cast<size_t>(count);
        progress = true;
      } else if (count == 0) {
        from.ended = true;
      } else if (errno != EAGAIN && errno != EINTR) {
        return false;
      }
    }
    if (!buffer.empty()) {
      const ssize_t count =
          ::send(to.fd.get(), buffer.bytes().data(), buffer.bytes().size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) {
        buffer.drop(static_cast<size_t>(count));
        progress = true;
      } else if (errno != EAGAIN && errno != EINTR) {
        return false;
      }
    }
    if (!progress) break;
    last_byte_ = proxy_.loop_.now();
  }
  if (&from != &to && from.ended && buffer.empty() && !to.told) {
    to.told = true;
    ::shutdown(to.fd.get(), SHUT_WR);
  }
  return true;
}

void Proxy::Connection::relay() {
  if (!move(client_, server_, up_) || !move(server_, client_, down_)) return end();
  if (client_.told && server_.told) end();
}

void Proxy::Connection::refuse(const std::string& host, uint16_t port, const std::string& why) {
  proxy_.remember(host, port, why);
  const std::string text = "connections to " + host + ":" + std::to_string(port) + " are refused: " + why +
                           ". Whoever configures the sandbox can add it to sandbox.hosts";
  answer(speech_ == Speech::Socks5 ? socks_answer(SocksCode::NotAllowed) : http_answer(403, text));
}

void Proxy::Connection::fail(int status, SocksCode code, const std::string& why) {
  answer(speech_ == Speech::Socks5 ? socks_answer(code) : http_answer(status, why));
}

void Proxy::Connection::answer(const std::string& text) {
  if (server_.watched != 0) watch_side(server_, 0);
  server_.fd.reset();
  state_ = State::Answering;
  down_.add(text);
  set_deadline(proxy_.limits_.handshake_time);
  flush_answer();
}

// Closes only when the client has closed, or sent nothing for a while: a close with bytes of the client's
// unread would take the answer back.
void Proxy::Connection::flush_answer() {
  if (!move(client_, client_, down_)) return end();
  if (!down_.empty()) return;
  if (!client_.told) {
    client_.told = true;
    ::shutdown(client_.fd.get(), SHUT_WR);
  }
  char rest[kReadAtOnce];
  for (int i = 0; i < 4; i++) {
    const ssize_t count = ::recv(client_.fd.get(), rest, sizeof rest, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (count <= 0) return end();
  }
  if (!ended_) watch();
}

void Proxy::Connection::watch() {
  uint32_t client = 0;
  uint32_t server = 0;
  switch (state_) {
    case State::Greeting:
    case State::SocksRequest:
      client = EPOLLIN;
      break;
    case State::LookingUp:
      break;
    case State::Connecting:
      server = EPOLLOUT;
      break;
    case State::Answering:
      client = down_.empty() ? EPOLLIN : EPOLLOUT;
      break;
    case State::Relaying:
      if (!client_.ended && up_.room() > 0) client |= EPOLLIN;
      if (!server_.ended && down_.room() > 0) server |= EPOLLIN;
      if (!down_.empty()) client |= EPOLLOUT;
      if (!up_.empty()) server |= EPOLLOUT;
      break;
  }
  watch_side(client_, client);
  watch_side(server_, server);
}

// A side of which nothing is wanted leaves the poller: a hang-up would be reported again and again.
void Proxy::Connection::watch_side(Side& side, uint32_t events) {
  if (side.watched == events) return;
  io::Poller& poller = proxy_.loop_.poller();
  if (events == 0) {
    poller.remove(side.fd.get());
  } else if (side.watched == 0) {
    if (!side.fd.valid() || !poller.add(side.fd.get(), events, *this)) return;
  } else {
    poller.change(side.fd.get(), events, *this);
  }
  side.watched = events;
}

}  // namespace ttyward::proxy
