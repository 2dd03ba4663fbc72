#include "journal/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "journal/format.h"

namespace ttyward::journal {

namespace {

constexpr const char* kUsageName = ".usage";
constexpr std::string_view kMainSuffix = ".main";
// A `main` without its magic is being made, or was left by a crash while it was;
// after this long it is the latter.
constexpr time_t kHalfMadeSeconds = 60;

uint64_t disk_bytes(int folder) {
  uint64_t bytes = 0;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return 0;
  DIR* listing = ::fdopendir(copy);
  if (listing == nullptr) {
    ::close(copy);
    return 0;
  }
  while (const dirent* entry = ::readdir(listing)) {
    struct stat st{};
    if (::fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)) {
      bytes += static_cast<uint64_t>(st.st_size);
    }
  }
  ::closedir(listing);
  return bytes;
}

struct Found {
  std::string id;
  uint64_t bytes = 0;
  int64_t changed = 0;  // seconds; the header's page is last written when the journal finishes
  bool removable = false;
};

Found examine(int root, const std::string& id) {
  Found found{id, 0, 0, false};
  if (const auto folder = open_private_folder_at(root, id.c_str(), id))
    found.bytes = disk_bytes(folder->get());
  const auto main = open_private_file_at(root, main_file(id).c_str(), O_RDONLY, id);
  struct stat st{};
  if (!main || ::fstat(main->get(), &st) != 0) return found;
  found.bytes += static_cast<uint64_t>(st.st_size);
  found.changed = st.st_mtime;
  // A writer takes its lock before it writes the magic. Without the magic the
  // absence of a lock says nothing yet.
  std::array<char, 8> magic{};
  if (base::read_at(main->get(), magic.data(), magic.size(), 0, id) != magic.size() ||
      magic != kJournalMagic) {
    found.removable = ::time(nullptr) - st.st_mtime > kHalfMadeSeconds;
    return found;
  }
  const auto life = probe_writer(main->get());
  found.removable = life && *life == WriterLife::Gone;
  return found;
}

base::Result<std::vector<Found>> examine_all(int root, const std::string& path) {
  const int copy = ::openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return base::fail_errno(errno, "cannot list " + path);
  DIR* listing = ::fdopendir(copy);
  if (listing == nullptr) {
    const int error = errno;
    ::close(copy);
    return base::fail_errno(error, "cannot list " + path);
  }
  std::vector<Found> all;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (!name.ends_with(kMainSuffix)) continue;
    const std::string id(name.substr(0, name.size() - kMainSuffix.size()));
    if (valid_id(id)) all.push_back(examine(root, id));
  }
  ::closedir(listing);
  return all;
}

}  // namespace

base::Result<std::shared_ptr<Folder>> Folder::open(const std::string& path, uint64_t total_quota) {
  auto fd = open_private_folder(path, IfMissing::Create);
  if (!fd) return tl::unexpected(fd.error());
  auto file = open_private_file_at(fd->get(), kUsageName, O_RDWR | O_CREAT, path);
  if (!file) return tl::unexpected(file.error());
  struct stat st{};
  if (::fstat(file->get(), &st) != 0) return base::fail_errno(errno, "cannot stat " + path + "/.usage");
  if (static_cast<uint64_t>(st.st_size) < kPage) {
    const int error = ::posix_fallocate(file->get(), 0, static_cast<off_t>(kPage));
    if (error != 0) return base::fail_errno(error, "cannot allocate " + path + "/.usage");
  }
  auto usage = Mapping::map(file->get(), kPage, Access::ReadWrite, path + "/.usage");
  if (!usage) return tl::unexpected(usage.error());

  std::shared_ptr<Folder> folder(new Folder);
  folder->path_ = path;
  folder->fd_ = std::move(*fd);
  folder->usage_ = std::move(*usage);
  folder->total_quota_ = total_quota;
  Usage* shared = folder->usage_.as<Usage>();
  if (shared->magic != kUsageMagic) {
    // New, or damaged. Journals that were here before the file are counted once.
    shared->magic = kUsageMagic;
    publish(shared->bytes, uint64_t{0});
    if (auto counted = folder->prune(~uint64_t{0}); !counted) return tl::unexpected(counted.error());
  }
  return folder;
}

uint64_t Folder::used() const {
  return observe(usage_.as<Usage>()->bytes);
}

