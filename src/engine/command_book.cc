#include "engine/command_book.h"

#include <algorithm>

namespace ttyward::engine {

Command& CommandBook::add(std::unique_ptr<Command> command) {
  commands_.push_back(std::move(command));
  while (commands_.size() > most_ && commands_.front()->over()) {
    forgotten_.push_back(commands_.front()->facts.command_id);
    commands_.pop_front();
  }
  return *commands_.back();
}

Command* CommandBook::find(std::string_view command_id) const {
  for (const auto& command : commands_) {
    if (command->facts.command_id == command_id) return command.get();
  }
  return nullptr;
}

Command* CommandBook::find(shell::SubmissionId submission) const {
  for (auto at = commands_.rbegin(); at != commands_.rend(); ++at) {
    if ((*at)->submission == submission && !(*at)->over()) return at->get();
  }
  return nullptr;
}

void CommandBook::ended(const Command& command) {
  if (queued_ == &command) queued_ = nullptr;
  if (current_ == &command) current_ = nullptr;
}

void CommandBook::forgotten_before(std::vector<std::string> ids) {
  forgotten_.insert(forgotten_.end(), ids.begin(), ids.end());
}

void CommandBook::submission_used(shell::SubmissionId submission) {
  last_submission_ = std::max(last_submission_, submission);
}

// The newest are asked for as a rule; and those that take long to make are kept a while longer.
void CommandBook::forget_outputs() {
  constexpr size_t kNewestKept = 2;
  constexpr size_t kLargeKept = 8;
  constexpr uint64_t kLarge = 4 << 20;  // bytes that take more than a moment
  size_t kept = 0;
  for (auto at = commands_.rbegin(); at != commands_.rend(); ++at) {
    Command& command = **at;
    if (!command.over() || !command.output) continue;
    const bool large = command.range().end - command.range().begin > kLarge;
    if (++kept > (large ? kLargeKept : kNewestKept)) command.output.reset();
  }
}

}  // namespace ttyward::engine
