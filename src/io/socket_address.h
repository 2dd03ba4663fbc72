// The address of a socket in a folder, whatever the length of the folder's path.
#pragma once

#include <sys/un.h>

#include <string>

namespace ttyward::io {

// A socket address holds 107 characters, and a folder may be deeper than that;
// by way of the folder's descriptor it is always short.
inline sockaddr_un socket_address(int folder, const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(folder) + "/" + file;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

}  // namespace ttyward::io
