#include "cli/person_tty.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ttyward::cli {

void PersonTty::make_raw() {
  termios now{};
  if (before_ || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  ::cfmakeraw(&now);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

void PersonTty::restore() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
  before_.reset();
}

std::optional<pty::WindowSize> PersonTty::size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return std::nullopt;
  return pty::WindowSize{size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel};
}

}  // namespace ttyward::cli
