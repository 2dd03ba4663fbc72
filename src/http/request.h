// An HTTP request, as it was read.
//
// A value: no socket. Boost stays in connection.cc and server.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttyward::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Header names do not care about case.
bool same_name(std::string_view a, std::string_view b);

struct Request {
  std::string method;
  std::string target;
  Headers headers;
  std::string body;
  bool keep_alive = true;
  bool is_upgrade = false;  // asks for a WebSocket

  // By name, without space around it. Null if it is missing or there more than once.
  std::optional<std::string> header(std::string_view name) const;
  size_t count(std::string_view name) const;
  // Null if it is missing or there more than once: then nobody knows which one is ours.
  std::optional<std::string> cookie(std::string_view name) const;
};

}  // namespace ttyward::http
