#include "acp/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "rpc/message.h"

namespace ttyward::acp {
namespace {

constexpr size_t kReadSize = 64 << 10;
constexpr size_t kCompact = 1 << 20;  // sent bytes that are removed together

}  // namespace

Channel::Channel(io::Loop& loop, int in, int out, Events events)
    : loop_(loop), in_(in), out_(out), events_(std::move(events)), input_(rpc::kMaxMessage) {
  struct stat status{};
  if (::fstat(out, &status) != 0) return;
  out_is_socket_ = S_ISSOCK(status.st_mode);
  if (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(out);
  own_out_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (own_out_) out_ = own_out_.get();
}

base::Result<std::unique_ptr<Channel>> Channel::start(io::Loop& loop, int in, int out, Events events) {
  std::unique_ptr<Channel> channel(new Channel(loop, in, out, std::move(events)));
  const auto added = loop.poller().add(in, EPOLLIN, *channel);
  channel->reading_ = added.has_value();
  if (added) return channel;
  if (added.error().sys_errno != EPERM) return tl::unexpected(added.error());
  // epoll refuses regular files (EPERM), which are always readable: read from posted tasks instead.
  channel->is_file_ = true;
  loop.post([self = channel.get(), alive = channel->alive_] {
    if (*alive) self->read_file();
  });
  return channel;
}

Channel::~Channel() {
  *alive_ = false;
  close_input();
  watch_output(false);
}

void Channel::on_ready(int fd, uint32_t events) {
  // A pipe whose reader is gone says so by EPOLLERR, whoever waits for what.
  if (fd == out_ && writing_ && fd != in_) return flush();
  if (fd == in_ && fd == out_ && writing_ && (events & EPOLLOUT) != 0) flush();
  if (reading_) read_some();
}

bool Channel::read_some() {
  char bytes[kReadSize];
  const ssize_t got = ::read(in_, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  const std::shared_ptr<bool> alive = alive_;
  if (got <= 0) {
    close_input();
    // The last message may come without a line end.
    if (const auto line = input_.rest()) events_.line(*line);
    if (*alive) events_.end_of_input();
    return false;
  }
  input_.push({bytes, static_cast<size_t>(got)});
  while (const auto line = input_.next()) {
    events_.line(*line);
    if (!*alive || input_ended_) return false;
  }
  return true;
}

void Channel::read_file() {
  if (input_ended_ || stopped_ || !read_some()) return;
  loop_.post([this, alive = alive_] {
    if (*alive) read_file();
  });
}

void Channel::read_rest() {
  const std::shared_ptr<bool> alive = alive_;
  while (*alive && !input_ended_) {
    pollfd entry{in_, POLLIN, 0};
    if (::poll(&entry, 1, 0) <= 0 || !read_some()) return;
  }
}

void Channel::pause(bool paused) {
  paused_ = paused;
  listen();
}

void Channel::listen() {
  const bool stop = paused_ || full_;
  if (stop == stopped_) return;
  stopped_ = stop;
  if (input_ended_) return;
  if (is_file_) {
    if (!stop)
      loop_.post([this, alive = alive_] {
        if (*alive) read_file();
      });
    return;
  }
  if (stop && reading_) loop_.poller().remove(in_);
  if (!stop && !reading_) static_cast<void>(loop_.poller().add(in_, EPOLLIN, *this));
  reading_ = !stop;
}

void Channel::close_input() {
  if (reading_) loop_.poller().remove(in_);
  reading_ = false;
  input_ended_ = true;
}

void Channel::close_output() {
  watch_output(false);
  gone_ = true;
  unsent_.clear();
  sent_ = 0;
  own_out_.reset();
}

void Channel::send(std::string_view line) {
  if (gone_) return;
  unsent_ += line;
  unsent_ += '\n';
  flush();
}

void Channel::flush() {
  bool blocked = false;
  bool broken = false;
  while (sent_ < unsent_.size()) {
    const char* const data = unsent_.data() + sent_;
    const size_t size = unsent_.size() - sent_;
    const ssize_t written =
        out_is_socket_ ? ::send(out_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL) : ::write(out_, data, size);
    if (written > 0) {
      sent_ += static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      blocked = written < 0 && errno == EAGAIN;
      broken = !blocked;
      break;
    }
  }
  if (sent_ == unsent_.size() || sent_ > kCompact) {
    unsent_.erase(0, sent_);
    sent_ = 0;
  }
  watch_output(blocked);
  if (broken) {
    gone_ = true;
    unsent_.clear();
    sent_ = 0;
    loop_.post([this, alive = alive_] {
      if (*alive && events_.gone) events_.gone();
    });
  }
  const size_t waiting = unsent_.size() - sent_;
  full_ = full_ ? waiting > kFull / 2 : waiting > kFull;
  listen();
  const bool pressed = pressed_ ? waiting > kPressure / 2 : waiting > kPressure;
  if (pressed != pressed_) {
    pressed_ = pressed;
    if (events_.pressure) events_.pressure(pressed);
  }
}

void Channel::watch_output(bool wanted) {
  if (wanted == writing_) return;
  writing_ = wanted;
  if (out_ == in_) {
    if (reading_) loop_.poller().change(in_, EPOLLIN | (wanted ? EPOLLOUT : 0u), *this);
  } else if (wanted) {
    writing_ = loop_.poller().add(out_, EPOLLOUT, *this).has_value();
  } else {
    loop_.poller().remove(out_);
  }
}

}  // namespace ttyward::acp
