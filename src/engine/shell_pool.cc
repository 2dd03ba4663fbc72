#include "engine/shell_pool.h"

#include <algorithm>
#include <utility>

#include "engine/start_files.h"

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kPause{50};

}  // namespace

Terminal* ShellPool::take(const TerminalSpec& wanted) {
  for (const auto& terminal : terminals_) {
    const TerminalSpec& have = terminal->spec();
    if (have.pooled && terminal->live() && terminal->ready() && !terminal->busy() && have.cwd == wanted.cwd &&
        terminal->cwd() == wanted.cwd && have.argv == wanted.argv && have.login == wanted.login &&
        have.size == wanted.size && have.environment == wanted.environment) {
      fill();
      return terminal.get();
    }
  }
  return nullptr;
}

void ShellPool::expect(TerminalSpec spec) {
  spec.request.clear();
  spec.name.clear();
  spec.task.clear();
  spec.session.clear();
  spec.owner = Owner::System;
  spec.pooled = true;
  if (!may_start(spec)) return;
  model_ = std::move(spec);
  fill();
}

// It would run a person's start-up files at a moment nobody chose.
bool ShellPool::may_start(const TerminalSpec& spec) const {
  if (settings_.pool == 0 || settings_.pool_start_files == PoolStartFiles::Spare) return false;
  return settings_.pool_start_files == PoolStartFiles::Run ||
         !start_files_take_locks(place_, spec.argv, spec.environment);
}

// One at a time, when the loop has nothing better to do.
void ShellPool::fill() {
  if (timer_.running() || !model_ || settings_.pool == 0 || stopped_) return;
  timer_.after(kPause, [this] {
    if (model_ && !stopped_) start_one();
  });
}

void ShellPool::start_one() {
  // A user's start-up files may take long, or lock each other out: never two at once.
  if (std::any_of(terminals_.begin(), terminals_.end(),
                  [](const auto& terminal) { return terminal->live() && !terminal->ready(); })) {
    return fill();
  }
  size_t have = 0;
  for (const auto& terminal : terminals_) {
    const TerminalSpec& spec = terminal->spec();
    if (!spec.pooled || !terminal->live()) continue;
    if (spec.cwd == model_->cwd && spec.argv == model_->argv && spec.environment == model_->environment) {
      have++;
    } else {
      terminal->kill();  // of a directory nobody opens terminals in any more
    }
  }
  if (have < settings_.pool && start_(*model_)) fill();
}

}  // namespace ttyward::engine
