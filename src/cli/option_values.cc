#include "cli/option_values.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

#include "cli/remote_host.h"

namespace ttyward::cli {
namespace {

using base::ErrorCode;
using base::fail;

constexpr double kLongestSeconds = 10.0 * 365 * 24 * 3600;

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

base::Result<std::chrono::milliseconds> parse_seconds(const char* option, double seconds) {
  if (!(seconds >= 0) || seconds > kLongestSeconds) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--{}: give a number of seconds, 0 for no limit", option));
  }
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

base::Result<pty::WindowSize> parse_size(const char* what, const std::string& text) {
  const size_t x = text.find('x');
  const std::string_view all = text;
  const int cols = x == std::string::npos ? 0 : whole<int>(all.substr(0, x)).value_or(0);
  const int rows = x == std::string::npos ? 0 : whole<int>(all.substr(x + 1)).value_or(0);
  if (cols < 1 || cols > 10'000 || rows < 1 || rows > 10'000 || cols * rows > 4'000'000) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} {}: write columns x rows, such as 120x40", what, text));
  }
  return pty::WindowSize{static_cast<uint16_t>(cols), static_cast<uint16_t>(rows), 0, 0};
}

base::Result<std::pair<int64_t, int64_t>> parse_range(const char* option, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string_view all = text;
  const std::string_view from = all.substr(0, colon);
  const std::string_view to = colon == std::string::npos ? from : all.substr(colon + 1);
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  const auto first = from.empty() ? std::optional<int64_t>(1) : whole<int64_t>(from);
  const auto last = to.empty() ? std::optional<int64_t>(kLast) : whole<int64_t>(to);
  if (text.empty() || !first || !last || *first < 1 || *last < *first) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--{} {}: write lines counted from 1, such as 10:20, 10: or :20", option, text));
  }
  return std::pair(*first, *last);
}

base::Result<std::string> absolute_folder(const std::string& asked) {
  // Folders of another machine are not ours to look at; without one, the daemon there chooses.
  if (talks_to_host()) {
    if (asked.empty() || asked.starts_with('/')) return asked;
    return fail(ErrorCode::InvalidArgument,
                fmt::format("--cwd {}: with --host it must be a whole path, as it is there", asked));
  }
  char resolved[PATH_MAX];
  const char* path = asked.empty() ? "." : asked.c_str();
  if (::realpath(path, resolved) == nullptr) {
    return fail(ErrorCode::NotFound,
                fmt::format("--cwd {}: {}", asked,
                            errno == ENOENT ? "there is no such folder" : "it cannot be opened"));
  }
  struct stat info{};
  if (::stat(resolved, &info) != 0 || !S_ISDIR(info.st_mode)) {
    return fail(ErrorCode::InvalidArgument, fmt::format("--cwd {}: it is not a folder", asked));
  }
  return std::string(resolved);
}

base::Result<std::pair<std::string, std::string>> parse_variable(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return fail(ErrorCode::InvalidArgument, fmt::format("--env {}: write NAME=value", text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace ttyward::cli
