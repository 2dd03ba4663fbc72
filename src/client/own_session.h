// A session of the daemon that is ours: its name, and the secret that proves it.
#pragma once

#include <string>

#include "base/folders.h"
#include "base/result.h"

namespace ttyward::client {

struct OwnSession {
  std::string name;
  std::string secret;
};

// One that nobody else finds again. Its name begins with `kind`.
OwnSession new_session(char kind);
// One that every process of this user finds under this name: its secret is in a file.
base::Result<OwnSession> named_session(const base::Folders& folders, const std::string& name);
// Lets processes that know only the name join the session as agents (base/join_secret.h): named_session()
// gives them the secret for that.
base::Result<void> let_join(const base::Folders& folders, const OwnSession& session);
// Removes the file: nobody joins the session from now on.
void forget_session(const base::Folders& folders, const std::string& name);

}  // namespace ttyward::client
