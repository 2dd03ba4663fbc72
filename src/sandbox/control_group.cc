#include "sandbox/control_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace ttyward::sandbox {
namespace {

constexpr std::string_view kName = "ttyward-";
constexpr mode_t kMode = 0755;
constexpr uint64_t kOwnProcesses = 2;           // init, and the starter while it lives
constexpr uint64_t kMostProcesses = 4'000'000;  // that the kernel accepts

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> words_of(std::string_view line, char between) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(between), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool has_word(const std::string& text, char between, std::string_view word) {
  const std::vector<std::string> words = words_of(text, between);
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A hierarchy as this process sees it.
struct Hierarchy {
  std::string top;  // the group that is mounted
  std::string at;   // where
};

// The mounted hierarchy of a controller; of version 2 if `controller` is empty.
Hierarchy find_hierarchy(std::string_view mounts, std::string_view controller) {
  for (const std::string& line : words_of(mounts, '\n')) {
    const std::vector<std::string> words = words_of(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const bool found =
        controller.empty() ? dash[1] == "cgroup2" : dash[1] == "cgroup" && has_word(dash[3], ',', controller);
    if (found) return {words[3], words[4]};
  }
  return {};
}

// The path of this process's group in the hierarchy of a controller; empty: none.
std::string own_group(std::string_view groups, std::string_view controller) {
  for (const std::string& line : words_of(groups, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string list = line.substr(first + 1, second - first - 1);
    const bool found = controller.empty() ? line.starts_with("0:") : has_word(list, ',', controller);
    if (found) return line.substr(second + 1);
  }
  return {};
}

std::string folder_of(const Hierarchy& hierarchy, const std::string& group) {
  if (hierarchy.at.empty() || group.empty() || !is_within(group, hierarchy.top)) return {};
  const std::string below = hierarchy.top == "/" ? group : group.substr(hierarchy.top.size());
  return below == "/" ? hierarchy.at : hierarchy.at + below;
}

bool write_text(const std::string& path, const std::string& text) {
  const base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

struct Close {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Removes groups whose makers were killed: nobody has them locked. Those with processes cannot be removed.
void sweep(const std::string& parent) {
  const std::unique_ptr<DIR, Close> entries(::opendir(parent.c_str()));
  if (!entries) return;
  while (const dirent* const entry = ::readdir(entries.get())) {
    if (!std::string_view(entry->d_name).starts_with(kName)) continue;
    const std::string path = parent + "/" + entry->d_name;
    const base::UniqueFd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) ::rmdir(path.c_str());
  }
}

bool is_usable(const std::string& folder) {
  return ::access(folder.c_str(), W_OK | X_OK) == 0 &&
         ::access((folder + "/cgroup.procs").c_str(), W_OK) == 0;
}

}  // namespace

GroupPlaces group_places(std::string_view mounts, std::string_view groups,
                         const std::function<bool(const std::string&)>& usable,
                         const std::function<std::string(const std::string&)>& controllers) {
  GroupPlaces places;
  for (const char* controller : {"memory", "pids"}) {
    const std::string folder = folder_of(find_hierarchy(mounts, controller), own_group(groups, controller));
    if (folder.empty() || !usable(folder)) continue;
    (controller == std::string_view("memory") ? places.memory : places.processes) = folder;
  }
  if (!places.memory.empty() || !places.processes.empty()) return places;
  // A group that has processes cannot limit groups in it, so the new one is made in the nearest one above
  // that does.
  const Hierarchy unified = find_hierarchy(mounts, "");
  std::string folder = folder_of(unified, own_group(groups, ""));
  while (!folder.empty() && is_within(folder, unified.at)) {
    const std::string can = controllers(folder);
    const std::string line = can.substr(0, can.find('\n'));
    const bool memory = has_word(line, ' ', "memory");
    const bool processes = has_word(line, ' ', "pids");
    if (memory || processes) {
      if (!usable(folder)) return places;
      places.unified = true;
      if (memory) places.memory = folder;
      if (processes) places.processes = folder;
      return places;
    }
    folder.resize(folder.rfind('/'));
  }
  return places;
}

GroupPlaces find_group_places() {
  return group_places(
      read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"), is_usable,
      [](const std::string& folder) { return read_text(folder + "/cgroup.subtree_control"); });
}

base::Result<void> ControlGroup::add(Part& part, const std::string& parent) {
  static std::atomic<unsigned> count{0};
  sweep(parent);
  const std::string path =
      parent + "/" + std::string(kName) + std::to_string(::getpid()) + "-" + std::to_string(count++);
  // Another process of this number in another process namespace, or a sweep between the two calls.
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const std::string name = i == 0 ? path : path + "-" + std::to_string(i);
    if (::mkdir(name.c_str(), kMode) != 0) {
      if (errno == EEXIST) continue;
      return base::fail_errno(errno, "the sandbox layer cgroup failed at " + name +
                                         "; the command was not run. Run ttyward doctor");
    }
    base::UniqueFd lock(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat about{};
    if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || ::stat(name.c_str(), &about) != 0) {
      ::rmdir(name.c_str());
      continue;
    }
    part.path = name;
    part.lock = std::move(lock);
    return {};
  }
  return base::fail(base::ErrorCode::Unavailable, "the sandbox cannot make a cgroup in " + parent);
}

base::Result<ControlGroup> ControlGroup::make(const Groups& wanted, const Limits& limits) {
  ControlGroup made;
  if (!wanted.memory && !wanted.processes) return made;
  const GroupPlaces places = find_group_places();
  const auto fail = [](const std::string& what) {
    return base::fail_errno(
        errno, "the sandbox layer cgroup failed: " + what + "; the command was not run. Run ttyward doctor");
  };
  size_t count = 0;
  const auto enter = [&](const std::string& parent) -> base::Result<Part*> {
    if (count > 0 && places.unified) return &made.parts_[0];
    Part& part = made.parts_[count++];
    if (parent.empty()) {
      errno = ENOENT;
      return fail("there is no group any more in which one could be made");
    }
    if (auto added = made.add(part, parent); !added) return tl::unexpected(added.error());
    // With version 1 a thread can move by itself. That takes no lock, for which the kernel waits many
    // milliseconds.
    const std::string join = part.path + (places.unified ? "/cgroup.procs" : "/tasks");
    part.join.reset(::open(join.c_str(), O_WRONLY | O_CLOEXEC));
    if (!part.join) return fail(join);
    return &part;
  };
  if (wanted.memory) {
    auto part = enter(places.memory);
    if (!part) return tl::unexpected(part.error());
    const std::string file = (*part)->path + (places.unified ? "/memory.max" : "/memory.limit_in_bytes");
    if (limits.memory != 0 && !write_text(file, std::to_string(limits.memory))) return fail(file);
    // Where swapping is counted. The rest of the limits hold without it.
    if (limits.memory != 0 && places.unified) write_text((*part)->path + "/memory.swap.max", "0");
    if (limits.memory != 0 && !places.unified)
      write_text((*part)->path + "/memory.memsw.limit_in_bytes", std::to_string(limits.memory));
  }
  if (wanted.processes) {
    auto part = enter(places.processes);
    if (!part) return tl::unexpected(part.error());
    const std::string file = (*part)->path + "/pids.max";
    const uint64_t most = std::min(limits.processes + kOwnProcesses, kMostProcesses);
    if (limits.processes != 0 && !write_text(file, std::to_string(most))) return fail(file);
  }
  return made;
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept {
  *this = std::move(other);
}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
  for (size_t i = 0; i < kMost; ++i) std::swap(parts_[i], other.parts_[i]);
  return *this;
}

// It fails while processes are left in it: then the next one that is made removes it.
ControlGroup::~ControlGroup() {
  for (const Part& part : parts_)
    if (!part.path.empty()) ::rmdir(part.path.c_str());
}

}  // namespace ttyward::sandbox
