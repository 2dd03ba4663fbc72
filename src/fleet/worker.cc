#include "fleet/worker.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/private_folder.h"
#include "base/secret_file.h"
#include "client/own_session.h"
#include "fleet/host_calls.h"
#include "fleet/inbox.h"
#include "fleet/names.h"
#include "fleet/say.h"
#include "fleet/slot.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kFetchPatience{1000};
constexpr milliseconds kRetry{500};
constexpr size_t kMostShownJobs = 50;
constexpr int kMostAtOnce = 64;
constexpr milliseconds kShort{100};
constexpr milliseconds kLongestAhead{300};

using Clock = std::chrono::steady_clock;
using Task = std::variant<Delivery, Claim>;

// Tasks for the threads that work. While commands are short, as many again are taken ahead, so that a slot
// need not wait for the queue. One that was taken ahead and does not begin soon goes back to the queue, for
// another host.
class Desk {
 public:
  explicit Desk(int slots) : slots_(slots) {}

  // Waits a moment for free places, and takes up to `most`.
  int reserve(int most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestAhead, [this] { return stopped_ || taken_ < slots_ + ahead_; });
    if (stopped_) return 0;
    const int places = std::clamp(slots_ + ahead_ - taken_, 0, most);
    taken_ += places;
    return places;
  }
  void give_back(int places) {
    const std::lock_guard lock(mutex_);
    taken_ -= places;
    changed_.notify_all();
  }
  // For a place that was reserved.
  void add(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(task), Clock::now()});
    changed_.notify_all();
  }
  std::optional<Task> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !tasks_.empty(); });
    if (stopped_) return std::nullopt;
    std::optional<Task> task(std::move(tasks_.front().task));
    tasks_.pop_front();
    return task;
  }
  // A task is over, and took so long.
  void finish(Clock::duration took) {
    const std::lock_guard lock(mutex_);
    taken_--;
    ahead_ = took < kShort ? slots_ : 0;
    changed_.notify_all();
  }
  void return_overdue() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(tasks_, [&](const Waiting& each) {
      const auto* message = std::get_if<Delivery>(&each.task);
      if (message == nullptr || now - each.since < kLongestAhead) return false;
      message->give_back(milliseconds(0));
      taken_--;
      ahead_ = 0;
      return true;
    });
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  struct Waiting {
    Task task;
    Clock::time_point since;
  };

  const int slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> tasks_;  // guarded by mutex_
  int taken_ = 0;              // guarded by mutex_; places that are reserved, wait or are worked on
  int ahead_ = 0;              // guarded by mutex_
  bool stopped_ = false;       // guarded by mutex_
};

void do_tasks(Host& host, Desk& desk) {
  Slot slot(host);
  while (auto task = desk.next()) {
    const auto began = Clock::now();
    if (const auto* message = std::get_if<Delivery>(&*task)) {
      slot.take(*message);
    } else {
      slot.resume(std::get<Claim>(*task));
    }
    task.reset();
    desk.finish(Clock::now() - began);
  }
}

// Takes what it has places for. A place that waits for a job is not used otherwise, so only one waits.
void take_from(Host& host, Desk& desk, const std::string& subject, const std::string& consumer) {
  std::unique_ptr<Puller> puller;
  int queue = host.queues;
  bool plenty = false;
  while (!host.stopping) {
    // One whose consumer is gone hears nothing, for ever.
    const int now = host.queues;
    if (now != queue) puller.reset();
    queue = now;
    if (!puller) {
      auto made = host.bus.pull(subject, consumer, host.layout.lease * 2);
      if (!made) {
        host.pause(kRetry);
        continue;
      }
      puller = std::move(*made);
    }
    desk.return_overdue();
    const int places = desk.reserve(plenty ? kMostAtOnce : 1);
    if (places == 0) continue;
    auto came = puller->fetch(places, kFetchPatience);
    int used = 0;
    if (came) {
      for (Delivery& each : *came) {
        desk.add(std::move(each));
        used++;
      }
    } else {
      puller.reset();  // the queue may have been made anew
    }
    plenty = used == places;
    if (used < places) desk.give_back(places - used);
    if (!came) host.pause(kRetry);
  }
}

int64_t load_percent() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) return 0;
  return static_cast<int64_t>(load * 100 / std::max(1U, std::thread::hardware_concurrency()));
}

// Whoever asks over the bus is not the person at the terminal that started the worker. Without a controlling
// terminal the daemon takes our connections for an agent's, unless they bring the person's token.
void leave_terminal() {
  const base::UniqueFd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal) ::ioctl(terminal.get(), TIOCNOTTY);
}

base::Result<base::UniqueFd> lock_folder(const std::string& folder) {
  const std::string path = folder + "/worker.lock";
  base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot open " + path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return base::fail(base::ErrorCode::AlreadyExists, "a fleet worker of this user runs here already");
  return file;
}

}  // namespace

