// A person's own summariser of output: a command that gets the digest and the text, and prints what an agent
// is to get instead. Off unless it is configured; whatever goes wrong, the agent gets the digest.
//
// It runs on a thread of ours, for a bounded time. Thread rule: the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "io/loop.h"

namespace ttyward::app {

class Summarizer {
 public:
  static constexpr size_t kLeastChars = 2000;  // a shorter digest is summary enough

  explicit Summarizer(io::Loop& loop);
  ~Summarizer();  // ends those that run
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;

  struct Output {
    std::string command;
    std::string digest;
    std::string text;  // as far as it is kept for this
  };
  // `line` is for bash: it reads the command, a line "--- digest ---", the digest, a line "--- output ---"
  // and the text. `then` gets what it printed; nothing if it failed, printed nothing or more than the digest,
  // or took too long.
  void summarize(const std::string& line, Output output,
                 std::function<void(const std::optional<std::string>&)> then);

 private:
  io::Loop& loop_;
  base::UniqueFd stop_;  // an eventfd: readable once we go
  size_t running_ = 0;
  std::vector<std::thread> threads_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::app
