// Waiting for the first of several things to happen in a terminal.
//
// Everything is heard through the terminal's watchers; only ports and files, of
// which nobody tells, are asked for while such a wait is open.
//
//   exit     the command, or without one the terminal, has ended
//   pattern  a line of new output matches, also one that is still being written. What is typed at a prompt is
//            not output
//   quiet    no output for so long; stable: what is to be seen has not changed for so long.
//            Both count from the beginning of the wait at the earliest
//   prompt   the terminal is idle: a command may be sent
//
// A command that ends while nothing but its own output, input or end is waited
// for answers with Exit; a terminal that ends answers with Closed.
// Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/line_scan.h"
#include "engine/terminal.h"
#include "io/loop.h"

namespace ttyward::engine {

struct WaitSpec {
  using Ms = std::chrono::milliseconds;

  std::string command_id;  // empty: the terminal as a whole
  bool exit = false;
  std::string pattern;
  bool from_start = false;              // pattern: also in what is already there
  std::optional<LineScan::Place> from;  // pattern: also in what came after that
  std::optional<uint16_t> port;         // 0: any
  std::string file;                     // relative to the terminal's folder
  Ms quiet{0};
  Ms stable{0};
  bool input = false;
  bool prompt = false;
  Ms timeout{30'000};  // 0: none
};

struct WaitOutcome {
  enum class Condition : uint8_t { Exit, Pattern, Port, File, Quiet, Stable, Input, Prompt, Timeout, Closed };
  Condition condition = Condition::Timeout;
  terminal::LineNumber line = 0;  // pattern; 0: on an alternate screen
  std::string text;               // pattern: the line; file: its path
  uint16_t port = 0;
};
const char* condition_name(WaitOutcome::Condition condition);

class Wait final : private Watcher {
 public:
  using Done = std::function<void(const WaitOutcome&)>;

  // `done` is called once, from the loop, never from within start(). Destroying the wait cancels it, also
  // from within `done`.
  static base::Result<std::unique_ptr<Wait>> start(io::Loop& loop, Terminal& terminal, WaitSpec spec,
                                                   Done done);
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait();

  // Where a wait for a pattern begins to look, for one that has to begin again.
  const std::optional<LineScan::Place>& begins_at() const { return spec_.from; }

 private:
  using Clock = std::chrono::steady_clock;

  Wait(io::Loop& loop, Terminal& terminal, WaitSpec spec, Done done);
  static base::Result<void> check(const Terminal& terminal, const WaitSpec& spec);
  void on_change(Terminal& terminal, uint32_t changes) override;
  void on_destroyed() override;

  bool wants_input_state() const { return spec_.input || spec_.prompt; }
  // What is waited for is in the lines of the whole terminal, among them prompts and what is typed there.
  bool whole() const { return spec_.command_id.empty() && !terminal_->spec().temporary(); }
  Command* command() const;
  bool command_over() const;
  const terminal::Output* output(LineScan::Finished* finished) const;
  void look(uint32_t changes);
  enum class Looked : uint8_t { Nothing, Found, NotDone };
  Looked look_for_pattern();
  bool look_at_command();
  void look_at_screen();
  void poll_ports();
  void look_at_ports(const place::Place::Ports& ports);
  // Answers if the file is there, else goes on with `otherwise`.
  void look_for_file(const std::function<void()>& otherwise);
  void poll_file();
  void arm_quiet();
  void arm_stable();
  void answer(WaitOutcome outcome);
  void answer(WaitOutcome::Condition condition) { answer(WaitOutcome{condition, 0, "", 0}); }
  void stop_looking();
  void leave();

  io::Loop& loop_;
  Terminal* terminal_;  // null once it is gone
  WaitSpec spec_;
  Done done_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<re2::RE2> pattern_;
  LineScan scan_;
  const Clock::time_point begun_ = Clock::now();
  size_t screen_look_ = 0;
  Clock::time_point screen_since_ = begun_;
  WaitSpec::Ms port_pause_;
  bool answered_ = false;
  bool searching_ = false;  // there are lines that were not looked at yet
  io::Loop::TimerId deadline_ = 0;
  io::Loop::TimerId quiet_timer_ = 0;
  io::Loop::TimerId stable_timer_ = 0;
  io::Loop::TimerId port_timer_ = 0;
  io::Loop::TimerId file_timer_ = 0;
};

}  // namespace ttyward::engine
