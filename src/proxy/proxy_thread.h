// A proxy on a thread of its own, for programs that have no io::Loop.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/loop.h"
#include "proxy/proxy.h"

namespace ttyward::proxy {

class ProxyThread {
 public:
  // As Proxy::listen.
  static base::Result<std::unique_ptr<ProxyThread>> start(const std::string& path, AllowList allowed,
                                                          std::optional<std::pair<uid_t, gid_t>> owner = {});
  ~ProxyThread();
  ProxyThread(const ProxyThread&) = delete;
  ProxyThread& operator=(const ProxyThread&) = delete;

  // Ends it; what it refused. A second call answers the same.
  const std::vector<RefusedHost>& stop();

 private:
  ProxyThread(std::unique_ptr<io::Loop> loop, std::unique_ptr<SystemResolver> resolver,
              std::unique_ptr<Proxy> proxy);

  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<SystemResolver> resolver_;
  std::unique_ptr<Proxy> proxy_;
  std::thread thread_;
};

}  // namespace ttyward::proxy
