// What an agent is told about its terminals between two steps: what runs, what is
// new, what has ended.
//
// Each reader is told of each line once. Before looking it pays to let things
// settle: CoolDown waits, for a bounded time, until nothing that runs is hot.
// Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/readers.h"
#include "engine/terminal.h"
#include "io/loop.h"

namespace ttyward::engine {

struct CommandNews {
  terminal::CommandResult facts;  // without output
  ReadResult output;              // new for this reader
};

struct TerminalNews {
  std::string id;
  std::string name;
  std::string cwd;
  bool active = false;  // busy
  bool hot = false;
  std::optional<CommandNews> running;
  std::vector<CommandNews> finished;  // those with output this reader has not seen
  size_t left_out = 0;                // more of them, for which there was no room: they stay unread
};

struct EnvironmentDetails {
  std::string text;
  std::vector<TerminalNews> active;
  std::vector<TerminalNews> inactive;  // only those with something new
  size_t left_out = 0;                 // terminals beyond the most that are told of
};

// `view` limits the output of all commands together; of each, a part of it. What is told counts as read.
// Commands whose output describe_environment() will read: whoever calls it has them made first
// (Terminal::when_output_ready()).
std::vector<std::string> unread_commands(const std::vector<Terminal*>& terminals, const Readers& readers,
                                         const std::string& reader);
EnvironmentDetails describe_environment(const std::vector<Terminal*>& terminals, Readers& readers,
                                        const std::string& reader, const terminal::ViewLimits& view);

class CoolDown {
 public:
  using Terminals = std::function<std::vector<Terminal*>()>;
  static constexpr std::chrono::milliseconds kMost{5000};

  // `done` is called once, from the loop. `edited`: a file was just written, so compilers that watch get a
  // moment to notice. Destroying it cancels.
  CoolDown(io::Loop& loop, Terminals terminals, bool edited, std::chrono::milliseconds most,
           std::function<void()> done);
  CoolDown(const CoolDown&) = delete;
  CoolDown& operator=(const CoolDown&) = delete;
  ~CoolDown() { loop_.cancel(timer_); }

 private:
  void look();

  io::Loop& loop_;
  Terminals terminals_;
  std::chrono::steady_clock::time_point give_up_;
  std::function<void()> done_;
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::engine
