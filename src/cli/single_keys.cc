#include "cli/single_keys.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::cli {

SingleKeys::SingleKeys() : tty_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {
  resume();
}

void SingleKeys::resume() {
  termios now{};
  if (before_ || !tty_ || ::tcgetattr(tty_.get(), &now) != 0) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  ::tcsetattr(tty_.get(), TCSADRAIN, &now);
}

void SingleKeys::pause() {
  if (before_) ::tcsetattr(tty_.get(), TCSADRAIN, &*before_);
  before_.reset();
}

void SingleKeys::discard() {
  ::tcflush(tty_.get(), TCIFLUSH);
}

std::optional<std::string> SingleKeys::read() {
  char buffer[256];
  const ssize_t n = ::read(tty_.get(), buffer, sizeof buffer);
  if (n > 0) return std::string(buffer, static_cast<size_t>(n));
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return std::string();
  return std::nullopt;
}

void SingleKeys::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(tty_.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace ttyward::cli
