// The log of a program that runs in the background: one line each, with time and level.
//
// A line never contains a control character, whatever it quotes. The file is 0600.
// When it is full it is renamed to <name>.1, which replaces the previous .1.
//
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::io {

class Log {
 public:
  enum class Weight : uint8_t { Info, Warning, Error };
  static constexpr uint64_t kLargestFile = uint64_t{4} << 20;

  // Says nothing to nobody.
  Log() = default;
  // `copy_to` is a descriptor that gets every line too (standard error); -1: none.
  static base::Result<std::unique_ptr<Log>> open(const std::string& folder, const std::string& name,
                                                 int copy_to = -1, uint64_t largest = kLargestFile);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void info(std::string_view text) { write(Weight::Info, text); }
  void warning(std::string_view text) { write(Weight::Warning, text); }
  void error(std::string_view text) { write(Weight::Error, text); }
  // Nothing goes to `copy_to` any more.
  void detach() { copy_to_ = -1; }

 private:
  void write(Weight weight, std::string_view text);
  void rotate();

  std::mutex mutex_;
  base::UniqueFd folder_;
  base::UniqueFd file_;
  std::string folder_path_;
  std::string name_;
  uint64_t largest_ = 0;
  uint64_t size_ = 0;
  int copy_to_ = -1;
};

}  // namespace ttyward::io
