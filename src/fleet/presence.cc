#include "fleet/presence.h"

#include <algorithm>
#include <utility>

#include "fleet/names.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

int64_t steady_ms() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Presence::Presence(Bus& bus, Layout layout, Owner owner)
    : bus_(bus), layout_(layout), owner_(std::move(owner)) {}

Presence::~Presence() {
  stop();
}

void Presence::stop() {
  interrupt();
  if (thread_.joinable()) thread_.join();
}

base::Result<void> Presence::start() {
  const HostBeat mine = owner_.now();
  std::string said;
  for (;;) {
    if (bus_.closed())
      return base::fail(base::ErrorCode::PermissionDenied, "the server does not take these credentials");
    // Nobody can be asked before the bus is there.
    auto ready = bus_.connected() ? bus_.lay_out(layout_)
                                  : base::fail(base::ErrorCode::Unavailable, "not connected yet");
    if (!ready && ready.error().code == base::ErrorCode::PermissionDenied) return ready;
    if (!ready && bus_.connected() && std::exchange(said, ready.error().message) != ready.error().message)
      owner_.say(ready.error().message + "; trying again");
    if (ready) {
      const auto other = bus_.get(kHostBucket, mine.host);
      if (other) {
        const auto beat = read_as<HostBeat>(other->value);
        if (beat && beat->host_id != mine.host_id)
          return base::fail(base::ErrorCode::AlreadyExists, "another host of this fleet is called " +
                                                                mine.host +
                                                                ": give this one another name with --name");
      }
      if (beat()) break;
    }
    std::unique_lock lock(mutex_);
    if (stopping_.wait_for(lock, milliseconds(200), [this] { return stopped_; })) return {};
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

void Presence::interrupt() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  stopping_.notify_all();
}

bool Presence::beat() {
  const HostBeat mine = owner_.now();
  const auto put = bus_.put(kHostBucket, mine.host, text_of(mine), std::nullopt);
  const auto stored = put ? bus_.get(kHostBucket, mine.host) : tl::unexpected(put.error());
  const int64_t steady = steady_ms();
  const std::lock_guard lock(mutex_);
  if (!stored) {
    steady_since_.reset();
    return false;
  }
  const auto now = Clock::now();
  // After a pause of our own, others may have been silent just as we were.
  if (!steady_since_ || now - last_beat_ > layout_.lease) steady_since_ = now;
  last_beat_ = now;
  server_minus_steady_ms_ = stored->stored_at_ms - steady;
  return true;
}

void Presence::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const milliseconds pause =
          steady_since_ ? layout_.lease / 3 : std::min(layout_.lease / 3, milliseconds(500));
      if (stopping_.wait_for(lock, pause, [this] { return stopped_; })) return;
    }
    if (bus_.closed()) return owner_.closed();
    // A server that lost its files has no buckets either.
    if (beat()) {
      owner_.beaten();
    } else if (bus_.connected()) {
      static_cast<void>(bus_.lay_out(layout_));
    }
  }
}

Presence::Fate Presence::fate_of(const std::string& host, const std::string& host_id) {
  const auto entry = bus_.get(kHostBucket, host);
  if (entry) {
    const auto beat = read_as<HostBeat>(entry->value);
    return beat && beat->host_id == host_id ? Fate::Alive : Fate::Gone;
  }
  if (entry.error().code != base::ErrorCode::NotFound) return Fate::Unsure;
  const std::lock_guard lock(mutex_);
  const bool sure = steady_since_ && Clock::now() - *steady_since_ > layout_.lease;
  return sure ? Fate::Gone : Fate::Unsure;
}

std::optional<int64_t> Presence::server_now_ms() const {
  const std::lock_guard lock(mutex_);
  if (!server_minus_steady_ms_) return std::nullopt;
  return steady_ms() + *server_minus_steady_ms_;
}

}  // namespace ttyward::fleet
