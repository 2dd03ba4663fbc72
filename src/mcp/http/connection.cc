#include "mcp/http/connection.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::mcp::http {
namespace {

const char* phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string head(int status, const Headers& headers) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, phrase(status));
  for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
  return text;
}

std::string chunk(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

}  // namespace

void Exchange::respond(int status, Headers headers, std::string_view body) {
  if (!open() || streaming_) return;
  answered_ = true;
  headers.emplace_back("Content-Length", std::to_string(body.size()));
  headers.emplace_back("Cache-Control", "no-store");
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  if (!request.keep_alive) headers.emplace_back("Connection", "close");
  Connection* connection = connection_;
  connection->send(head(status, headers) + "\r\n" + std::string(body));
  connection->answer_complete();
}

void Exchange::begin_events(Headers headers) {
  if (!open() || streaming_) return;
  streaming_ = true;
  headers.emplace_back("Content-Type", "text/event-stream");
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("X-Accel-Buffering", "no");
  headers.emplace_back("Transfer-Encoding", "chunked");
  connection_->send(head(200, headers) + "\r\n");
  connection_->keep_alive();
}

void Exchange::write_events(std::string_view text) {
  if (open() && streaming_ && !text.empty()) connection_->send(chunk(text));
}

void Exchange::end_events() {
  if (!open() || !streaming_) return;
  answered_ = true;
  Connection* connection = connection_;
  connection->send("0\r\n\r\n");
  connection->answer_complete();
}

void Exchange::gone() {
  connection_ = nullptr;
  const auto hook = std::exchange(on_gone, nullptr);
  if (!answered_ && hook) hook();
}

Connection::Connection(io::Loop& loop, base::UniqueFd socket, Handle handle, std::function<void()> closed)
    : loop_(loop), socket_(std::move(socket)), handle_(std::move(handle)), closed_(std::move(closed)) {
  if (!loop_.poller().add(socket_.get(), EPOLLIN | EPOLLRDHUP, *this)) {
    close();
    return;
  }
  arm(kIdleTime);
}

Connection::~Connection() {
  *alive_ = false;
  loop_.cancel(timer_);
  loop_.cancel(comment_);
  if (socket_) loop_.poller().remove(socket_.get());
  if (exchange_) exchange_->gone();
}

void Connection::on_ready(int, uint32_t events) {
  const std::shared_ptr<bool> alive = alive_;
  if ((events & EPOLLOUT) != 0) flush();
  if (!*alive || !socket_) return;
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) read_some();
}

void Connection::read_some() {
  char bytes[64 << 10];
  const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return close();
  input_.append(bytes, static_cast<size_t>(got));
  if (exchange_ && input_.size() > kMaxBody) return close();  // far ahead of its answers
  advance();
}

void Connection::advance() {
  if (advancing_) return;
  advancing_ = true;
  const std::shared_ptr<bool> alive = alive_;
  while (socket_ && !exchange_ && !closing_ && !input_.empty()) {
    const bool fresh = !reader_.started();
    const RequestReader::State state = reader_.feed(input_);
    if (fresh) arm(kRequestTime);
    if (state == RequestReader::State::Bad) {
      const std::string body = "this is no request that is understood here, or it is too large\n";
      send(head(reader_.bad_status(),
                {{"Content-Length", std::to_string(body.size())}, {"Connection", "close"}}) +
           "\r\n" + body);
      if (!*alive) return;
      closing_ = true;
      if (unsent_.empty()) close();
      return;
    }
    if (state == RequestReader::State::More) {
      if (reader_.wants_continue()) send("HTTP/1.1 100 Continue\r\n\r\n");
      break;
    }
    exchange_ = std::make_shared<Exchange>(reader_.take());
    exchange_->connection_ = this;
    loop_.cancel(timer_);
    handle_(exchange_);
    if (!*alive) return;
  }
  advancing_ = false;
}

void Connection::answer_complete() {
  if (!exchange_) return;  // it went away while the last bytes were written
  loop_.cancel(comment_);
  const bool keep = exchange_->request.keep_alive;
  exchange_->connection_ = nullptr;
  exchange_ = nullptr;
  if (!keep) {
    closing_ = true;
    if (unsent_.empty()) close();
    return;
  }
  arm(kIdleTime);
  if (!input_.empty()) {
    loop_.post([this, alive = alive_] {
      if (*alive) advance();
    });
  }
}

void Connection::send(std::string_view bytes) {
  if (!socket_) return;
  unsent_ += bytes;
  flush();
}

void Connection::flush() {
  size_t sent = 0;
  bool broken = false;
  while (sent < unsent_.size()) {
    const ssize_t written =
        ::send(socket_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (written > 0) {
      sent += static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      broken = written == 0 || errno != EAGAIN;
      break;
    }
  }
  unsent_.erase(0, sent);
  if (broken || unsent_.size() > kMaxUnsent || (unsent_.empty() && closing_)) return close();
  const bool wants = !unsent_.empty();
  if (wants != writing_) {
    writing_ = wants;
    loop_.poller().change(socket_.get(), EPOLLIN | EPOLLRDHUP | (wants ? EPOLLOUT : 0u), *this);
  }
}

void Connection::arm(std::chrono::seconds time) {
  loop_.cancel(timer_);
  timer_ = loop_.after(time, [this] {
    timer_ = 0;
    close();
  });
}

void Connection::keep_alive() {
  loop_.cancel(comment_);
  comment_ = loop_.after(kKeepAlive, [this] {
    comment_ = 0;
    if (!exchange_) return;
    const std::shared_ptr<bool> alive = alive_;
    exchange_->write_events(":\n\n");
    if (*alive && socket_) keep_alive();
  });
}

// The owner destroys us later, from the loop: whoever is calling may be inside us.
void Connection::close() {
  if (!socket_) return;
  loop_.poller().remove(socket_.get());
  socket_.reset();
  loop_.cancel(timer_);
  loop_.cancel(comment_);
  unsent_.clear();
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->gone();
  loop_.post(closed_);
}

}  // namespace ttyward::mcp::http
