// Proxies of sandboxes that have a list of hosts: one for each command or terminal, on the daemon's loop.
#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/folders.h"
#include "base/result.h"
#include "io/loop.h"
#include "proxy/proxy.h"
#include "sandbox/plan.h"

namespace ttyward::app {

// Where the proxy of a command or terminal listens.
std::string proxy_socket(const base::Folders& folders, const std::string& id);
// Who uses it, if not we.
std::optional<std::pair<uid_t, gid_t>> proxy_user(const sandbox::Plan& plan);
class SandboxProxies {
 public:
  SandboxProxies(io::Loop& loop, base::Folders folders)
      : folders_(std::move(folders)), loop_(loop), resolver_(loop) {}

  // Starts one if the plan needs it, and puts its socket into the plan.
  base::Result<void> start(const std::string& id, sandbox::Plan& plan);
  // The same for a terminal that has no id yet: the id of the proxy, which is empty if it needs none.
  base::Result<std::string> start_unnamed(std::optional<sandbox::Plan>& plan);
  // Gives one that was started before its terminal the terminal's id.
  void rename(const std::string& id, const std::string& to);
  // "network example.com:443 (why)", each once; also of one that ended not long ago.
  std::vector<std::string> refused(const std::string& id) const;
  void end(const std::string& id);

 private:
  base::Folders folders_;
  io::Loop& loop_;
  proxy::SystemResolver resolver_;
  std::map<std::string, std::unique_ptr<proxy::Proxy>> proxies_;
  std::map<std::string, std::vector<std::string>> ended_;  // what those refused that ended last
  std::deque<std::string> ended_order_;
};

}  // namespace ttyward::app
