#include "engine/shell_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "shell/launch.h"

namespace ttyward::engine {

std::string ShellFiles::typed_path() const {
  return folder_ + "/" + shell::kTypedFile;
}

base::Result<void> ShellFiles::open() {
  if (far_ != nullptr) {
    open_there_ = true;
    const std::string names = folder_ + "/" + shell::kNamesFile;
    if (auto made = far_->write_file(names, "", 0600); !made) return made;
    return far_->write_file(folder_ + "/" + shell::kNextNonceFile, "", 0600);
  }
  const std::string path = folder_ + "/" + shell::kNextNonceFile;
  nonce_file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  typed_ = ::access(typed_path().c_str(), F_OK) == 0;
  if (!nonce_file_) return base::fail_errno(errno, "cannot write " + path);
  const std::string names = folder_ + "/" + shell::kNamesFile;
  if (!base::UniqueFd(::open(names.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)))
    return base::fail_errno(errno, "cannot write " + names);
  return {};
}

void ShellFiles::hand_over(const std::string& nonce) {
  const std::string line = nonce + "\n";
  if (open_there_) static_cast<void>(far_->write_file(folder_ + "/" + shell::kNextNonceFile, line, 0600));
  if (nonce_file_) (void)!::pwrite(nonce_file_.get(), line.data(), line.size(), 0);
}

// In place, because some file systems write a file out that was cut and filled again.
void ShellFiles::blank(size_t nonce_bytes) {
  if (open_there_) static_cast<void>(far_->write_file(folder_ + "/" + shell::kNextNonceFile, "\n", 0600));
  if (!nonce_file_) return;
  const std::string blank(nonce_bytes + 1, '\n');
  (void)!::pwrite(nonce_file_.get(), blank.data(), blank.size(), 0);
}

void ShellFiles::note_typed() {
  if (typed_ || !is_open()) return;
  const std::string path = typed_path();
  if (open_there_) {
    typed_ = far_->write_file(path, "", 0600).has_value();
    return;
  }
  typed_ = base::UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)).valid();
}

bool ShellFiles::forget_typed() {
  if (!std::exchange(typed_, false)) return false;
  remove(typed_path());
  return true;
}

void ShellFiles::remove(const std::string& path) const {
  if (far_ != nullptr) return far_->remove_tree(path);
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

void ShellFiles::remove_start_files() {
  for (const std::string& path : std::exchange(start_files_, {})) remove(path);
}

void ShellFiles::remove_all() {
  remove_start_files();
  if (!folder_.empty()) remove(folder_);
}

}  // namespace ttyward::engine
