// The one file that includes Boost.Beast: it is slow to compile.
#include "http/connection.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace ttyward::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using std::chrono::milliseconds;

// The executor by its own type: no call goes through a type-erased one.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Parser = beast::http::request_parser<beast::http::string_body>;
using Whole = beast::http::response<beast::http::string_body>;
using Head = beast::http::response<beast::http::empty_body>;

constexpr unsigned kHttp11 = 11;
// After our last word: for the client to read it, and to stop sending.
constexpr milliseconds kLingerTime{2000};

int status_of(const error_code& error) {
  if (error == beast::http::error::body_limit) return 413;
  if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) return 431;
  return 400;
}

template <typename Buffers>
void append(std::string& text, const Buffers& buffers) {
  for (const auto& buffer : beast::buffers_range_ref(buffers))
    text.append(static_cast<const char*>(buffer.data()), buffer.size());
}

void set(beast::http::fields& fields, const Headers& headers) {
  for (const auto& [name, value] : headers) fields.insert(name, value);
}

// The message as bytes. `head_only`: the body follows in chunks.
template <typename Body>
std::string bytes_of(beast::http::response<Body>& message, bool head_only = false) {
  beast::http::response_serializer<Body> serializer(message);
  serializer.split(head_only);
  std::string text;
  while (head_only ? !serializer.is_header_done() : !serializer.is_done()) {
    error_code error;
    serializer.next(error, [&](error_code&, const auto& buffers) {
      append(text, buffers);
      serializer.consume(beast::buffer_bytes(buffers));
    });
    if (error) break;
  }
  return text;
}

Request read_request(Parser& parser, bool is_upgrade) {
  auto& message = parser.get();
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message)
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  request.keep_alive = message.keep_alive();
  request.is_upgrade = is_upgrade;
  request.body = std::move(message.body());
  return request;
}

class WebSocketSession final : public WebSocket, public std::enable_shared_from_this<WebSocketSession> {
 public:
  WebSocketSession(Socket socket, const Limits& limits, std::function<void()> ended)
      : stream_(std::move(socket)), limits_(limits), ended_(std::move(ended)) {
    stream_.set_option(
        beast::websocket::stream_base::timeout{limits.request_time, limits.ping_after * 2, true});
    stream_.read_message_max(0);  // read() has its own limit
    stream_.auto_fragment(false);
  }

  void accept(const Parser::value_type& request, const Headers& headers) {
    stream_.set_option(beast::websocket::stream_base::decorator(
        [headers](beast::websocket::response_type& response) { set(response, headers); }));
    stream_.async_accept(request, [self = shared_from_this()](const error_code& error) {
      if (error) return self->end(kAbnormal);
      self->is_accepted_ = true;
      self->read();
      self->write();
    });
  }

  void send(std::string message, Kind kind) override {
    if (is_closing_) return;
    unsent_ += message.size();
    queue_.push_back({std::move(message), kind});
    if (unsent_ > limits_.unsent) return abandon_later();
    write();
  }
  size_t unsent() const override { return unsent_; }

  void close(uint16_t code, std::string reason) override {
    if (std::exchange(is_closing_, true)) return;
    reason.resize(std::min<size_t>(reason.size(), kMaxReason));
    reason_ = beast::websocket::close_reason(static_cast<beast::websocket::close_code>(code),
                                             beast::string_view(reason));
    close_when_sent();
  }

  // Nobody is told: neither the client nor our user.
  void abandon() {
    is_closing_ = true;
    is_over_ = true;
    ended_ = nullptr;
    on_message = nullptr;
    on_closed = nullptr;
    on_drained = nullptr;
    close_socket();
  }

 private:
  struct Message {
    std::string text;
    Kind kind;
  };
  static constexpr uint16_t kAbnormal = 1006;  // never sent: there was no close frame
  static constexpr uint16_t kTooLarge = 1009;
  static constexpr size_t kMaxReason = 123;  // what a close frame has room for

