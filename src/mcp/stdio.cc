#include "mcp/stdio.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ttyward::mcp {
namespace {

constexpr size_t kReadSize = 64u << 10;

}  // namespace

class Stdio::Out final : public Outlet {
 public:
  explicit Out(Stdio& stdio) : stdio_(&stdio) {}
  void forget() { stdio_ = nullptr; }
  void send(const json::object& message, Last) override {
    if (stdio_ != nullptr) stdio_->send(json::serialize(message));
  }
  void close() override {}

 private:
  Stdio* stdio_;
};

Stdio::Stdio(Server& server, int in, int out, std::function<void()> ended)
    : server_(server), in_(in), out_(out), on_end_(std::move(ended)), outlet_(std::make_shared<Out>(*this)) {
  struct stat status{};
  if (::fstat(out, &status) == 0) {
    out_is_socket_ = S_ISSOCK(status.st_mode);
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
      const std::string path = "/proc/self/fd/" + std::to_string(out);
      own_out_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      if (own_out_) out_ = own_out_.get();
    }
  }
  peer_ = std::make_shared<Peer>(server, "stdio", outlet_);
}

base::Result<std::unique_ptr<Stdio>> Stdio::start(Server& server, int in, int out,
                                                  std::function<void()> ended) {
  std::unique_ptr<Stdio> stdio(new Stdio(server, in, out, std::move(ended)));
  const auto added = server.loop().poller().add(in, EPOLLIN, *stdio);
  if (!added) {
    if (added.error().sys_errno != EPERM) return tl::unexpected(added.error());
    // A regular file is always ready, and epoll does not take it.
    server.loop().post([self = stdio.get(), alive = stdio->alive_] {
      if (*alive) self->read_file();
    });
    stdio->in_ = -1 - in;
  }
  return stdio;
}

Stdio::~Stdio() {
  *alive_ = false;
  outlet_->forget();
  if (in_ >= 0 && !ended_) server_.loop().poller().remove(in_);
  if (out_polled_) server_.loop().poller().remove(out_);
}

void Stdio::on_ready(int fd, uint32_t) {
  if (fd == out_ && out_polled_) {
    flush();
    return;
  }
  read_some();
}

bool Stdio::read_some() {
  const int fd = in_ >= 0 ? in_ : -1 - in_;
  const size_t before = input_.size();
  input_.resize(before + kReadSize);
  const ssize_t got = ::read(fd, input_.data() + before, kReadSize);
  input_.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) {
    if (!input_.empty()) take_line(std::exchange(input_, {}));
    end(kGrace);
    return false;
  }
  take_lines();
  return !ended_;
}

void Stdio::read_file() {
  if (!read_some()) return;
  server_.loop().post([this, alive = alive_] {
    if (*alive) read_file();
  });
}

void Stdio::take_lines() {
  size_t from = 0;
  for (size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n', from)) {
    if (!std::exchange(skipping_, false)) take_line(std::string_view(input_).substr(from, end - from));
    from = end + 1;
    if (ended_) return;
  }
  input_.erase(0, from);
  if (skipping_) {
    input_.clear();
  } else if (input_.size() > rpc::kMaxMessage) {
    skipping_ = true;
    input_.clear();
    outlet_->send(
        rpc::error_response(nullptr, rpc::error_object(rpc::kInvalidRequest,
                                                       "this message is longer than 10 MiB: send less, or "
                                                       "write it to a file and name the file")),
        Last::Yes);
  }
}

void Stdio::take_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return;
  peer_->receive(rpc::parse(line), outlet_);
}

void Stdio::send(const std::string& line) {
  if (gone_) return;
  unsent_ += line;
  unsent_ += '\n';
  flush();
}

void Stdio::flush() {
  size_t sent = 0;
  bool blocked = false;
  while (sent < unsent_.size()) {
    const char* data = unsent_.data() + sent;
    const size_t size = unsent_.size() - sent;
    const ssize_t written =
        out_is_socket_ ? ::send(out_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(out_, data, size);
    if (written > 0) {
      sent += static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      blocked = written < 0 && errno == EAGAIN;
      break;
    }
  }
  const bool broken = (sent < unsent_.size() && !blocked) || unsent_.size() - sent > kMaxUnsent;
  unsent_.erase(0, sent);
  if (blocked && !out_polled_) {
    out_polled_ = server_.loop().poller().add(out_, EPOLLOUT, *this).has_value();
  } else if (!blocked && out_polled_) {
    server_.loop().poller().remove(out_);
    out_polled_ = false;
  }
  if (broken) {
    gone_ = true;
    end(std::chrono::milliseconds(0));
  } else if (answered_ && unsent_.empty()) {
    finish();
  }
}

void Stdio::end(std::chrono::milliseconds grace) {
  if (ended_) return;
  ended_ = true;
  if (in_ >= 0) server_.loop().poller().remove(in_);
  const auto while_alive = [this, alive = alive_](void (Stdio::*what)()) {
    return [this, alive, what] {
      if (*alive) (this->*what)();
    };
  };
  if (grace.count() > 0) {
    server_.loop().after(grace, while_alive(&Stdio::finish));
    peer_->when_idle(while_alive(&Stdio::all_answered));
  } else {
    server_.loop().post(while_alive(&Stdio::finish));
  }
}

// The last answers may still wait for the client to read them.
void Stdio::all_answered() {
  answered_ = true;
  if (unsent_.empty()) finish();
}

void Stdio::finish() {
  if (!on_end_) return;
  peer_->cancel_all();
  std::exchange(on_end_, nullptr)();
}

}  // namespace ttyward::mcp
