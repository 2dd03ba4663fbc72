#include "pty/pseudo_terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace ttyward::pty {
namespace {

constexpr int kFirstAfterStdio = 3;

base::Result<void> prepare_line_discipline(int master) {
  termios settings{};
  if (::tcgetattr(master, &settings) != 0) return base::fail_errno(errno, "reading the terminal's settings");
  settings.c_iflag |= IUTF8;  // so that erasing in cooked mode takes a whole character
  if (::tcsetattr(master, TCSANOW, &settings) != 0) return base::fail_errno(errno, "setting up the terminal");
  return {};
}

}  // namespace

base::Result<base::UniqueFd> above_stdio(base::UniqueFd fd) {
  if (fd.get() >= kFirstAfterStdio) return fd;
  base::UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstAfterStdio));
  if (!moved) return base::fail_errno(errno, "duplicating a descriptor");
  return moved;
}

base::Result<PseudoTerminal> open_pseudo_terminal(const WindowSize& size) {
  base::UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!master) return base::fail_errno(errno, "opening a pseudo terminal");
  auto high_master = above_stdio(std::move(master));
  if (!high_master) return tl::unexpected(high_master.error());

  PseudoTerminal result;
  result.master = std::move(*high_master);
  const int fd = result.master.get();
  if (::unlockpt(fd) != 0) return base::fail_errno(errno, "unlocking a pseudo terminal");
  if (const auto ok = prepare_line_discipline(fd); !ok) return tl::unexpected(ok.error());
  if (const auto ok = resize(fd, size); !ok) return tl::unexpected(ok.error());

  unsigned number = 0;
  if (::ioctl(fd, TIOCGPTN, &number) != 0) return base::fail_errno(errno, "naming a pseudo terminal");
  result.slave_path = "/dev/pts/" + std::to_string(number);
  // By the master, not by name: the name may mean another terminal, or nothing,
  // where /dev/pts is not the instance that /dev/ptmx belongs to.
  base::UniqueFd slave(::ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave) return base::fail_errno(errno, "opening " + result.slave_path);
  auto high_slave = above_stdio(std::move(slave));
  if (!high_slave) return tl::unexpected(high_slave.error());
  result.slave = std::move(*high_slave);

  struct stat info{};
  if (::fstat(result.slave.get(), &info) != 0)
    return base::fail_errno(errno, "looking at " + result.slave_path);
  result.slave_device = info.st_rdev;
  return result;
}

base::Result<void> resize(int master, const WindowSize& size) {
  const winsize raw{size.rows, size.columns, size.width_px, size.height_px};
  if (::ioctl(master, TIOCSWINSZ, &raw) != 0) return base::fail_errno(errno, "resizing the terminal");
  return {};
}

base::Result<WindowSize> window_size(int master) {
  winsize raw{};
  if (::ioctl(master, TIOCGWINSZ, &raw) != 0) return base::fail_errno(errno, "reading the terminal's size");
  return WindowSize{raw.ws_col, raw.ws_row, raw.ws_xpixel, raw.ws_ypixel};
}

}  // namespace ttyward::pty
