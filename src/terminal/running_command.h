// A running command as CommandRun sees it: held in this process, or by a holder of its own.
//
// Passive, as hold::Holder is: it registers with the poller it was made with, and
// the owner calls turn() after each wait. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hold/holder.h"
#include "io/poller.h"
#include "journal/folder.h"
#include "pty/process_tree.h"
#include "pty/run_state.h"
#include "pty/spawn.h"

namespace ttyward::terminal {

class RunningCommand {
 public:
  using Clock = std::chrono::steady_clock;
  using Started = tl::expected<std::unique_ptr<RunningCommand>, pty::SpawnError>;

  virtual ~RunningCommand() = default;

  virtual void turn(Clock::time_point now) = 0;
  virtual std::optional<Clock::time_point> deadline() const = 0;

  virtual base::Result<void> send_input(std::string_view bytes) = 0;
  virtual base::Result<void> close_input() = 0;
  virtual base::Result<void> resize(const pty::WindowSize& size) = 0;
  virtual base::Result<void> interrupt() = 0;
  virtual void terminate(std::vector<pty::KillRung> rungs, Clock::time_point now) = 0;

  virtual pty::Provider provider() const = 0;
  virtual const std::string& fallback_reason() const = 0;
  virtual pid_t child_pid() const = 0;
  virtual size_t input_waiting() const = 0;
  // As of the last turn: once there is an exit, all that the command itself printed is below the end.
  virtual uint64_t end() const = 0;
  virtual uint64_t dropped() const = 0;
  virtual uint64_t allocated() const = 0;  // bytes of its journal
  virtual const std::optional<journal::ExitRecord>& exit() const = 0;
  virtual bool closed() const = 0;
  virtual std::vector<pty::ProcessInfo> processes() = 0;
  virtual pty::RunState run_state(pty::AlternateScreen screen) = 0;
  // Null where it is held by another process.
  virtual const hold::Holder* holder() const = 0;
};

// In this process: it ends with us.
RunningCommand::Started start_own_command(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                                          hold::HoldSpec spec, hold::Scope scope);

// In a process of its own, which keeps it and its terminal whatever becomes of us.
struct HolderPlace {
  std::string program;  // path of ttyward-hold
  std::string sockets;  // folder
};
RunningCommand::Started start_held_command(io::Poller& poller, const std::shared_ptr<journal::Folder>& folder,
                                           hold::HoldSpec spec, const HolderPlace& place);

}  // namespace ttyward::terminal
