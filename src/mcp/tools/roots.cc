#include "mcp/tools/roots.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/folders.h"

namespace ttyward::mcp::tools {
namespace {

base::Result<std::string> real_folder(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return base::fail_errno(errno, path);
  std::string found = real;
  ::free(real);
  struct stat status{};
  if (::stat(found.c_str(), &status) != 0) return base::fail_errno(errno, path);
  if (!S_ISDIR(status.st_mode))
    return base::fail(base::ErrorCode::InvalidArgument, path + " is not a folder");
  return found;
}

bool inside(const std::string& path, const std::string& root) {
  return path == root || root == "/" || (path.starts_with(root) && path[root.size()] == '/');
}

}  // namespace

base::Result<Roots> Roots::open(const std::vector<std::string>& folders) {
  Roots roots;
  for (const std::string& folder : folders) {
    auto real = real_folder(folder);
    if (!real)
      return base::fail(real.error().code, "--root must be an existing folder: " + real.error().message);
    roots.roots_.push_back(std::move(*real));
  }
  auto here = real_folder(".");
  roots.base_ = !roots.roots_.empty() ? roots.roots_.front() : here ? *here : "/";
  return roots;
}

base::Result<std::string> Roots::resolve(const std::optional<std::string>& cwd) const {
  if (!cwd || cwd->empty()) return base_;
  if (cwd->find('\0') != std::string::npos)
    return base::fail(base::ErrorCode::InvalidArgument, "`cwd` contains a NUL character");
  const std::string path = cwd->front() == '/' ? *cwd : base_ + "/" + *cwd;
  auto real = real_folder(path);
  if (!real) {
    return base::fail(real.error().code, "`cwd` must be an existing folder (" + real.error().message +
                                             "). Relative paths start at " + base_);
  }
  for (const std::string& root : roots_) {
    if (inside(*real, root)) return real;
  }
  if (roots_.empty()) return real;
  std::string allowed;
  for (const std::string& root : roots_) allowed += (allowed.empty() ? "" : ", ") + root;
  return base::fail(base::ErrorCode::PermissionDenied,
                    "`cwd` " + *real + " is outside the folders this server may use: " + allowed);
}

}  // namespace ttyward::mcp::tools
