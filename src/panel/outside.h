// What the panel needs from the world outside its sandbox, done by a small process of its own.
//
// The panel talks to browsers, so it runs confined: it opens no file, runs no program, makes no connection.
// Before that it starts this helper, its child, which does three things and no others, in the order asked:
//   - connect to the daemon's socket, and start a daemon where none runs; the panel gets the descriptor
//   - keep the sessions in their file
//   - open the first link in the person's browser
// The helper takes nothing from browsers, and no names of files from the panel. It ends when the panel does.
//
// Thread rule: reach() on any thread; the rest on the loop thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "client/connection.h"

namespace ttyward::panel {

class Outside {
 public:
  struct Places {
    client::Options daemon;     // how to reach it
    std::string folder;         // for the file that leads a browser to the link
    std::string sessions_file;  // empty: none
  };
  // Forks. To be called before there are threads, and before serve_only().
  static base::Result<std::unique_ptr<Outside>> start(Places places);
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  ~Outside() = default;  // closes the connection, which ends the helper

  // A socket that is connected to the daemon. Blocks.
  base::Result<base::UniqueFd> reach(const client::Options& options);
  // Does not wait: a file that cannot be written only means that pages need a new link after a restart.
  void keep_sessions(std::string_view text);
  // Opens the address in the person's browser.
  base::Result<void> open_link(const std::string& address);

 private:
  explicit Outside(base::UniqueFd socket) : socket_(std::move(socket)) {}

  std::mutex mutex_;  // one question at a time
  base::UniqueFd socket_;
};

}  // namespace ttyward::panel
