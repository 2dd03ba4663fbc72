#include "daemon/socket_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ttyward::daemon {

base::Result<std::unique_ptr<SocketWatch>> SocketWatch::watch(io::Loop& loop, const std::string& folder,
                                                              std::function<void()> told) {
  base::UniqueFd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) return base::fail_errno(errno, "cannot watch folders");
  constexpr uint32_t kGone = IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF;
  if (::inotify_add_watch(fd.get(), folder.c_str(), kGone | IN_ONLYDIR) < 0) {
    return base::fail_errno(errno, "cannot watch " + folder);
  }
  const int number = fd.get();
  std::unique_ptr<SocketWatch> watch(new SocketWatch(loop, std::move(fd), std::move(told)));
  if (auto added = loop.poller().add(number, EPOLLIN, *watch); !added) return tl::unexpected(added.error());
  return watch;
}

SocketWatch::~SocketWatch() {
  loop_.poller().remove(fd_.get());
}

void SocketWatch::on_ready(int fd, uint32_t /*events*/) {
  alignas(inotify_event) std::array<char, 4096> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  bool any = false;
  while (::read(fd, buffer.data(), buffer.size()) > 0) any = true;
  if (any) loop_.post(told_);  // posted, because the callback may replace this watch
}

}  // namespace ttyward::daemon
