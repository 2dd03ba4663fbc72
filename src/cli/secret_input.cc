#include "cli/secret_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/unique_fd.h"
#include "cli/signal_watch.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

// Keys are not echoed while this lives.
class NoEcho {
 public:
  NoEcho() {
    termios now{};
    if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    now.c_lflag |= ICANON | ISIG;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;
  ~NoEcho() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &*before_);
  }

 private:
  std::optional<termios> before_;
};

void drop_line_end(std::string& text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (!text.empty() && text.back() == '\r') text.pop_back();
}

base::Result<Secret> read_all(int fd, const std::string& what) {
  Secret secret{std::string()};
  secret.text.reserve(kLongestSecret + 1);  // or copies of it would stay behind
  char buffer[1024];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot read the secret from " + what);
    if (n == 0) break;
    if (secret.text.size() + static_cast<size_t>(n) > kLongestSecret)
      return fail(ErrorCode::InvalidArgument, fmt::format("the secret from {} is longer than 64 KiB", what));
    secret.text.append(buffer, static_cast<size_t>(n));
  }
  ::explicit_bzero(buffer, sizeof buffer);
  drop_line_end(secret.text);
  if (secret.text.empty()) return fail(ErrorCode::InvalidArgument, "the secret is empty");
  return secret;
}

base::Result<Secret> ask_person(const std::string& prompt) {
  const NoEcho quiet;
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  std::fprintf(stderr, "%s", prompt.c_str());
  std::fflush(stderr);
  pollfd entries[] = {{STDIN_FILENO, POLLIN, 0}, {signals.fd(), POLLIN, 0}};
  while (::poll(entries, 2, -1) < 0 && errno == EINTR) {
  }
  std::fputc('\n', stderr);
  if (entries[1].revents != 0) return fail(ErrorCode::Unavailable, "nothing was sent");
  Secret secret{std::string(4096, '\0')};  // a line of a terminal is no longer
  const ssize_t n = ::read(STDIN_FILENO, secret.text.data(), secret.text.size());
  if (n < 0) return base::fail_errno(errno, "cannot read from the terminal");
  secret.text.resize(static_cast<size_t>(n));
  drop_line_end(secret.text);
  if (secret.text.empty()) return fail(ErrorCode::Unavailable, "nothing was typed, so nothing was sent");
  return secret;
}

}  // namespace

Secret::~Secret() {
  ::explicit_bzero(text.data(), text.size());
}

base::Result<Secret> read_secret(const std::string& prompt) {
  return ::isatty(STDIN_FILENO) != 0 ? ask_person(prompt) : read_all(STDIN_FILENO, "standard input");
}

base::Result<Secret> secret_from(const std::string& place, const std::string& prompt) {
  if (place == "-") return read_secret(prompt);
  if (place.compare(0, 4, "env:") == 0) {
    const char* value = std::getenv(place.c_str() + 4);
    if (value == nullptr || *value == '\0')
      return fail(ErrorCode::NotFound, fmt::format("the variable {} is not set", place.substr(4)));
    return Secret(value);
  }
  const base::UniqueFd file(::open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return base::fail_errno(errno, "cannot read the secret from " + place);
  return read_all(file.get(), place);
}

}  // namespace ttyward::cli
