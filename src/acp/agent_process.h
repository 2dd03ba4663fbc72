// The agent: a process with a process group of its own, whose standard error is passed on.
//
// Some agents start themselves again as a child, so ending the process alone would leave the real agent
// behind. Everything in its group is ended.
//
// Thread rule: the loop thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "io/loop.h"
#include "pty/child.h"

namespace ttyward::acp {

class AgentProcess final : private io::Poller::Handler {
 public:
  // After the end of its input, until it is asked to end; and after that, until it is killed.
  static constexpr std::chrono::milliseconds kGrace{2000};

  // `ended` is called once, when the process itself has ended.
  static base::Result<std::unique_ptr<AgentProcess>> start(io::Loop& loop,
                                                           const std::vector<std::string>& argv,
                                                           std::vector<std::string> environment,
                                                           std::function<void()> ended);
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;
  // Kills what is left of the group.
  ~AgentProcess();

  int in() const { return stdin_.get(); }
  int out() const { return stdout_.get(); }
  void close_stdin() { stdin_.reset(); }
  // Asks it to end, then makes it.
  void end();
  void signal_group(int number) const;

  bool has_ended() const { return ended_status_.has_value(); }
  // As a shell says it: 128 + n for a signal n.
  int exit_code() const { return ended_status_.value_or(0); }
  // In words.
  const std::string& how_it_ended() const { return words_; }

 private:
  AgentProcess(io::Loop& loop, pty::Child child, std::function<void()> ended);
  void on_ready(int fd, uint32_t events) override;
  void reap();
  void pass_stderr();

  io::Loop& loop_;
  pty::Child child_;
  base::UniqueFd stdin_;
  base::UniqueFd stdout_;
  base::UniqueFd stderr_;
  std::function<void()> ended_;
  std::optional<int> ended_status_;
  std::string words_;
  bool others_left_ = false;  // in the group, when the process itself had ended
  io::Loop::TimerId timer_ = 0;
};

}  // namespace ttyward::acp
