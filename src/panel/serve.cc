#include "panel/serve.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "base/folders.h"
#include "base/private_folder.h"
#include "base/secret_file.h"
#include "base/unique_fd.h"
#include "http/server.h"
#include "io/loop.h"
#include "io/signals.h"
#include "panel/assets.h"
#include "panel/sessions.h"
#include "panel/site.h"

namespace ttyward::panel {
namespace {

// For answers that are under way when the panel is told to end.
constexpr std::chrono::milliseconds kEndGrace{300};

http::Limits limits() {
  http::Limits out;
  out.body = size_t{64} << 10;
  out.connections = 64;
  out.request_time = std::chrono::seconds(10);
  return out;
}

// A link opened in the person's browser. The address is a secret and other users can read a program's
// arguments, so the browser gets a file that only this user may read, and that leads to it.
class OpenedLink {
 public:
  base::Result<void> open(const std::string& folder, const std::string& address) {
    if (auto private_folder = base::open_private_folder(folder, base::IfMissing::Create); !private_folder)
      return tl::unexpected(private_folder.error());
    path_ = folder + "/panel-" + std::to_string(::getpid()) + ".html";
    const std::string text =
        "<!doctype html><meta charset=utf-8><title>ttyward</title>"
        "<meta http-equiv=refresh content=\"0;url=" +
        address + "\">";
    ::unlink(path_.c_str());
    const base::UniqueFd file(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return base::fail_errno(errno, "cannot write " + path_);
    std::string program = "xdg-open";
    std::string argument = "file://" + path_;
    char* const argv[] = {program.data(), argument.data(), nullptr};
    pid_t pid = 0;
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int failed = ::posix_spawnp(&pid, program.c_str(), nullptr, &attributes, argv, environ);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return base::fail_errno(failed, "cannot start xdg-open");
    std::thread([pid] { ::waitpid(pid, nullptr, 0); }).detach();  // whoever it started lives on
    return {};
  }
  ~OpenedLink() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

 private:
  std::string path_;
};

// Whoever sits at the terminal gets another link with Enter.
class EnterKey final : private io::Poller::Handler {
 public:
  EnterKey(io::Loop& loop, std::function<void()> pressed) : loop_(loop), pressed_(std::move(pressed)) {
    watches_ = ::isatty(STDIN_FILENO) != 0 && loop_.poller().add(STDIN_FILENO, EPOLLIN, *this).has_value();
  }
  ~EnterKey() {
    if (watches_) loop_.poller().remove(STDIN_FILENO);
  }
  EnterKey(const EnterKey&) = delete;
  EnterKey& operator=(const EnterKey&) = delete;
  bool watches() const { return watches_; }

 private:
  void on_ready(int, uint32_t) override {
    char line[256];
    const ssize_t got = ::read(STDIN_FILENO, line, sizeof line);
    if (got > 0) return pressed_();
    loop_.poller().remove(STDIN_FILENO);
    watches_ = false;
  }
  io::Loop& loop_;
  std::function<void()> pressed_;
  bool watches_ = false;
};

// The token in the file; where there is none yet, a new one.
base::Result<std::string> metrics_token_in(const std::string& path) {
  const std::string made = base::random_secret();
  if (const auto written = base::write_secret_file(path, made); written)
    return made;
  else if (written.error().code != base::ErrorCode::AlreadyExists)
    return tl::unexpected(written.error());
  return base::read_secret_file(path);
}

}  // namespace

bool is_built() {
  return !page_template().empty();
}

int serve(const ServeOptions& options, const std::function<int(const std::string& message)>& complain) {
  ::signal(SIGPIPE, SIG_IGN);
  auto made = io::Loop::create();
  if (!made) return complain(made.error().message);
  io::Loop& loop = **made;
  // Before any thread is made: threads inherit which signals are blocked.
  std::function<void(int)> on_signal = [&](int) { loop.stop(); };
  const auto signals =
      io::Signals::watch(loop, {SIGTERM, SIGINT, SIGHUP}, [&](int number) { on_signal(number); });
  if (!signals) return complain(signals.error().message);
  auto listening = http::Server::listen(loop, {false, options.port}, limits());
  if (!listening) return complain(listening.error().message);
  http::Server& web = **listening;

  const std::string folder = options.daemon.folders.sockets();
  if (auto opened = base::open_private_folder(folder, base::IfMissing::Create); !opened)
    return complain(opened.error().message);
  const Role role = options.view_only ? Role::Viewer : Role::Person;
  // On a port of its own choice the next panel is found by nobody; on one that was asked for, its pages come
  // back.
  Sessions sessions(
      {role, options.port == 0 ? "" : folder + "/panel-sessions-" + std::to_string(options.port)});
  std::string metrics_token;
  if (!options.metrics_token_file.empty()) {
    auto token = metrics_token_in(options.metrics_token_file);
    if (!token) return complain(token.error().message);
    metrics_token = std::move(*token);
  }
  Site site(loop, sessions, web.port(), options.daemon, metrics_token);
  web.serve([&](const std::shared_ptr<http::Exchange>& exchange) { site.handle(exchange); });

  int ended_by = 0;
  on_signal = [&](int number) {
    if (std::exchange(ended_by, number) != 0) return loop.stop();  // told twice: at once
    web.shut_down(kEndGrace, [&] { loop.stop(); });
  };
  const auto show_link = [&] {
    std::printf("%s\n", site.link_address(role).c_str());
    std::fflush(stdout);
  };
  const EnterKey enter(loop, show_link);
  OpenedLink opened;
  if (options.open) {
    if (const auto shown = opened.open(folder, site.link_address(role)); !shown) {
      complain(shown.error().message + "; open the address by hand");
      show_link();
    }
  } else {
    show_link();
  }
  std::fprintf(stderr, "ttyward panel: %s. The link works once, within a minute%s. Ctrl-C ends the panel.\n",
               options.view_only ? "for watching only" : "whoever opens this link acts as you",
               enter.watches() ? "; Enter makes another" : "");
  web.run();
  return ended_by == 0 || ended_by == SIGINT ? 0 : 128 + ended_by;
}

}  // namespace ttyward::panel
