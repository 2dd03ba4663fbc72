// ttyward replay: plays in this terminal what another one showed, as fast as it did.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

#include "base/file_io.h"
#include "cli/person_tty.h"
#include "cli/recording.h"
#include "cli/signal_watch.h"
#include "cli/single_keys.h"
#include "cli/verbs/verbs.h"

namespace ttyward::cli {
namespace replay_verb {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kSlowest = 0.01;
constexpr double kFastest = 1000;
constexpr int64_t kLongestWait = 3'600'000;  // milliseconds at a time
constexpr int kExitInterrupted = 130;

struct Arguments {
  std::string target;
  bool last = false;
  double speed = 1;
  std::optional<double> idle_limit;
};

class Player {
 public:
  explicit Player(double speed) : speed_(speed), on_terminal_(::isatty(STDOUT_FILENO) == 1) {
    if (on_terminal_) keys_.emplace();
  }

  int play(const record::Recording& recording) {
    // A recording begins on an empty screen.
    if (on_terminal_) write("\033[H\033[2J");
    uint64_t before = 0;
    recording.for_each([&](const record::Event& event) {
      if (!pause_for(event.at_us - before)) return false;
      before = event.at_us;
      return event.kind != record::Event::Kind::Output || write(event.text);
    });
    // Whatever it left on (another screen, margins, a hidden cursor) is not for this terminal's next user.
    if (on_terminal_) write("\033[?2026l\033[?1049l\033[!p\033[?5l\033[?25h\033[m\r\n");
    if (wrong_ && wrong_->sys_errno != EPIPE) return complain("replay", wrong_->message, kExitFailure);
    return interrupted_ ? kExitInterrupted : 0;
  }

 private:
  bool write(std::string_view bytes) {
    const auto written = base::write_all(STDOUT_FILENO, bytes, "the recording");
    if (!written) wrong_ = written.error();
    return written.has_value();
  }

  // False: whoever watches has had enough.
  bool pause_for(uint64_t us) {
    Clock::time_point until =
        Clock::now() + microseconds(static_cast<int64_t>(static_cast<double>(us) / speed_));
    do {
      const Clock::time_point begun = Clock::now();
      const auto left = std::chrono::ceil<milliseconds>(until - begun).count();
      const bool stood_still = stopped_;
      if (!look(stopped_ ? -1 : static_cast<int>(std::clamp<int64_t>(left, 0, kLongestWait)))) return false;
      if (stood_still) until += Clock::now() - begun;
    } while (stopped_ || Clock::now() < until);
    return true;
  }

  // Waits for a key or a signal, at most so many milliseconds.
  bool look(int ms) {
    pollfd watched[2] = {{signals_.fd(), POLLIN, 0}, {keys_ && keys_->valid() ? keys_->fd() : -1, POLLIN, 0}};
    if (::poll(watched, 2, ms) <= 0) return true;
    if (watched[0].revents != 0 && signals_.take() != 0) {
      interrupted_ = true;
      return false;
    }
    if (watched[1].revents == 0) return true;
    const auto typed = keys_->read();
    if (!typed) {
      keys_.reset();
      return true;
    }
    for (const char key : *typed) {
      if (key == ' ') stopped_ = !stopped_;
      if (key == 'q') return false;
      if (key == '\x03') {
        interrupted_ = true;
        return false;
      }
    }
    return true;
  }

  double speed_;
  bool on_terminal_;
  bool stopped_ = false;
  bool interrupted_ = false;
  std::optional<base::Error> wrong_;  // of writing
  SignalWatch signals_{SIGINT, SIGTERM, SIGHUP};
  std::optional<SingleKeys> keys_;
};

int replay(const Arguments& args) {
  if (args.last == !args.target.empty())
    return complain("replay", "name a terminal or a command (ttyward ls --all lists them), or give --last",
                    kExitUsage);
  if (!(args.speed >= kSlowest && args.speed <= kFastest))
    return complain("replay", fmt::format("--speed must be from {} to {}", kSlowest, kFastest), kExitUsage);
  if (args.idle_limit && !(*args.idle_limit >= 0))
    return complain("replay", "--idle-limit: give a number of seconds", kExitUsage);
  return with_recording("replay", args.target, [&](record::Recording recording) {
    if (args.idle_limit) {
      recording.limit_idle(*args.idle_limit);
    } else if (recording.header().idle_limit_s) {
      recording.limit_idle(*recording.header().idle_limit_s);
    }
    const auto here = PersonTty::size();
    const record::Size size = recording.header().size;
    if (here && ::isatty(STDOUT_FILENO) == 1 && (here->columns < size.cols || here->rows < size.rows))
      complain("replay",
               fmt::format("this terminal has {}x{}, the recording {}x{}: make it larger to see all of it",
                           here->columns, here->rows, size.cols, size.rows),
               0);
    return Player(args.speed).play(recording);
  });
}

std::function<int()> declare(CLI::App& app, const Globals&) {
  auto args = std::make_shared<Arguments>();
  app.add_option("TARGET", args->target,
                 "A terminal by name or id, a command by id, or an asciicast file (with a slash or .cast)");
  app.add_flag("--last", args->last, "The newest command");
  app.add_option("--speed", args->speed, "How many times as fast")->capture_default_str();
  app.add_option("--idle-limit", args->idle_limit, "Pauses are at most this many seconds long");
  return [args] { return replay(*args); };
}

}  // namespace
}  // namespace replay_verb

const Verb kReplay = {"replay", "Play what a terminal showed (space: pause, q: quit)", &replay_verb::declare};

}  // namespace ttyward::cli
