#include "gate/rule_text.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/file_io.h"
#include "base/ids.h"
#include "base/unique_fd.h"
#include "policy/rules.h"

namespace ttyward::gate {
namespace {

using base::ErrorCode;
using base::fail;
using base::fail_errno;
using base::Result;
using base::UniqueFd;

constexpr size_t kMaxFileBytes = 1 << 20;
// Relative paths in rules are under the folder a command runs in; to check the file any will do.
constexpr const char* kSomeRoot = "/nowhere";

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// The file itself, behind links.
std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

Result<std::string> read_all(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    if (errno == ENOENT) return std::string();
    return fail_errno(errno, path);
  }
  std::string text;
  char buffer[16'384];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, path);
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > kMaxFileBytes) return fail(ErrorCode::InvalidArgument, path + ": longer than 1 MiB");
  }
}

// Two of us must not each start from the same old content.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& folder) {
    UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, folder);
    while (::flock(fd.get(), LOCK_EX) != 0) {
      if (errno != EINTR) return fail_errno(errno, folder);
    }
    return FolderLock(std::move(fd));
  }
  int fd() const { return fd_.get(); }

 private:
  explicit FolderLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

Result<void> replace(const std::string& path, std::string_view text, const FolderLock& folder) {
  const std::string beside = path + "." + base::random_id('n');
  {
    const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return fail_errno(errno, beside);
    auto written = base::write_all(fd.get(), text, beside);
    if (written && ::fsync(fd.get()) != 0) written = fail_errno(errno, beside);
    if (!written) {
      ::unlink(beside.c_str());
      return written;
    }
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    return fail_errno(error, path);
  }
  if (::fsync(folder.fd()) != 0) return fail_errno(errno, folder_of(path));
  return {};
}

Result<std::vector<policy::Rule>> parse(const std::string& text, const std::string& path) {
  return policy::parse_rules(text, policy::RuleLevel::Global, path, kSomeRoot);
}

Result<void> make_folder(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path place(folder);
  if (std::filesystem::is_directory(place, error)) return {};
  std::filesystem::create_directories(place.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, folder);
  return {};
}

// Where each line begins, and the end of the text.
std::vector<size_t> line_starts(std::string_view text) {
  std::vector<size_t> starts = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(i + 1);
  }
  if (starts.back() != text.size()) starts.push_back(text.size());
  return starts;
}

bool is_remark(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

Result<std::string> with_rules(std::string text, const std::vector<std::string>& rules,
                               const std::string& path) {
  if (auto parsed = parse(text, path); !parsed) return tl::unexpected(parsed.error());
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const std::string& rule : rules) text += (text.empty() ? "" : "\n") + rule;
  if (auto parsed = parse(text, path); !parsed) return tl::unexpected(parsed.error());
  return text;
}

Result<WithoutRules> without_rules(const std::string& text, std::string_view name, const std::string& path) {
  auto rules = parse(text, path);
  if (!rules) return tl::unexpected(rules.error());
  const std::vector<size_t> starts = line_starts(text);
  const auto lines = starts.size() - 1;
  const auto line_at = [&](size_t i) {
    return std::string_view(text).substr(starts[i], starts[i + 1] - starts[i]);
  };
  WithoutRules out;
  size_t from = 0;  // the first line that is neither kept nor dropped yet
  for (size_t i = 0; i < rules->size(); ++i) {
    if ((*rules)[i].name != name) continue;
    const auto begin = static_cast<size_t>((*rules)[i].line) - 1;
    size_t end = i + 1 < rules->size() ? static_cast<size_t>((*rules)[i + 1].line) - 1 : lines;
    // Remarks before the next rule are about that one.
    if (i + 1 < rules->size()) {
      while (end > begin + 1 && is_remark(line_at(end - 1))) --end;
      while (end < lines && line_at(end).find_first_not_of(" \t\r\n") == std::string_view::npos) ++end;
    }
    for (; from < begin; ++from) out.text += line_at(from);
    from = end;
    ++out.removed;
  }
  for (; from < lines; ++from) out.text += line_at(from);
  if (out.removed == 0) return out;
  auto left = parse(out.text, path);
  if (!left) return tl::unexpected(left.error());
  if (left->size() + out.removed != rules->size()) {
    return fail(ErrorCode::InvalidArgument,
                path + ": the rules are not next to each other; remove '" + std::string(name) + "' by hand");
  }
  return out;
}

Result<std::string> text_of_rules(const std::string& text, std::string_view name, const std::string& path) {
  auto rules = parse(text, path);
  if (!rules) return tl::unexpected(rules.error());
  const std::vector<size_t> starts = line_starts(text);
  std::string out;
  for (size_t i = 0; i < rules->size(); ++i) {
    if ((*rules)[i].name != name) continue;
    const auto begin = static_cast<size_t>((*rules)[i].line) - 1;
    const size_t end =
        i + 1 < rules->size() ? static_cast<size_t>((*rules)[i + 1].line) - 1 : starts.size() - 1;
    out += text.substr(starts[begin], starts[end] - starts[begin]);
  }
  return out;
}

Result<std::string> read_rule_file(const std::string& path) {
  return read_all(real_path(path));
}

Result<void> append_rules(const std::string& path, const std::vector<std::string>& rules) {
  if (rules.empty()) return {};
  const std::string file = real_path(path);
  if (auto made = make_folder(folder_of(file)); !made) return made;
  auto lock = FolderLock::take(folder_of(file));
  if (!lock) return tl::unexpected(lock.error());
  auto text = read_all(file);
  if (!text) return tl::unexpected(text.error());
  auto with = with_rules(std::move(*text), rules, path);
  if (!with) return tl::unexpected(with.error());
  return replace(file, *with, *lock);
}

Result<void> replace_rule_file(const std::string& path, std::string_view before, std::string_view after) {
  const std::string file = real_path(path);
  if (auto made = make_folder(folder_of(file)); !made) return made;
  auto lock = FolderLock::take(folder_of(file));
  if (!lock) return tl::unexpected(lock.error());
  auto text = read_all(file);
  if (!text) return tl::unexpected(text.error());
  if (*text != before)
    return fail(ErrorCode::InvalidArgument,
                path + " was changed meanwhile, and nothing was saved; look at it again");
  return replace(file, after, *lock);
}

Result<size_t> remove_rules(const std::string& path, std::string_view name) {
  const std::string file = real_path(path);
  if (::access(file.c_str(), F_OK) != 0) return 0;
  auto lock = FolderLock::take(folder_of(file));
  if (!lock) return tl::unexpected(lock.error());
  auto text = read_all(file);
  if (!text) return tl::unexpected(text.error());
  auto without = without_rules(*text, name, path);
  if (!without) return tl::unexpected(without.error());
  if (without->removed == 0) return 0;
  if (auto written = replace(file, without->text, *lock); !written) return tl::unexpected(written.error());
  return without->removed;
}

}  // namespace ttyward::gate
