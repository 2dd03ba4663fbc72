#include "fleet/tunnel_host.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>

#include "base/ids.h"
#include "base/unique_fd.h"
#include "client/connection.h"
#include "fleet/names.h"
#include "fleet/slot.h"
#include "wire/messages.h"

namespace ttyward::fleet {

namespace json = boost::json;

namespace {

constexpr std::chrono::seconds kNonceLife{60};
constexpr size_t kMostNonces = 256;
constexpr size_t kMostTunnels = 64;
constexpr size_t kMostUnsent = 4 << 20;  // to a daemon that does not read

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string error_text(const char* code, const std::string& message) {
  return json::serialize(json::object{{"error", {{"code", code}, {"message", message}}}});
}

}  // namespace

class Tunnels::Tunnel {
 public:
  Tunnel(Host& host, std::string id, std::optional<std::string> person, client::Connection connection)
      : host_(host),
        id_(std::move(id)),
        person_(std::move(person)),
        connection_(std::move(connection)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { run(); }) {}
  ~Tunnel() {
    end();
    if (thread_.joinable()) thread_.join();
  }

  bool ended() const { return ended_; }
  void end() {
    ended_ = true;
    wake();
  }

  void receive(std::string_view message) {
    const size_t line = message.find('\n');
    if (line == std::string_view::npos) return end();
    const std::string_view head = message.substr(0, line);
    const std::string_view bytes = message.substr(line + 1);
    const std::lock_guard lock(mutex_);
    heard_ = Clock::now();
    if (head.starts_with("a ")) {
      counted_ = std::max(counted_, number_in(head.substr(2)));
    } else if (head.starts_with("d ")) {
      const size_t space = head.find(' ', 2);
      const uint64_t number = number_in(head.substr(2));
      const std::string code(space == std::string_view::npos ? "" : head.substr(space + 1));
      const bool proved =
          !person_ || host_.people.doubt({*person_, code}, line_text(id_, number, bytes)).empty();
      if (number != next_in_ || !proved || to_daemon_.size() > kMostUnsent) {
        ended_ = true;
      } else {
        next_in_++;
        to_daemon_ += bytes;
      }
    } else if (head != "k") {
      ended_ = true;
    }
    wake();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void wake() const {
    const uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
  }

  void send(std::string_view head, std::string_view bytes) {
    static_cast<void>(
        host_.bus.send(tunnel_out_subject(host_.name, id_), std::string(head) + "\n" + std::string(bytes)));
  }

  // The connection greeted the daemon, which says nothing more until it is asked: from now on its descriptor
  // is ours, and lines pass through unread.
  void run() {
    std::vector<char> buffer(kTunnelChunk);
    uint64_t sent = 0;
    uint64_t number = 0;
    std::string reason = "the host's worker closed it";
    while (!ended_) {
      bool may_read = false;
      bool must_write = false;
      {
        const std::lock_guard lock(mutex_);
        may_read = sent - counted_ < kWindow;
        must_write = !to_daemon_.empty();
        if (Clock::now() - heard_ > kTunnelSilence) break;
      }
      pollfd fds[2] = {
          {connection_.fd(), static_cast<short>((may_read ? POLLIN : 0) | (must_write ? POLLOUT : 0)), 0},
          {wake_.get(), POLLIN, 0}};
      ::poll(fds, 2, 1000);
      uint64_t ignored = 0;
      static_cast<void>(::read(wake_.get(), &ignored, sizeof ignored));
      if ((fds[0].revents & POLLOUT) != 0) {
        const std::lock_guard lock(mutex_);
        const ssize_t wrote = ::send(connection_.fd(), to_daemon_.data(), to_daemon_.size(), MSG_NOSIGNAL);
        if (wrote > 0) to_daemon_.erase(0, static_cast<size_t>(wrote));
      }
      if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t got = ::recv(connection_.fd(), buffer.data(), buffer.size(), 0);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) {
        reason = "the host's daemon closed it";
        break;
      }
      sent += static_cast<uint64_t>(got);
      send("d " + std::to_string(++number), {buffer.data(), static_cast<size_t>(got)});
    }
    ended_ = true;
    send("c " + reason, "");
  }

