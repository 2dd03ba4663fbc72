#include "proxy/resolver.h"

#include <netdb.h>

#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/thread.h"

namespace ttyward::proxy {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr size_t kMostThreads = 4;
constexpr size_t kMostWaiting = 256;
constexpr size_t kMostAddresses = 32;

Result<std::vector<Address>> look_up(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (error != 0)
    return fail(ErrorCode::NotFound, "the name " + name + " was not found: " + ::gai_strerror(error));
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr && addresses.size() < kMostAddresses;
       each = each->ai_next) {
    if (const auto address = address_of(*each->ai_addr)) addresses.push_back(*address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

struct SystemResolver::Shared {
  struct Job {
    std::string name;
    Done done;
  };
  std::mutex mutex;
  io::Loop* loop = nullptr;  // null: nobody waits any more. All of this guarded by mutex
  std::deque<Job> jobs;
  size_t threads = 0;
};

SystemResolver::SystemResolver(io::Loop& loop) : shared_(std::make_shared<Shared>()) {
  shared_->loop = &loop;
}

SystemResolver::~SystemResolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->loop = nullptr;
  shared_->jobs.clear();
}

void SystemResolver::resolve(const std::string& name, Done done) {
  io::Loop* loop = nullptr;
  {
    const std::lock_guard lock(shared_->mutex);
    loop = shared_->loop;
    if (shared_->jobs.size() < kMostWaiting) {
      shared_->jobs.push_back({name, done});
      if (shared_->threads >= kMostThreads) return;
      auto thread = base::start_thread([shared = shared_] { work(shared); });
      if (thread) {
        shared_->threads++;
        thread->detach();
        return;
      }
      if (shared_->threads > 0) return;
      shared_->jobs.pop_back();
    }
  }
  loop->post(
      [done = std::move(done)] { done(fail(ErrorCode::Exhausted, "too many names are being looked up")); });
}

void SystemResolver::work(const std::shared_ptr<Shared>& shared) {
  for (;;) {
    Shared::Job job;
    {
      const std::lock_guard lock(shared->mutex);
      if (shared->jobs.empty()) {
        shared->threads--;
        return;
      }
      job = std::move(shared->jobs.front());
      shared->jobs.pop_front();
    }
    auto found = look_up(job.name);
    const std::lock_guard lock(shared->mutex);
    if (shared->loop == nullptr) continue;
    shared->loop->post([done = std::move(job.done), found = std::move(found)] { done(found); });
  }
}

}  // namespace ttyward::proxy
