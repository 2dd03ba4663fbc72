#include "engine/launcher.h"

#include <csignal>
#include <utility>

namespace ttyward::engine {
namespace {

// More do not help: what a launch costs beyond waiting is the processors' time.
constexpr size_t kThreads = 4;

}  // namespace

Launcher::Launcher(io::Loop& loop, std::string program, size_t idle)
    : loop_(loop), program_(std::move(program)), idle_(idle) {
  for (size_t i = 0; i < kThreads; i++) threads_.emplace_back([this] { work(); });
}

Launcher::~Launcher() {
  *alive_ = false;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Launcher::start(hold::LaunchRequest request, Done done) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(request), std::move(done)});
  }
  changed_.notify_one();
}

// Called with the mutex held.
std::optional<hold::IdleHolder> Launcher::next_holder() {
  if (!nursery_) return std::nullopt;
  auto holder = nursery_->next();
  if (holder) return std::move(*holder);
  nursery_.reset();
  return std::nullopt;
}

Launcher::Launched Launcher::launch(const hold::LaunchRequest& request,
                                    std::optional<hold::IdleHolder> holder) const {
  if (!holder) return hold::launch(program_, request);
  Launched launched = std::move(*holder).launch(request);
  // The idle holder was ended by somebody, perhaps. A command is never started twice by this: a journal is
  // made before the command, and its id can be used once.
  const bool again = !launched && launched.error().failure == pty::SpawnFailure::Setup;
  return again ? hold::launch(program_, request) : std::move(launched);
}

void Launcher::work() {
  // Signals are the loop's.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [this] { return ending_ || !jobs_.empty() || (!nursery_ && !raising_ && !given_up_); });
    if (ending_) return;
    if (jobs_.empty()) {
      raising_ = true;
      lock.unlock();
      auto nursery = hold::Nursery::start(program_);
      lock.lock();
      raising_ = false;
      given_up_ = !nursery;
      if (nursery) nursery_ = std::move(*nursery);
    } else {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      std::optional<hold::IdleHolder> holder;
      if (!ready_.empty()) {
        holder = std::move(ready_.front());
        ready_.pop_front();
      } else {
        holder = next_holder();
      }
      lock.unlock();
      Launched launched = launch(job.request, std::move(holder));
      loop_.post([alive = alive_, done = std::move(job.done), launched = std::move(launched)]() mutable {
        if (*alive) done(std::move(launched));
      });
      lock.lock();
      given_up_ = false;
    }
    // Only while nobody waits: it would take the time from them.
    while (jobs_.empty() && ready_.size() < idle_) {
      auto holder = next_holder();
      if (!holder) break;
      ready_.push_back(std::move(*holder));
    }
  }
}

}  // namespace ttyward::engine
