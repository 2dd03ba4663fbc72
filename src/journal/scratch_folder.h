// For tests: a private folder that is gone afterwards, and a journal in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/types.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "journal/folder.h"
#include "journal/reader.h"
#include "journal/writer.h"

namespace ttyward::journal {

class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& under = ::testing::TempDir()) {
    std::string pattern = under + "/ttyward-journal-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string journals() const { return path_ + "/journals"; }

 private:
  std::string path_;
};

// Bytes that tell their own position: a reader can see any shift or hole.
inline char byte_at(uint64_t offset) {
  return static_cast<char>((offset * 2654435761U) >> 13);
}

// Writes `bytes` patterned bytes in pieces of at most `piece`. Returns how many
// the writer took before it was full.
inline uint64_t write_pattern(Writer& writer, uint64_t bytes, size_t piece = 4096,
                              Stream stream = Stream::Terminal) {
  uint64_t done = 0;
  while (done < bytes) {
    auto span = writer.writable_span();
    if (span.empty()) break;
    const size_t n = std::min<uint64_t>({span.size(), piece, bytes - done});
    for (size_t i = 0; i < n; ++i) span[i] = static_cast<std::byte>(byte_at(writer.end() + i));
    writer.commit(n, stream);
    done += n;
  }
  return done;
}

inline ::testing::AssertionResult is_pattern(const std::string& text, uint64_t begin) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != byte_at(begin + i)) {
      return ::testing::AssertionFailure() << "wrong byte at offset " << begin + i;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace ttyward::journal
