// What a peer becomes when it connects: a person, an agent with its session, a viewer, a dialogue.
//
// A person has to be certain: by where its process comes from, or by the person's token. Thread rule: the
// loop's thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "app/services.h"
#include "base/folders.h"
#include "daemon/sessions.h"
#include "wire/messages.h"
#include "wire/types/terminal_calls.h"

namespace ttyward::daemon {

class Admissions {
 public:
  Admissions(const base::Folders& folders, app::Services& services);

  // `pid` is 0 for a process that is gone or cannot be named.
  app::Admission admit(pid_t pid, wire::Role asked, const wire::Hello& hello);
  // The token that a hello may bring; made if there is none.
  base::Result<wire::TokenFile> person_token(const app::Caller& caller,
                                             const wire::PersonTokenRequest& request);

 private:
  const std::string token_file_;
  app::Services& services_;
  Sessions sessions_;
  std::string person_token_;  // empty: there is none
};

}  // namespace ttyward::daemon
