#include "app/login_environment.h"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "app/captured_run.h"
#include "base/ids.h"
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
  return parse(captured_run(spec, kPatience, kMostBytes, stop).output, mark);
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
