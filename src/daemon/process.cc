#include "daemon/process.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/private_folder.h"
#include "daemon/activation.h"
#include "daemon/detach.h"
#include "daemon/socket_watch.h"
#include "io/daemon_place.h"
#include "io/local_socket.h"
#include "io/signals.h"

namespace ttyward::daemon {

namespace {

using std::chrono::milliseconds;

constexpr const char* kLogFile = "daemon.log";
// For the application to end its work. After this the daemon exits even if calls are open.
constexpr std::chrono::seconds kStopPatience{30};
// For clients to read what they were sent before the end.
constexpr milliseconds kFarewell{2000};
constexpr milliseconds kFarewellStep{10};

int64_t now_ms() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Whether somebody accepts connections there: a daemon of another state folder, as we have the lock of this.
bool somebody_listens(const std::string& folder) {
  auto opened = base::open_private_folder(folder, base::IfMissing::Fail);
  if (!opened) return false;
  const auto socket = io::connect_in(opened->get(), io::kDaemonSocket, "nobody listens");
  return socket || socket.error().sys_errno == EAGAIN;
}

class DaemonProcess final : public Process {
 public:
  DaemonProcess(base::Folders folders, mode_t user_umask)
      : folders_(std::move(folders)), user_umask_(user_umask) {}

  base::Result<void> set_up(base::UniqueFd activated, const MakeApplication& make, int copy_log_to);
  void serve() { loop_->run(); }
  void farewell();

  const base::Folders& folders() const override { return folders_; }
  io::Log& log() override { return *log_; }
  int64_t started_at() const override { return started_at_; }
  mode_t user_umask() const override { return user_umask_; }
  void request_stop(Terminals terminals) override;

 private:
  enum class Farewell : uint8_t { Break, Dismiss };  // what becomes of open calls and connections
  void begin_stop(Terminals terminals, Farewell farewell);
  base::Result<Listener> make_listener(base::UniqueFd activated);
  void watch_socket();
  void socket_folder_changed();
  void on_signal(int number);
  void wait_for_clients(io::Loop::Clock::time_point until);

