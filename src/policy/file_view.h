// The looks at the file system that policy takes: where a path really leads, and what a script holds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace ttyward::policy {

class FileView {
 public:
  virtual ~FileView() = default;
  // Follows symbolic links in an absolute path. What does not exist is kept as written, behind the real
  // place of its deepest existing parent.
  virtual std::string canonical(const std::string& absolute) const = 0;
  // SHA-256 of what the file holds, in hexadecimal; empty if it is not a file that can be read, or longer
  // than kMostHashed.
  virtual std::string content_hash(const std::string& absolute) const = 0;
};

inline constexpr size_t kMostHashed = 16 << 20;

// This machine's files.
class RealFiles final : public FileView {
 public:
  std::string canonical(const std::string& absolute) const override;
  std::string content_hash(const std::string& absolute) const override;
};

// Asks `files` once per path. Lives as long as one command is judged: links may change between two commands.
class RememberedFiles final : public FileView {
 public:
  explicit RememberedFiles(const FileView* files) : files_(files) {}
  std::string canonical(const std::string& absolute) const override;
  std::string content_hash(const std::string& absolute) const override {
    return files_ == nullptr ? std::string() : files_->content_hash(absolute);
  }

 private:
  const FileView* files_;
  mutable std::unordered_map<std::string, std::string> known_;
};

// Links and contents by name, nothing else exists; for tests, and for judging without a machine.
class FakeFiles final : public FileView {
 public:
  FakeFiles() = default;
  explicit FakeFiles(std::map<std::string, std::string> links,
                     std::map<std::string, std::string> contents = {})
      : links_(std::move(links)), contents_(std::move(contents)) {}
  std::string canonical(const std::string& absolute) const override;
  std::string content_hash(const std::string& absolute) const override;

 private:
  std::map<std::string, std::string> links_;
  std::map<std::string, std::string> contents_;
};

}  // namespace ttyward::policy
