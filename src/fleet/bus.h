// The bus: a connection to NATS with JetStream, as calls that block for a bounded time and say why they
// failed.
//
// A connection that breaks is made again by itself, for ever. Error codes a caller can act on: AlreadyExists
// (a value has changed since it was read), NotFound, Exhausted (a stream is full), Unavailable (the bus is
// away or slow: try again).
//
// Thread rule: any thread. Handlers of subscriptions run on threads of the library.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fleet/invocation/invocation.h"

namespace ttyward::fleet {

// A message of a queue. Destroying it without a word lets the queue deliver it again after a while.
class Delivery {
 public:
  explicit Delivery(void* message) : message_(message) {}
  Delivery(Delivery&& other) noexcept : message_(std::exchange(other.message_, nullptr)) {}
  Delivery& operator=(Delivery&& other) noexcept {
    std::swap(message_, other.message_);
    return *this;
  }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;
  ~Delivery();

  std::string_view text() const;
  int64_t stored_at_ms() const;  // by the server's clock
  // The queue may forget it.
  void done() const;
  // Somebody shall get it, after that time.
  void give_back(std::chrono::milliseconds delay) const;
  // The queue shall wait longer before it delivers it again.
  void still_working() const;
  // Nobody shall get it again: it is broken.
  void discard() const;

 private:
  void* message_;  // a natsMsg
};

class Puller {
 public:
  virtual ~Puller() = default;
  // At least one message, or none within `patience`; at most `count`.
  virtual base::Result<std::vector<Delivery>> fetch(int count, std::chrono::milliseconds patience) = 0;
};

struct Incoming {
  std::string_view subject;
  std::string_view text;
  std::string reply;  // empty: nobody waits for an answer
};

class Subscription {
 public:
  virtual ~Subscription() = default;  // waits for a handler that runs
};

struct Entry {
  std::string key;
  std::string value;
  uint64_t revision = 0;
  int64_t stored_at_ms = 0;  // by the server's clock
};

struct Layout {
  std::chrono::milliseconds lease{15'000};
  int replicas = 1;
};

class Bus {
 public:
  enum class Patience : uint8_t { FailAtOnce, ForEver };  // when no server answers at first

  static base::Result<std::unique_ptr<Bus>> connect(const Access& access, const std::string& name,
                                                    Patience patience);
  virtual ~Bus() = default;

  // Makes the streams and buckets that are missing.
  virtual base::Result<void> lay_out(const Layout& layout) = 0;
  // After which a host without a sign of life is dropped: what the bucket was made with.
  virtual base::Result<std::chrono::milliseconds> lease() = 0;
  // When the bucket was made, in the server's time: another one than before was made after the server had
  // lost its files.
  virtual base::Result<int64_t> made_at(const char* bucket) = 0;
  virtual bool connected() const = 0;
  // For good: the server does not take our credentials.
  virtual bool closed() const = 0;

  // --- streams
  // Returns the sequence number. A message with an `id` that the stream saw a moment ago is not stored again.
  virtual base::Result<uint64_t> publish(const std::string& subject, std::string_view text,
                                         const std::string& id) = 0;
  // The same for many, without waiting for each. Returns the ids of those that were not stored.
  struct Letter {
    std::string subject;
    std::string text;
    std::string id;
  };
  virtual std::vector<std::string> publish_all(const std::vector<Letter>& letters) = 0;
  // How many jobs wait or are being worked on.
  virtual base::Result<uint64_t> queued() = 0;
  // Whether the queue still has a message of that subject with this sequence number.
  virtual base::Result<bool> is_queued(uint64_t sequence) = 0;
  virtual base::Result<std::unique_ptr<Puller>> pull(const std::string& subject, const std::string& consumer,
                                                     std::chrono::milliseconds redeliver_after) = 0;
  // The last message of each subject that matches, oldest first.
  virtual base::Result<std::vector<std::string>> last_of_each(const std::string& stream,
                                                              const std::string& subjects, size_t most) = 0;

  // --- buckets
  // `expected`: the revision that it must have; 0: it must not be there.
  virtual base::Result<uint64_t> put(const std::string& bucket, const std::string& key,
                                     std::string_view value, std::optional<uint64_t> expected) = 0;
  virtual base::Result<Entry> get(const std::string& bucket, const std::string& key) = 0;
  virtual base::Result<std::vector<Entry>> entries(const std::string& bucket, size_t most) = 0;
  virtual base::Result<void> remove(const std::string& bucket, const std::string& key) = 0;

  // --- without storing
  virtual base::Result<void> send(const std::string& subject, std::string_view text) = 0;
  virtual base::Result<std::string> request(const std::string& subject, std::string_view text,
                                            std::chrono::milliseconds patience) = 0;
  virtual base::Result<std::unique_ptr<Subscription>> subscribe(
      const std::string& subject, std::function<void(const Incoming&)> handler) = 0;
  virtual std::string new_inbox() = 0;
};

}  // namespace ttyward::fleet
