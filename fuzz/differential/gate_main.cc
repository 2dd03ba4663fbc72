// Runs lines that the gate allows, in real shells, and looks for files they should not have made.
//
//   gate_differential SECONDS [SEED [CORPUS…]]
//
// Lines are made as in line_maker.h, and by changing the allowed lines of corpora (tests/policy/*.tsv), with
// `touch` put where it might slip through. What the gate allows for a shell is run there, as an argument and
// typed into a terminal: in namespaces of its own (bubblewrap), the system read-only, no network, an empty
// folder, a PATH that holds only `touch`, and variables whose values run it when they are evaluated. A file
// that appears is a defect of the gate; so is a line that ends the runner. Exit status 1 then, 77 where there
// are no namespaces.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "fuzz/differential/line_maker.h"
#include "policy/evaluate.h"
#include "tests/policy/corpus_rows.h"

namespace ttyward::fuzz {
namespace {

using syntax::Dialect;
using syntax::Manner;

struct Shell {
  const char* name;
  const char* program;
  std::vector<const char*> options;  // before -c, or before -i
  Dialect dialect;
};

const std::vector<Shell>& shells() {
  static const std::vector<Shell> kShells = {
      {"bash", "/bin/bash", {"--norc", "--noprofile"}, Dialect::Bash},
      {"dash", "/bin/dash", {}, Dialect::Posix},
      {"zsh", "/bin/zsh", {"-f"}, Dialect::Zsh},
      {"busybox", "/bin/busybox", {"ash"}, Dialect::Posix},
      {"mksh", "/bin/mksh", {}, Dialect::Posix},
      {"ksh", "/bin/ksh93", {}, Dialect::Posix},
      {"fish", "/usr/bin/fish", {"--no-config"}, Dialect::Fish},
  };
  return kShells;
}

// fish has a prompt of its own and takes long to start: it is only given lines as arguments.
bool runs(const Shell& shell, Manner manner) {
  return manner == Manner::Script || shell.dialect != Dialect::Fish;
}

struct Job {
  uint8_t shell = 0;
  Manner manner = Manner::Script;
  std::string line;
};

// ---- inside the namespaces -------------------------------------------------------------------------------

constexpr int kLimitMs = 3000;

bool read_whole(int fd, void* data, size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = read(fd, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void exec_shell(const Shell& shell, const char* last, const char* line) {
  std::vector<const char*> argv = {shell.program};
  for (const char* option : shell.options) argv.push_back(option);
  argv.push_back(last);
  if (line != nullptr) argv.push_back(line);
  argv.push_back(nullptr);
  execv(shell.program, const_cast<char**>(argv.data()));
  _exit(127);
}

void run_script(const Shell& shell, const std::string& line) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    exec_shell(shell, "-c", line.c_str());
  }
  // Some shells catch SIGALRM: an endless loop is ended from outside.
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ended{handle, POLLIN, 0};
  poll(&ended, 1, kLimitMs);
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  close(handle);
}

// Types the line at a prompt, then leaves the shell.
void run_typed(const Shell& shell, const std::string& line) {
  int master = -1;
  const pid_t pid = forkpty(&master, nullptr, nullptr, nullptr);
  if (pid == 0) {
    exec_shell(shell, "-i", nullptr);
  }
  // The line at the first prompt; at the next one the shell is left. A line that leaves something open gets
  // Ctrl-C after a while, then the end of the input.
  constexpr std::string_view kKeys[] = {"exit\n", "\x03", "\x04", "exit\n", "\x04"};
  const int64_t end = now_ms() + kLimitMs;
  size_t step = 0;
  size_t prompts = 0;
  std::string seen;
  int64_t quiet_since = now_ms();
  bool typed = false;
  while (now_ms() < end) {
    pollfd waiting{master, POLLIN, 0};
    if (poll(&waiting, 1, 40) > 0) {
      std::array<char, 4096> buffer{};
      const ssize_t got = read(master, buffer.data(), buffer.size());
      if (got <= 0) break;
      seen.append(buffer.data(), static_cast<size_t>(got));
      quiet_since = now_ms();
    }
    for (size_t at = 0; (at = seen.find("@@")) != std::string::npos; seen.erase(0, at + 2)) ++prompts;
    if (seen.size() > 1) seen.erase(0, seen.size() - 1);
    std::string keys;
    if (!typed && prompts > 0) {
      typed = true;
      keys = line + "\n";
    } else if (typed && (prompts > 1 + step || now_ms() - quiet_since > 250) && step < std::size(kKeys)) {
      keys = kKeys[prompts > 1 ? 0 : step + 1 < std::size(kKeys) ? step + 1 : 0];
      ++step;
      quiet_since = now_ms();
    }
    if (!keys.empty() && write(master, keys.data(), keys.size()) < 0) break;
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  close(master);
  int status = 0;
  waitpid(pid, &status, 0);
}

int inside() {
  signal(SIGPIPE, SIG_IGN);
  std::filesystem::create_directories("/tmp/cage/here");
  for (;;) {
    std::array<uint8_t, 2> head{};
    uint32_t size = 0;
    if (!read_whole(0, head.data(), head.size()) || !read_whole(0, &size, sizeof size)) return 0;
    std::string line(size, '\0');
    if (!read_whole(0, line.data(), size)) return 0;
    const Shell& shell = shells()[head[0]];
    if (chdir("/tmp/cage/here") != 0) return 1;
    if (head[1] == 0) {
      run_script(shell, line);
    } else {
      run_typed(shell, line);
    }
    char answer = '.';
    for (const char* folder : {"/tmp/cage/here", "/tmp/cage/home", "/tmp"}) {
      // fish keeps files of its own elsewhere.
      const bool counts = shell.dialect != Dialect::Fish || std::string_view(folder) == "/tmp/cage/here";
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path() == "/tmp/cage") continue;
        if (counts) answer = '!';
        std::error_code ignored;
        std::filesystem::remove_all(entry.path(), ignored);
      }
    }
    if (write(1, &answer, 1) != 1) return 1;
  }
}

// ---- outside -------------------------------------------------------------------------------------------

// The runner inside its namespaces, and the pipes to it.
class Cage {
 public:
  explicit Cage(const std::string& folder) : folder_(folder) {}
  ~Cage() { stop(); }
  Cage(const Cage&) = delete;
  Cage& operator=(const Cage&) = delete;

