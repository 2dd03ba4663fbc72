// batch with `separate`: each command is a `run` of its own, with its own terminal and limits, several at
// once if asked.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"

namespace ttyward::app {

// Takes the place of the client for each command, and answers the client once for all of them.
class Commands::SeparateBatch {
 public:
  static void start(Commands& commands, const Caller& caller, const wire::BatchRequest& request,
                    const Reply<wire::BatchResult>& reply);
  SeparateBatch(Commands& commands, Caller caller, wire::BatchRequest request,
                const Reply<wire::BatchResult>& reply);
  SeparateBatch(const SeparateBatch&) = delete;
  SeparateBatch& operator=(const SeparateBatch&) = delete;
  ~SeparateBatch();

 private:
  class Run;  // the channel of one command

  void finished(size_t index, wire::CommandResult result);
  std::chrono::milliseconds left() const;
  wire::RunRequest run_request(size_t index) const;
  void advance();
  void end();
  void take_back();

  Commands& commands_;
  const Caller caller_;
  const wire::BatchRequest request_;
  const Reply<wire::BatchResult> reply_;
  std::vector<std::optional<wire::CommandResult>> results_;
  std::vector<std::shared_ptr<Run>> runs_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  uint64_t key_ = 0;
  size_t next_ = 0;
  size_t running_ = 0;
  bool failed_ = false;
  bool out_of_time_ = false;
  bool advancing_ = false;
};

}  // namespace ttyward::app
