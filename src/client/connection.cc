#include "client/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/secret_file.h"
#include "client/await_reply.h"

namespace ttyward::client {

namespace {

using std::chrono::milliseconds;

constexpr size_t kReadBytes = 64 * 1024;

int poll_timeout(std::optional<std::chrono::steady_clock::time_point> until) {
  if (!until) return -1;
  const auto left = std::chrono::ceil<milliseconds>(*until - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

}  // namespace

base::Error Connection::lost(const std::string& why) {
  if (lost_why_.empty()) lost_why_ = why;
  return {base::ErrorCode::Unavailable, ECONNRESET, lost_why_};
}

CallFailure Connection::lost_call(CallFailure::Fate fate) const {
  CallFailure failure;
  failure.code = wire::Code::Unavailable;
  failure.message = lost_why_;
  failure.fate = fate;
  return failure;
}

base::Result<Connection> Connection::greet(base::UniqueFd socket, const Options& options) {
  Connection connection;
  connection.fd_ = std::move(socket);
  if (auto said = connection.say_hello(options); !said) return tl::unexpected(said.error());
  return connection;
}

base::Result<void> Connection::say_hello(const Options& options) {
  wire::Hello hello;
  hello.role = options.role;
  hello.client = options.client;
  hello.reader = options.reader;
  hello.session = options.session;
  hello.secret = options.secret;
  hello.token = options.token;
  const char* const file = std::getenv("TTYWARD_PERSON_TOKEN_FILE");
  const bool wants_person = options.role == "person" || options.role == "viewer";
  if (wants_person && hello.token.empty() && file != nullptr && *file != '\0') {
    auto token = base::read_secret_file(file);
    if (!token) return tl::unexpected(token.error());
    hello.token = std::move(*token);
  }
  const auto until = Clock::now() + options.patience;
  // A daemon that refuses has said why before it closed: so what it said is read in any case.
  out_ += wire::encode(hello);
  if (send_all(until) == Sent::Lost) lost_why_.clear();
  while (!welcomed_) {
    auto received = wait_and_receive(until);
    if (!received) return tl::unexpected(received.error());
    if (*received) continue;
    return base::fail(base::ErrorCode::Unavailable,
                      "the daemon did not answer in time; see: ttyward daemon status");
  }
  return {};
}

Connection::Sent Connection::flush() {
  size_t done = 0;
  Sent result = Sent::All;
  while (done < out_.size()) {
    const ssize_t sent =
        ::send(fd_.get(), out_.data() + done, out_.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      result = Sent::NotAll;
      break;
    } else if (errno != EINTR) {
      result = Sent::Lost;
      break;
    }
  }
  out_.erase(0, done);
  sent_bytes_ += done;
  return result;
}

Connection::Sent Connection::send_all(Deadline until) {
  for (;;) {
    if (!lost_why_.empty()) return Sent::Lost;
    const Sent sent = flush();
    if (sent == Sent::All) return sent;
    if (sent == Sent::Lost) {
      lost("the daemon closed the connection");
      return sent;
    }
    // The daemon does not read from who does not read from it: take what it has to say meanwhile.
    pollfd entry{fd_.get(), POLLIN | POLLOUT, 0};
    if (::poll(&entry, 1, poll_timeout(until)) == 0) {
      lost("the daemon is not reading; see: ttyward daemon status");
    } else if ((entry.revents & POLLIN) != 0) {
      static_cast<void>(receive());
    }
  }
}

base::Result<bool> Connection::receive() {
  std::array<char, kReadBytes> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) return tl::unexpected(lost("the daemon closed the connection"));
  in_.push({buffer.data(), static_cast<size_t>(got)});
  if (auto sorted = sort_lines(); !sorted) return tl::unexpected(sorted.error());
  return true;
}

base::Result<void> Connection::sort_lines() {
  while (const auto line = in_.next()) {
    auto message = wire::parse_from_daemon(*line);
    if (!message) return tl::unexpected(lost("the daemon violated the protocol: " + message.error().message));
    if (auto* welcome = std::get_if<wire::Welcome>(&*message)) {
      welcome_ = std::move(*welcome);
      welcomed_ = true;
    } else if (auto* part = std::get_if<wire::Part>(&*message)) {
      waiting_.emplace_back(Part{part->id, std::move(part->part)});
    } else if (auto* ok = std::get_if<wire::Ok>(&*message)) {
      waiting_.emplace_back(Reply{ok->id, std::move(ok->value)});
    } else if (auto* event = std::get_if<wire::Event>(&*message)) {
      waiting_.emplace_back(Event{std::move(event->event)});
    } else if (auto* failed = std::get_if<wire::Failed>(&*message)) {
      if (failed->id == 0) {  // about the connection: its last line
        stopped_ = welcomed_ && failed->error.code == wire::Code::Unavailable;
        lost((stopped_ ? "" : "the daemon ended the connection: ") + failed->error.message);
        return tl::unexpected(base::Error{wire::base_error(failed->error).code, 0, lost_why_});
      }
      CallFailure failure;
      failure.code = failed->error.code;
      failure.message = std::move(failed->error.message);
      waiting_.emplace_back(Reply{failed->id, tl::unexpected(std::move(failure))});
    }
  }
  if (in_.too_long()) return tl::unexpected(lost("the daemon sent a line of more than 16 MiB"));
  return {};
}

base::Result<bool> Connection::wait_and_receive(Deadline until, int also_fd) {
  for (;;) {
    if (!lost_why_.empty()) return tl::unexpected(lost(lost_why_));
    pollfd entries[2] = {{fd_.get(), POLLIN, 0}, {also_fd, POLLIN, 0}};  // a negative descriptor is left out
    const int ready = ::poll(entries, 2, poll_timeout(until));
    if (ready < 0 && errno != EINTR) return base::fail_errno(errno, "cannot wait for the daemon");
    if (ready == 0) return false;
    if (ready > 0 && entries[0].revents != 0) {
      auto received = receive();
      if (!received || *received) return received;
    } else if (ready > 0) {
      return false;
    }
  }
}

tl::expected<uint64_t, CallFailure> Connection::enqueue(std::string_view name, boost::json::object args) {
  const uint64_t id = ++last_id_;
  const std::string line = wire::encode(wire::Call{id, std::string(name), std::move(args)});
  if (line.size() > wire::kLargestLine + 1) {
    CallFailure failure;
    failure.code = wire::Code::InvalidArgument;
    failure.message = "a call may have at most 16 MiB; this one has " + std::to_string(line.size()) +
                      " bytes: put what is large into a file";
    return tl::unexpected(std::move(failure));
  }
  out_ += line;
  return id;
}

void Connection::enqueue_cancel(uint64_t id) {
  out_ += wire::encode(wire::Cancel{id});
}

tl::expected<uint64_t, CallFailure> Connection::start(std::string_view name, boost::json::object args) {
  auto id = enqueue(name, std::move(args));
  if (!id) return id;
  // Half a line is never carried out: whatever was not sent to its end did nothing.
  if (send_all(std::nullopt) == Sent::Lost) {
    read_last_line();
    return tl::unexpected(lost_call(CallFailure::Fate::NotSent));
  }
  return id;
}

void Connection::read_last_line() {
  if (stopped_) return;
  // A send can fail although the daemon's last line, which says why it ended, has arrived and is unread.
  const std::string why = std::exchange(lost_why_, {});
  for (auto received = receive(); received && *received; received = receive()) {
  }
  if (!stopped_) lost_why_ = why;
}

void Connection::cancel(uint64_t id) {
  enqueue_cancel(id);
  static_cast<void>(send_all(std::nullopt));
}

base::Result<std::optional<Message>> Connection::next(milliseconds timeout) {
  return ReplyWait<Connection>::next(*this, timeout);
}

CallResult Connection::call(std::string_view name, boost::json::object args, const PartHandler& on_part,
                            const CallOptions& options) {
  auto started = start(name, std::move(args));
  if (!started) return tl::unexpected(started.error());
  return ReplyWait<Connection>(*this, *started, on_part, options).wait();
}

}  // namespace ttyward::client
