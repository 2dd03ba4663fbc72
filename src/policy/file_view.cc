#include "policy/file_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/unique_fd.h"

namespace ttyward::policy {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::File;
  if (S_ISDIR(mode)) return EntryKind::Folder;
  return S_ISLNK(mode) ? EntryKind::Link : EntryKind::Other;
}

EntryKind kind_of(int folder, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return EntryKind::File;
    case DT_DIR:
      return EntryKind::Folder;
    case DT_LNK:
      return EntryKind::Link;
    case DT_UNKNOWN: {  // some file systems do not say
      struct stat info{};
      if (::fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) return kind_of(info.st_mode);
      return EntryKind::Other;
    }
    default:
      return EntryKind::Other;
  }
}

}  // namespace

std::string RealFiles::canonical(const std::string& absolute) const {
  char resolved[PATH_MAX];
  std::string head = absolute;
  std::string tail;
  int links = 0;
  // Every round drops one component or follows one link; the root always resolves.
  while (!head.empty() && head.size() < PATH_MAX) {
    if (::realpath(head.c_str(), resolved) != nullptr) {
      const std::string found(resolved);
      return found == "/" && !tail.empty() ? tail : found + tail;
    }
    const size_t slash = head.rfind('/');
    if (slash == std::string::npos) break;
    // A link that leads to nothing yet: whoever writes to it makes the file it leads to.
    const ssize_t length = ::readlink(head.c_str(), resolved, sizeof resolved);
    if (length > 0 && ++links <= kMaxLinks) {
      const std::string target(resolved, static_cast<size_t>(length));
      head = target.front() == '/' ? target : head.substr(0, slash + 1) + target;
      continue;
    }
    tail.insert(0, head.substr(slash));
    head.resize(slash == 0 ? (head.size() > 1 ? 1 : 0) : slash);
  }
  return absolute;
}

std::optional<std::vector<FolderEntry>> RealFiles::list(const std::string& absolute, size_t most) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(absolute.c_str()), ::closedir);
  if (folder == nullptr) return std::nullopt;
  std::vector<FolderEntry> found;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (found.size() == most) return std::nullopt;
    found.push_back({std::string(name), kind_of(::dirfd(folder.get()), *entry)});
  }
  return found;
}

bool RealFiles::exists(const std::string& absolute) const {
  struct stat info{};
  return ::lstat(absolute.c_str(), &info) == 0;
}

FileText RealFiles::read(const std::string& absolute, size_t most) const {
  // O_NONBLOCK: a pipe with a settings file's name must not hold the decision up.
  const base::UniqueFd file(::open(absolute.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return {exists(absolute) ? FileText::State::Unknown : FileText::State::Missing, {}};
  struct stat info{};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || static_cast<size_t>(info.st_size) > most)
    return {FileText::State::Unknown, {}};
  FileText out{FileText::State::Text, {}};
  std::array<char, 16384> block{};
  while (true) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got == 0) return out;
    if (got < 0 || out.text.size() + static_cast<size_t>(got) > most) return {FileText::State::Unknown, {}};
    out.text.append(block.data(), static_cast<size_t>(got));
  }
}

std::string RememberedFiles::canonical(const std::string& absolute) const {
  if (files_ == nullptr) return absolute;
  const auto [entry, is_new] = known_.try_emplace(absolute);
  if (is_new) entry->second = files_->canonical(absolute);
  return entry->second;
}

std::optional<std::vector<FolderEntry>> RememberedFiles::list(const std::string& absolute,
                                                              size_t most) const {
  if (files_ == nullptr) return std::nullopt;
  const auto [entry, is_new] = listed_.try_emplace(absolute);
  if (is_new) entry->second = files_->list(absolute, most);
  return entry->second;
}

bool RememberedFiles::exists(const std::string& absolute) const {
  return files_ != nullptr && files_->exists(absolute);
}

FileText RememberedFiles::read(const std::string& absolute, size_t most) const {
  return files_ != nullptr ? files_->read(absolute, most) : FileText{};
}

std::string FakeFiles::canonical(const std::string& absolute) const {
  std::string path = absolute;
  for (int hops = 0; hops < 8; ++hops) {
    bool changed = false;
    for (const auto& [link, target] : links_) {
      if (path == link || path.starts_with(link + "/")) {
        path = target + path.substr(link.size());
        changed = true;
      }
    }
    if (!changed) break;
  }
  return path;
}

}  // namespace ttyward::policy
