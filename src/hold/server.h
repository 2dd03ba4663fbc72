// A holder behind its socket: what its clients ask is done, and what happens is told to them.
#pragma once

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
#include "hold/clients.h"
#include "hold/holder.h"
#include "hold/protocol.h"
#include "io/poller.h"

namespace ttyward::hold {

// Sockets that wait for their name. Those left behind by holders that were killed may be removed at any time:
// a holder that misses its socket makes another.
inline constexpr std::string_view kPreparedSocket = ".prepared-";
void remove_prepared_sockets(const std::string& folder);

class Server final : private Clients::Owner, public HolderObserver {
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

  void serve(Holder& holder);
  // Whether a client still has to be told something.
  bool has_unsent() const { return clients_->has_unsent(); }
  size_t clients() const { return clients_->size(); }

 private:
  Server() = default;

  static base::Result<std::unique_ptr<Server>> listen_as(io::Poller& poller, base::UniqueFd folder,
                                                         const std::string& file, const std::string& shown);
  void on_output(uint64_t end) override;
  void on_paused() override;
  void on_exit(const journal::ExitRecord& record) override;
  void on_closed(journal::OutputEnd end) override;

  // Clients::Owner
  bool open() const override { return holder_ != nullptr; }
  std::string status() const override;
  uint64_t output_end() const override { return holder_->journal().end(); }
  void read_up_to(std::optional<uint64_t> least) override;
  bool handle(Clients::Client& client, const Frame& frame) override;
  bool greeted(Clients::Client&) override { return true; }
  void before_reading() override {}
  void gone(const Clients::Client&) override {}

  base::Result<void> perform(const Frame& frame, bool& well_formed);
  std::string processes() const;

  Holder* holder_ = nullptr;
  std::unique_ptr<Clients> clients_;
};

}  // namespace ttyward::hold