int work(const Invocation& invocation) {
  const std::string name = invocation.name.empty() ? name_of_this_host() : invocation.name;
  sigset_t stops;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, signal);
  ::pthread_sigmask(SIG_BLOCK, &stops, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  leave_terminal();

  const base::Folders folders = base::user_folders();
  const std::string folder = folders.state + "/fleet";
  if (auto made = base::open_private_folder(folder, base::IfMissing::Create); !made)
    return complain(made.error().message);
  const auto lock = lock_folder(folder);
  if (!lock) return complain(lock.error().message);
  auto claims = Claims::open(folder + "/claims");
  if (!claims) return complain(claims.error().message);
  const auto id = installation_id(folder + "/host-id");
  if (!id) return complain(id.error().message);
  const auto session = client::named_session(folders, "fleet");
  if (!session) return complain(session.error().message);
  const std::string token = base::read_secret_file(folders.person_token()).value_or("");
  auto people = People::read(invocation.people_file, token);
  if (!people) return complain(people.error().message);
  auto bus = Bus::connect(invocation.access, "ttyward worker " + name, Bus::Patience::ForEver);
  if (!bus) return complain(bus.error().message);
  const base::UniqueFd stop(::eventfd(0, EFD_CLOEXEC));

  client::Options daemon;
  daemon.program = invocation.program;
  daemon.client = "fleet";
  daemon.reader = "fleet";
  client::Options as_agent = daemon;
  as_agent.role = "agent";
  as_agent.session = session->name;
  as_agent.secret = session->secret;
  std::optional<client::Options> as_person;
  if (!token.empty()) {
    as_person = daemon;
    as_person->role = "person";
    as_person->token = token;
  }
  Layout layout;
  layout.lease = milliseconds(invocation.lease_ms);
  layout.replicas = static_cast<int>(invocation.replicas);
  Host host{.name = name,
            .id = *id,
            .boot = boot_id(),
            .labels = invocation.labels,
            .layout = layout,
            .as_agent = as_agent,
            .as_person = as_person,
            .people = std::move(*people),
            .claims = std::move(*claims),
            .bus = **bus,
            .stop_fd = stop.get()};
  const int slots = invocation.slots > 0
                        ? static_cast<int>(invocation.slots)
                        : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto beat_now = [&] {
    HostBeat beat;
    beat.host = name;
    beat.host_id = host.id;
    beat.boot = host.boot;
    beat.version = TTYWARD_VERSION;
    beat.labels = host.labels;
    beat.slots = slots;
    beat.jobs = host.in_hand.all();
    beat.busy = static_cast<int64_t>(beat.jobs.size());
    if (beat.jobs.size() > kMostShownJobs) beat.jobs.resize(kMostShownJobs);
    beat.load_percent = load_percent();
    return beat;
  };
  std::atomic<bool> closed = false;
  const auto on_closed = [&] {
    closed = true;
    ::kill(::getpid(), SIGTERM);
  };
  // A server that lost its files is told what this host has, before anybody thinks that nobody has it.
  int64_t bucket_made = (*bus)->made_at(kJobBucket).value_or(0);
  const auto on_beaten = [&] {
    const auto made = (*bus)->made_at(kJobBucket);
    if (!made || *made == bucket_made || !store_records_again(host)) return;
    if (bucket_made != 0) host.queues++;
    bucket_made = *made;
  };
  Presence presence(**bus, layout,
                    {beat_now, [&](const std::string& text) { host.say(text); }, on_closed, on_beaten});
  host.presence = &presence;

  // A stop has to be heard while the bus is still being waited for.
  std::thread signals([&] {
    int came = 0;
    sigwait(&stops, &came);
    host.stopping = true;
    const uint64_t one = 1;
    static_cast<void>(::write(stop.get(), &one, sizeof one));
    presence.interrupt();
  });
  const auto end_signals = [&] {
    ::pthread_kill(signals.native_handle(), SIGTERM);
    signals.join();
  };
  if (auto started = presence.start(); !started) {
    end_signals();
    return complain(started.error().message);
  }
  HostCalls calls(host);
  if (auto started = calls.start(); !started) {
    end_signals();
    return complain(started.error().message);
  }
  Inbox inbox(host);
  inbox.start();
  Desk desk(slots);
  std::vector<std::thread> threads;
  for (int i = 0; i < slots; i++) threads.emplace_back([&] { do_tasks(host, desk); });
  // What the worker before us had in hand comes first.
  const std::vector<Claim> before = host.claims.all();
  for (const Claim& claim : before) host.in_hand.begin(claim.job.id);
  for (const Claim& claim : before) {
    while (!host.stopping && desk.reserve(1) == 0) {
    }
    desk.add(claim);
  }
  std::vector<std::string> pools = {std::string(kAnyPool)};
  for (const std::string& label : host.labels) pools.push_back(pool_of_label(label));
  for (const std::string& pool : pools)
    threads.emplace_back([&, pool] { take_from(host, desk, pool_subject(pool), "w-" + pool); });
  threads.emplace_back([&] { take_from(host, desk, host_subject(name), "h-" + name); });
  host.say("ready, with " + std::to_string(slots) + " slots" +
           (before.empty() ? "" : " and " + std::to_string(before.size()) + " commands from before"));
  signals.join();
  desk.stop();
  for (std::thread& each : threads) each.join();
  calls.stop();
  inbox.stop();
  presence.stop();
  // With commands in hand this host is not gone: another worker will be started here.
  if (host.claims.all().empty()) static_cast<void>((*bus)->remove(kHostBucket, name));
  return closed ? complain("the server closed the connection: it does not take these credentials any more")
                : 0;
}

}  // namespace ttyward::fleet
