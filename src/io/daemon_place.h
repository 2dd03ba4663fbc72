// Where the daemon of a state folder is: the file `daemon.lock` in it.
//
// The daemon holds a lock on the file for its whole life, and the kernel takes it
// back when it dies, however it dies: so "running" is never a guess. Its first line
// is the folder of the daemon's socket; the second, for people, its pid.
//
// Thread rule: plain functions.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::io {

inline constexpr const char* kDaemonSocket = "daemon.sock";
inline constexpr const char* kDaemonLock = "daemon.lock";
inline constexpr const char* kDaemonStarting = "daemon.starting";

struct DaemonPlace {
  bool running = false;
  bool starting = false;  // somebody is about to start one
  std::string sockets;    // empty while it starts
};

// A process that starts a daemon holds a lock on the file `daemon.starting` until the daemon is there. Any
// number may do so at once; one of the daemons gets the place.
class StartingMark {
 public:
  explicit StartingMark(const std::string& state);

 private:
  base::UniqueFd file_;
};
// How a process that went to the background ends if the daemon was killed before it was ready.
inline constexpr int kExitKilledAtStart = 75;

// nullopt: there never was a daemon, or the file cannot be read.
std::optional<DaemonPlace> read_daemon_place(const std::string& state);

// Takes the lock, and keeps it until the descriptor is closed. AlreadyExists: a daemon has it.
base::Result<base::UniqueFd> lock_daemon_place(const std::string& state);
base::Result<void> write_daemon_place(int lock, const std::string& sockets);

}  // namespace ttyward::io
