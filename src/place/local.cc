#include "place/local.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/file_io.h"
#include "base/unique_fd.h"
#include "pty/process_tree.h"
#include "pty/program_kind.h"

namespace ttyward::place {
namespace {

constexpr size_t kMostEnvironment = 4 << 20;  // the kernel lets arguments and environment be larger
constexpr pid_t kMostYounger = 2000;          // processes looked at one by one
constexpr int kDeepest = 64;                  // generations

std::string entry_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::string target_of(const std::string& link) {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink(link.c_str(), buffer, sizeof buffer);
  return n > 0 ? std::string(buffer, static_cast<size_t>(n)) : std::string();
}

std::vector<std::string> environment_of(pid_t pid) {
  std::vector<std::string> entries;
  const auto text = pty::read_proc_file(entry_of(pid, "environ"), kMostEnvironment);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    if (end > 0) entries.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entries;
}

bool dies_of_interrupt(pid_t pid) {
  const auto status = pty::read_proc_file(entry_of(pid, "status"));
  if (!status) return false;
  for (const char* name : {"\nSigIgn:", "\nSigCgt:"}) {
    const size_t at = status->find(name);
    if (at == std::string::npos) return false;
    const uint64_t mask = std::strtoull(status->c_str() + at + std::strlen(name), nullptr, 16);
    if ((mask >> (SIGINT - 1) & 1) != 0) return false;
  }
  return true;
}

bool descends_from(const pty::ProcessStat& process, pid_t ancestor) {
  pid_t parent = process.parent;
  for (int i = 0; i < kDeepest && parent > 1; i++) {
    if (parent == ancestor) return true;
    const auto stat = pty::read_stat(parent);
    parent = stat ? stat->parent : 0;
  }
  return false;
}

int64_t boot_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Empty: it is no program.
std::string real_program(const std::string& path) {
  char buffer[PATH_MAX];
  return ::access(path.c_str(), X_OK) == 0 && ::realpath(path.c_str(), buffer) != nullptr ? buffer : "";
}

}  // namespace

void LocalPlace::process(pid_t pid, uint32_t parts, const Then<std::optional<ProcessFacts>>& then) const {
  if (pid <= 0) return then(std::nullopt);
  ProcessFacts facts;
  if ((parts & (kStat | kNames)) != 0) {
    auto stat = pty::read_stat(pid);
    if (!stat) return then(std::nullopt);
    facts.stat = std::move(*stat);
  }
  if ((parts & kArguments) != 0) facts.arguments = pty::read_arguments(pid);
  if ((parts & kCommandLine) != 0) facts.command_line = pty::read_command_line(pid);
  if ((parts & kNames) != 0) facts.names = pty::program_names(facts.stat);
  if ((parts & kProgramFile) != 0) facts.program_file = target_of(entry_of(pid, "exe"));
  if ((parts & kFolder) != 0) facts.folder = target_of(entry_of(pid, "cwd"));
  if ((parts & kEnvironment) != 0) facts.environment = environment_of(pid);
  if ((parts & kImage) != 0) facts.image = pty::read_image(pid);
  if ((parts & kInterrupt) != 0) facts.dies_of_interrupt = dies_of_interrupt(pid);
  const bool seen = facts.stat.pid != 0 || !facts.arguments.empty() || !facts.command_line.empty() ||
                    !facts.program_file.empty() || !facts.folder.empty() || !facts.environment.empty() ||
                    facts.image || (parts & kInterrupt) != 0;
  then(seen ? std::optional(std::move(facts)) : std::nullopt);
}

void LocalPlace::descendants(pid_t root, const Then<std::optional<Stats>>& then) const {
  then(pty::quick_descendant_stats(root));
}

void LocalPlace::ports(std::span<const pid_t> pids, const Then<std::optional<Ports>>& then) const {
  then(pids.empty() ? Ports() : pty::listening_ports(pids));
}

// Jobs of an interactive shell have groups of their own; what is in the shell's group belongs to its prompt.
// Only processes that are younger than the command are looked at: there are few, and a look at all of them
// would cost more than most commands.
void LocalPlace::left_behind(const LeftBehindQuery& query, const Then<LeftBehind>& then) const {
  const int64_t began = boot_ms() - query.ran.count();  // now: a look at all processes takes its time
  LeftBehind left;
  std::vector<pid_t> pids;
  const auto consider = [&](const pty::ProcessStat& process) {
    // The command is over: what runs in the foreground now, the prompt's own commands started.
    const bool of_prompt = (process.group == query.shell && !query.shells_group_too) ||
                           (process.terminal != 0 && process.group == process.terminal_foreground);
    if (process.pid == query.shell || process.zombie() || of_prompt) return;
    pids.push_back(process.pid);
    left.processes.push_back({process.pid, pty::read_command_line(process.pid)});
  };
  const pid_t newest = newest_process();
  const pid_t before = query.newest_before;
  if (before > 0 && newest >= before && newest - before <= kMostYounger) {
    for (pid_t pid = before + 1; pid <= newest; pid++) {
      const auto process = pty::read_stat(pid);
      if (process && descends_from(*process, query.holder)) consider(*process);
    }
  } else if (const auto below = pty::descendant_stats(query.holder)) {
    const int64_t tick_ms = 1000 / ::sysconf(_SC_CLK_TCK);
    for (const pty::ProcessStat& process : *below) {
      if (static_cast<int64_t>(process.start_time + 1) * tick_ms >= began) consider(process);
    }
  }
  if (!pids.empty()) left.ports = pty::listening_ports(pids).value_or(Ports());
  then(std::move(left));
}

// Numbers are given in turn; the last field of loadavg is the one given last.
pid_t LocalPlace::newest_process() const {
  const auto text = pty::read_proc_file("/proc/loadavg");
  const size_t at = text ? text->find_last_of(' ') : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(text->c_str() + at, nullptr, 10));
}

