#include "engine/launcher.h"

#include <csignal>
#include <utility>

#include "base/thread.h"

namespace ttyward::engine {
namespace {

// More do not help: what a launch costs beyond waiting is the processors' time.
constexpr size_t kThreads = 4;

// Fits into a socket's buffer whole, so that sending it does not wait for anybody.
constexpr size_t kSmall = 32 << 10;

bool small(const hold::LaunchRequest& request) {
  const pty::SpawnSpec& spawn = request.hold.spawn;
  size_t size = 0;
  for (const auto* texts : {&spawn.argv, &spawn.environment}) {
    for (const std::string& text : *texts) size += text.size();
  }
  return size < kSmall;
}

}  // namespace

Launcher::Launcher(io::Loop& loop, std::string program, size_t idle)
    : loop_(loop), program_(std::move(program)), idle_(idle) {
  for (size_t i = 0; i < kThreads && i == threads_.size(); i++) {
    if (auto thread = base::start_thread([this] { work(); })) threads_.push_back(std::move(*thread));
  }
}

Launcher::~Launcher() {
  *alive_ = false;
  for (auto& [fd, asked] : asked_) {
    loop_.poller().remove(fd);
    loop_.cancel(asked.patience);
    // Once it has answered, the files of its command are complete: nobody finds half of them.
    static_cast<void>(std::move(*asked.job.asked).answer());
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// A holder that is ready gets the request at once and is at work before a thread has woken up.
void Launcher::start(hold::LaunchRequest request, Done done) {
  if (threads_.empty()) {
    // The user's processes were too many when we started; perhaps they are not any more.
    auto thread = base::start_thread([this] { work(); });
    if (!thread) {
      loop_.post([alive = alive_, done = std::move(done), error = thread.error()] {
        if (*alive) done(tl::unexpected(pty::SpawnError{pty::SpawnFailure::Setup, error}));
      });
      return;
    }
    threads_.push_back(std::move(*thread));
  }
  Job job{std::move(request), std::move(done), std::nullopt, false};
  {
    const std::lock_guard lock(mutex_);
    if (!ready_.empty() && small(job.request)) {
      job.asked = std::move(ready_.front());
      ready_.pop_front();
    }
  }
  if (job.asked && !job.asked->ask(job.request)) job.asked.reset();
  if (!job.asked || !await(job)) hand_over(std::move(job));
}

void Launcher::start_on(base::Result<base::UniqueFd> control, hold::LaunchRequest request, Done done) {
  const auto fail = [&](pty::SpawnError error) {
    loop_.post([alive = alive_, done = std::move(done), error = std::move(error)] {
      if (*alive) done(tl::unexpected(error));
    });
  };
  if (!control) return fail({pty::SpawnFailure::Setup, control.error()});
  Job job{std::move(request), {}, hold::IdleHolder::behind(std::move(*control)), true};
  if (auto asked = job.asked->ask(job.request); !asked) return fail(asked.error());
  const int fd = job.asked->fd();
  if (!await(job)) {
    return fail({pty::SpawnFailure::Exhausted,
                 base::Error{base::ErrorCode::Exhausted, 0, "the answer cannot be waited for"}});
  }
  asked_.at(fd).job.done = std::move(done);
}

void Launcher::prepare_for(hold::HolderFolders folders) {
  const std::lock_guard lock(mutex_);
  if (folders_ == folders) return;
  for (hold::IdleHolder& holder : ready_) holder.prepare(folders);
  folders_ = std::move(folders);
}

void Launcher::hand_over(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

// A holder that was asked on the loop answers on the loop: a thread would have to be woken twice for it.
bool Launcher::await(Job& job) {
  const int fd = job.asked->fd();
  if (!loop_.poller().add(fd, EPOLLIN, *this)) return false;
  const auto patience = loop_.after(hold::kLaunchPatience, [this, alive = alive_, fd] {
    if (*alive) on_ready(fd, 0);
  });
  asked_.emplace(fd, Asked{std::move(job), patience});
  return true;
}

void Launcher::on_ready(int fd, uint32_t /*events*/) {
  auto asked = asked_.extract(fd);
  if (asked.empty()) return;
  loop_.poller().remove(fd);
  Job job = std::move(asked.mapped().job);
  loop_.cancel(asked.mapped().patience);
  Launched launched = std::move(*job.asked).answer(hold::Answer::IsThere);
  if (needs_another(launched) && !job.only_there) {
    job.asked.reset();
    return hand_over(std::move(job));
  }
  {
    const std::lock_guard lock(mutex_);
    refill_ = true;
    given_up_ = false;
  }
  changed_.notify_one();
  job.done(std::move(launched));
}

// Called with the mutex held.
std::optional<hold::IdleHolder> Launcher::next_holder() {
  if (!fork_server_) return std::nullopt;
  auto holder = fork_server_->next();
  if (holder) return std::move(*holder);
  fork_server_.reset();
  return std::nullopt;
}

Launcher::Launched Launcher::launch(const hold::LaunchRequest& request,
                                    std::optional<hold::IdleHolder> holder) const {
  if (!holder) return hold::launch(program_, request);
  Launched launched = std::move(*holder).launch(request);
  return needs_another(launched) ? hold::launch(program_, request) : std::move(launched);
}

// The idle holder was ended by somebody, perhaps. A command is never started twice by this: a journal is made
// before the command, and its id can be used once.
bool Launcher::needs_another(const Launched& launched) {
  return !launched && launched.error().failure == pty::SpawnFailure::Setup;
}

void Launcher::work() {
  // Signals are the loop's.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);

  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty() || refill_ || fork_server_wanted(); });
    if (ending_) return;
    refill_ = false;
    if (jobs_.empty() && fork_server_wanted()) {
      raising_ = true;
      lock.unlock();
      auto server = hold::ForkServer::start(program_);
      lock.lock();
      raising_ = false;
      given_up_ = !server;
      if (server) fork_server_ = std::move(*server);
    } else if (!jobs_.empty()) {
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
      if (folders_) holder->prepare(*folders_);
      ready_.push_back(std::move(*holder));
    }
  }
}

}  // namespace ttyward::engine
