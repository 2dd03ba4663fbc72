#include "io/poller.h"

#include <array>
#include <cerrno>

namespace ttyward::io {

namespace {
constexpr int kEventsAtOnce = 32;
}

base::Result<Poller> Poller::create() {
  Poller poller;
  poller.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller.epoll_) return base::fail_errno(errno, "cannot make an epoll descriptor");
  return poller;
}

base::Result<void> Poller::add(int fd, uint32_t events, Handler& told) {
  if (fd < 0) return base::fail(base::ErrorCode::InvalidArgument, "not a descriptor");
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return base::fail_errno(errno, "cannot watch a descriptor");
  }
  if (static_cast<size_t>(fd) >= handlers_.size()) handlers_.resize(static_cast<size_t>(fd) + 1);
  handlers_[static_cast<size_t>(fd)] = &told;
  return {};
}

Poller::Handler* Poller::handler(int fd) const {
  return fd >= 0 && static_cast<size_t>(fd) < handlers_.size() ? handlers_[static_cast<size_t>(fd)] : nullptr;
}

void Poller::change(int fd, uint32_t events, Handler& told) {
  if (handler(fd) == nullptr) return;
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  handlers_[static_cast<size_t>(fd)] = &told;
}

void Poller::remove(int fd) {
  if (handler(fd) == nullptr) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  handlers_[static_cast<size_t>(fd)] = nullptr;
}

void Poller::wait(int timeout_ms) {
  std::array<epoll_event, kEventsAtOnce> events;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, timeout_ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    // Removed by a handler told before it, in this very round: nobody to tell.
    if (Handler* told = handler(event.data.fd)) told->on_ready(event.data.fd, event.events);
  }
}

}  // namespace ttyward::io