void LocalPlace::file(const std::string& path, const Then<base::Result<FileKind>>& then) const {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return then(base::fail_errno(errno, path));
  then(S_ISDIR(info.st_mode) ? FileKind::Folder : S_ISREG(info.st_mode) ? FileKind::File : FileKind::Other);
}

void LocalPlace::text(const std::string& path, size_t most,
                      const Then<base::Result<std::string>>& then) const {
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return then(base::fail_errno(errno, path));
  std::string read(most, '\0');
  size_t have = 0;
  while (have < most) {
    const ssize_t n = ::read(file.get(), read.data() + have, most - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return then(base::fail_errno(errno, path));
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  read.resize(have);
  then(std::move(read));
}

void LocalPlace::program(const std::string& name, const std::string& search,
                         const Then<std::string>& then) const {
  if (name.find('/') != std::string::npos) return then(real_program(name));
  for (size_t at = 0; at <= search.size();) {
    const size_t end = std::min(search.find(':', at), search.size());
    std::string found = end > at ? real_program(search.substr(at, end - at) + "/" + name) : "";
    if (!found.empty()) return then(std::move(found));
    at = end + 1;
  }
  then("");
}

base::Result<void> LocalPlace::make_folder(const std::string& path) const {
  if (::mkdir(path.c_str(), 0700) != 0) return base::fail_errno(errno, "cannot make the folder " + path);
  return {};
}

base::Result<void> LocalPlace::write_file(const std::string& path, std::string_view content,
                                          uint32_t mode) const {
  ::unlink(path.c_str());
  const base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!file) return base::fail_errno(errno, "cannot write " + path);
  return base::write_all(file.get(), content, path);
}

void LocalPlace::end_holder(pid_t holder) const {
  if (holder > 1) ::kill(holder, SIGTERM);
}

Place::Stats LocalPlace::all_processes() const {
  Stats all;
  for (const pid_t pid : pty::list_pids().value_or(std::vector<pid_t>())) {
    if (auto stat = pty::read_stat(pid)) all.push_back(std::move(*stat));
  }
  return all;
}

const LocalPlace& local() {
  static const LocalPlace here;
  return here;
}

}  // namespace ttyward::place
