#include "pty/tty_wait.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/unique_fd.h"

namespace ttyward::pty {
namespace {

using std::chrono::milliseconds;

// Terminal programs wait on fewer descriptors than this; a larger set is not read.
constexpr size_t kMostDescriptors = 16384;

struct Thread {
  const ProcessStat& process;
  dev_t terminal;
};

bool is_terminal(const Thread& thread, int fd) {
  struct stat info{};
  const std::string path = "/proc/" + std::to_string(thread.process.pid) + "/fd/" + std::to_string(fd);
  if (fd < 0 || ::stat(path.c_str(), &info) != 0 || !S_ISCHR(info.st_mode)) return false;
  const bool by_alias = info.st_rdev == ::makedev(5, 0);  // /dev/tty
  return info.st_rdev == thread.terminal || (by_alias && thread.process.terminal == thread.terminal);
}

bool read_memory(pid_t pid, uint64_t address, void* into, size_t size) {
  const iovec local{into, size};
  const iovec remote{reinterpret_cast<void*>(address),
                     size};  // NOLINT(performance-no-int-to-ptr): not our memory
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

enum class TimeoutKind : uint8_t { Milliseconds, Timespec, Timeval };

// False: the memory is closed to us.
bool read_timeout(pid_t pid, uint64_t argument, TimeoutKind kind, std::optional<milliseconds>& timeout) {
  if (kind == TimeoutKind::Milliseconds) {
    const auto value = static_cast<int32_t>(argument);
    if (value >= 0) timeout = milliseconds(value);
    return true;
  }
  if (argument == 0) return true;
  int64_t parts[2] = {};
  if (!read_memory(pid, argument, parts, sizeof parts)) return false;
  const int64_t divisor = kind == TimeoutKind::Timespec ? 1'000'000 : 1'000;
  timeout = milliseconds(std::clamp<int64_t>(parts[0], 0, 1'000'000'000) * 1000 + parts[1] / divisor);
  return true;
}

// The first descriptor in a select set that is the terminal, or -1; nullopt if
// the set cannot be read.
std::optional<int> find_in_select_set(const Thread& thread, uint64_t count, uint64_t address) {
  if (address == 0 || count == 0) return -1;
  if (count > kMostDescriptors) return std::nullopt;
  constexpr size_t kBits = 64;
  std::vector<uint64_t> words((count + kBits - 1) / kBits);
  if (!read_memory(thread.process.pid, address, words.data(), words.size() * sizeof(uint64_t)))
    return std::nullopt;
  for (size_t fd = 0; fd < count; ++fd)
    if ((words[fd / kBits] >> (fd % kBits) & 1) != 0 && is_terminal(thread, static_cast<int>(fd)))
      return static_cast<int>(fd);
  return -1;
}

std::optional<int> find_in_poll_set(const Thread& thread, uint64_t address, uint64_t count) {
  if (address == 0 || count == 0) return -1;
  if (count > kMostDescriptors) return std::nullopt;
  std::vector<pollfd> entries(count);
  if (!read_memory(thread.process.pid, address, entries.data(), entries.size() * sizeof(pollfd)))
    return std::nullopt;
  for (const pollfd& entry : entries)
    if ((entry.events & (POLLIN | POLLRDNORM)) != 0 && is_terminal(thread, entry.fd)) return entry.fd;
  return -1;
}

std::optional<int> find_in_epoll(const Thread& thread, int epoll) {
  const std::string base = "/proc/" + std::to_string(thread.process.pid);
  const auto fdinfo = read_proc_file(base + "/fdinfo/" + std::to_string(epoll), 1 << 20);
  const auto descriptors = list_descriptors(thread.process.pid);
  if (!fdinfo || !descriptors) return std::nullopt;
  for (const int fd : *descriptors)
    if (epoll_waits_for_input(*fdinfo, fd) && is_terminal(thread, fd)) return fd;
  return -1;
}

ThreadLook listens(const Thread& thread, std::optional<int> fd, uint64_t timeout, TimeoutKind kind,
                   std::string call) {
  ThreadLook look;
  TtyWait wait{WaitMode::Listens, fd.value_or(-1), std::nullopt, std::move(call)};
  look.readable = fd && (*fd < 0 || read_timeout(thread.process.pid, timeout, kind, wait.timeout));
  if (look.readable && *fd >= 0) {
    look.wait = std::move(wait);
    look.touches_terminal = true;
  }
  return look;
}

std::string call_text(const char* name, uint64_t first) {
  return std::string(name) + "(" + std::to_string(static_cast<int>(first)) + ")";
}

ThreadLook interpret(const Thread& thread, const BlockedCall& call) {
  const auto& a = call.arguments;
  const int fd = static_cast<int>(a[0]);
  ThreadLook look;
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
      look.touches_terminal = is_terminal(thread, fd);
      if (look.touches_terminal)
        look.wait = TtyWait{WaitMode::Reads, fd, std::nullopt, call_text("read", a[0])};
      return look;
    case SYS_write:
    case SYS_writev:
    case SYS_ioctl:
      look.touches_terminal = is_terminal(thread, fd);
      return look;
    case SYS_pselect6:
      return listens(thread, find_in_select_set(thread, a[0], a[1]), a[4], TimeoutKind::Timespec,
                     call_text("pselect6", a[0]));
    case SYS_ppoll:
      return listens(thread, find_in_poll_set(thread, a[0], a[1]), a[2], TimeoutKind::Timespec, "ppoll");
    case SYS_epoll_pwait:
      return listens(thread, find_in_epoll(thread, fd), a[3], TimeoutKind::Milliseconds,
                     call_text("epoll_pwait", a[0]));
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
      return listens(thread, find_in_epoll(thread, fd), a[3], TimeoutKind::Timespec,
                     call_text("epoll_pwait2", a[0]));
#endif
#ifdef SYS_select  // the calls older architectures have besides
    case SYS_select:
      return listens(thread, find_in_select_set(thread, a[0], a[1]), a[4], TimeoutKind::Timeval,
                     call_text("select", a[0]));
#endif
#ifdef SYS_poll
    case SYS_poll:
      return listens(thread, find_in_poll_set(thread, a[0], a[1]), a[2], TimeoutKind::Milliseconds, "poll");
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
      return listens(thread, find_in_epoll(thread, fd), a[3], TimeoutKind::Milliseconds,
                     call_text("epoll_wait", a[0]));
#endif
    default:
      return look;
  }
}

// A 32-bit program on a 64-bit kernel uses other numbers and other structures:
// its calls cannot be decoded here.
bool speaks_our_abi(pid_t pid) {
  const auto header = read_proc_file("/proc/" + std::to_string(pid) + "/exe", sizeof(Elf64_Ehdr));
  return header && header->size() > EI_CLASS && header->compare(0, SELFMAG, ELFMAG) == 0 &&
         (*header)[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32);
}

template <typename Number>
bool take_number(std::string_view& text, Number& into, int number_base) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  if (number_base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, number_base);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<BlockedCall> parse_blocked_call(std::string_view text) {
  BlockedCall call;
  if (!take_number(text, call.number, 10) || call.number < 0) return std::nullopt;
  for (uint64_t& argument : call.arguments)
    if (!take_number(text, argument, 16)) return std::nullopt;
  return call;
}

bool epoll_waits_for_input(std::string_view fdinfo, int fd) {
  while (!fdinfo.empty()) {
    const size_t end = std::min(fdinfo.find('\n'), fdinfo.size());
    std::string_view line = fdinfo.substr(0, end);
    fdinfo.remove_prefix(std::min(end + 1, fdinfo.size()));
    if (!line.starts_with("tfd:")) continue;
    line.remove_prefix(4);
    int target = -1;
    uint32_t events = 0;
    if (!take_number(line, target, 10) || target != fd) continue;
    line.remove_prefix(std::min(line.find("events:"), line.size()));
    if (line.empty()) continue;
    line.remove_prefix(7);
    if (take_number(line, events, 16) && (events & (EPOLLIN | EPOLLRDNORM)) != 0) return true;
  }
  return false;
}

ThreadLook look_at_thread(const ProcessStat& process, pid_t tid, dev_t terminal) {
  const std::string path =
      "/proc/" + std::to_string(process.pid) + "/task/" + std::to_string(tid) + "/syscall";
  const auto text = read_proc_file(path);
  if (!text)
    return {::access(path.c_str(), F_OK) != 0, std::nullopt,
            false};  // a thread that is gone waits for nothing
  const auto call = parse_blocked_call(*text);
  if (!call) return {};
  ThreadLook look = interpret({process, terminal}, *call);
  if (look.touches_terminal && !speaks_our_abi(process.pid)) return {false, std::nullopt, false};
  return look;
}

}  // namespace ttyward::pty
