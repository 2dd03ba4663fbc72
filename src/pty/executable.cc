#include "pty/executable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace ttyward::pty {
namespace {

// What execvp(3) uses for a process without PATH, less the current directory.
constexpr std::string_view kDefaultPath = "/bin:/usr/bin";

// sys_errno is 0 if execve may work, else what it would give.
Executable look_at(int directory, std::string path) {
  struct stat info{};
  if (::fstatat(directory, path.c_str(), &info, 0) != 0) return {std::move(path), errno, false};
  if (!S_ISREG(info.st_mode)) return {std::move(path), EACCES, true};
  const int error = ::faccessat(directory, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
  return {std::move(path), error, true};
}

}  // namespace

Executable find_executable(int directory, std::string_view name,
                           std::optional<std::string_view> search_path) {
  if (name.empty()) return {{}, ENOENT, false};
  if (name.find('/') != std::string_view::npos) return look_at(directory, std::string(name));
  Executable best{std::string(name), ENOENT, false};
  std::string_view rest = search_path.value_or(kDefaultPath);
  while (true) {
    const size_t colon = rest.find(':');
    // An empty element means the current directory. The "./" keeps the child's
    // execve from seeing a bare name.
    std::string candidate = colon == 0 || rest.empty() ? "./" : std::string(rest.substr(0, colon)) + "/";
    candidate += name;
    Executable found = look_at(directory, std::move(candidate));
    if (found.sys_errno == 0) return found;
    if (found.exists && !best.exists) best = std::move(found);
    if (colon == std::string_view::npos) return best;
    rest.remove_prefix(colon + 1);
  }
}

std::optional<std::string_view> find_variable(const std::vector<std::string>& environment,
                                              std::string_view name) {
  for (const std::string& entry : environment) {
    const std::string_view view = entry;
    if (view.size() > name.size() && view[name.size()] == '=' && view.substr(0, name.size()) == name)
      return view.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace ttyward::pty