base::Result<void> Folder::reserve(uint64_t bytes) {
  const std::atomic_ref<uint64_t> counter(usage_.as<Usage>()->bytes);
  if (counter.fetch_add(bytes) + bytes <= total_quota_) return {};
  counter.fetch_sub(bytes);
  // Down to seven eighths, so that the next few journals do not have to count again.
  const uint64_t room = std::max(bytes, total_quota_ / 8);
  if (auto pruned = prune(total_quota_ > room ? total_quota_ - room : 0); !pruned) return pruned;
  if (counter.fetch_add(bytes) + bytes <= total_quota_) return {};
  counter.fetch_sub(bytes);
  return base::fail(base::ErrorCode::Exhausted, "journals in " + path_ + " have reached their limit of " +
                                                    std::to_string(total_quota_) +
                                                    " bytes, and all of them are still being written");
}

void Folder::release(uint64_t bytes) {
  const std::atomic_ref<uint64_t> counter(usage_.as<Usage>()->bytes);
  uint64_t now = counter.load();
  while (!counter.compare_exchange_weak(now, now - std::min(now, bytes))) {
  }
}

base::Result<void> Folder::prune(uint64_t target) {
  const std::atomic_ref<uint64_t> counter(usage_.as<Usage>()->bytes);
  const uint64_t believed = counter.load();
  auto all = examine_all(fd_.get(), path_);
  if (!all) return tl::unexpected(all.error());
  uint64_t counted = 0;
  for (const Found& found : *all) counted += found.bytes;
  // A difference, not a store: what others reserve meanwhile must not be lost.
  counted > believed ? (void)counter.fetch_add(counted - believed) : release(believed - counted);

  std::sort(all->begin(), all->end(), [](const Found& a, const Found& b) {
    return a.changed != b.changed ? a.changed < b.changed : a.id < b.id;
  });
  for (const Found& found : *all) {
    if (counter.load() <= target) break;
    if (!found.removable) continue;
    if (remove_journal(fd_.get(), found.id)) release(found.bytes);
  }
  return {};
}

namespace {

base::Result<void> remove_segments(int folder, const std::string& id) {
  auto inside = open_private_folder_at(folder, id.c_str(), id);
  if (!inside)
    return inside.error().sys_errno == ENOENT ? base::Result<void>{} : tl::unexpected(inside.error());
  const int copy = ::openat(inside->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return base::fail_errno(errno, "cannot list " + id);
  DIR* listing = ::fdopendir(copy);
  if (listing == nullptr) {
    const int error = errno;
    ::close(copy);
    return base::fail_errno(error, "cannot list " + id);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing)) {
    if (parse_segment_file(entry->d_name)) names.emplace_back(entry->d_name);
  }
  ::closedir(listing);
  for (const std::string& name : names) {
    if (::unlinkat(inside->get(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return base::fail_errno(errno, "cannot remove " + id + "/" + name);
    }
  }
  if (::unlinkat(folder, id.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot remove " + id);
  }
  return {};
}

}  // namespace

base::Result<void> use_up(int folder, const std::string& id, const std::string& shown) {
  if (!valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not a journal id: " + id);
  auto file = open_private_file_at(folder, main_file(id).c_str(), O_WRONLY | O_CREAT | O_EXCL, shown);
  if (!file && file.error().code == base::ErrorCode::AlreadyExists) {
    const auto there = open_private_file_at(folder, main_file(id).c_str(), O_RDONLY, shown);
    struct stat st{};
    const bool unused = there && ::fstat(there->get(), &st) == 0 && st.st_size > 0 &&
                        static_cast<uint64_t>(st.st_size) < kPage;
    if (unused) return {};
  }
  if (!file) return tl::unexpected(file.error());
  // Even if nothing can be written the name is taken.
  static_cast<void>(::write(file->get(), "unused\n", 7) == 7);
  return {};
}

base::Result<void> remove_journal(int folder, const std::string& id) {
  if (!valid_id(id)) return base::fail(base::ErrorCode::InvalidArgument, "not a journal id: " + id);
  if (auto removed = remove_segments(folder, id); !removed) return removed;
  if (::unlinkat(folder, main_file(id).c_str(), 0) != 0 && errno != ENOENT) {
    return base::fail_errno(errno, "cannot remove " + main_file(id));
  }
  return {};
}

base::Result<void> Folder::remove(const std::string& id, uint64_t allocated) {
  if (auto removed = remove_journal(fd_.get(), id); !removed) return removed;
  release(allocated);
  return {};
}

base::Result<WriterLife> probe_writer(int main_fd) {
  if (::flock(main_fd, LOCK_SH | LOCK_NB) == 0) {
    ::flock(main_fd, LOCK_UN);
    return WriterLife::Gone;
  }
  if (errno == EWOULDBLOCK) return WriterLife::Alive;
  return base::fail_errno(errno, "cannot ask whether the journal's writer lives");
}

}  // namespace ttyward::journal
