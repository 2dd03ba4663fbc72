// ttyward fleet attach: the verb attach, on the daemon of another host.
//
// This program listens where that verb looks for a daemon, and carries what it says to the host through a
// tunnel (fleet/tunnel_host.h). A tunnel that breaks looks like a daemon that died: the verb connects again.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/private_folder.h"
#include "base/unique_fd.h"
#include "fleet/host_calls.h"
#include "fleet/names.h"
#include "fleet/person_key.h"
#include "fleet/proof.h"
#include "fleet/say.h"
#include "fleet/tunnel_host.h"
#include "fleet/verbs.h"
#include "io/daemon_place.h"
#include "io/local_socket.h"
#include "wire/messages.h"

namespace ttyward::fleet {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLongestHello = 64 << 10;

struct Destination {
  std::string host;
  std::string terminal;
};

base::Result<Destination> find_destination(Bus& bus, const std::string& target) {
  if (const size_t colon = target.find(':'); colon != std::string::npos)
    return Destination{target.substr(0, colon), target.substr(colon + 1)};
  if (!base::is_id(target, 'c'))
    return base::fail(base::ErrorCode::InvalidArgument, "name a command's id, or HOST:TERMINAL");
  const auto entry = bus.get(kJobBucket, target);
  const auto record = entry ? read_as<JobRecord>(entry->value) : tl::unexpected(entry.error());
  if (!record)
    return base::fail(base::ErrorCode::NotFound,
                      "no host has taken " + target + " yet, or it never was there");
  if (!record->result || record->result->terminal_id.empty())
    return base::fail(base::ErrorCode::NotFound, target + " is " + record->state + " and has no terminal");
  return Destination{record->host, record->result->terminal_id};
}

// One connection of the verb, from its hello to its end.
class Relay {
 public:
  Relay(Bus& bus, std::string host, std::optional<PersonKey> key, base::UniqueFd local)
      : bus_(bus),
        host_(std::move(host)),
        key_(std::move(key)),
        local_(std::move(local)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void run() {
    const auto hello = read_hello();
    if (!hello) return;
    auto subscribed =
        bus_.subscribe(tunnel_out_subject(host_, id_), [this](const Incoming& came) { take(came.text); });
    if (!subscribed) return;
    const auto opened = open(hello->role);
    if (!opened) {
      write_all(wire::encode(wire::Failed{0, {opened.error().code, opened.error().message}}));
      return;
    }
    write_all(*opened);
    pump();
    static_cast<void>(bus_.send(tunnel_in_subject(host_, id_), "c\n"));
  }

 private:
  std::optional<wire::Hello> read_hello() {
    std::string line;
    char byte = 0;
    while (line.size() < kLongestHello && ::recv(local_.get(), &byte, 1, 0) == 1) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      auto message = wire::parse_from_client(line);
      if (message && std::holds_alternative<wire::Hello>(*message)) return std::get<wire::Hello>(*message);
      return std::nullopt;
    }
    return std::nullopt;
  }

  // The welcome.
  tl::expected<std::string, client::CallFailure> open(const std::string& role) {
    TunnelRequest request;
    request.id = id_;
    request.role = role;
    if (role == "person" && key_) {
      const auto nonce = call_host(bus_, host_, "nonce", "{}");
      if (!nonce) return tl::unexpected(nonce.error());
      if (const auto* given = nonce->if_contains("nonce"); given != nullptr && given->is_string())
        request.nonce = std::string(given->get_string());
      request.proof = prove(key_->by, key_->key, tunnel_text(host_, request));
      proves_ = true;
    }
    const auto answer = call_host(bus_, host_, "tunnel", text_of(request));
    if (!answer) return tl::unexpected(answer.error());
    const auto* welcome = answer->if_contains("welcome");
    return welcome != nullptr && welcome->is_string() ? std::string(welcome->get_string()) : std::string();
  }

  void take(std::string_view message) {
    const size_t line = message.find('\n');
    const std::string_view head = message.substr(0, line);
    const std::lock_guard lock(mutex_);
    uint64_t number = 0;
    if (head.starts_with("d ")) std::from_chars(head.data() + 2, head.data() + head.size(), number);
    if (number == next_out_) {
      next_out_++;
      from_host_ += message.substr(line + 1);
    } else {
      broken_ = true;
    }
    const uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
  }

