// The folder all journals live in: private to its owner, bounded in all.
//
// The total is a counter in `.usage`, shared by every process that writes
// here. It is raised before space is taken and lowered after space is freed, so
// a crash can only leave it too high; when it says that the limit is reached,
// the folder is counted afresh and finished journals are removed, oldest first.
//
// Thread rule: one thread per object; any number of processes per folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/private_folder.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "journal/mapping.h"

namespace ttyward::journal {

inline constexpr uint64_t kDefaultTotalQuota = uint64_t{4} << 30;

using base::IfMissing;
using base::open_private_file_at;
using base::open_private_folder;
using base::open_private_folder_at;

class Folder {
 public:
  static base::Result<std::shared_ptr<Folder>> open(const std::string& path,
                                                    uint64_t total_quota = kDefaultTotalQuota);

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  uint64_t total_quota() const { return total_quota_; }
  uint64_t used() const;

  // Notes that `bytes` more will be allocated; makes room by removing finished
  // journals if need be. Fails with Exhausted when there is nothing to remove.
  base::Result<void> reserve(uint64_t bytes);
  void release(uint64_t bytes);

  // Removes a journal that has taken `allocated` bytes, and counts them as free.
  base::Result<void> remove(const std::string& id, uint64_t allocated);

  // Counts what is there, corrects the counter, and removes finished or
  // abandoned journals, oldest first, until `used() <= target`.
  base::Result<void> prune(uint64_t target);

 private:
  Folder() = default;

  std::string path_;
  base::UniqueFd fd_;
  Mapping usage_;
  uint64_t total_quota_ = 0;
};

// Sees to it that no journal of this id ever comes to be, and with it no command: its name is taken, for a
// reader to be NotFound. AlreadyExists: there is one, or somebody is just making it.
base::Result<void> use_up(int folder, const std::string& id, const std::string& shown);

// Removes a journal, its header last. Readers that have it open keep reading.
base::Result<void> remove_journal(int folder, const std::string& id);

// Whether the process that writes this journal lives: it holds a lock on `main`
// that the kernel takes back when it dies.
enum class WriterLife : uint8_t { Alive, Gone };
base::Result<WriterLife> probe_writer(int main_fd);

}  // namespace ttyward::journal
