#include "rpc/stdio.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ttyward::rpc {
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
  void send_batch(const json::array& answers) override {
    if (stdio_ != nullptr) stdio_->send(json::serialize(answers));
  }
  void close() override {}

 private:
  Stdio* stdio_;
};

Stdio::Stdio(io::Loop& loop, int in, int out, const Converse& converse, std::function<void()> ended)
    : loop_(loop), in_(in), out_(out), on_end_(std::move(ended)), outlet_(std::make_shared<Out>(*this)) {
  struct stat status{};
  if (::fstat(out, &status) == 0) {
    out_is_socket_ = S_ISSOCK(status.st_mode);
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
      // O_NONBLOCK belongs to the open file, which is shared with the client and other processes. Opening the
      // pipe or terminal again makes only our own descriptor non-blocking.
      const std::string path = "/proc/self/fd/" + std::to_string(out);
      own_out_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
      if (own_out_) out_ = own_out_.get();
    }
  }
  conversation_ = converse(outlet_);
}

base::Result<std::unique_ptr<Stdio>> Stdio::start(io::Loop& loop, int in, int out, const Converse& converse,
                                                  std::function<void()> ended) {
  std::unique_ptr<Stdio> stdio(new Stdio(loop, in, out, converse, std::move(ended)));
  const auto added = loop.poller().add(in, EPOLLIN, *stdio);
  if (added) return stdio;
  if (added.error().sys_errno != EPERM) return tl::unexpected(added.error());
  // epoll refuses regular files (EPERM), which are always readable: read from posted tasks instead.
  stdio->is_file_ = true;
  loop.post([self = stdio.get(), alive = stdio->alive_] {
    if (*alive) self->read_file();
  });
  return stdio;
}

Stdio::~Stdio() {
  *alive_ = false;
  outlet_->forget();
  if (!is_file_ && !ended_) loop_.poller().remove(in_);
  if (out_polled_) loop_.poller().remove(out_);
}

void Stdio::on_ready(int fd, uint32_t) {
  if (fd == out_ && out_polled_) {
    flush();
    return;
  }
  read_some();
}

bool Stdio::read_some() {
  char bytes[kReadSize];
  const ssize_t got = ::read(in_, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) {
    // The last message may come without a line end.
    if (const auto line = input_.rest()) take(*line);
    end(kGrace);
    return false;
  }
  input_.push({bytes, static_cast<size_t>(got)});
  while (!ended_) {
    const auto line = input_.next();
    if (!line) return true;
    take(*line);
  }
  return false;
}

void Stdio::read_file() {
  if (!read_some()) return;
  loop_.post([this, alive = alive_] {
    if (*alive) read_file();
  });
}

void Stdio::take(const LineReader::Line& line) {
  if (!line.too_long) return conversation_->receive(parse(line.text), outlet_);
  outlet_->send(error_response(nullptr, error_object(kInvalidRequest,
                                                     "this message is longer than 32 MiB: send less, or "
                                                     "write it to a file and name the file")),
                Last::Yes);
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
    out_polled_ = loop_.poller().add(out_, EPOLLOUT, *this).has_value();
  } else if (!blocked && out_polled_) {
    loop_.poller().remove(out_);
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
  if (!is_file_) loop_.poller().remove(in_);
  const auto while_alive = [this, alive = alive_](void (Stdio::*what)()) {
    return [this, alive, what] {
      if (*alive) (this->*what)();
    };
  };
  if (grace.count() > 0) {
    loop_.after(grace, while_alive(&Stdio::finish));
    conversation_->when_idle(while_alive(&Stdio::all_answered));
  } else {
    loop_.post(while_alive(&Stdio::finish));
  }
}

// The last answers may still wait for the client to read them.
void Stdio::all_answered() {
  answered_ = true;
  if (unsent_.empty()) finish();
}

void Stdio::finish() {
  if (!on_end_) return;
  conversation_->cancel_all();
  std::exchange(on_end_, nullptr)();
}

}  // namespace ttyward::rpc
