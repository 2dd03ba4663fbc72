#include "cli/remote_host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "base/ids.h"
#include "base/secret_file.h"
#include "cli/daemon_call.h"
#include "pty/spawn.h"
#include "relay/place_name.h"

extern char** environ;

namespace ttyward::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kPatience{40'000};
constexpr size_t kMostAnswer = 256 * 1024;

base::Result<pty::Spawned> start(std::vector<std::string> argv) {
  pty::SpawnSpec spec;
  spec.argv = std::move(argv);
  spec.provider = pty::Provider::Pipe;
  spec.parent_death_signal = SIGTERM;
  for (char** each = environ; *each != nullptr; each++) spec.environment.emplace_back(*each);
  auto spawned = pty::spawn(spec);
  if (!spawned) return tl::unexpected(spawned.error().error);
  return std::move(*spawned);
}

std::string read_some(int fd, size_t most) {
  std::string text(most, '\0');
  const ssize_t got = ::read(fd, text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string last_words(const pty::Spawned& program) {
  std::string text = read_some(program.stderr_fd.get(), 4096);
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

// What a command there prints, until it ends.
base::Result<std::string> ask(const relay::PlaceName& host, const std::string& script) {
  auto program = start(relay::stream_argv(host, script));
  if (!program) return tl::unexpected(program.error());
  std::string out;
  const auto until = Clock::now() + kPatience;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    if (left <= 0 || out.size() > kMostAnswer) {
      static_cast<void>(program->child.signal(SIGKILL));
      return base::fail(base::ErrorCode::Unavailable, host.text() + " did not answer in time");
    }
    pollfd entry{program->stdout_fd.get(), POLLIN, 0};
    if (::poll(&entry, 1, static_cast<int>(left)) <= 0) continue;
    const std::string part = read_some(program->stdout_fd.get(), 64 * 1024);
    if (part.empty()) break;
    out += part;
  }
  for (int i = 0; i < 500; i++) {
    const auto exit = program->child.try_reap();
    if (!exit || *exit) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  if (out.empty()) {
    const std::string why = last_words(*program);
    return base::fail(base::ErrorCode::Unavailable,
                      "cannot reach " + host.text() + ": " + (why.empty() ? "it said nothing" : why));
  }
  return out;
}

struct FarDaemon {
  std::string sockets;
  std::string token;  // empty: there is none, or it was not asked for
};

enum class Token : uint8_t { Leave, Fetch };

base::Result<FarDaemon> find_daemon(const relay::PlaceName& host, Token token) {
  const std::string marker = "TTYWARD-HOST " + base::random_nonce();
  const std::string script = "command -v ttyward >/dev/null 2>&1 || { echo; echo " + marker +
                             "; echo none; exit 0; }; ttyward daemon run --detach >/dev/null 2>&1; "
                             "s=${TTYWARD_HOME:+$TTYWARD_HOME/state}; "
                             "s=${s:-${XDG_STATE_HOME:-$HOME/.local/state}/ttyward}; echo; echo " +
                             marker + "; head -n 1 \"$s/daemon.lock\"" +
                             (token == Token::Fetch ? "; cat \"$s/person-token\" 2>/dev/null" : "");
  auto out = ask(host, script);
  if (!out) return tl::unexpected(out.error());
  const size_t at = out->find(marker + "\n");
  if (at == std::string::npos)
    return base::fail(base::ErrorCode::Unavailable, "the login on " + host.text() + " ran nothing");
  const std::string rest = out->substr(at + marker.size() + 1);
  const size_t end = rest.find('\n');
  FarDaemon found;
  found.sockets = rest.substr(0, end);
  if (end != std::string::npos) found.token = rest.substr(end + 1);
  while (found.token.ends_with('\n')) found.token.pop_back();
  if (found.sockets == "none")
    return base::fail(base::ErrorCode::NotFound,
                      "ttyward is not installed on " + host.text() + ": install it there");
  if (!found.sockets.starts_with('/'))
    return base::fail(base::ErrorCode::Unavailable, "no daemon runs on " + host.text());
  return found;
}

bool connected = false;

}  // namespace

bool works_with_host(std::string_view verb) {
  static constexpr std::string_view kVerbs[] = {
      "open",   "exec", "send",   "expect",    "wait",    "read",   "screen",
      "ls",     "show", "kill",   "interrupt", "resize",  "resume", "attach",
      "select", "top",  "rename", "assign",    "release", "lend",   "approvals"};
  return std::find(std::begin(kVerbs), std::end(kVerbs), verb) != std::end(kVerbs);
}

bool talks_to_host() {
  return connected;
}

std::string take_host(std::vector<char*>& words) {
  for (size_t i = 1; i < words.size() && words[i] != nullptr; i++) {
    const std::string_view word = words[i];
    if (word == "--json") continue;
    const bool joined = word.starts_with("--host=");
    if (!joined && word != "--host") return {};
    if (!joined && i + 1 >= words.size()) return {};
    const std::string host = joined ? std::string(word.substr(7)) : words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i) + (joined ? 1 : 2));
    return host;
  }
  return {};
}

base::Result<RemoteHost> RemoteHost::connect(const std::string& place) {
  const auto host = relay::PlaceName::parse(place);
  if (!host) return tl::unexpected(host.error());
  if (host->container())
    return base::fail(base::ErrorCode::Unsupported,
                      "--host takes ssh:HOST; for a container use --in " + place);
  // An agent here is an agent there: it gets no person's token into its hands.
  const auto daemon = find_daemon(*host, is_agent() ? Token::Leave : Token::Fetch);
  if (!daemon) return tl::unexpected(daemon.error());
  std::error_code error;
  std::string folder = std::filesystem::temp_directory_path(error).string() + "/ttyward-host-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return base::fail_errno(errno, "cannot make a folder");
  for (const char* part : {"/run", "/state", "/config"}) ::mkdir((folder + part).c_str(), 0700);
  const std::string socket = folder + "/run/daemon.sock";
  // The shell is told when we end, also when we are killed: it ends ssh and removes the folder, in which a
  // person's token may be.
  std::vector<std::string> argv = {
      "sh",
      "-c",
      "folder=$1; shift; trap 'gone=1; kill \"$pid\" 2>/dev/null' TERM; "
      "\"$@\" & pid=$!; [ -z \"$gone\" ] || kill \"$pid\"; "
      "wait \"$pid\"; code=$?; kill \"$pid\" 2>/dev/null; rm -rf -- \"$folder\"; "
      "exit \"$code\"",
      "sh",
      folder,
      "ssh",
      "-N",
      "-T"};
  for (const std::string& option :
       {std::string("BatchMode=yes"), std::string("ExitOnForwardFailure=yes"), std::string("LogLevel=ERROR"),
        std::string("ServerAliveInterval=5"), std::string("StreamLocalBindMask=0177"),
        std::string("ControlPath=none")}) {
    argv.insert(argv.end(), {"-o", option});
  }
  argv.insert(argv.end(), {"-L", socket + ":" + daemon->sockets + "/daemon.sock"});
  if (!host->port.empty()) argv.insert(argv.end(), {"-p", host->port});
  if (!host->user.empty()) argv.insert(argv.end(), {"-l", host->user});
  argv.insert(argv.end(), {"--", host->target});
  auto forward = start(std::move(argv));
  if (!forward) {
    std::filesystem::remove_all(folder, error);
    return tl::unexpected(forward.error());
  }
  RemoteHost remote(folder, std::move(forward->child));
  const auto until = Clock::now() + kPatience;
  while (::access(socket.c_str(), F_OK) != 0) {
    const auto exit = remote.forward_->try_reap();
    if (!exit || *exit || Clock::now() > until) {
      static_cast<void>(remote.forward_->signal(SIGTERM));
      return base::fail(base::ErrorCode::Unavailable, "the socket of the daemon on " + place +
                                                          " cannot be forwarded: " + last_words(*forward));
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  if (!daemon->token.empty()) {
    const std::string token = folder + "/person-token";
    if (auto written = base::write_secret_file(token, daemon->token); !written)
      return tl::unexpected(written.error());
    ::setenv("TTYWARD_PERSON_TOKEN_FILE", token.c_str(), 1);
  }
  ::setenv("TTYWARD_HOME", folder.c_str(), 1);
  connected = true;
  return remote;
}

RemoteHost::~RemoteHost() {
  if (folder_.empty()) return;
  static_cast<void>(forward_->signal(SIGTERM));
  for (int i = 0; i < 200; i++) {
    const auto exit = forward_->try_reap();
    if (!exit || *exit) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace ttyward::cli
