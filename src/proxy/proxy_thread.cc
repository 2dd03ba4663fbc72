#include "proxy/proxy_thread.h"

#include <csignal>

#include "base/thread.h"

namespace ttyward::proxy {

ProxyThread::ProxyThread(std::unique_ptr<io::Loop> loop, std::unique_ptr<SystemResolver> resolver,
                         std::unique_ptr<Proxy> proxy)
    : loop_(std::move(loop)), resolver_(std::move(resolver)), proxy_(std::move(proxy)) {}

base::Result<std::unique_ptr<ProxyThread>> ProxyThread::start(const std::string& path, AllowList allowed,
                                                              std::optional<std::pair<uid_t, gid_t>> owner) {
  auto loop = io::Loop::create();
  if (!loop) return tl::unexpected(loop.error());
  auto resolver = std::make_unique<SystemResolver>(**loop);
  auto proxy = Proxy::listen(**loop, *resolver, path, std::move(allowed), {}, owner);
  if (!proxy) return tl::unexpected(proxy.error());
  std::unique_ptr<ProxyThread> made(
      new ProxyThread(std::move(*loop), std::move(resolver), std::move(*proxy)));
  // Signals are for the other threads: one that this thread took would be lost to whoever waits for it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  auto thread = base::start_thread([running = made->loop_.get()] { running->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread) return tl::unexpected(thread.error());
  made->thread_ = std::move(*thread);
  return made;
}

const std::vector<RefusedHost>& ProxyThread::stop() {
  if (thread_.joinable()) {
    loop_->stop();
    thread_.join();
  }
  return proxy_->refused();
}

ProxyThread::~ProxyThread() {
  stop();
}

}  // namespace ttyward::proxy
