// The clients of a holder's socket, or of one that speaks for a holder elsewhere: several, each of which may
// be slow, broken or hostile without affecting the others.
//
// The socket is 0600 in a 0700 folder, and a peer of another user is dropped. What a client is told is
// bounded: answers, one Output for each Watch, a few events. A client that does not read its answers is
// closed, never waited for. Here are the messages that are the same whoever answers: Hello, GetStatus, Watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/protocol.h"
#include "io/outgoing.h"
#include "io/poller.h"

namespace ttyward::hold {

// The payload of Failed.
std::string failure_payload(const base::Error& error);

class Clients final : private io::Poller::Handler {
 public:
  struct Client {
    base::UniqueFd fd;
    FrameReader in;
    io::Outgoing out;
    bool greeted = false;
    bool tied = false;  // the command ends when it goes
    struct Watch {
      uint64_t offset = 0;
      uint32_t tag = 0;
    };
    std::optional<Watch> watch;
    std::optional<uint64_t> read_to;  // by its last watch: it follows the output
  };

  class Owner {
   public:
    // Whether there is anybody to talk to; if not, whoever comes is turned away.
    virtual bool open() const = 0;
    virtual std::string status() const = 0;
    // The offset after the last byte of output.
    virtual uint64_t output_end() const = 0;
    // Up to where the slowest of those who follow the output has read; none follows.
    virtual void read_up_to(std::optional<uint64_t> least) = 0;
    // Any other message of a client that was greeted. False: close it. The clients may be destroyed from
    // within.
    virtual bool handle(Client& client, const Frame& frame) = 0;
    // More to tell a client than the welcome. False: close it.
    virtual bool greeted(Client& client) = 0;
    // A client sent something that is about to be read.
    virtual void before_reading() = 0;
    // A client is gone.
    virtual void gone(const Client& client) = 0;

   protected:
    ~Owner() = default;
  };

  // `folder` must be private to us; `shown` is its name for people. The owner outlives it.
  static base::Result<std::unique_ptr<Clients>> listen(io::Poller& poller, base::UniqueFd folder,
                                                       std::string file, const std::string& shown,
                                                       Owner& owner);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients();

  // Another name for the socket, which nobody has yet.
  base::Result<void> rename(std::string file);

  size_t size() const { return clients_.size(); }
  // Whether a client still has to be told something.
  bool has_unsent() const;
  // By its descriptor; null: it is gone.
  Client* find(int fd);
  // False: close it.
  bool send(Client& client, std::string_view bytes);
  // The same for whoever is not answering a message of this client: it is closed soon.
  void send_or_drop(Client& client, std::string_view bytes);
  void tell_all(const std::string& message);
  void output_came();

 private:
  Clients(io::Poller& poller, base::UniqueFd folder, base::UniqueFd listener, std::string file, Owner& owner)
      : poller_(poller),
        owner_(owner),
        folder_(std::move(folder)),
        listener_(std::move(listener)),
        file_(std::move(file)) {}

  void on_ready(int fd, uint32_t events) override;
  void accept_all();
  // False: close it. May destroy this object.
  bool receive(Client& client, const bool& alive);
  bool handle(Client& client, const Frame& frame);
  bool greet(Client& client, const Frame& frame);
  bool watch(Client& client, const Frame& frame);
  bool answer_watch(Client& client);
  static void drop(Client& client);
  void close(int fd);
  void tell_how_far_read();

  io::Poller& poller_;
  Owner& owner_;
  base::UniqueFd folder_;
  base::UniqueFd listener_;
  std::string file_;
  std::map<int, Client> clients_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ttyward::hold
