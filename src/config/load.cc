#include "config/load.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/unique_fd.h"

namespace ttyward::config {
namespace {

constexpr off_t kLargestFile = 1 << 20;

base::Result<std::string> read_all(const std::string& path, FileLevel level) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return base::fail_errno(errno, "cannot open it");
  struct stat st{};
  if (::fstat(fd.get(), &st) != 0) return base::fail_errno(errno, "cannot look at it");
  if (!S_ISREG(st.st_mode)) return base::fail(base::ErrorCode::InvalidArgument, "it is not a file");
  if (st.st_size > kLargestFile)
    return base::fail(base::ErrorCode::Exhausted,
                      "it is larger than 1 MiB, the limit for a configuration file");
  // What may run unasked is decided here. (A project's file can only tighten: whose it is does not matter.)
  if (level == FileLevel::Person) {
    if (st.st_uid != ::geteuid() && st.st_uid != 0)
      return base::fail(base::ErrorCode::PermissionDenied,
                        fmt::format("it belongs to another user (uid {}) and is not used", st.st_uid));
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return base::fail(base::ErrorCode::PermissionDenied,
                        fmt::format("others may write to it, so it is not used; run: chmod go-w '{}'", path));
  }
  std::string text;
  char buffer[64 * 1024];
  while (text.size() <= static_cast<size_t>(kLargestFile)) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot read it");
    if (n == 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

const char* source_name(Source source) {
  switch (source) {
    case Source::Default:
      return "default";
    case Source::File:
      return "file";
    case Source::Environment:
      return "environment";
    case Source::Project:
      return "project";
  }
  return "";
}

Loaded::Loaded() : origins(setting_table().size()) {}

const Origin& Loaded::origin(const Setting& setting) const {
  return origins[static_cast<size_t>(&setting - setting_table().data())];
}

bool Loaded::is_set(std::string_view section, std::string_view name) const {
  const Setting* setting = find_setting(section, name);
  return setting != nullptr && origin(*setting).source != Source::Default;
}

bool Loaded::has_errors() const {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Severity::Error; });
}

void apply_file(Loaded& loaded, const std::string& path, FileLevel level, IfAbsent absent) {
  const auto text = read_all(path, level);
  if (text) {
    apply_toml(loaded, *text, path, level);
  } else if (text.error().sys_errno != ENOENT || absent == IfAbsent::Problem) {
    loaded.problems.push_back({Severity::Error, path, text.error().message});
  }
}

namespace {

// In `cwd` or the nearest folder above it; empty if there is none.
std::string find_project_file(const std::string& cwd) {
  std::string folder = cwd;
  while (!folder.empty()) {
    std::string path = (folder == "/" ? "" : folder) + "/" + kProjectFileName;
    struct stat st{};
    if (::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode)) return path;
    if (folder == "/") return {};
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return {};
    folder.resize(slash == 0 ? 1 : slash);
  }
  return {};
}

}  // namespace

void tighten_for_project(Loaded& loaded, const std::string& cwd) {
  loaded.project_file = find_project_file(cwd);
  if (!loaded.project_file.empty())
    apply_file(loaded, loaded.project_file, FileLevel::Project, IfAbsent::Fine);
}

std::string config_path(const base::Folders& folders) {
  return folders.config + "/config.toml";
}

Loaded load(const base::Folders& folders, const std::string& cwd, const std::vector<std::string>& environment,
            const std::function<void(Loaded&)>& after_file) {
  Loaded loaded;
  loaded.file = config_path(folders);
  apply_file(loaded, loaded.file, FileLevel::Person, IfAbsent::Fine);
  if (after_file) after_file(loaded);
  apply_environment(loaded, environment);
  tighten_for_project(loaded, cwd);
  return loaded;
}

}  // namespace ttyward::config
