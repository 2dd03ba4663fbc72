// What a person who has attached sees: a terminal's screen, painted on theirs.
//
// Flow at a glance
//   terminal changes → at most every 16 ms: ready() → take_frame(): the difference between what was painted
//   last and what is there now
//
// Nothing the program printed reaches the person's terminal as it was: rows are
// painted from the screen's cells, and of the modes only those that decide how keys
// and the mouse are reported. No title, no links, no palette, no queries. There is
// no queue: who takes a frame late gets one frame, of now. Who lost one says so
// with start_over() and is painted everything.
//
// A screen larger than the person's is shown around the cursor, a smaller one at
// the top left. Thread rule: the loop's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/terminal.h"
#include "io/loop.h"
#include "vt/line.h"
#include "vt/modes.h"

namespace ttyward::engine {

// Turns screens into bytes for one particular terminal. A value; no clock.
class Painter {
 public:
  Painter(int cols, int rows);

  // What brings the person's terminal from what was painted last to this; empty if it is the same.
  std::string paint(const vt::Screen& screen);
  // The next paint takes nothing for granted.
  void start_over() { fresh_ = true; }
  void resize(int cols, int rows);
  // What makes it the terminal it was before the first paint.
  std::string leave() const;

 private:
  struct Modes {
    vt::ModeSet set;
    uint8_t kitty = 0;
    int modify_other_keys = 0;
    bool operator==(const Modes&) const = default;
  };
  struct Cursor {
    int row = 0;
    int col = 0;
    bool visible = true;
    int shape = 0;  // as DECSCUSR has it; 0: the person's own
    bool operator==(const Cursor&) const = default;
  };
  void follow_cursor(const vt::Screen& screen);
  vt::Line part_of(const vt::Screen& screen, int row) const;
  void paint_row(std::string& out, int row, const vt::Line& line) const;
  static Modes modes_of(const vt::Screen& screen);
  void change_modes(std::string& out, const Modes& to, bool all);
  Cursor cursor_of(const vt::Screen& screen) const;

  int cols_;
  int rows_;
  int top_ = 0;   // of the screen's rows, the one painted first
  int left_ = 0;  // the same for columns
  bool fresh_ = true;
  bool entered_ = false;
  bool kitty_pushed_ = false;
  std::vector<vt::Line> painted_;
  Modes modes_;
  Cursor cursor_;
};

class Viewer final : private Watcher {
 public:
  // `on_ready` is called from the loop whenever there is a frame to be taken, and once more when the
  // terminal has ended or is gone.
  Viewer(io::Loop& loop, Terminal& terminal, int cols, int rows, std::function<void()> on_ready);
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;
  ~Viewer();

  bool ready() const { return ready_; }
  // Empty if nothing has changed that can be seen.
  std::string take_frame();
  // A frame was not delivered: the next one is whole.
  void start_over();
  void resize(int cols, int rows);
  // The last bytes for the person's terminal.
  std::string leave() const { return painter_.leave(); }
  bool closed() const { return terminal_ == nullptr || !terminal_->live(); }

 private:
  using Clock = std::chrono::steady_clock;
  void on_change(Terminal& terminal, uint32_t changes) override;
  void on_destroyed() override;
  void schedule();

  io::Loop& loop_;
  Terminal* terminal_;  // null once it is gone
  std::function<void()> on_ready_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Painter painter_;
  bool ready_ = false;
  Clock::time_point last_frame_;
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::engine
