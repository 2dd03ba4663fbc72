// Which secret proves which session: the first client that uses a name owns it.
//
// A file of lines "HASH NAME" in the state folder, so that names stay owned when the daemon is replaced. Only
// hashes are kept: reading the file does not make anybody an agent. Thread rule: the loop's.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace ttyward::daemon {

inline constexpr size_t kLeastSecret = 16;

class Sessions {
 public:
  // Those that are known. A file that cannot be read means that none is, and is told.
  static base::Result<Sessions> open(const std::string& path);
  Sessions() = default;

  struct Proof {
    std::string doubt;    // why this is not the agent whose session that is; empty: it is
    bool joined = false;  // by the secret for joining (base/join_secret.h): it does not own the session
  };
  // A new name is owned from now on.
  Proof prove(const std::string& name, const std::string& secret);

 private:
  void keep(const std::string& name, const std::string& hash);

  std::string path_;                          // empty: nothing is kept
  std::map<std::string, std::string> known_;  // name → hash, in hexadecimal
};

}  // namespace ttyward::daemon
