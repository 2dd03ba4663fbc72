#include "cli/demo/stage.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/secret_file.h"
#include "base/unique_fd.h"

namespace ttyward::cli::demo {
namespace {

constexpr int kEndPatience = 40'000;               // milliseconds; a daemon gives its own work 30 s
constexpr std::chrono::seconds kFilePatience{30};  // the command that makes it takes one

base::UniqueFd open_process(pid_t pid) {
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void wait_for_end(const base::UniqueFd& process) {
  pollfd wanted{process.get(), POLLIN, 0};
  while (process && ::poll(&wanted, 1, kEndPatience) < 0 && errno == EINTR) {
  }
}

}  // namespace

client::Options Stage::options(const char* role) const {
  client::Options options;
  options.folders = {root_ + "/state", root_ + "/run", root_ + "/config"};
  options.role = role;
  options.client = std::string("demo ") + role;
  if (options.role == "person") options.token = token_;
  return options;
}

base::Result<std::unique_ptr<Stage>> Stage::build() {
  std::unique_ptr<Stage> stage(new Stage);
  const char* temporary = std::getenv("TMPDIR");
  std::string pattern = std::string(temporary != nullptr ? temporary : "/tmp") + "/ttyward-demo-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr)
    return base::fail_errno(errno, "cannot make a folder like " + pattern);
  stage->root_ = pattern;
  stage->work_ = pattern + "/work";
  if (::mkdir(stage->work_.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make " + stage->work_);
  // The daemon and its shells inherit it: nobody's start-up files make the tour slow or different.
  const std::string home = pattern + "/home";
  if (::mkdir(home.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make " + home);
  ::setenv("HOME", home.c_str(), 1);
  // Nobody sits at the tour's own terminals: the person in it is one by a token.
  stage->token_ = base::random_secret();
  const std::string state = pattern + "/state";
  if (::mkdir(state.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make " + state);
  if (auto written = base::write_secret_file(stage->options("person").folders.person_token(), stage->token_);
      !written)
    return tl::unexpected(written.error());
  for (const char* role : {"person", "agent"}) {
    auto session = client::Session::open(stage->options(role));
    if (!session) return tl::unexpected(session.error());
    auto& place = std::string_view(role) == "agent" ? stage->agent_ : stage->person_;
    place = std::make_unique<client::Session>(std::move(*session));
  }
  return stage;
}

Stage::~Stage() {
  if (person_) {
    // The daemon may have been exchanged: ask which one it is now, and only then name it.
    if (person_->call("status", {})) {
      const base::UniqueFd process = open_process(daemon_pid());
      if (person_->call("stop", {{"kill_terminals", true}})) wait_for_end(process);
    }
  }
  std::error_code ignored;
  if (!root_.empty()) std::filesystem::remove_all(root_, ignored);
}

base::Result<void> Stage::kill_daemon() {
  const base::UniqueFd process = open_process(daemon_pid());
  if (!process) return base::fail_errno(errno, "cannot find the daemon");
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) != 0) {
    return base::fail_errno(errno, "cannot kill the daemon");
  }
  wait_for_end(process);
  return {};
}

bool Stage::file_appears(const std::string& name) const {
  const auto until = std::chrono::steady_clock::now() + kFilePatience;
  while (::access((work_ + "/" + name).c_str(), F_OK) != 0) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 20);  // spares the processor
  }
  return true;
}

}  // namespace ttyward::cli::demo
