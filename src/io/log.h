// The log of a program that runs in the background: one line each, with time and level; or, for programs that
// collect logs, one JSON object each (docs/observability.md).
//
// A line never contains a control character, whatever it quotes. The file is 0600.
// When it is full it is renamed to <name>.1, which replaces the previous .1.
//
// Thread rule: any thread.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace ttyward::io {

class Log {
 public:
  enum class Weight : uint8_t { Info, Warning, Error };
  enum class Format : uint8_t { Text, Json };
  // What a message is about, for programs: the message says the same in words, so lines of text leave it out.
  struct Field {
    Field(std::string_view field_name, std::string_view text)
        : name(field_name), json(base::json_quoted(text)) {}
    Field(std::string_view field_name, std::integral auto number)
        : name(field_name), json(std::to_string(number)) {}
    std::string_view name;
    std::string json;
  };
  using Fields = std::initializer_list<Field>;
  static constexpr std::string_view kMainPart = "daemon";
  static constexpr uint64_t kLargestFile = uint64_t{4} << 20;

  // Discards all messages.
  Log() = default;
  // `copy_to` is a descriptor that gets every line too (standard error); -1: none.
  static base::Result<std::unique_ptr<Log>> open(const std::string& folder, const std::string& name,
                                                 int copy_to = -1, uint64_t largest = kLargestFile);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // `part` is the part of the program that speaks.
  void info(std::string_view text, std::string_view part = kMainPart, Fields fields = {}) {
    write(Weight::Info, text, part, fields);
  }
  void warning(std::string_view text, std::string_view part = kMainPart, Fields fields = {}) {
    write(Weight::Warning, text, part, fields);
  }
  void error(std::string_view text, std::string_view part = kMainPart, Fields fields = {}) {
    write(Weight::Error, text, part, fields);
  }
  // For the lines that follow.
  void set_format(Format format) { format_ = format; }
  // Nothing goes to `copy_to` any more.
  void detach() { copy_to_ = -1; }

 private:
  void write(Weight weight, std::string_view text, std::string_view part, Fields fields);
  void rotate();

  std::atomic<Format> format_ = Format::Text;
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
