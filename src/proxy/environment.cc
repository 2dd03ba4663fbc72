#include "proxy/environment.h"

#include <utility>

namespace ttyward::proxy {

std::vector<std::string> proxy_environment(uint16_t port) {
  const std::string at = "127.0.0.1:" + std::to_string(port);
  const std::string http = "http://" + at;
  const std::string direct = "localhost,127.0.0.1,::1";
  return {
      // Programs differ in which case they read; curl reads only the lower one of http_proxy.
      "http_proxy=" + http,
      "HTTP_PROXY=" + http,
      "https_proxy=" + http,
      "HTTPS_PROXY=" + http,
      // Not socks5h, which the proxy speaks as well: Python's httpx stops at it where a package is missing.
      "all_proxy=" + http,
      "ALL_PROXY=" + http,
      "no_proxy=" + direct,
      "NO_PROXY=" + direct,
      // npm and yarn
      "npm_config_proxy=" + http,
      "npm_config_https_proxy=" + http,
      "npm_config_noproxy=" + direct,
      "YARN_HTTP_PROXY=" + http,
      "YARN_HTTPS_PROXY=" + http,
      // node's own fetch, from version 24 on
      "NODE_USE_ENV_PROXY=1",
      "PIP_PROXY=" + http,
      "CARGO_HTTP_PROXY=" + http,
      "grpc_proxy=" + http,
      // git over ssh: nc of OpenBSD speaks SOCKS5
      "GIT_SSH_COMMAND=ssh -o ProxyCommand='nc -X 5 -x " + at + " %h %p'",
  };
}

void add_proxy_environment(std::vector<std::string>& environment, uint16_t port) {
  for (std::string& variable : proxy_environment(port)) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(environment, [&](const std::string& each) { return each.starts_with(name); });
    environment.push_back(std::move(variable));
  }
}

}  // namespace ttyward::proxy
