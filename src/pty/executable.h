// Which file a command name means: the PATH search, done before the fork so that
// the child has nothing left to look up.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ttyward::pty {

struct Executable {
  std::string path;     // what to hand to execve; relative to the child's directory if the name was
  int sys_errno = 0;    // 0: found and executable. Otherwise why not, as execvp would report it
  bool exists = false;  // some file of that name is there, executable or not
};

// `directory` is a descriptor of the child's working directory (or AT_FDCWD);
// `search_path` is the child's PATH, nullopt if it has none. A name with a slash
// is not searched for. A directory or a file without the execute bit is passed
// over but remembered: it makes the difference between "not executable" and
// "not found".
Executable find_executable(int directory, std::string_view name, std::optional<std::string_view> search_path);

// The value of a variable in a list of NAME=value, the first that matches.
std::optional<std::string_view> find_variable(const std::vector<std::string>& environment,
                                              std::string_view name);

}  // namespace ttyward::pty