  bool start() {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) return false;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(to[0], 0);
      dup2(from[1], 1);
      const std::string self = std::filesystem::read_symlink("/proc/self/exe");
      execlp("bwrap", "bwrap", "--unshare-all", "--uid", "65534", "--gid", "65534", "--die-with-parent",
             "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
             "--dir", "/tmp/cage", "--dir", "/tmp/cage/home", "--ro-bind", (folder_ + "/bin").c_str(),
             "/tmp/cage/bin", "--ro-bind", self.c_str(), "/tmp/cage/runner", "--clearenv", "--setenv", "PATH",
             "/tmp/cage/bin", "--setenv", "HOME", "/tmp/cage/home", "--setenv", "LC_ALL", "C.UTF-8",
             "--setenv", "PS1", "@@", "--setenv", "PS2", "", "--setenv", "TERM", "dumb", "--setenv",
             "HISTFILE", "", "--setenv", "x", "a[$(touch END)]", "--setenv", "y", "-v a[$(touch END)] -o 1",
             "--setenv", "z", "$(touch END)", "/tmp/cage/runner", "--inside", nullptr);
      _exit(126);
    }
    close(to[0]);
    close(from[1]);
    write_ = to[1];
    read_ = from[0];
    return run(Job{0, Manner::Script, ":"}) == '.';
  }

  // '.': nothing was made; '!': a file was; '\0': the runner died.
  char run(const Job& job) {
    std::string message;
    message.push_back(static_cast<char>(job.shell));
    message.push_back(job.manner == Manner::Script ? 0 : 1);
    const auto size = static_cast<uint32_t>(job.line.size());
    message.append(reinterpret_cast<const char*>(&size), sizeof size);
    message += job.line;
    if (write(write_, message.data(), message.size()) != static_cast<ssize_t>(message.size())) return '\0';
    pollfd waiting{read_, POLLIN, 0};
    char answer = '\0';
    if (poll(&waiting, 1, 20'000) != 1 || read(read_, &answer, 1) != 1) return '\0';
    return answer;
  }

  void stop() {
    if (pid_ <= 0) return;
    close(write_);
    close(read_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  std::string folder_;
  pid_t pid_ = 0;
  int write_ = -1;
  int read_ = -1;
};

bool allowed(const std::string& line, Dialect dialect, Manner manner) {
  static const policy::FakeFiles kFiles;
  policy::ShellReading reading;
  reading.syntax = {dialect, manner};
  policy::Place place{"/tmp/cage/here", "/tmp/cage/here", "/tmp/cage/home", &kFiles};
  place.shell = &reading;
  return policy::check(line, place, policy::RuleSet{}, policy::Settings{}).decision ==
         policy::Decision::Allow;
}

int run(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  Budget budget(argv[1]);
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const uint64_t real_seed = seed != 0 ? seed : std::random_device{}();
  std::cout << "seed " << real_seed << "\n";
  LineMaker maker(real_seed);
  std::mt19937_64 random(real_seed);
  for (int i = 3; i < argc; ++i) {
    for (const policy::CorpusRow& row : policy::read_corpus(argv[i])) {
      if (row.expected == policy::Decision::Allow) maker.keep(row.command);
    }
  }
  std::string folder = std::filesystem::temp_directory_path() / "ttyward_gate_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  std::filesystem::create_directories(folder + "/bin");
  std::filesystem::copy_file("/usr/bin/touch", folder + "/bin/touch");
  Cage cage(folder);
  if (!cage.start()) {
    std::cout << "no namespaces here (bwrap failed): nothing was run\n";
    std::filesystem::remove_all(folder);
    return 77;
  }
  // The cage has to notice before it can prove anything.
  for (uint8_t i = 0; i < shells().size(); ++i) {
    for (const Manner manner : {Manner::Script, Manner::Typed}) {
      if (access(shells()[i].program, X_OK) != 0 || !runs(shells()[i], manner)) continue;
      if (cage.run({i, manner, "touch proof"}) != '!') {
        std::cout << "a file made by " << shells()[i].name << " was not noticed\n";
        return 1;
      }
    }
  }
  size_t made = 0;
  size_t defects = 0;
  std::map<std::string, size_t> ran;
  while (defects < 10 && budget.take()) {
    std::string line = maker.next();
    ++made;
    bool kept = false;
    for (uint8_t i = 0; i < shells().size(); ++i) {
      const Shell& shell = shells()[i];
      // bash runs every line; the others, and terminals, only some: they are slower.
      const bool first = i == 0;
      for (const Manner manner : {Manner::Script, Manner::Typed}) {
        if (!runs(shell, manner) || (manner == Manner::Typed && random() % 16 != 0)) continue;
        if (!first && random() % 4 != 0) continue;
        if (access(shell.program, X_OK) != 0 || !allowed(line, shell.dialect, manner)) continue;
        if (!kept) maker.keep(line);
        kept = true;
        ++ran[std::string(shell.name) + (manner == Manner::Script ? "" : ", typed")];
        const char answer = cage.run({i, manner, line});
        if (answer == '.') continue;
        ++defects;
        std::cout << "DEFECT: allowed for " << shell.name << (manner == Manner::Script ? "" : ", typed")
                  << (answer == '!' ? ", and it made a file" : ", and it ended the runner") << "\n--- line\n"
                  << line << "\n===\n";
        if (answer == '\0') {
          cage.stop();
          if (!cage.start()) return 1;
        }
      }
    }
  }
  size_t total = 0;
  for (const auto& [name, count] : ran) {
    std::cout << name << ": " << count << "\n";
    total += count;
  }
  cage.stop();
  std::filesystem::remove_all(folder);
  std::cout << made << " lines, " << total << " runs of allowed ones, " << defects << " defects\n";
  return defects == 0 && total > 0 ? 0 : 1;
}

}  // namespace
}  // namespace ttyward::fuzz

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--inside") return ttyward::fuzz::inside();
  if (argc < 2 || !ttyward::fuzz::Budget(argv[1]).valid()) {
    std::cerr << "usage: gate_differential 120s|LINES [SEED [CORPUS…]]\n";
    return 2;
  }
  return ttyward::fuzz::run(argc, argv);
}
