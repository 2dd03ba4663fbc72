// `ttyward --host ssh:HOST VERB …`: the verb talks to the daemon of another machine.
//
// Its socket is forwarded to a private folder here, which takes the place of our own for this process. A
// connection that comes through sshd is an agent's for the daemon there; a person brings the token that is
// kept there, which the login can read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pty/child.h"

namespace ttyward::cli {

class RemoteHost {
 public:
  // Changes this process's environment, so that whatever connects to a daemon connects to that one.
  static base::Result<RemoteHost> connect(const std::string& place);
  RemoteHost(RemoteHost&&) noexcept = default;
  RemoteHost& operator=(RemoteHost&&) = delete;
  RemoteHost(const RemoteHost&) = delete;
  RemoteHost& operator=(const RemoteHost&) = delete;
  ~RemoteHost();

 private:
  RemoteHost(std::string folder, pty::Child forward)
      : folder_(std::move(folder)), forward_(std::move(forward)) {}

  std::string folder_;
  std::optional<pty::Child> forward_;
};

// Whether the verb does its work in the daemon, so that it means the same with that of another machine.
bool works_with_host(std::string_view verb);

// Whether this process talks to the daemon of another machine.
bool talks_to_host();

// Takes `--host PLACE` out of the words before the verb. Empty: it is not there.
std::string take_host(std::vector<char*>& words);

}  // namespace ttyward::cli
