// Getting to a daemon: connect to the one that runs, or start one and connect to that.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/private_folder.h"
#include "client/connection.h"
#include "client/inside_terminal.h"
#include "client/start_daemon.h"
#include "io/daemon_place.h"
#include "io/local_socket.h"

namespace ttyward::client {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kMostKilledStarts = 20;

// Whether the failure means that no daemon is there, and not that it must not be used.
bool nobody_there(const base::Error& error) {
  return error.sys_errno == ENOENT || error.sys_errno == ECONNREFUSED || error.sys_errno == ENOTDIR;
}

base::Result<base::UniqueFd> connect_to(const std::string& folder) {
  auto opened = base::open_private_folder(folder, base::IfMissing::Fail);
  if (!opened) return tl::unexpected(opened.error());
  const std::string shown = folder + "/" + io::kDaemonSocket;
  auto socket = io::connect_in(opened->get(), io::kDaemonSocket, "cannot connect to the daemon at " + shown);
  if (socket && !io::same_user(socket->get())) {
    return base::fail(base::ErrorCode::PermissionDenied,
                      "the process that listens at " + shown + " belongs to another user");
  }
  return socket;
}

// In our own runtime folder; else where the daemon of our state folder says it is:
// it may have been started with another runtime folder, or without one.
base::Result<base::UniqueFd> connect_to_daemon(const base::Folders& folders) {
  auto socket = connect_to(folders.sockets());
  if (socket || !nobody_there(socket.error())) return socket;
  const auto place = io::read_daemon_place(folders.state);
  if (!place || place->sockets == folders.sockets() || !place->running) return socket;
  auto elsewhere = connect_to(place->sockets);
  return elsewhere ? std::move(elsewhere) : std::move(socket);
}

}  // namespace

base::Result<base::UniqueFd> reach_daemon(const Options& options) {
  const auto until = Clock::now() + options.patience;
  milliseconds pause{2};
  int killed_starts = 0;
  for (;;) {
    auto socket = connect_to_daemon(options.folders);
    if (socket) return socket;
    // EAGAIN: its queue is full of clients that it has not accepted yet.
    const bool nobody = nobody_there(socket.error());
    if (!nobody && socket.error().sys_errno != EAGAIN) return tl::unexpected(socket.error());
    const auto place = io::read_daemon_place(options.folders.state);
    const bool running = place && (place->running || place->starting);
    if (nobody && !running && !options.start_daemon) {
      return base::fail(base::ErrorCode::NotFound,
                        "no daemon is running; start one with: ttyward daemon run");
    }
    if (Clock::now() >= until) {
      return base::fail(base::ErrorCode::Unavailable,
                        "the daemon did not get ready in time; see " + options.folders.state + "/daemon.log");
    }
    if (nobody && !(place && place->running) && options.start_daemon) {
      if (is_inside_a_terminal(options.folders)) {
        return base::fail(base::ErrorCode::Unavailable,
                          "no daemon is running, and a daemon started inside a terminal would end with that "
                          "terminal; start it outside, with: ttyward daemon run --detach");
      }
      const io::StartingMark mark(options.folders.state);
      auto started = start_daemon(options.program, options.folders, until);
      // Killed by somebody as it came up: the next one may live. One that cannot come up says why, and is not
      // tried again.
      const bool again =
          !started && started.error().sys_errno == EINTR && ++killed_starts <= kMostKilledStarts;
      if (!started && !again) return tl::unexpected(started.error());
      continue;
    }
    // Somebody else is starting it, or ending it, right now.
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(50));
  }
}

base::Result<Connection> Connection::open(const Options& options) {
  const auto until = Clock::now() + options.patience;
  milliseconds pause{2};
  Options rest = options;
  for (;;) {
    rest.patience = std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(1));
    auto socket = options.reach ? options.reach(rest) : reach_daemon(rest);
    if (!socket) return tl::unexpected(socket.error());
    rest.patience = std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(1));
    auto greeted = greet(std::move(*socket), rest);
    // Closed without a word: it was ending, or was killed. The next one is asked.
    const bool ended = !greeted && greeted.error().sys_errno == ECONNRESET && Clock::now() < until;
    if (!ended) return greeted;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, milliseconds(50));
  }
}

Probe probe(const base::Folders& folders, milliseconds patience) {
  Probe result;
  result.socket = folders.sockets() + "/" + io::kDaemonSocket;
  Options options;
  options.folders = folders;
  options.role = "viewer";
  options.client = "ttyward probe";
  options.start_daemon = false;
  options.patience = patience;
  auto connection = Connection::open(options);
  if (!connection) {
    result.why_not = connection.error().message;
    return result;
  }
  result.reachable = true;
  result.version = connection->welcome().version;
  result.pid = connection->welcome().pid;
  return result;
}

}  // namespace ttyward::client
