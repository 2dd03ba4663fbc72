#include "base/folders.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace ttyward::base {
namespace {

// A variable that holds an absolute path; anything else counts as not set, as XDG demands.
std::string path_in(const Getenv& getenv, const char* name) {
  const char* value = getenv(name);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string home_folder(const Getenv& getenv) {
  std::string home = path_in(getenv, "HOME");
  if (!home.empty()) return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr && entry->pw_dir != nullptr && entry->pw_dir[0] == '/' ? entry->pw_dir : "/";
}

// To be followed by a slash: "/" is empty.
std::string as_prefix(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Folders user_folders(const Getenv& getenv) {
  const std::string everything = path_in(getenv, "TTYWARD_HOME");
  const std::string all = as_prefix(everything);
  if (!everything.empty()) return {all + "/state", all + "/run", all + "/config"};
  const std::string home = as_prefix(home_folder(getenv));
  const auto under = [&](const char* variable, const char* fallback) {
    const std::string given = path_in(getenv, variable);
    return (given.empty() ? home + fallback : as_prefix(given)) + "/ttyward";
  };
  const std::string runtime = path_in(getenv, "XDG_RUNTIME_DIR");
  return {under("XDG_STATE_HOME", "/.local/state"), runtime.empty() ? "" : as_prefix(runtime) + "/ttyward",
          under("XDG_CONFIG_HOME", "/.config")};
}

Folders user_folders() {
  return user_folders([](const char* name) { return std::getenv(name); });
}

}  // namespace ttyward::base
