// The holder's socket: several clients, each of which may be slow, broken or
// hostile without affecting the others.
//
// The socket is 0600 in a 0700 folder, and a peer of another user is dropped.
// What a client is told is bounded: answers, one Output per Watch, three events.
// A client that does not read its answers is closed, never waited for.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "hold/holder.h"
#include "hold/protocol.h"
#include "io/poller.h"

namespace ttyward::hold {

// Sockets that wait for their name. Those left behind by holders that were killed may be removed at any time:
// a holder that misses its socket makes another.
inline constexpr std::string_view kPreparedSocket = ".prepared-";
void remove_prepared_sockets(const std::string& folder);

class Server final : public io::Poller::Handler, public HolderObserver {
 public:
  // `folder` must be private to us (it is made if missing); the socket in it is
  // called <name>.sock.
  static base::Result<std::unique_ptr<Server>> listen(io::Poller& poller, const std::string& folder,
                                                      const std::string& name);
  // The same before the name is known: nobody finds the socket until take_name().
  static base::Result<std::unique_ptr<Server>> prepare(io::Poller& poller, const std::string& folder);
  base::Result<void> take_name(const std::string& name);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void serve(Holder& holder);
  // Whether a client still has to be told something.
  bool has_unsent() const;
  size_t clients() const { return clients_.size(); }

 private:
  struct Client {
    base::UniqueFd fd;
    FrameReader in;
    std::string out;
    bool greeted = false;
    bool waits_to_send = false;
    struct Watch {
      uint64_t offset = 0;
      uint32_t tag = 0;
    };
    std::optional<Watch> watch;
    std::optional<uint64_t> read_to;  // by its last watch: it follows the output
  };

  Server(io::Poller& poller, base::UniqueFd folder, base::UniqueFd listener, std::string file)
      : poller_(poller), folder_(std::move(folder)), listener_(std::move(listener)), file_(std::move(file)) {}

  static base::Result<std::unique_ptr<Server>> listen_as(io::Poller& poller, base::UniqueFd folder,
                                                         const std::string& file, const std::string& shown);
  void on_ready(int fd, uint32_t events) override;
  void on_output(uint64_t end) override;
  void on_paused() override;
  void on_exit(const journal::ExitRecord& record) override;
  void on_closed(journal::OutputEnd end) override;

  void accept_all();
  bool receive(Client& client);                     // false: close it
  bool handle(Client& client, const Frame& frame);  // false: close it
  bool greet(Client& client, const Frame& frame);
  base::Result<void> perform(const Frame& frame, bool& well_formed);
  bool answer_watch(Client& client, uint64_t end);  // false: close it
  void tell_how_far_read();
  std::string status() const;
  std::string processes() const;
  bool send(Client& client, std::string_view bytes);  // false: close it
  bool flush(Client& client);
  void tell_all(const std::string& message);
  void close(int fd);

  io::Poller& poller_;
  base::UniqueFd folder_;
  base::UniqueFd listener_;
  std::string file_;
  Holder* holder_ = nullptr;
  std::map<int, Client> clients_;
};

}  // namespace ttyward::hold
