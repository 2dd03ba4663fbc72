// Who watches: subscriptions to events, and people at the screen of a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "daemon/engine_application.h"
#include "engine/viewer.h"

namespace ttyward::daemon {

inline constexpr size_t kMostSubscriptions = 64;  // of one connection
inline constexpr std::chrono::milliseconds kOutputEvery{100};
inline constexpr uint64_t kMostEventText = 16'000;  // characters; what is left out of the middle is counted

struct EngineApplication::Subscription {
  struct Throttle {
    std::chrono::steady_clock::time_point sent;
    bool due = false;
    terminal::LineNumber told = 0;  // with text: the lines up to here
  };
  Caller caller;
  bool answers = false;         // a person who asked to hear of questions
  std::string terminal;         // empty: all
  std::set<std::string> kinds;  // empty: all
  bool text = false;            // events of output carry it
  uint64_t missed = 0;          // while its reader did not read
  std::map<std::string, Throttle> output;
};

struct EngineApplication::Attachment {
  uint64_t connection = 0;
  std::string terminal;
  bool writable = false;
  bool paused = false;  // its reader does not read: the next frame is whole
  std::unique_ptr<engine::Viewer> viewer;
};

}  // namespace ttyward::daemon
