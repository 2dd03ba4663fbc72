// What the daemon does with a call. The server knows the protocol, a handler the meaning.
// Thread rule: everything on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "app/caller.h"
#include "daemon/responder.h"
#include "wire/messages.h"

namespace ttyward::daemon {

using app::Admission;
using app::Caller;
using wire::Role;
using wire::role_name;
using wire::role_named;

class CallHandler {
 public:
  virtual ~CallHandler() = default;

  // Answers now or later, once, through `responder`.
  virtual void call(const Caller& caller, const std::string& name, boost::json::object args,
                    Responder responder) = 0;
  // After its calls were cancelled. Only for connections that were welcomed.
  virtual void connection_closed(uint64_t connection) = 0;
  // What a peer becomes. `pid` is 0 for one whose process is gone or cannot be named.
  virtual Admission admit(pid_t pid, Role asked, const wire::Hello& hello) = 0;
  // What every person who connects has to know before anything else.
  virtual std::vector<std::string> notices() { return {}; }
};

}  // namespace ttyward::daemon
