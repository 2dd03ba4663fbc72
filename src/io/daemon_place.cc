#include "io/daemon_place.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/private_folder.h"

namespace ttyward::io {
namespace {

// A lock of the open file: not given back by some other descriptor's close.
struct flock whole_file(short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

constexpr int kDeadOwnerLooks = 400;
constexpr useconds_t kDeadOwnerPauseUs = 5000;

// The pid is the file's second line. While a daemon starts it is not there yet.
bool owner_is_dead(int file) {
  std::array<char, 8192> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::pread(file, text.data(), text.size() - 1, 0);
  if (got <= 0) return false;
  text[static_cast<size_t>(got)] = '\0';
  const char* const line = std::strchr(text.data(), '\n');
  const long pid = line != nullptr ? std::strtol(line + 1, nullptr, 10) : 0;
  return pid > 1 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

// Only asked about, never taken: nobody who looks is in the way.
bool locked(int file, short type) {
  struct flock asked = whole_file(type);
  return ::fcntl(file, F_OFD_GETLK, &asked) == 0 && asked.l_type != F_UNLCK;
}

}  // namespace

// Without the right to write there it is not said, and the start itself will tell why.
StartingMark::StartingMark(const std::string& state) {
  auto folder = base::open_private_folder(state, base::IfMissing::Create);
  if (!folder) return;
  auto file = base::open_private_file_at(folder->get(), kDaemonStarting, O_RDWR | O_CREAT, state);
  if (!file) return;
  file_ = std::move(*file);
  struct flock wanted = whole_file(F_RDLCK);
  ::fcntl(file_.get(), F_OFD_SETLK, &wanted);
}

std::optional<DaemonPlace> read_daemon_place(const std::string& state) {
  auto folder = base::open_private_folder(state, base::IfMissing::Fail);
  if (!folder) return std::nullopt;
  DaemonPlace place;
  if (const auto mark = base::open_private_file_at(folder->get(), kDaemonStarting, O_RDONLY, state)) {
    place.starting = locked(mark->get(), F_WRLCK);
  }
  auto file = base::open_private_file_at(folder->get(), kDaemonLock, O_RDONLY, state);
  if (!file) return place.starting ? std::optional(place) : std::nullopt;
  place.running = locked(file->get(), F_RDLCK);
  std::array<char, 8192> text;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const ssize_t got = ::pread(file->get(), text.data(), text.size(), 0);
  // A path with a line end in it is never written.
  const std::string_view all(text.data(), got > 0 ? static_cast<size_t>(got) : 0);
  if (const size_t end = all.find('\n'); end != std::string_view::npos) place.sockets = all.substr(0, end);
  return place;
}

base::Result<base::UniqueFd> lock_daemon_place(const std::string& state) {
  auto folder = base::open_private_folder(state, base::IfMissing::Create);
  if (!folder) return tl::unexpected(folder.error());
  auto file = base::open_private_file_at(folder->get(), kDaemonLock, O_RDWR | O_CREAT, state);
  if (!file) return file;
  for (int left = kDeadOwnerLooks;; left--) {
    struct flock wanted = whole_file(F_WRLCK);
    if (::fcntl(file->get(), F_OFD_SETLK, &wanted) == 0) return file;
    if (errno != EAGAIN && errno != EACCES) {
      return base::fail_errno(errno, "cannot lock " + state + "/" + kDaemonLock);
    }
    // A daemon that was killed while it started a process leaves the lock to that process, until it has
    // become another program: a moment.
    if (left == 0 || !owner_is_dead(file->get())) {
      return base::fail(base::ErrorCode::AlreadyExists, "a daemon is running already");
    }
    ::usleep(kDeadOwnerPauseUs);
  }
}

base::Result<void> write_daemon_place(int lock, const std::string& sockets) {
  if (sockets.find('\n') != std::string::npos) {
    return base::fail(base::ErrorCode::InvalidArgument, "the runtime folder's name contains a line end");
  }
  const std::string text = sockets + "\n" + std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock, 0) != 0 ||
      ::pwrite(lock, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return base::fail_errno(errno, std::string("cannot write ") + kDaemonLock);
  }
  return {};
}

}  // namespace ttyward::io
