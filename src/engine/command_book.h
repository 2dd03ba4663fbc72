// The commands a terminal remembers, oldest first, and which of them is where.
//
//   queued ──typed──► current ──ended──► ending ──prompt is there──► over
//
// At most one is queued, one current. The oldest are forgotten once there are too
// many; the outputs of those that are over are kept for the newest few only, because
// they can be made again from the journal.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/command.h"

namespace ttyward::engine {

class CommandBook {
 public:
  using Commands = std::deque<std::unique_ptr<Command>>;

  explicit CommandBook(size_t most) : most_(most) {}

  Command& add(std::unique_ptr<Command> command);
  const Commands& commands() const { return commands_; }
  Command* find(std::string_view command_id) const;
  // That has not ended.
  Command* find(shell::SubmissionId submission) const;

  Command* queued() const { return queued_; }    // accepted, not yet typed
  Command* current() const { return current_; }  // typed or running
  Command* ending() const { return ending_; }    // ended; the prompt is on its way
  // The one whose time runs: the current one, or else the queued one.
  Command* active() const { return current_ != nullptr && !current_->over() ? current_ : queued_; }
  bool runs(const Command* command) const { return command != nullptr && !command->over(); }
  void set_queued(Command* command) { queued_ = command; }
  void set_current(Command* command) { current_ = command; }
  void set_ending(Command* command) { ending_ = command; }
  Command* take_ending() { return std::exchange(ending_, nullptr); }
  // It is over: neither queued nor current.
  void ended(const Command& command);

  shell::SubmissionId next_submission() { return ++last_submission_; }
  void submission_used(shell::SubmissionId submission);

  // Drops outputs that can be made again.
  void forget_outputs();
  // They were forgotten before.
  void forgotten_before(std::vector<std::string> ids);
  // Ids of commands that are not remembered any more, told once.
  std::vector<std::string> take_forgotten() { return std::exchange(forgotten_, {}); }

 private:
  const size_t most_;
  Commands commands_;
  Command* queued_ = nullptr;
  Command* current_ = nullptr;
  Command* ending_ = nullptr;
  shell::SubmissionId last_submission_ = 0;
  std::vector<std::string> forgotten_;
};

}  // namespace ttyward::engine
