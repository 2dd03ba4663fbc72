#include "panel/outside.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/private_folder.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ttyward::panel {
namespace {

using base::Result;
using base::UniqueFd;

// A question is its kind and then its text; an answer is kYes, or kNo with two numbers and the reason.
constexpr char kConnect = 'c';       // without starting a daemon
constexpr char kConnectStart = 'C';  // both: the patience in ms
constexpr char kSessions = 's';
constexpr char kOpen = 'o';
constexpr char kYes = 'y';
constexpr char kNo = 'n';
constexpr size_t kMostMessage = 64 * 1024;

struct Message {
  std::string text;
  UniqueFd descriptor;
};

bool send_message(int socket, std::string_view text, int descriptor, int flags) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | flags)) < 0 && errno == EINTR) {
  }
  return sent == static_cast<ssize_t>(text.size());
}

// Null: the other side has ended.
std::optional<Message> receive_message(int socket) {
  Message received;
  received.text.resize(kMostMessage);
  iovec part{received.text.data(), received.text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got <= 0) return std::nullopt;
  received.text.resize(static_cast<size_t>(got));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    received.descriptor.reset(descriptor);
  }
  return received;
}

std::string told(const base::Error& error) {
  return kNo + std::to_string(static_cast<int>(error.code)) + " " + std::to_string(error.sys_errno) + " " +
         error.message;
}

base::Error error_of(std::string_view text) {
  base::Error error{base::ErrorCode::Unavailable, 0, "the panel's helper has ended; start the panel again"};
  if (text.empty() || text.front() != kNo) return error;
  text.remove_prefix(1);
  int numbers[2] = {0, 0};
  for (int& number : numbers) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  error.code = static_cast<base::ErrorCode>(numbers[0]);
  error.sys_errno = numbers[1];
  error.message = std::string(text);
  return error;
}

// ---- in the helper

// A link opened in the person's browser. The address is a secret and other users can read a program's
// arguments, so the browser gets a file that only this user may read, and that leads to it.
class OpenedLink {
 public:
  OpenedLink() = default;
  OpenedLink(const OpenedLink&) = delete;
  OpenedLink& operator=(const OpenedLink&) = delete;
  ~OpenedLink() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  Result<void> open(const std::string& folder, const std::string& address) {
    if (!path_.empty())
      return base::fail(base::ErrorCode::AlreadyExists, "a link was opened in the browser already");
    if (auto private_folder = base::open_private_folder(folder, base::IfMissing::Create); !private_folder)
      return tl::unexpected(private_folder.error());
    path_ = folder + "/panel-" + std::to_string(::getpid()) + ".html";
    const std::string text =
        "<!doctype html><meta charset=utf-8><title>ttyward</title>"
        "<meta http-equiv=refresh content=\"0;url=" +
        address + "\">";
    ::unlink(path_.c_str());
    const UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return base::fail_errno(errno, "cannot write " + path_);
    std::string program = "xdg-open";
    std::string argument = "file://" + path_;
    char* const argv[] = {program.data(), argument.data(), nullptr};
    pid_t pid = 0;
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failed = ::posix_spawnp(&pid, program.c_str(), nullptr, &attributes, argv, environ);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return base::fail_errno(failed, "cannot start xdg-open");
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();  // whoever it started lives on
    return {};
  }

 private:
  std::string path_;
};

// Written anew and renamed.
void write_sessions(const std::string& path, std::string_view text) {
  if (path.empty()) return;
  const std::string made = path + ".new";
  ::unlink(made.c_str());
  const UniqueFd file(::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) return;
  if (::rename(made.c_str(), path.c_str()) != 0) ::unlink(made.c_str());
}

void answer_connect(int socket, const Outside::Places& places, std::string_view patience, bool start) {
  client::Options options = places.daemon;
  options.start_daemon = start && places.daemon.start_daemon;
  int64_t ms = 0;
  std::from_chars(patience.data(), patience.data() + patience.size(), ms);
  options.patience = std::min(std::chrono::milliseconds(ms), places.daemon.patience);
  const auto reached = client::reach_daemon(options);
  if (reached) {
    send_message(socket, std::string(1, kYes), reached->get(), 0);
  } else {
    send_message(socket, told(reached.error()), -1, 0);
  }
}

// Until the panel has ended.
void help(int socket, const Outside::Places& places) {
  OpenedLink link;
  while (const auto asked = receive_message(socket)) {
    const char kind = asked->text.front();
    const std::string_view rest = std::string_view(asked->text).substr(1);
    if (kind == kConnect || kind == kConnectStart) {
      answer_connect(socket, places, rest, kind == kConnectStart);
    } else if (kind == kSessions) {
      write_sessions(places.sessions_file, rest);
    } else if (kind == kOpen) {
      const auto opened = link.open(places.folder, std::string(rest));
      send_message(socket, opened ? std::string(1, kYes) : told(opened.error()), -1, 0);
    }
  }
}

// Ctrl-C and hang-up go to both processes: the panel decides when to end.
void become_helper() {
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(each, SIG_IGN);
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing) return;
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
}

}  // namespace

Result<std::unique_ptr<Outside>> Outside::start(Places places) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return base::fail_errno(errno, "cannot start the panel's helper");
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno(errno, "cannot start the panel's helper");
  if (pid == 0) {
    ours.reset();
    become_helper();
    help(theirs.get(), places);
    ::_exit(0);
  }
  return std::unique_ptr<Outside>(new Outside(std::move(ours)));
}

Result<UniqueFd> Outside::reach(const client::Options& options) {
  const std::lock_guard lock(mutex_);
  const std::string question =
      (options.start_daemon ? kConnectStart : kConnect) + std::to_string(options.patience.count());
  auto answer = send_message(socket_.get(), question, -1, 0) ? receive_message(socket_.get()) : std::nullopt;
  if (answer && answer->text.front() == kYes && answer->descriptor) return std::move(answer->descriptor);
  return tl::unexpected(error_of(answer ? answer->text : ""));
}

void Outside::keep_sessions(std::string_view text) {
  send_message(socket_.get(), kSessions + std::string(text), -1, MSG_DONTWAIT);
}

Result<void> Outside::open_link(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto answer =
      send_message(socket_.get(), kOpen + address, -1, 0) ? receive_message(socket_.get()) : std::nullopt;
  if (answer && answer->text.front() == kYes) return {};
  return tl::unexpected(error_of(answer ? answer->text : ""));
}

}  // namespace ttyward::panel
