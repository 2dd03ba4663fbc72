// Unix sockets in private folders: of the holders, the daemon, the links and the proxy.
#pragma once

#include <sys/un.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::io {

// A socket address holds 107 characters, and a folder may be deeper than that; by way of the folder's
// descriptor it is always short.
sockaddr_un socket_address(int folder, const std::string& file);

enum class Blocking : uint8_t { No, Yes };

// A socket 0600 that listens; `shown` is its path for people. The file must not exist.
base::Result<base::UniqueFd> listen_in(int folder, const std::string& file, const std::string& shown,
                                       int backlog, Blocking blocking = Blocking::No);
// `failure` is what the error says.
base::Result<base::UniqueFd> connect_in(int folder, const std::string& file, const std::string& failure,
                                        Blocking blocking = Blocking::No);
// Whether the other end belongs to us.
bool same_user(int socket);

}  // namespace ttyward::io
