// ttyward fleet demo: a server and workers on this machine, in a folder of their own, until Ctrl-C.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/secret_file.h"
#include "base/unique_fd.h"
#include "fleet/bus.h"
#include "fleet/names.h"
#include "fleet/say.h"
#include "fleet/verbs.h"
#include "wire/encoder.h"

namespace ttyward::fleet {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPatience{30'000};

std::string find_server() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PATH")) {
    std::string rest = path;
    for (size_t colon = 0; colon != std::string::npos;) {
      colon = rest.find(':');
      folders.push_back(rest.substr(0, colon));
      rest.erase(0, colon == std::string::npos ? colon : colon + 1);
    }
  }
  folders.insert(folders.end(), {"/usr/sbin", "/usr/local/bin"});
  for (const std::string& folder : folders) {
    const std::string file = folder + "/nats-server";
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

int free_port() {
  const base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return 0;
  return ntohs(address.sin_port);
}

// Ends with us, however we end.
pid_t start(const std::vector<std::string>& words,
            const std::vector<std::pair<std::string, std::string>>& variables, const std::string& log) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  if (!log.empty()) {
    ::setpgid(0, 0);  // Ctrl-C is for us
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
  }
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  std::fprintf(stderr, "cannot start %s\n", argv[0]);
  ::_exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Everything that the demo started and made, ended and removed at its end.
class Stage {
 public:
  explicit Stage(std::string program) : program_(std::move(program)) {
    folder_ = "/tmp/ttyward-fleet-demo-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) folder_.clear();
  }
  ~Stage() {
    for (const pid_t worker : workers_) ::kill(worker, SIGTERM);
    for (const pid_t worker : workers_) wait_for(worker);
    for (const std::string& home : homes_) {
      wait_for(start({program_, "daemon", "stop", "--kill-terminals"},
                     {{"TTYWARD_HOME", home}, {"TTYWARD_PERSON_TOKEN_FILE", home + "/state/person-token"}},
                     folder_ + "/end.log"));
    }
    if (server_ > 0) {
      ::kill(server_, SIGTERM);
      wait_for(server_);
    }
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  base::Result<void> start_server(const std::string& server) {
    const int port = free_port();
    const std::string token = base::random_secret();
    url_ = fmt::format("nats://127.0.0.1:{}", port);
    if (auto written = base::write_secret_file(token_file(), token); !written) return written;
    const std::string config = folder_ + "/server.conf";
    {
      std::ofstream out(config);
      out << fmt::format(
          "listen: \"127.0.0.1:{}\"\nauthorization {{ token: \"{}\" }}\n"
          "jetstream {{ store_dir: \"{}/bus\", max_mem: 64M, max_file: 1G }}\n",
          port, token, folder_);
    }
    ::chmod(config.c_str(), 0600);
    server_ = start({server, "-c", config}, {}, folder_ + "/server.log");
    return {};
  }

  base::Result<void> start_worker(int number, const std::string& person) {
    const std::string home = folder_ + "/host" + std::to_string(number);
    std::error_code failed;
    std::filesystem::create_directories(home + "/state", failed);
    ::chmod(home.c_str(), 0700);
    ::chmod((home + "/state").c_str(), 0700);
    if (auto written = base::write_secret_file(home + "/state/person-token", person); !written)
      return written;
    Invocation worker;
    worker.action = "worker";
    worker.program = program_;
    worker.access = access();
    worker.name = "demo-" + std::to_string(number);
    worker.labels = {"demo", "number-" + std::to_string(number)};
    worker.slots = 2;
    worker.lease_ms = 5000;
    homes_.push_back(home);
    workers_.push_back(start({"/proc/self/exe", wire::json_text(worker, wire::Nulls::LeaveOut)},
                             {{"TTYWARD_HOME", home}},
                             folder_ + "/worker" + std::to_string(number) + ".log"));
    return {};
  }

  // Until all workers give signs of life.
  base::Result<void> wait_until_ready() {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    std::string why = "the workers did not get ready";
    while (std::chrono::steady_clock::now() < give_up) {
      auto bus = Bus::connect(access(), "ttyward fleet demo", Bus::Patience::FailAtOnce);
      if (!bus) why = bus.error().message;
      for (int i = 0; bus && i < 20; i++) {
        const auto hosts = (*bus)->entries(kHostBucket, 100);
        if (hosts && hosts->size() == workers_.size()) return {};
        std::this_thread::sleep_for(milliseconds(100));
      }
      std::this_thread::sleep_for(milliseconds(50));
    }
    return base::fail(base::ErrorCode::Unavailable, why + "; see the logs in " + folder_);
  }

  Access access() const {
    Access made;
    made.servers = {url_};
    made.token_file = token_file();
    return made;
  }
  std::string token_file() const { return folder_ + "/token"; }
  std::string person_file() const { return homes_.front() + "/state/person-token"; }
  const std::string& url() const { return url_; }
  const std::string& folder() const { return folder_; }

 private:
  const std::string program_;
  std::string folder_;
  std::string url_;
  pid_t server_ = 0;
  std::vector<pid_t> workers_;
  std::vector<std::string> homes_;
};

}  // namespace

int demo(const Invocation& asked) {
  const std::string server = find_server();
  if (server.empty())
    return complain("the demo needs the program nats-server; on Debian: apt install nats-server");
  sigset_t stops;
  sigemptyset(&stops);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&stops, signal);
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
  Stage stage(asked.program);
  if (stage.folder().empty()) return complain("cannot make a folder in /tmp");
  if (auto started = stage.start_server(server); !started) return complain(started.error().message);
  const std::string person = base::random_secret();
  for (int i = 1; i <= asked.workers; i++) {
    if (auto started = stage.start_worker(i, person); !started) return complain(started.error().message);
  }
  if (auto ready = stage.wait_until_ready(); !ready) return complain(ready.error().message);
  const std::vector<std::pair<std::string, std::string>> variables = {
      {"TTYWARD_FLEET_SERVER", stage.url()},
      {"TTYWARD_FLEET_TOKEN_FILE", stage.token_file()},
      {"TTYWARD_PERSON_TOKEN_FILE", stage.person_file()},
  };
  if (!asked.argv.empty()) return wait_for(start(asked.argv, variables, ""));
  std::string exports;
  for (const auto& [name, value] : variables) exports += " " + name + "=" + value;
  print(
      fmt::format("A fleet of {} workers runs on this machine. In another terminal:\n\n"
                  "  export{}\n"
                  "  ttyward fleet ls\n"
                  "  ttyward fleet run 'echo hello from the fleet'\n"
                  "  ttyward fleet batch 'sleep 1' 'sleep 1' 'sleep 1' 'sleep 1' 'sleep 1' 'sleep 1'\n"
                  "  ttyward fleet run --host demo-2 'sleep 60' &   # then: ttyward fleet ls --jobs\n\n"
                  "Ctrl-C ends it.\n",
                  asked.workers, exports));
  int came = 0;
  sigwait(&stops, &came);
  print("\n");
  return 0;
}

}  // namespace ttyward::fleet
