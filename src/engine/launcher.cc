#include "engine/launcher.h"

#include <csignal>
#include <utility>

namespace ttyward::engine {

Launcher::Launcher(io::Loop& loop, std::string program, size_t idle)
    : loop_(loop), program_(std::move(program)), idle_(idle), thread_([this] { work(); }) {}

Launcher::~Launcher() {
  *alive_ = false;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Launcher::start(hold::LaunchRequest request, Done done) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(request), std::move(done)});
  }
  changed_.notify_one();
}

void Launcher::work() {
  // Signals are the loop's.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::deque<hold::IdleHolder> ready;
  bool can_prepare = true;
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      while (jobs_.empty() && !ending_ && (ready.size() >= idle_ || !can_prepare)) changed_.wait(lock);
      if (ending_) return;
      if (jobs_.empty()) {
        lock.unlock();
        // One at a time, so that a job that arrives meanwhile is next.
        auto holder = hold::IdleHolder::start(program_);
        can_prepare = holder.has_value();
        if (holder) ready.push_back(std::move(*holder));
        continue;
      }
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    Launched launched;
    const bool used = !ready.empty();
    if (used) {
      hold::IdleHolder holder = std::move(ready.front());
      ready.pop_front();
      launched = std::move(holder).launch(job.request);
    }
    // Also when the idle holder was ended by somebody. A command is never started twice by this: a journal
    // is made before the command, and its id can be used once.
    const bool again = !launched && launched.error().failure == pty::SpawnFailure::Setup;
    if (!used || again) launched = hold::launch(program_, job.request);
    can_prepare = true;
    loop_.post([alive = alive_, done = std::move(job.done), launched = std::move(launched)]() mutable {
      if (*alive) done(std::move(launched));
    });
  }
}

}  // namespace ttyward::engine
