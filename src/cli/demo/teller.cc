#include "cli/demo/teller.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "cli/shown_text.h"

namespace ttyward::cli::demo {
namespace {

constexpr int kReadingMs = 7000;  // a scene is half a dozen lines

// Keys come one by one and unseen, but Ctrl-C is still a signal.
class KeyByKey {
 public:
  KeyByKey() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    set_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &now) == 0;
  }
  KeyByKey(const KeyByKey&) = delete;
  KeyByKey& operator=(const KeyByKey&) = delete;
  ~KeyByKey() {
    if (set_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool set_ = false;
};

}  // namespace

void Teller::line(const std::string& text) const {
  if (silent_) return;
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Teller::heading(std::string_view text) {
  scenes_++;
  line("\n" + std::to_string(scenes_) + ". " + std::string(text));
}

void Teller::say(std::string_view text) {
  line("   " + std::string(text));
}

void Teller::command(std::string_view who, std::string_view text) {
  line("   " + std::string(who) + "$ " + std::string(text));
}

void Teller::output(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    line("   | " + one_line(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

bool Teller::claim(bool held, std::string text) {
  line((held ? "   ok: " : "   NOT SO: ") + text);
  claims_.push_back({std::move(text), held});
  return held;
}

void Teller::pause() {
  if (pace_ == Pace::Reading && interrupted_ == 0) {
    const KeyByKey keys;
    pollfd wanted[] = {{STDIN_FILENO, POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
    std::printf("   (any key goes on)");
    std::fflush(stdout);
    if (::poll(wanted, 2, kReadingMs) > 0 && wanted[0].revents != 0) {
      char key = 0;
      static_cast<void>(::read(STDIN_FILENO, &key, 1) == 1);
    }
    std::printf("\r                    \r");
  }
  if (const int number = signals_.take(); number != 0) interrupted_ = number;
}

}  // namespace ttyward::cli::demo