  Host& host_;
  const std::string id_;
  const std::optional<std::string> person_;  // whose messages must be proved
  client::Connection connection_;
  const base::UniqueFd wake_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::string to_daemon_;                   // guarded by mutex_
  uint64_t next_in_ = 1;                    // guarded by mutex_
  uint64_t counted_ = 0;                    // guarded by mutex_
  Clock::time_point heard_ = Clock::now();  // guarded by mutex_
  std::thread thread_;
};

Tunnels::~Tunnels() {
  close_all();
}

void Tunnels::close_all() {
  std::map<std::string, std::shared_ptr<Tunnel>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(tunnels_);
  }
}

std::string Tunnels::new_nonce() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::erase_if(nonces_, [&](const auto& each) { return now - each.second > kNonceLife; });
  if (nonces_.size() >= kMostNonces) return {};
  std::string made = base::random_nonce();
  nonces_[made] = now;
  return made;
}

std::string Tunnels::why_no_person(const TunnelRequest& request) {
  if (!request.proof) return "a person's key is needed: --person-key FILE";
  if (!host_.as_person)
    return "host " + host_.name + " has no person's token; make one there with `ttyward person token`";
  {
    const std::lock_guard lock(mutex_);
    const auto given = nonces_.find(request.nonce);
    if (given == nonces_.end() || Clock::now() - given->second > kNonceLife)
      return "the proof is too old; try again";
    nonces_.erase(given);
  }
  return host_.people.doubt(*request.proof, tunnel_text(host_.name, request));
}

std::string Tunnels::open(std::string_view text) {
  auto request = read_as<TunnelRequest>(text);
  if (!request || !base::is_id(request->id, 'u'))
    return error_text("invalid_argument", "this opens no tunnel");
  std::string why;
  if (request->role == "person") why = why_no_person(*request);
  // Who brought a wrong proof shall not go on as somebody else unnoticed.
  if (!why.empty() && request->proof) return error_text("permission_denied", why);
  const bool person = request->role == "person" && why.empty();
  client::Options options = person ? *host_.as_person : host_.as_agent;
  if (person)
    options.client = "fleet attach by " + (request->proof->by.empty() ? "token" : request->proof->by);
  options.patience = std::chrono::milliseconds(4000);
  auto connection = client::Connection::open(options);
  if (!connection) return error_text("unavailable", connection.error().message);
  wire::Welcome welcome = connection->welcome();
  if (!person && welcome.why.empty()) welcome.why = why;
  const auto made = std::make_shared<Tunnel>(
      host_, request->id, person ? std::optional<std::string>(request->proof->by) : std::nullopt,
      std::move(*connection));
  std::map<std::string, std::shared_ptr<Tunnel>> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = tunnels_.begin(); it != tunnels_.end();) {
      const auto here = it++;
      if (here->second->ended()) ended.insert(tunnels_.extract(here));
    }
    if (tunnels_.size() >= kMostTunnels)
      return error_text("exhausted", "too many tunnels are open to this host");
    if (!tunnels_.emplace(request->id, made).second)
      return error_text("already_exists", "there is a tunnel of this name");
  }
  return R"({"ok":)" + wire::object_text({{"welcome", wire::encode(welcome)}}) + "}";
}

void Tunnels::receive(const std::string& tunnel, std::string_view message) {
  std::shared_ptr<Tunnel> found;
  {
    const std::lock_guard lock(mutex_);
    const auto it = tunnels_.find(tunnel);
    if (it == tunnels_.end()) return;
    found = it->second;
  }
  found->receive(message);
}

}  // namespace ttyward::fleet
