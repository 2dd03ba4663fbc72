#include "daemon/detach.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace ttyward::daemon {

namespace {

constexpr char kReady = '+';
constexpr char kFailed = '-';

std::string read_report(int fd) {
  std::string text;
  std::array<char, 1024> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

void stdio_to_null() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int fd = 0; fd <= 2; ++fd) ::dup2(null, fd);
  if (null > 2) ::close(null);
}

}  // namespace

void close_descriptors(unsigned from) {
  // Libraries may not know close_range; kernels since 5.9 do, and before it the descriptors just stay open.
  ::syscall(SYS_close_range, from, UINT_MAX, 0U);
}

void StartReport::say(const std::string& text) {
  std::string_view left = text;
  while (line_ && !left.empty()) {
    const ssize_t done = ::write(line_.get(), left.data(), left.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;  // the starter is gone, and does not mind
    left.remove_prefix(static_cast<size_t>(done));
  }
  line_.reset();
}

void StartReport::ready() {
  say({kReady});
}

void StartReport::failed(const std::string& why) {
  say(kFailed + why);
}

base::Result<Detached> detach() {
  close_descriptors(3);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno(errno, "cannot go to the background");
  base::UniqueFd reader(ends[0]);
  base::UniqueFd writer(ends[1]);
  const pid_t second = ::fork();
  if (second < 0) return base::fail_errno(errno, "cannot go to the background");
  Detached result;
  if (second > 0) {
    writer.reset();
    int status = 0;
    while (::waitpid(second, &status, 0) < 0 && errno == EINTR) {
    }
    const std::string report = read_report(reader.get());
    if (report.empty() && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
      result.error = base::fail_errno(WEXITSTATUS(status), "cannot go to the background").value().message;
    } else if (report.empty()) {
      result.error = "the daemon was killed while it started";
      result.killed = true;
    } else if (report[0] != kReady) {
      result.error = report.substr(1);
    }
    return result;
  }
  // Not a session leader in the end, so no terminal it opens can become its own.
  ::setsid();
  const pid_t third = ::fork();
  if (third != 0) ::_exit(third < 0 ? errno : 0);
  reader.reset();
  stdio_to_null();
  result.is_daemon = true;
  result.report = StartReport(std::move(writer));
  return result;
}

}  // namespace ttyward::daemon
