// Who is told that a terminal changed, and when.
//
// Changes are collected and told once, from the loop, never from within the call
// that caused them. Bytes are told at once, in order. Thread rule: the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/command.h"
#include "io/loop.h"

namespace ttyward::engine {

class Terminal;

// What changed; several at once.
enum Change : uint32_t {
  kOutput = 1U << 0,
  kCommandStarted = 1U << 1,
  kCommandState = 1U << 2,  // awaits input, or not any more
  kCommandFinished = 1U << 3,
  kPrompt = 1U << 4,  // a command may be sent
  kMeta = 1U << 5,    // name, task, cwd, title, lease, loan, integration
  kClosed = 1U << 6,
  kReady = 1U << 7,      // started: usable, or known to be without integration
  kUnwatched = 1U << 8,  // it has ended, and one less waits to be told
};

class Watcher {
 public:
  virtual void on_change(Terminal& terminal, uint32_t changes) = 0;
  // Bytes of a command's output as they are read. Must not call the terminal.
  virtual void on_command_bytes(const Command& command, std::string_view bytes) {
    (void)command;
    (void)bytes;
  }
  // All bytes, from `offset` on. Must not call the terminal.
  virtual void on_bytes(uint64_t offset, std::string_view bytes) {
    (void)offset;
    (void)bytes;
  }
  // Last call: the terminal is being destroyed and must not be called any more.
  virtual void on_destroyed() {}

 protected:
  ~Watcher() = default;
};

class Watchers {
 public:
  Watchers(io::Loop& loop, Terminal& terminal) : loop_(loop), terminal_(terminal) {}
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;
  ~Watchers() { *alive_ = false; }

  void add(Watcher& watcher) { watchers_.push_back(&watcher); }
  // Also while watchers are being told.
  void remove(Watcher& watcher);
  bool any_beside(const Watcher& me) const;

  void changed(uint32_t changes);
  // The terminal is being destroyed: the last call.
  void destroyed();
  void bytes(uint64_t offset, std::string_view bytes);
  void command_bytes(const Command& command, std::string_view bytes);

 private:
  void tell();

  io::Loop& loop_;
  Terminal& terminal_;
  std::vector<Watcher*> watchers_;  // null: it left while others were being told
  uint32_t changes_ = 0;            // not told yet
  bool posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::engine
