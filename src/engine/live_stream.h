// A command's output for a caller who wants it as it comes, in parts.
//
// Finished lines, at most one part every 100 ms; a part at once when the command's
// state changes, with everything printed before it. Of a flood each part has so
// much and says how much was left out: the result has it all. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/terminal.h"
#include "io/loop.h"
#include "terminal/live_lines.h"
#include "terminal/text_decoder.h"

namespace ttyward::engine {

struct StreamPart {
  std::string output;  // whole lines; the last one of all may have had no end
  std::optional<terminal::CommandState> state;
  std::optional<terminal::WaitingFor> waiting;
  std::optional<uint64_t> binary_bytes;  // so far: the output is not text
  std::optional<vt::Progress> progress;  // State::None: there is none any more
  uint64_t lines = 0;                    // so far, of all parts, also those left out
};

class LiveStream final : private Watcher {
 public:
  // Characters of one part at most.
  static constexpr size_t kMostText = 1 << 20;

  using Emit = std::function<void(const StreamPart&)>;

  // Of what a command printed before somebody came (again), so many parts at most.
  static constexpr int kMostCaughtUp = 16;

  // `emit` is called from the loop, from start() and from finish(). The first `from_line` lines are known to
  // the caller already.
  static base::Result<std::unique_ptr<LiveStream>> start(io::Loop& loop, Terminal& terminal,
                                                         const std::string& command_id, Emit emit,
                                                         uint64_t from_line = 0);
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;
  ~LiveStream();

  // Hands on what is left, then calls `then`: for a caller that is about to answer. At once, unless it is
  // still catching up with what was printed long ago. Nothing comes after it.
  void finish(std::function<void()> then = {});

 private:
  using Clock = std::chrono::steady_clock;

  LiveStream(io::Loop& loop, Terminal& terminal, const Command& command, Emit emit, uint64_t from_line);
  void on_change(Terminal& terminal, uint32_t changes) override;
  void on_command_bytes(const Command& command, std::string_view bytes) override;
  void on_destroyed() override;
  void catch_up(const Command& command);
  bool catch_up_until(Clock::time_point until);
  void caught_up();
  void take(std::string_view bytes);
  void add_line(std::string_view line);
  void note_state();
  void schedule();
  void flush();
  void leave();

  io::Loop& loop_;
  Terminal* terminal_;  // null once it is gone
  std::string command_id_;
  Emit emit_;
  terminal::BinarySniffer sniffer_;
  terminal::LiveLines lines_;
  std::optional<uint64_t> catch_up_at_;  // what was printed is read from here, before what comes
  std::function<void()> then_;           // finish() waits for that
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  uint64_t bytes_ = 0;
  uint64_t known_lines_ = 0;  // the caller has them
  uint64_t lines_out_ = 0;    // all there were
  int catch_up_parts_ = 0;    // that may still be sent before the first is due
  uint64_t left_out_ = 0;     // lines of the part in the making
  StreamPart part_;
  bool something_ = false;  // the part has something to tell
  bool finished_ = false;
  terminal::CommandState state_;
  std::optional<vt::Progress> progress_;
  Clock::time_point last_part_;
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::engine
