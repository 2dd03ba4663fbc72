// A real shell in a real terminal with our integration, for tests: what the terminal
// layer does, in a hundred lines. Everything it touches lives in a scratch home.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pty/input.h"
#include "pty/spawn.h"
#include "pty/testing.h"
#include "shell/command_line.h"
#include "shell/command_tracker.h"
#include "shell/launch.h"
#include "vt/screen.h"

namespace ttyward::shell::testing {

struct LiveOptions {
  std::vector<std::string> argv;
  bool login = false;
  std::vector<std::pair<std::string, std::string>> home_files;  // path below the home, content
  std::vector<std::string> environment;                         // besides the plain one
  History history = History::LeaveOut;
  bool integrate = true;
};

struct Outcome {
  CommandFinished finished;
  std::string output;  // the bytes between the marks
};

// Without escape sequences, and without the carriage return fish leaves before a command's output.
std::string visible(std::string_view output);

class LiveShell {
 public:
  explicit LiveShell(const LiveOptions& options);

  // Submits when the shell is ready and waits for the end. A failed wait gives nullopt and a test failure.
  std::optional<Outcome> run(const std::string& text);
  bool submit(const std::string& text);
  std::optional<Outcome> wait_finished();
  bool wait_ready();
  bool wait_for(const std::function<bool()>& holds, const char* what);
  // Waits until the bytes are among what the terminal printed since `from`.
  bool wait_bytes(const std::string& needle, size_t from = 0);

  void send(const std::string& bytes);
  // Presses a key again and again until it has worked.
  void press_until(const std::string& key, const std::function<bool()>& holds);
  void type(const std::string& bytes);  // as a person

  CommandTracker& tracker() { return *tracker_; }
  const vt::Screen& screen() const { return screen_; }
  const std::string& bytes() const { return bytes_; }
  const std::string& home() const { return home_; }
  const LaunchPlan& plan() const { return plan_; }
  const std::string& nonce() const { return tracker_->nonce(); }
  // As the terminal does before something is typed that may stay unread.
  void note_typed();
  bool gone() const { return gone_; }
  template <typename Event>
  std::vector<Event> events() const {
    std::vector<Event> found;
    for (const TrackerEvent& event : events_)
      if (const auto* one = std::get_if<Event>(&event)) found.push_back(*one);
    return found;
  }
  std::string file(const std::string& path) const;  // below the home; empty if there is none

 private:
  void pump(pty::testing::Clock::time_point deadline);
  void take();

  pty::testing::TemporaryFolder scratch_;
  std::string home_;
  std::string folder_;
  std::string secret_;
  LaunchPlan plan_;
  History history_;
  std::optional<pty::testing::Running> running_;
  pty::InputQueue input_{32u << 20};
  vt::Screen screen_;
  std::optional<CommandTracker> tracker_;
  std::string bytes_;
  std::vector<TrackerEvent> events_;
  size_t finished_read_ = 0;
  uint64_t next_id_ = 1;
  bool gone_ = false;
};

}  // namespace ttyward::shell::testing