  base::Folders folders_;
  mode_t user_umask_;
  int64_t started_at_ = now_ms();
  std::string sockets_;  // the folder the socket is in now
  base::UniqueFd lock_;
  std::unique_ptr<io::Log> log_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<io::Signals> signals_;
  std::unique_ptr<Application> application_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<SocketWatch> watch_;
  bool stopping_ = false;
  bool farewell_ = false;
};

base::Result<Listener> DaemonProcess::make_listener(base::UniqueFd activated) {
  sockets_ = folders_.sockets();
  if (activated) return adopt_listener(std::move(activated), sockets_);
  if (somebody_listens(sockets_)) {
    return base::fail(base::ErrorCode::Unavailable, "another daemon, with another state folder, listens at " +
                                                        sockets_ + "/" + io::kDaemonSocket +
                                                        "; stop it, or set TTYWARD_HOME");
  }
  return bind_listener(sockets_, io::kDaemonSocket);
}

base::Result<void> DaemonProcess::set_up(base::UniqueFd activated, const MakeApplication& make,
                                         int copy_log_to) {
  auto lock = io::lock_daemon_place(folders_.state);
  if (!lock) return tl::unexpected(lock.error());
  lock_ = std::move(*lock);
  auto log = io::Log::open(folders_.state, kLogFile, copy_log_to);
  if (!log) return tl::unexpected(log.error());
  log_ = std::move(*log);
  auto loop = io::Loop::create();
  if (!loop) return tl::unexpected(loop.error());
  loop_ = std::move(*loop);
  auto signals =
      io::Signals::watch(*loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int number) { on_signal(number); });
  if (!signals) return tl::unexpected(signals.error());
  signals_ = std::move(*signals);
  const bool ours = !activated;
  auto listener = make_listener(std::move(activated));
  if (!listener) return tl::unexpected(listener.error());
  // From here on clients can connect; they are heard when the loop runs.
  application_ = make(*this);
  auto server = Server::listen(*loop_, std::move(*listener), *application_, *log_);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  if (auto written = io::write_daemon_place(lock_.get(), sockets_); !written) return written;
  if (auto started = application_->start(*loop_, *server_); !started) return started;
  if (ours) watch_socket();
  log_->info(
      "ttyward " TTYWARD_VERSION " listens at " + sockets_ + "/" + io::kDaemonSocket + ", pid " +
          std::to_string(::getpid()),
      io::Log::kMainPart,
      {{"version", TTYWARD_VERSION}, {"socket", sockets_ + "/" + io::kDaemonSocket}, {"pid", ::getpid()}});
  return {};
}

void DaemonProcess::watch_socket() {
  watch_.reset();
  auto watch = SocketWatch::watch(*loop_, sockets_, [this] { socket_folder_changed(); });
  if (watch) {
    watch_ = std::move(*watch);
  } else {
    log_->warning(watch.error().message + "; a socket that is removed will not be created again");
  }
}

void DaemonProcess::socket_folder_changed() {
  if (stopping_ || watch_ == nullptr || server_->listener().in_place()) return;
  for (const std::string& folder : {folders_.sockets(), folders_.state + "/run"}) {
    if (somebody_listens(folder)) continue;  // a service manager took the place
    auto listener = bind_listener(folder, io::kDaemonSocket);
    if (!listener || !server_->replace_listener(std::move(*listener))) continue;
    sockets_ = folder;
    static_cast<void>(io::write_daemon_place(lock_.get(), sockets_));
    log_->warning("the socket was removed; listening at " + sockets_ + "/" + io::kDaemonSocket);
    return watch_socket();
  }
  log_->error(
      "the socket was removed and cannot be created again; no client can connect until the daemon is "
      "restarted");
}

void DaemonProcess::on_signal(int number) {
  if (number == SIGHUP) {
    log_->info("reloading (SIGHUP)");
    for (const std::string& error : application_->reload()) log_->error(error);
    return;
  }
  log_->info(number == SIGINT ? "stopping (SIGINT)" : "stopping (SIGTERM)");
  if (stopping_) return loop_->stop();             // the second signal ends it at once
  begin_stop(Terminals::LiveOn, Farewell::Break);  // an upgrade, perhaps: clients come back by themselves
}

// An explicit stop: connected clients are told, because otherwise they would start the next daemon.
void DaemonProcess::request_stop(Terminals terminals) {
  begin_stop(terminals, Farewell::Dismiss);
}

void DaemonProcess::begin_stop(Terminals terminals, Farewell farewell) {
  if (std::exchange(stopping_, true)) return;
  notify_manager("STOPPING=1");
  watch_.reset();
  server_->close_listener();
  loop_->after(kStopPatience, [this] {
    log_->error("gave up waiting for open calls and terminals to end");
    loop_->stop();
  });
  // Posted, because this may run inside a call of the application.
  loop_->post([this, terminals, farewell] {
    application_->stop(terminals == Terminals::Kill, [this, terminals, farewell] {
      if (std::exchange(farewell_, true)) return;
      if (farewell == Farewell::Dismiss) {
        server_->dismiss_all({wire::Code::Unavailable,
                              terminals == Terminals::Kill
                                  ? "the daemon was stopped, and its terminals with it"
                                  : "the daemon was stopped; its terminals live on: ttyward ls finds them"});
      }
      wait_for_clients(io::Loop::Clock::now() + kFarewell);
    });
  });
}

void DaemonProcess::wait_for_clients(io::Loop::Clock::time_point until) {
  if (!server_->has_unsent() || io::Loop::Clock::now() >= until) return loop_->stop();
  loop_->after(kFarewellStep, [this, until] { wait_for_clients(until); });
}

void DaemonProcess::farewell() {
  application_.reset();  // it may use the server to its end; the server does not use it
  server_.reset();
  log_->info("ended");
}

int complain(const char* as, const std::string& message, int status) {
  std::fprintf(stderr, "%s: %s\n", as, message.c_str());
  return status;
}

// The socket that a service manager handed over, everything else closed.
base::UniqueFd take_activated_socket() {
  const int count = take_activation();
  close_descriptors(count > 0 ? 4U : 3U);
  return base::UniqueFd(count > 0 ? 3 : -1);
}

}  // namespace

int run(const RunOptions& options, const MakeApplication& make, const char* complain_as) {
  const bool background = options.where == Where::Background;
  StartReport report;
  base::UniqueFd activated;
  if (background) {
    auto detached = detach();
    if (!detached) return complain(complain_as, detached.error().message, kExitFailed);
    if (!detached->is_daemon) {
      const int code = detached->killed ? io::kExitKilledAtStart : kExitFailed;
      return detached->error ? complain(complain_as, *detached->error, code) : 0;
    }
    report = std::move(detached->report);
  } else {
    activated = take_activated_socket();
  }
  const mode_t user_umask = ::umask(077);
  ::signal(SIGPIPE, SIG_IGN);
  if (::chdir("/") != 0) {
    report.failed("cannot change to /");
    return kExitFailed;
  }
  DaemonProcess process(options.folders, user_umask);
  if (auto ready = process.set_up(std::move(activated), make, background ? -1 : STDERR_FILENO); !ready) {
    const bool running = ready.error().code == base::ErrorCode::AlreadyExists;
    if (background) {
      running ? report.ready() : report.failed(ready.error().message);
      return kExitFailed;
    }
    return complain(complain_as, ready.error().message, running ? kExitRunning : kExitFailed);
  }
  report.ready();
  notify_manager("READY=1");
  process.serve();
  process.farewell();
  return 0;
}

}  // namespace ttyward::daemon
