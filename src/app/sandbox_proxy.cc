#include "app/sandbox_proxy.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/ids.h"
#include "sandbox/stand_in.h"

namespace ttyward::app {

std::string proxy_socket(const base::Folders& folders, const std::string& id) {
  // Without links: the sandbox follows none.
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(folders.sockets(), failed);
  return (failed ? folders.sockets() : folder.string()) + "/proxies/" + id + ".sock";
}

std::optional<std::pair<uid_t, gid_t>> proxy_user(const sandbox::Plan& plan) {
  if (!plan.run_as) return std::nullopt;
  if (plan.run_as->stand_in) return std::pair(sandbox::kStandIn, gid_t{sandbox::kStandIn});
  return std::pair(plan.run_as->user, plan.run_as->group);
}

base::Result<void> SandboxProxies::start(const std::string& id, sandbox::Plan& plan) {
  if (plan.network != sandbox::Network::Proxy) return {};
  auto allowed = proxy::AllowList::parse(plan.hosts);
  if (!allowed) return tl::unexpected(allowed.error());
  plan.proxy_socket = proxy_socket(folders_, id);
  auto started =
      proxy::Proxy::listen(loop_, resolver_, plan.proxy_socket, std::move(*allowed), {}, proxy_user(plan));
  if (!started) return tl::unexpected(started.error());
  proxies_[id] = std::move(*started);
  return {};
}

base::Result<std::string> SandboxProxies::start_unnamed(std::optional<sandbox::Plan>& plan) {
  if (!plan || plan->network != sandbox::Network::Proxy) return std::string();
  std::string id = base::random_id('p');
  if (auto started = start(id, *plan); !started) return tl::unexpected(started.error());
  return id;
}

void SandboxProxies::rename(const std::string& id, const std::string& to) {
  auto node = proxies_.extract(id);
  if (node.empty()) return;
  node.key() = to;
  proxies_.insert(std::move(node));
}

std::vector<std::string> SandboxProxies::refused(const std::string& id) const {
  if (const auto found = ended_.find(id); found != ended_.end()) return found->second;
  std::vector<std::string> texts;
  const auto found = proxies_.find(id);
  if (found == proxies_.end()) return texts;
  for (const proxy::RefusedHost& each : found->second->refused()) texts.push_back(each.text());
  return texts;
}

void SandboxProxies::end(const std::string& id) {
  constexpr size_t kMostEnded = 256;
  if (!proxies_.contains(id)) return;
  if (std::vector<std::string> texts = refused(id); !texts.empty()) {
    ended_[id] = std::move(texts);
    ended_order_.push_back(id);
    if (ended_order_.size() > kMostEnded) {
      ended_.erase(ended_order_.front());
      ended_order_.pop_front();
    }
  }
  proxies_.erase(id);
}

}  // namespace ttyward::app
