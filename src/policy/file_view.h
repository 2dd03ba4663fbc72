// The looks at the file system that policy takes: where a path really leads, what a folder holds, what a
// settings file says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ttyward::policy {

enum class EntryKind : uint8_t { File, Folder, Link, Other };

struct FolderEntry {
  std::string name;
  EntryKind kind = EntryKind::File;

  bool operator==(const FolderEntry&) const = default;
};

struct FileText {
  enum class State : uint8_t {
    Missing,  // no such file
    Text,
    Unknown,  // it cannot be read, is no plain file, or is too long
  };
  State state = State::Missing;
  std::string text;
};

class FileView {
 public:
  virtual ~FileView() = default;
  // Follows symbolic links in an absolute path. What does not exist is kept as written, behind the real
  // place of its deepest existing parent.
  virtual std::string canonical(const std::string& absolute) const = 0;
  // What is in a folder, without . and ..; nothing if it cannot be read or holds more than `most`.
  virtual std::optional<std::vector<FolderEntry>> list(const std::string& absolute, size_t most) const = 0;
  virtual bool exists(const std::string& absolute) const = 0;
  virtual FileText read(const std::string& absolute, size_t most) const = 0;
};

// This machine's files.
class RealFiles final : public FileView {
 public:
  std::string canonical(const std::string& absolute) const override;
  std::optional<std::vector<FolderEntry>> list(const std::string& absolute, size_t most) const override;
  bool exists(const std::string& absolute) const override;
  FileText read(const std::string& absolute, size_t most) const override;
};

// Asks `files` once per path. Lives as long as one command is judged: links may change between two commands.
class RememberedFiles final : public FileView {
 public:
  explicit RememberedFiles(const FileView* files) : files_(files) {}
  std::string canonical(const std::string& absolute) const override;
  std::optional<std::vector<FolderEntry>> list(const std::string& absolute, size_t most) const override;
  bool exists(const std::string& absolute) const override;
  FileText read(const std::string& absolute, size_t most) const override;

 private:
  const FileView* files_;
  mutable std::unordered_map<std::string, std::string> known_;
  mutable std::unordered_map<std::string, std::optional<std::vector<FolderEntry>>> listed_;
};

// Links by name, nothing else exists; for tests, and for judging without a machine.
class FakeFiles final : public FileView {
 public:
  FakeFiles() = default;
  explicit FakeFiles(std::map<std::string, std::string> links) : links_(std::move(links)) {}
  std::string canonical(const std::string& absolute) const override;
  std::optional<std::vector<FolderEntry>> list(const std::string& /*absolute*/,
                                               size_t /*most*/) const override {
    return std::nullopt;
  }
  bool exists(const std::string& /*absolute*/) const override { return false; }
  FileText read(const std::string& /*absolute*/, size_t /*most*/) const override { return {}; }

 private:
  std::map<std::string, std::string> links_;
};

}  // namespace ttyward::policy