  void pump() {
    std::string buffer(kTunnelChunk, '\0');
    uint64_t written = 0;
    uint64_t counted = 0;
    uint64_t number = 0;
    auto last_beat = Clock::now();
    const std::string to = tunnel_in_subject(host_, id_);
    for (;;) {
      std::string out;
      bool broken = false;
      {
        const std::lock_guard lock(mutex_);
        out.swap(from_host_);
        broken = broken_;
      }
      if (!out.empty() && !write_all(out)) return;
      written += out.size();
      if (broken) return;
      if (written - counted > kWindow / 4) {
        counted = written;
        static_cast<void>(bus_.send(to, "a " + std::to_string(written) + "\n"));
      }
      if (Clock::now() - last_beat > kTunnelBeat) {
        last_beat = Clock::now();
        static_cast<void>(bus_.send(to, "a " + std::to_string(written) + "\n"));
        if (!bus_.connected()) return;
      }
      pollfd fds[2] = {{local_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      ::poll(fds, 2, 1000);
      uint64_t ignored = 0;
      static_cast<void>(::read(wake_.get(), &ignored, sizeof ignored));
      if (fds[0].revents == 0) continue;
      const ssize_t got = ::recv(local_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
      if (got < 0) continue;
      const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
      number++;
      const std::string code =
          proves_ ? prove(key_->by, key_->key, line_text(id_, number, bytes)).code : std::string("-");
      static_cast<void>(
          bus_.send(to, "d " + std::to_string(number) + " " + code + "\n" + std::string(bytes)));
    }
  }

  bool write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t wrote = ::send(local_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return true;
  }

  Bus& bus_;
  const std::string host_;
  const std::optional<PersonKey> key_;
  const base::UniqueFd local_;
  const base::UniqueFd wake_;
  const std::string id_ = base::random_id('u');
  bool proves_ = false;
  std::mutex mutex_;
  std::string from_host_;  // guarded by mutex_
  uint64_t next_out_ = 1;  // guarded by mutex_
  bool broken_ = false;    // guarded by mutex_
};

// A private folder that is a TTYWARD_HOME for the verb, removed at the end.
class Home {
 public:
  Home() {
    const char* place = std::getenv("TMPDIR");
    path_ = std::string(place != nullptr && place[0] == '/' ? place : "/tmp") + "/ttyward-fleet-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Home() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

base::Result<base::UniqueFd> listen_in(const std::string& folder) {
  auto opened = base::open_private_folder(folder, base::IfMissing::Create);
  if (!opened) return tl::unexpected(opened.error());
  return io::listen_in(opened->get(), io::kDaemonSocket, folder + "/" + io::kDaemonSocket, 8,
                       io::Blocking::Yes);
}

pid_t start_verb(const Invocation& asked, const Destination& to, const std::string& home) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("TTYWARD_HOME", home.c_str(), 1);
  ::unsetenv("TTYWARD_PERSON_TOKEN_FILE");
  std::vector<std::string> words = {"ttyward", "attach", to.terminal};
  if (asked.read_only) words.emplace_back("--read-only");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(asked.program.c_str(), argv.data());
  ::_exit(kExitFailure);
}

}  // namespace

int attach(const Invocation& asked) {
  auto key = person_key(asked);
  if (!key) return complain(key.error().message, kExitUsage);
  auto bus = Bus::connect(asked.access, "ttyward fleet attach", Bus::Patience::FailAtOnce);
  if (!bus) return complain(bus.error().message);
  const auto to = find_destination(**bus, asked.target);
  if (!to) return complain(to.error().message, kExitUsage);
  const Home home;
  const auto socket = listen_in(home.path() + "/run");
  if (!socket) return complain(socket.error().message);
  ::signal(SIGINT, SIG_IGN);  // it is for the verb
  const pid_t verb = start_verb(asked, *to, home.path());
  if (verb < 0) return complain("cannot start ttyward attach");
  std::thread accepting([&] {
    std::vector<std::thread> relays;
    for (;;) {
      base::UniqueFd local(::accept4(socket->get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!local) break;
      relays.emplace_back(
          [&, fd = local.release()] { Relay(**bus, to->host, *key, base::UniqueFd(fd)).run(); });
    }
    for (std::thread& each : relays) each.join();
  });
  int status = 0;
  while (::waitpid(verb, &status, 0) < 0 && errno == EINTR) {
  }
  ::shutdown(socket->get(), SHUT_RDWR);  // ends accept4; the verb's own connections ended with it
  accepting.join();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace ttyward::fleet
