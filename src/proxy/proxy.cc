#include "proxy/proxy.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/private_folder.h"
#include "io/local_socket.h"
#include "proxy/connection.h"

namespace ttyward::proxy {

using base::fail_errno;
using base::Result;
using base::UniqueFd;

namespace {

constexpr int kBacklog = 64;
// After an accept that failed, for lack of descriptors most likely.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

std::string RefusedHost::text() const {
  return "network " + host + (port != 0 ? ":" + std::to_string(port) : "") + " (" + why + ")";
}

Result<std::unique_ptr<Proxy>> Proxy::listen(io::Loop& loop, Resolver& resolver, const std::string& path,
                                             AllowList allowed, const Limits& limits,
                                             std::optional<std::pair<uid_t, gid_t>> owner) {
  const size_t slash = path.rfind('/');
  auto folder = base::open_private_folder(path.substr(0, slash), base::IfMissing::Create);
  if (!folder) return tl::unexpected(folder.error());
  const std::string file = path.substr(slash + 1);
  struct stat info{};
  if (::fstatat(folder->get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(info.st_mode))
    ::unlinkat(folder->get(), file.c_str(), 0);
  auto listener = io::listen_in(folder->get(), file, "the socket of the sandbox's proxy, " + path, kBacklog);
  if (!listener) return tl::unexpected(listener.error());
  if (owner && ::geteuid() == 0 &&
      ::fchownat(folder->get(), file.c_str(), owner->first, owner->second, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno(errno, "cannot set the owner of " + path);
  std::unique_ptr<Proxy> made(
      new Proxy(loop, resolver, path, std::move(allowed), limits, std::move(*listener)));
  made->watch_listener();
  return made;
}

Proxy::Proxy(io::Loop& loop, Resolver& resolver, std::string path, AllowList allowed, const Limits& limits,
             UniqueFd listener)
    : loop_(loop),
      resolver_(resolver),
      path_(std::move(path)),
      allowed_(std::move(allowed)),
      limits_(limits),
      listener_(std::move(listener)) {}

Proxy::~Proxy() {
  loop_.cancel(pause_);
  if (listening_) loop_.poller().remove(listener_.get());
  connections_.clear();
  ::unlink(path_.c_str());
}

void Proxy::watch_listener() {
  const bool wanted = connections_.size() < limits_.connections && pause_ == 0;
  if (wanted == listening_) return;
  if (!wanted) {
    loop_.poller().remove(listener_.get());
    listening_ = false;
  } else {
    listening_ = loop_.poller().add(listener_.get(), EPOLLIN, *this).has_value();
  }
}

void Proxy::on_ready(int /*fd*/, uint32_t /*events*/) {
  while (connections_.size() < limits_.connections) {
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) {
      if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) break;
      pause_ = loop_.after(kAcceptPause, [this] {
        pause_ = 0;
        watch_listener();
      });
      break;
    }
    const uint64_t number = ++last_;
    auto connection = std::make_shared<Connection>(*this, number, std::move(client));
    connections_.emplace(number, connection);
    connection->start();
  }
  watch_listener();
}

void Proxy::end(uint64_t number) {
  connections_.erase(number);
  watch_listener();
}

void Proxy::remember(const std::string& host, uint16_t port, const std::string& why) {
  const auto known = std::find_if(refused_.begin(), refused_.end(), [&](const RefusedHost& each) {
    return each.host == host && each.port == port;
  });
  if (known != refused_.end()) {
    known->times++;
  } else if (refused_.size() < limits_.refusals) {
    refused_.push_back({host, port, why, 1});
  }
}

}  // namespace ttyward::proxy
