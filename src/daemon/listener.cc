#include "daemon/listener.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/private_folder.h"
#include "io/local_socket.h"

namespace ttyward::daemon {

namespace {

constexpr int kBacklog = 256;  // who waits to be accepted: everybody, while the daemon starts

}  // namespace

bool Listener::file_is_ours() const {
  struct stat st{};
  return folder && ::fstatat(folder.get(), file.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISSOCK(st.st_mode) && st.st_ino == inode;
}

bool Listener::in_place() const {
  struct stat st{};
  const std::string name = path + "/" + file;
  return !folder || (::lstat(name.c_str(), &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == inode);
}

base::Result<Listener> bind_listener(const std::string& folder, const std::string& file) {
  auto opened = base::open_private_folder(folder, base::IfMissing::Create);
  if (!opened) return tl::unexpected(opened.error());
  const std::string shown = folder + "/" + file;
  // Only a socket is replaced: any other file was not made by ttyward.
  struct stat st{};
  if (::fstatat(opened->get(), file.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISSOCK(st.st_mode)) {
    return base::fail(base::ErrorCode::AlreadyExists, shown + " is not a socket; move it away");
  }
  if (::unlinkat(opened->get(), file.c_str(), 0) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot replace " + shown);
  }
  auto socket = io::listen_in(opened->get(), file, shown, kBacklog);
  if (!socket) return tl::unexpected(socket.error());
  Listener listener{std::move(*socket), std::move(*opened), folder, file, 0};
  if (::fstatat(listener.folder.get(), file.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0)
    listener.inode = st.st_ino;
  return listener;
}

}  // namespace ttyward::daemon
