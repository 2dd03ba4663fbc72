#include "cli/demo/teller.h"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cli/person_tty.h"
#include "cli/shown_text.h"

namespace ttyward::cli::demo {
namespace {

constexpr int kReadingMs = 7000;  // a scene is half a dozen lines

constexpr const char* kBold = "1";
constexpr const char* kFaint = "2";
constexpr const char* kRed = "1;31";
constexpr const char* kGreen = "1;32";
constexpr const char* kCyan = "36";

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

Teller::Teller(Pace pace, bool silent, SignalWatch& signals)
    : pace_(pace), silent_(silent), signals_(signals) {
  if (::isatty(STDOUT_FILENO) == 0) return;
  colours_ = std::getenv("NO_COLOR") == nullptr;
  if (const auto size = PersonTty::size()) width_ = size->columns;
}

void Teller::line(std::string_view lead, const char* sgr, std::string_view text) const {
  if (silent_) return;
  std::string out;
  const auto put = [&](std::string_view piece) {
    if (colours_ && !piece.empty()) out += fmt::format("\x1b[{}m{}\x1b[0m", sgr, piece);
    if (!colours_) out += piece;
  };
  put(lead);
  constexpr size_t kLeastRoom = 20;
  const size_t room = width_ > lead.size() + kLeastRoom ? width_ - lead.size() : text.size();
  while (text.size() > room) {
    size_t end = text.rfind(' ', room);
    if (end == std::string_view::npos || end == 0) break;
    out += text.substr(0, end);
    out += "\n" + std::string(lead.size(), ' ');
    text.remove_prefix(end + 1);
  }
  out += text;
  std::printf("%s\n", out.c_str());
  std::fflush(stdout);
}

void Teller::heading(std::string_view text) {
  scenes_++;
  line("", "0", "");
  line(fmt::format("{}. {}", scenes_, text), kBold, "");
}

void Teller::say(std::string_view text) {
  line("   ", kFaint, text);
}

void Teller::command(std::string_view who, std::string_view text) {
  line("   " + std::string(who) + "$ ", kCyan, text);
}

void Teller::output(std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    line("   | ", kFaint, one_line(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

bool Teller::claim(bool held, std::string text) {
  line(held ? "   ok: " : "   NOT SO: ", held ? kGreen : kRed, text);
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
