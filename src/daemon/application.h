// What a daemon process is made of: the part that knows what calls mean.
//
// daemon/process.h runs the life around it: lock, socket, signals, log, end.
// Thread rule: everything on the loop's thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/folders.h"
#include "base/result.h"
#include "daemon/call_handler.h"
#include "daemon/server.h"
#include "io/log.h"
#include "io/loop.h"

namespace ttyward::daemon {

enum class Terminals : uint8_t { LiveOn, Kill };

// What an application may ask of the process it lives in.
class Process {
 public:
  virtual ~Process() = default;
  virtual const base::Folders& folders() const = 0;
  virtual io::Log& log() = 0;
  virtual int64_t started_at() const = 0;  // milliseconds since the epoch
  // The umask of the process that started the daemon, for commands. The daemon's own is 077.
  virtual mode_t user_umask() const = 0;
  // Ends the daemon in good order, soon; a second time changes nothing.
  virtual void request_stop(Terminals terminals) = 0;
};

class Application : public CallHandler {
 public:
  // Before the first call is delivered; clients may be waiting by then. An error ends the daemon.
  virtual base::Result<void> start(io::Loop& loop, Server& server) = 0;
  // Reads the configuration again; returns its errors.
  virtual std::vector<std::string> reload() = 0;
  // No new calls come any more. `done` must be called once, in the end.
  virtual void stop(bool kill_terminals, std::function<void()> done) = 0;
};

using MakeApplication = std::function<std::unique_ptr<Application>(Process& process)>;

}  // namespace ttyward::daemon
