#include "app/login_environment.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/ids.h"
#include "pty/spawn.h"
#include "shell/quoting.h"
#include "shell/shell_kind.h"

namespace ttyward::app {
namespace {

constexpr std::chrono::seconds kPatience{10};  // with a person's start-up files
constexpr size_t kMostKnown = 64;              // folders with an environment of their own
constexpr size_t kMostBytes = 4 << 20;

constexpr const char* kFiles[] = {".profile", ".bash_profile", ".bash_login",
                                  ".bashrc",  ".zshenv",       ".zprofile",
                                  ".zshrc",   ".zlogin",       ".config/fish/config.fish",
                                  ".nvmrc"};

std::string stamp_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "-";
  return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + "." +
         std::to_string(info.st_size);
}

// The .envrc that holds in this folder; empty: none.
std::string project_file(const std::string& cwd) {
  std::error_code ignored;
  for (std::filesystem::path folder = cwd; !folder.empty(); folder = folder.parent_path()) {
    const auto file = folder / ".envrc";
    if (std::filesystem::is_regular_file(file, ignored)) return file.string();
    if (folder == folder.root_path()) break;
  }
  return {};
}

std::vector<std::string> parse(const std::string& output, const std::string& mark) {
  std::vector<std::string> variables;
  const size_t begin = output.rfind(mark);
  if (begin == std::string::npos) return variables;
  for (size_t at = begin + mark.size(); at < output.size();) {
    const size_t end = output.find('\0', at);
    if (end == std::string::npos) break;
    std::string entry = output.substr(at, end - at);
    if (entry.find('=') != std::string::npos) variables.push_back(std::move(entry));
    at = end + 1;
  }
  return variables;
}

// Blocks, at most for kPatience.
std::vector<std::string> ask_shell(const std::string& shell, const std::string& home,
                                   const std::string& folder, int stop) {
  const std::string mark = "ttyward-" + base::random_nonce();
  const bool fish = shell::identify_shell({shell}).kind == shell::ShellKind::Fish;
  const auto dialect = fish ? shell::Dialect::Fish : shell::Dialect::Posix;
  std::string script;
  if (!folder.empty()) {
    script =
        "cd " + shell::quote(folder, dialect).value_or("/") + " && command -v direnv >/dev/null && " +
        (fish ? "direnv export fish 2>/dev/null | source; " : "eval \"$(direnv export bash 2>/dev/null)\"; ");
  }
  script += "printf %s " + mark + "; env -0";
  pty::SpawnSpec spec;
  spec.argv = {shell, "-l", "-i", "-c", script};
  spec.provider = pty::Provider::Pipe;
  spec.cwd = home;
  const char* user = std::getenv("USER");
  spec.environment = {"HOME=" + home, "SHELL=" + shell, "TERM=dumb", "PATH=/usr/local/bin:/usr/bin:/bin",
                      std::string("USER=") + (user != nullptr ? user : "")};
  auto spawned = pty::spawn(spec);
  if (!spawned) return {};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::string output;
  bool reading = true;
  while (reading && output.size() < kMostBytes) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd ready[] = {
        {spawned->stdout_fd.get(), POLLIN, 0}, {spawned->stderr_fd.get(), POLLIN, 0}, {stop, POLLIN, 0}};
    if (left <= 0 || ::poll(ready, 3, static_cast<int>(left)) <= 0 || ready[2].revents != 0) break;
    char buffer[64 * 1024];
    if (ready[1].revents != 0 && ::read(ready[1].fd, buffer, sizeof buffer) == 0) spawned->stderr_fd.reset();
    if (ready[0].revents == 0) continue;
    const ssize_t n = ::read(ready[0].fd, buffer, sizeof buffer);
    if (n > 0) output.append(buffer, static_cast<size_t>(n));
    reading = n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
  }
  ::kill(-spawned->child.pid(), SIGKILL);  // it is ours until it is collected
  siginfo_t info{};
  pty::ResourceUse use;
  pty::wait_with_usage(P_PID, static_cast<id_t>(spawned->child.pid()), WEXITED, info, use);
  return parse(output, mark);
}

}  // namespace

LoginEnvironment::LoginEnvironment(io::Loop& loop) : loop_(loop), stop_(::eventfd(0, EFD_CLOEXEC)) {}

LoginEnvironment::~LoginEnvironment() {
  *alive_ = false;
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  for (std::thread& thread : threads_) thread.join();
}

void LoginEnvironment::get(const std::string& shell, const std::string& home, const std::string& cwd,
                           Done done) {
  const std::string envrc = project_file(cwd);
  std::string key = shell + "\n" + home + "\n" + envrc + "\n" + stamp_of(envrc);
  for (const char* file : kFiles) key += "\n" + stamp_of(home + "/" + file);
  if (const auto known = known_.find(key); known != known_.end()) return done(known->second);
  auto& waiting = waiting_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() > 1) return;
  const std::string folder = envrc.empty() ? "" : std::filesystem::path(envrc).parent_path().string();
  threads_.emplace_back([this, alive = alive_, key, shell, home, folder] {
    auto variables = ask_shell(shell, home, folder, stop_.get());
    loop_.post([this, alive, key, variables = std::move(variables)] {
      if (!*alive) return;
      if (known_.size() >= kMostKnown) known_.clear();
      known_[key] = variables;
      const auto told = waiting_.extract(key);
      for (const Done& each : told.mapped()) each(variables);
    });
  });
}

}  // namespace ttyward::app
