// What tells programs to use the proxy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ttyward::proxy {

// NAME=value for a proxy on this port of 127.0.0.1.
std::vector<std::string> proxy_environment(uint16_t port);
// Adds them to a whole environment, in place of those of the same name.
void add_proxy_environment(std::vector<std::string>& environment, uint16_t port);

}  // namespace ttyward::proxy