  // By parts, because a message that is too large must end as any connection does, with both close frames:
  // what the library does on its own limit closes the socket on top of unread bytes, and the client gets a
  // reset instead of the reason.
  void read() {
    const size_t room = limits_.message + 1 - buffer_.size();
    stream_.async_read_some(buffer_, room, [self = shared_from_this()](const error_code& error, size_t) {
      if (self->is_over_) return;
      if (error) return self->end(self->code_of(error));
      if (self->buffer_.size() > self->limits_.message)
        return self->close(kTooLarge, "the message is too large");
      if (!self->stream_.is_message_done()) return self->read();
      self->deliver();
      if (!self->is_over_) self->read();
    });
  }
  void deliver() {
    const auto data = buffer_.cdata();
    if (const auto handler = on_message) {
      handler({static_cast<const char*>(data.data()), data.size()},
              stream_.got_text() ? Kind::Text : Kind::Binary);
    }
    buffer_.consume(buffer_.size());
  }
  uint16_t code_of(const error_code& error) const {
    return error == beast::websocket::error::closed ? static_cast<uint16_t>(stream_.reason().code)
                                                    : kAbnormal;
  }

  void write() {
    if (!is_accepted_ || is_writing_ || is_over_ || queue_.empty()) return;
    is_writing_ = true;
    stream_.binary(queue_.front().kind == Kind::Binary);
    stream_.async_write(asio::buffer(queue_.front().text),
                        [self = shared_from_this()](const error_code& error, size_t) {
                          self->is_writing_ = false;
                          if (error || self->is_over_) return;  // reading fails, too, and ends it
                          self->unsent_ -= self->queue_.front().text.size();
                          self->queue_.pop_front();
                          self->wrote();
                        });
  }
  void wrote() {
    if (!queue_.empty()) return write();
    close_when_sent();
    if (const auto handler = on_drained) handler();
  }
  void close_when_sent() {
    if (!is_closing_ || is_writing_ || !queue_.empty() || is_over_ || !is_accepted_) return;
    stream_.async_close(reason_, [self = shared_from_this()](const error_code&) { self->end(kAbnormal); });
  }
  void abandon_later() {
    is_closing_ = true;
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->end(kAbnormal); });
  }
  void close_socket() {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }
  void end(uint16_t code) {
    if (std::exchange(is_over_, true)) return;
    is_closing_ = true;
    close_socket();
    if (const auto handler = std::exchange(on_closed, nullptr)) handler(code);
    if (const auto ended = std::exchange(ended_, nullptr)) ended();
  }

  // No compression in the type: it is not offered.
  beast::websocket::stream<Socket, false> stream_;
  const Limits limits_;
  std::function<void()> ended_;
  beast::flat_buffer buffer_;
  std::deque<Message> queue_;
  size_t unsent_ = 0;
  beast::websocket::close_reason reason_;
  bool is_accepted_ = false;
  bool is_writing_ = false;
  bool is_closing_ = false;
  bool is_over_ = false;
};

