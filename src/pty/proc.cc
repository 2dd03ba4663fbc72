#include "pty/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

#include "base/unique_fd.h"

namespace ttyward::pty {
namespace {

template <typename Number>
bool parse_number(std::string_view text, Number& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size();
}

// The kernel's new_encode_dev(): the minor number is split around the major's.
dev_t decode_device(uint32_t encoded) {
  return ::makedev((encoded >> 8) & 0xfff, (encoded & 0xff) | ((encoded >> 12) & 0xfff00));
}

// Fields after the command's closing parenthesis, counted from the state (0).
enum Field : size_t {
  kState,
  kParent,
  kGroup,
  kSession,
  kTerminal,
  kForeground,
  kUserTime = 11,
  kSystemTime,
  kChildrenUserTime,
  kChildrenSystemTime,
  kThreads = 17,
  kStartTime = 19,
  kFieldCount
};

bool split_fields(std::string_view rest, std::string_view (&fields)[kFieldCount]) {
  for (auto& field : fields) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    const size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    if (end == 0) return false;
    field = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  return true;
}

template <typename Number>
std::optional<std::vector<Number>> list_numbers(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return std::nullopt;
  std::vector<Number> numbers;
  while (const dirent* entry = ::readdir(folder.get())) {
    Number number = 0;
    if (parse_number<Number>(entry->d_name, number)) numbers.push_back(number);
  }
  return numbers;
}

std::string proc_path(pid_t pid, std::string_view rest) {
  return "/proc/" + std::to_string(pid) + std::string(rest);
}

}  // namespace

std::optional<std::string> read_proc_file(const std::string& path, size_t limit) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (text.size() < limit) {
    const ssize_t n = ::read(fd.get(), buffer, std::min(sizeof buffer, limit - text.size()));
    if (n == -1 && errno == EINTR) continue;
    if (n == -1) return std::nullopt;  // e.g. ESRCH: it ended while we looked
    if (n == 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

std::optional<ProcessStat> parse_stat(std::string_view text) {
  // The name may hold blanks and parentheses: it ends at the last one.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open || open < 2)
    return std::nullopt;
  ProcessStat stat;
  std::string_view fields[kFieldCount];
  if (!split_fields(text.substr(close + 1), fields)) return std::nullopt;
  int32_t terminal = 0;  // printed signed
  if (!parse_number(text.substr(0, open - 1), stat.pid) || fields[kState].size() != 1 ||
      !parse_number(fields[kParent], stat.parent) || !parse_number(fields[kGroup], stat.group) ||
      !parse_number(fields[kSession], stat.session) || !parse_number(fields[kTerminal], terminal) ||
      !parse_number(fields[kForeground], stat.terminal_foreground) ||
      !parse_number(fields[kThreads], stat.threads) || !parse_number(fields[kStartTime], stat.start_time))
    return std::nullopt;
  for (const size_t field : {kUserTime, kSystemTime, kChildrenUserTime, kChildrenSystemTime}) {
    int64_t ticks = 0;  // the children's are printed signed
    if (!parse_number(fields[field], ticks)) return std::nullopt;
    stat.cpu_ticks += static_cast<uint64_t>(std::max<int64_t>(ticks, 0));
  }
  stat.comm = text.substr(open + 1, close - open - 1);
  stat.state = fields[kState].front();
  stat.terminal = terminal == 0 ? 0 : decode_device(static_cast<uint32_t>(terminal));
  return stat;
}

// One read is enough: the kernel makes the whole line at once, and a scan reads
// hundreds of them.
std::optional<ProcessStat> read_stat(pid_t pid) {
  const base::UniqueFd fd(::open(proc_path(pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char line[1024];
  ssize_t n = -1;
  // A process that is overlooked is one that is not brought down.
  do {
    n = fd ? ::read(fd.get(), line, sizeof line) : 0;
  } while (n == -1 && errno == EINTR);
  return n > 0 ? parse_stat({line, static_cast<size_t>(n)}) : std::nullopt;
}

std::optional<uint64_t> read_image(pid_t pid) {
  // Where the kernel placed code and stack (fields 26 and 28): at random, each time.
  const auto text = read_proc_file(proc_path(pid, "/stat"));
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  rest.remove_prefix(std::min(rest.rfind(')') + 2, rest.size()));
  uint64_t image = 0;
  for (int number = 3; number <= 28 && !rest.empty(); ++number) {
    const size_t end = std::min(rest.find(' '), rest.size());
    uint64_t value = 0;
    std::from_chars(rest.data(), rest.data() + end, value);
    if (number == 26 || number == 28) image = image * 31 + value;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  // Without the right to look, both read as 0 or 1.
  if (image < 4096) return std::nullopt;
  return image;
}

std::optional<std::vector<pid_t>> list_pids() {
  auto pids = list_numbers<pid_t>("/proc");
  if (!pids || pids->empty()) return std::nullopt;  // an empty folder is not a mounted /proc
  return pids;
}

std::vector<pid_t> list_threads(pid_t pid) {
  return list_numbers<pid_t>(proc_path(pid, "/task")).value_or(std::vector<pid_t>{});
}

std::optional<std::vector<int>> list_descriptors(pid_t pid) {
  return list_numbers<int>(proc_path(pid, "/fd"));
}

std::vector<std::string> read_arguments(pid_t pid, size_t limit) {
  std::vector<std::string> arguments;
  const auto text = read_proc_file(proc_path(pid, "/cmdline"), limit);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const size_t end = rest.find('\0');
    arguments.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return arguments;
}

std::string read_command_line(pid_t pid, size_t limit) {
  std::string line;
  for (const std::string& argument : read_arguments(pid, limit)) {
    if (!line.empty()) line += ' ';
    line += argument;
  }
  if (line.empty()) {
    const auto stat = read_stat(pid);
    line = "[" + (stat ? stat->comm : "?") + "]";
  }
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return line;
}

}  // namespace ttyward::pty