class HttpConnection final : public Connection,
                             private Exchange::Channel,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(Socket socket, const Limits& limits, Server::Handle handle, std::function<void()> closed)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        comment_(socket_.get_executor()),
        limits_(limits),
        handle_(std::move(handle)),
        closed_(std::move(closed)) {
    expect_request();
  }

  void begin() {
    arm(limits_.idle_time);
    read();
  }

  void finish() override {
    if (web_socket_) return web_socket_->close(WebSocket::kGoingAway, "the server is shutting down");
    is_last_ = true;
    if (!exchange_ && !is_started_) finish_writing();
  }

  void abandon() override {
    closed_ = nullptr;
    if (exchange_) exchange_->on_gone = nullptr;
    if (web_socket_) web_socket_->abandon();
    close();
  }

 private:
  // ---- reading
  void expect_request() {
    parser_.emplace();
    parser_->eager(true);
    parser_->header_limit(static_cast<uint32_t>(limits_.headers));
    parser_->body_limit(limits_.body);
    is_started_ = false;
    is_continued_ = false;
  }

  void read() {
    if (is_reading_ || !socket_.is_open()) return;
    is_reading_ = true;
    socket_.async_read_some(asio::buffer(bytes_),
                            [self = shared_from_this()](const error_code& error, size_t size) {
                              self->is_reading_ = false;
                              if (error) return self->close();
                              self->take(std::string_view(self->bytes_.data(), size));
                            });
  }

  void take(std::string_view bytes) {
    if (is_finishing_) return read();  // what still comes is discarded
    input_ += bytes;
    if (exchange_ && input_.size() > limits_.body) return close();  // far ahead of its answers
    advance();
  }

  void advance() {
    if (is_advancing_) return;
    is_advancing_ = true;
    while (socket_.is_open() && !exchange_ && !is_finishing_ && !input_.empty()) {
      if (!std::exchange(is_started_, true)) arm(limits_.request_time);
      if (!parse_some()) break;
    }
    is_advancing_ = false;
    const bool may_become_web_socket = exchange_ && upgrade_;
    if (!may_become_web_socket) read();
  }

  // False: more bytes are needed, or the request is bad.
  bool parse_some() {
    error_code error;
    const size_t used = parser_->put(asio::const_buffer(input_.data(), input_.size()), error);
    input_.erase(0, used);
    if (error == beast::http::error::need_more) {
      if (input_.size() > limits_.headers && !parser_->is_header_done()) return refuse(431);
      say_continue();
      return false;
    }
    if (error) return refuse(status_of(error));
    if (parser_->is_done()) {
      hand_on();
      return true;
    }
    if (used == 0 || input_.empty()) say_continue();
    return used != 0;
  }

  bool refuse(int status) {
    Whole answer(static_cast<beast::http::status>(status), kHttp11);
    answer.body() = "the request is malformed or too large\n";
    answer.keep_alive(false);
    answer.prepare_payload();
    is_last_ = true;
    send(bytes_of(answer));
    finish_writing();
    return false;
  }

  void say_continue() {
    if (is_continued_ || !parser_->is_header_done() || parser_->is_done()) return;
    const auto expected = parser_->get()[beast::http::field::expect];
    if (!same_name(std::string_view(expected.data(), expected.size()), "100-continue")) return;
    is_continued_ = true;
    Head answer(beast::http::status::continue_, kHttp11);
    send(bytes_of(answer));
  }

  void hand_on() {
    const bool is_upgrade = beast::websocket::is_upgrade(parser_->get());
    auto exchange = std::make_shared<Exchange>(read_request(*parser_, is_upgrade),
                                               static_cast<Exchange::Channel&>(*this));
    if (is_upgrade) upgrade_ = parser_->release();
    expect_request();
    timer_.cancel();
    is_last_ = is_last_ || !exchange->request.keep_alive;
    exchange_ = exchange;
    handle_(exchange);
  }

  // ---- answering
  void respond(int status, const Headers& headers, std::string_view body) override {
    Whole answer(static_cast<beast::http::status>(status), kHttp11);
    set(answer, headers);
    if (answer.find(beast::http::field::cache_control) == answer.end())
      answer.set(beast::http::field::cache_control, "no-store");
    answer.set("X-Content-Type-Options", "nosniff");
    answer.keep_alive(!is_last_);
    answer.body() = std::string(body);
    answer.prepare_payload();
    send(bytes_of(answer));
    answer_complete();
  }

  void begin_events(const Headers& headers) override {
    Head answer(beast::http::status::ok, kHttp11);
    set(answer, headers);
    answer.set(beast::http::field::content_type, "text/event-stream");
    answer.set(beast::http::field::cache_control, "no-cache");
    answer.set("X-Accel-Buffering", "no");
    answer.keep_alive(!is_last_);
    answer.chunked(true);
    send(bytes_of(answer, true));
    comment_later();
  }

  void write_events(std::string_view text) override {
    std::string bytes;
    append(bytes, beast::http::make_chunk(asio::const_buffer(text.data(), text.size())));
    send(bytes);
  }

  void end_events() override {
    std::string bytes;
    append(bytes, beast::http::make_chunk_last());
    send(bytes);
    answer_complete();
  }

  std::shared_ptr<WebSocket> accept(const Headers& headers) override {
    exchange_ = nullptr;
    // A client has to wait for our answer before it sends more.
    if (!upgrade_ || !input_.empty() || !writing_.empty() || !unsent_.empty()) {
      close();
      return nullptr;
    }
    const std::weak_ptr<HttpConnection> weak = weak_from_this();
    web_socket_ = std::make_shared<WebSocketSession>(std::move(socket_), limits_, [weak] {
      if (const auto self = weak.lock()) self->report_closed();
    });
    web_socket_->accept(*upgrade_, headers);
    upgrade_.reset();
    return web_socket_;
  }

  void answer_complete() {
    comment_.cancel();
    exchange_ = nullptr;
    upgrade_.reset();
    if (!socket_.is_open()) return;
    if (is_last_) return finish_writing();
    arm(limits_.idle_time);
    if (is_advancing_) return;
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->advance(); });
  }

  void comment_later() {
    comment_.expires_after(limits_.keep_alive);
    comment_.async_wait([weak = weak_from_this()](const error_code& error) {
      const auto self = weak.lock();
      if (error || !self || !self->exchange_) return;
      self->exchange_->write_events(":\n\n");
      if (self->exchange_) self->comment_later();
    });
  }

  // ---- writing
  void send(std::string_view bytes) {
    if (!socket_.is_open()) return;
    unsent_ += bytes;
    if (unsent_.size() + writing_.size() > limits_.unsent) return close();
    flush();
  }

  void flush() {
    if (!writing_.empty() || unsent_.empty()) return;
    writing_.swap(unsent_);
    asio::async_write(socket_, asio::buffer(writing_),
                      [self = shared_from_this()](const error_code& error, size_t) {
                        self->writing_.clear();
                        if (error) return self->close();
                        if (self->is_finishing_) return self->finish_writing();
                        self->flush();
                      });
  }

  // Sends what is left, then our end; reads until the client closes, so that it sees the last answer even if
  // it has sent more than we read.
  void finish_writing() {
    is_finishing_ = true;
    if (!unsent_.empty()) return flush();
    if (!writing_.empty() || !socket_.is_open()) return;
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    arm(std::min(kLingerTime, limits_.idle_time));
    read();
  }

  void arm(milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](const error_code& error) {
      const auto self = weak.lock();
      if (!error && self) self->close();
    });
  }

  void close() {
    if (!socket_.is_open()) return;
    error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
    comment_.cancel();
    unsent_.clear();
    if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->lose_channel();
    report_closed();
  }

  // From the loop: whoever is calling may be inside us.
  void report_closed() {
    timer_.cancel();
    if (closed_) asio::post(timer_.get_executor(), std::exchange(closed_, nullptr));
  }

  Socket socket_;
  Timer timer_;
  Timer comment_;
  const Limits limits_;
  Server::Handle handle_;
  std::function<void()> closed_;
  std::optional<Parser> parser_;
  std::optional<Parser::value_type> upgrade_;  // the request, if it asks for a WebSocket
  std::array<char, 16 << 10> bytes_;           // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::string input_;                          // read, but not parsed
  std::string unsent_;
  std::string writing_;                 // with the kernel, in part
  std::shared_ptr<Exchange> exchange_;  // being answered
  std::shared_ptr<WebSocketSession> web_socket_;
  bool is_started_ = false;    // the first byte of a request is there
  bool is_continued_ = false;  // "100 Continue" was said
  bool is_last_ = false;       // close after this answer
  bool is_finishing_ = false;  // nothing more is answered
  bool is_reading_ = false;
  bool is_advancing_ = false;
};

}  // namespace

std::shared_ptr<Connection> Connection::start(asio::io_context& io, int descriptor, bool v6,
                                              const Limits& limits, Server::Handle handle,
                                              std::function<void()> closed) {
  Socket socket(io.get_executor());
  error_code error;
  socket.assign(v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), descriptor, error);
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  auto connection =
      std::make_shared<HttpConnection>(std::move(socket), limits, std::move(handle), std::move(closed));
  connection->begin();
  return connection;
}

}  // namespace ttyward::http
