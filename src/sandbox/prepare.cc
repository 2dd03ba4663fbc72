#include "sandbox/prepare.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "base/file_io.h"
#include "sandbox/filter.h"
#include "sandbox/kernel.h"
#include "sandbox/stand_in.h"

namespace ttyward::sandbox {
namespace {

constexpr uint64_t kRead = kernel::kLandlockExecute | kernel::kLandlockReadFile | kernel::kLandlockReadFolder;
constexpr uint64_t kMakeAndRemove = ((uint64_t{1} << 13) - 1) & ~(kernel::kLandlockFirstFolderRight - 1);
constexpr uint64_t kWrite =
    kRead | kernel::kLandlockWriteFile | kernel::kLandlockTruncate | kernel::kLandlockRefer | kMakeAndRemove;
constexpr uint64_t kWriteFiles = kRead | kernel::kLandlockWriteFile | kernel::kLandlockTruncate;

constexpr auto kDevices = std::to_array<const char*>(
    {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"});

constexpr mode_t kForEverybody = 01777;

struct Identified {
  dev_t device = 0;
  ino_t inode = 0;
  mode_t mode = 0;
};

std::optional<Identified> identify(const std::string& path) {
  const base::UniqueFd fd(
      kernel::open_by_name(AT_FDCWD, path.c_str(), O_PATH, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  struct stat about{};
  if (!fd || ::fstat(fd.get(), &about) != 0) return std::nullopt;
  return Identified{about.st_dev, about.st_ino, about.st_mode};
}

size_t depth(const char* target) {
  size_t count = 0;
  for (const char* at = target; *at != '\0'; ++at) count += *at == '/' ? 1 : 0;
  return count;
}

bool lies_in_writable(const Plan& plan, const Step& step) {
  const std::string path = std::string("/") + step.target;
  return std::any_of(plan.entries.begin(), plan.entries.end(), [&](const Entry& entry) {
    return entry.access != Entry::Access::Read && entry.path != path && is_within(path, entry.path);
  });
}

bool has_layer(const Plan& plan) {
  return std::any_of(plan.entries.begin(), plan.entries.end(),
                     [](const Entry& entry) { return entry.access == Entry::Access::Overlay; });
}

// An overlay has its own device and inode numbers.
bool is_layered(const Plan& plan, const std::string& path) {
  return std::any_of(plan.entries.begin(), plan.entries.end(), [&](const Entry& entry) {
    const bool overlay = entry.access == Entry::Access::Overlay || entry.access == Entry::Access::Scratch;
    return overlay && is_within(path, entry.path);
  });
}

}  // namespace

// Strings have stable addresses; the rest points to them.
struct Prepared::Store {
  std::deque<std::string> strings;
  std::vector<Step> list;
  std::vector<Link> links;
  std::vector<PathRights> rules;
  std::vector<LimitValue> limits;
  std::vector<sock_filter> filter;
  Placeholders placeholders;
  TemporaryFolder temporary;
  ControlGroup group;
  base::UniqueFd stand_in;
  Steps steps;
  std::string profile;

  const char* keep(std::string text) { return strings.emplace_back(std::move(text)).c_str(); }
  const char* inside(const std::string& path) { return keep(path.substr(1)); }

  void own(const std::string& path, mode_t mode) {
    Step step;
    step.kind = Step::Kind::Own;
    step.target = inside(path);
    step.mode = mode;
    step.read_only = false;
    list.push_back(step);
    rules.push_back({keep(path), kWrite});
  }

  Step& bind(const std::string& path, const Identified& found) {
    Step step;
    step.source = keep(path);
    step.target = inside(path);
    step.device = found.device;
    step.inode = found.inode;
    step.folder = S_ISDIR(found.mode);
    step.own = !is_system_path(path);
    return list.emplace_back(step);
  }

  base::Result<void> add(const Entry& entry);
  void add_devices(const Plan& plan);
  void add_private_folders(const Plan& plan);
  void hide(const Plan& plan);
  base::Result<void> protect(const Plan& plan);
  void tell_git(const Plan& plan);
  base::Result<void> add_proxy(const Plan& plan);
  void add_limits(const Plan& plan);
  base::Result<void> make_group(const Plan& plan);
  void rules_for(const Plan& plan, const std::string& terminal);
  base::Result<void> choose_identity(const Plan& plan);
};

base::Result<void> Prepared::Store::add(const Entry& entry) {
  const auto found = identify(entry.path);
  if (!found) {
    if (entry.optional && entry.access != Entry::Access::Overlay) return {};
    return base::fail_errno(errno, "the sandbox cannot show " + entry.path);
  }
  const bool folder = S_ISDIR(found->mode);
  Step& step = bind(entry.path, *found);
  step.read_only = entry.access == Entry::Access::Read;
  if (entry.access == Entry::Access::Scratch && folder) step.kind = Step::Kind::Scratch;
  if (entry.access == Entry::Access::Scratch && !folder) step.read_only = true;
  if (entry.access == Entry::Access::Overlay) {
    if (!folder) return base::fail(base::ErrorCode::InvalidArgument, entry.path + " is not a folder");
    step.kind = Step::Kind::Overlay;
    step.upper = keep(entry.upper);
    step.work = keep(entry.work);
  }
  rules.push_back({step.source, step.read_only ? kRead : kWrite});
  return {};
}

void Prepared::Store::add_devices(const Plan& plan) {
  for (const char* path : kDevices) {
    const auto found = identify(path);
    if (!found) continue;
    Step& step = bind(path, *found);
    step.kind = Step::Kind::Node;
    step.own = false;
  }
  links = {{"dev/fd", "/proc/self/fd"},
           {"dev/stdin", "/proc/self/fd/0"},
           {"dev/stdout", "/proc/self/fd/1"},
           {"dev/stderr", "/proc/self/fd/2"},
           {"dev/ptmx", "pts/ptmx"}};
  // On merged systems /bin and its relatives are links.
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    char target[256];
    const ssize_t length = ::readlink(name, target, sizeof target);
    if (length > 0 && static_cast<size_t>(length) < sizeof target)
      links.push_back({inside(name), keep(std::string(target, static_cast<size_t>(length)))});
  }
  if (!plan.home_link.empty()) links.push_back({inside(plan.home_link), keep(plan.home)});
}

void Prepared::Store::add_private_folders(const Plan& plan) {
  own("/tmp", kForEverybody);
  own("/var/tmp", kForEverybody);
  own("/dev/shm", kForEverybody);
  if (!plan.home.empty()) own(plan.home, 0700);
}

void Prepared::Store::hide(const Plan& plan) {
  for (const std::string& path : plan.hidden) {
    if (!plan.shows(path.substr(0, std::max<size_t>(1, path.rfind('/'))))) continue;
    const auto found = identify(path);
    if (!found) continue;
    if (S_ISDIR(found->mode)) {
      own(path, 0555);
      rules.pop_back();
      continue;
    }
    Step step;
    step.kind = Step::Kind::Mask;
    step.target = inside(path);
    step.folder = false;
    list.push_back(step);
  }
}

base::Result<void> Prepared::Store::protect(const Plan& plan) {
  const bool overlay = has_layer(plan);
  for (const std::string& path : plan.read_only) {
    const std::string parent = path.substr(0, std::max<size_t>(1, path.rfind('/')));
    if (!plan.writes(parent)) continue;  // nobody can change it anyway
    auto found = identify(path);
    if (!overlay) {
      if (auto there = placeholders.ensure(path); !there) {
        if (there.error().code == base::ErrorCode::NotFound) continue;  // its folder does not exist either
        return there;
      }
      found = identify(path);
    }
    if (found) bind(path, *found);
  }
  if (!overlay) tell_git(plan);
  return {};
}

// git would remove the placeholders, which it cannot (clean, stash -u), and complain. So its list of files to
// ignore has them, too: not the repository's own file, but what is seen in its place.
void Prepared::Store::tell_git(const Plan& plan) {
  const std::string excludes = plan.workspace + "/.git/info/exclude";
  constexpr size_t kMostText = 64 * 1024;
  const base::UniqueFd file(kernel::open_by_name(AT_FDCWD, excludes.c_str(), O_RDONLY | O_NONBLOCK,
                                                 RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS));
  struct stat about{};
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || !plan.writes(excludes)) return;
  std::string text(kMostText, '\0');
  const auto got = base::read_at(file.get(), text.data(), text.size(), 0, excludes);
  if (!got || *got == kMostText) return;
  text.resize(*got);
  text += "\n# what a sandbox keeps free\n";
  for (const std::string& path : placeholders.paths()) {
    if (is_within(path, plan.workspace) && !is_within(path, plan.workspace + "/.git"))
      text += path.substr(plan.workspace.size()) + "/\n";
  }
  Step step;
  step.kind = Step::Kind::Text;
  step.target = inside(excludes);
  step.folder = false;
  step.text_size = text.size();
  step.text = keep(std::move(text));
  list.push_back(step);
}

base::Result<void> Prepared::Store::add_proxy(const Plan& plan) {
  if (plan.network != Network::Proxy) return {};
  const auto found = identify(plan.proxy_socket);
  if (!found) return base::fail_errno(errno, "the sandbox's proxy is not there: " + plan.proxy_socket);
  Step& step = bind(plan.proxy_socket, *found);
  step.target = keep(std::string(kProxySocket).substr(1));
  step.read_only = false;
  step.own = false;  // it was made for the user who connects to it
  return {};
}

base::Result<void> Prepared::Store::make_group(const Plan& plan) {
  auto made = ControlGroup::make(plan.groups, plan.limits);
  if (!made) return tl::unexpected(made.error());
  group = std::move(*made);
  for (size_t i = 0; i < ControlGroup::kMost; ++i) steps.groups[i] = group.joining(i);
  return {};
}

void Prepared::Store::add_limits(const Plan& plan) {
  const Limits& wanted = plan.limits;
  const auto add = [this](int resource, uint64_t value) {
    if (value != 0) limits.push_back({resource, {value, value}});
  };
  limits.push_back({RLIMIT_CORE, {0, 0}});
  add(RLIMIT_NPROC, wanted.processes);
  // Address space that a program only reserves counts as data: with a group, programs may reserve.
  if (!plan.groups.memory) add(RLIMIT_DATA, wanted.memory);
  add(RLIMIT_FSIZE, wanted.file_size);
  add(RLIMIT_NOFILE, wanted.open_files);
  add(RLIMIT_CPU, wanted.cpu_seconds);
}

void Prepared::Store::rules_for(const Plan& plan, const std::string& terminal) {
  if (plan.walls == Walls::Namespaces) {
    rules.push_back({"/dev", kWriteFiles | kernel::kLandlockIoctlDevice});
    rules.push_back({"/proc", kWriteFiles});
    rules.push_back({"/", kRead});
    return;
  }
  // The machine's own: other terminals and disks are there, too, and files that configure the kernel.
  constexpr uint64_t kDevice = kernel::kLandlockReadFile | kernel::kLandlockWriteFile |
                               kernel::kLandlockTruncate | kernel::kLandlockIoctlDevice;
  for (const char* path : kDevices) rules.push_back({path, kDevice});
  for (const char* path : {"/dev/ptmx", "/dev/pts/ptmx"}) rules.push_back({path, kDevice});
  if (!terminal.empty()) rules.push_back({keep(terminal), kDevice});
  rules.push_back({"/proc", kRead});
}

base::Result<void> Prepared::Store::choose_identity(const Plan& plan) {
  steps.user = steps.user_outside = ::geteuid();
  steps.group = steps.group_outside = ::getegid();
  steps.user_namespace = steps.user != 0;
  if (steps.user_namespace || !plan.run_as) return {};
  steps.user = steps.user_outside = plan.run_as->user;
  steps.group = steps.group_outside = plan.run_as->group;
  // The upper folder of a layer keeps the owners of files as they are outside.
  if (!plan.run_as->stand_in || has_layer(plan)) return {};
  stand_in = make_stand_in(steps.group);
  if (!stand_in)
    return base::fail_errno(errno, "the sandbox cannot make a user namespace, so the command was not run");
  steps.stand_in = stand_in.get();
  steps.user_outside = kStandIn;
  steps.group_outside = kStandIn;
  return {};
}

Prepared::Prepared(std::unique_ptr<Store> store) : store_(std::move(store)) {}
Prepared::Prepared(Prepared&&) noexcept = default;
Prepared& Prepared::operator=(Prepared&&) noexcept = default;
Prepared::~Prepared() = default;

const Steps& Prepared::steps() const {
  return store_->steps;
}

Placeholders Prepared::take_placeholders() {
  return std::move(store_->placeholders);
}

ControlGroup Prepared::take_group() {
  return std::move(store_->group);
}

TemporaryFolder& Prepared::temporary() {
  return store_->temporary;
}

base::Result<Prepared> Prepared::make(const Plan& plan, const Start& start) {
  auto store = std::make_unique<Store>();
  Store& s = *store;
  s.profile = plan.profile;
  const bool namespaces = plan.walls == Walls::Namespaces;
  if (auto chosen = s.choose_identity(plan); !chosen) return tl::unexpected(chosen.error());
  s.steps.landlock_version = kernel::landlock_version();
  if (!namespaces && s.steps.landlock_version == 0) {
    return base::fail(base::ErrorCode::Unsupported,
                      "the sandbox layer landlock is missing: this kernel has none, so the profile " +
                          plan.profile + " cannot be kept and the command was not run");
  }
  if (namespaces) {
    s.add_devices(plan);
    s.add_private_folders(plan);
  }
  for (Entry entry : plan.entries) {
    // Nothing can be thrown away without a view of files of its own.
    if (!namespaces && entry.access == Entry::Access::Scratch) entry.access = Entry::Access::Read;
    if (auto added = s.add(entry); !added) return tl::unexpected(added.error());
  }
  if (namespaces) {
    s.hide(plan);
    if (auto kept = s.protect(plan); !kept) return tl::unexpected(kept.error());
    if (auto proxy = s.add_proxy(plan); !proxy) return tl::unexpected(proxy.error());
    // What lies within another comes after it.
    for (Step& step : s.list) step.careful = lies_in_writable(plan, step);
    std::stable_sort(s.list.begin(), s.list.end(),
                     [](const Step& a, const Step& b) { return depth(a.target) < depth(b.target); });
  } else {
    auto temporary = TemporaryFolder::make(s.steps.user, s.steps.group);
    if (!temporary) return tl::unexpected(temporary.error());
    s.temporary = std::move(*temporary);
    s.rules.push_back({s.keep(s.temporary.path()), kWrite});
    s.list.clear();
  }
  s.rules_for(plan, start.terminal);
  s.add_limits(plan);
  if (s.list.size() > kMostSteps) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "the sandbox would show too many files and folders; list folders instead of files");
  }
  if (auto grouped = s.make_group(plan); !grouped) return tl::unexpected(grouped.error());
  const bool own_network = plan.network != Network::Host;
  Sockets sockets = Sockets::Usual;
  if (!namespaces) sockets = own_network ? Sockets::None : Sockets::Internet;
  s.filter = system_call_filter(sockets);

  Steps& steps = s.steps;
  steps.namespaces = namespaces;
  steps.own_network = own_network;
  steps.proxy = plan.network == Network::Proxy;
  steps.steps = s.list.data();
  steps.step_count = s.list.size();
  steps.links = s.links.data();
  steps.link_count = s.links.size();
  steps.scratch_size = s.keep(std::to_string(plan.limits.scratch));
  steps.terminal = start.terminal.empty() ? nullptr : s.keep(start.terminal);
  steps.directory = s.keep(start.directory);
  struct stat about{};
  const bool real = plan.shows(start.directory) && !is_layered(plan, start.directory);
  if (real && start.directory_fd >= 0 && ::fstat(start.directory_fd, &about) == 0) {
    steps.directory_device = about.st_dev;
    steps.directory_inode = about.st_ino;
  }
  steps.limits = s.limits.data();
  steps.limit_count = s.limits.size();
  steps.rules = s.rules.data();
  steps.rule_count = s.rules.size();
  steps.filter.len = static_cast<unsigned short>(s.filter.size());
  steps.filter.filter = s.filter.data();
  return Prepared(std::move(store));
}

std::string Prepared::explain(const Failure& failure) const {
  const Steps& steps = store_->steps;
  const std::string error = std::strerror(failure.sys_errno);
  const std::string begin =
      std::string("the sandbox layer ") + layer_name(failure.layer) + " failed (" + error + ")";
  const std::string end = "; the command was not run. ";
  const std::string weaker = "or choose the weaker profile " + store_->profile + "-landlock";
  switch (failure.layer) {
    case Layer::Namespaces:
      return begin + ": this machine does not let you make namespaces" + end +
             "Allow user namespaces (ttyward doctor says how), " + weaker;
    case Layer::Processes:
      return begin + ": no process namespace with its own /proc can be made" + end +
             "Inside a container, run it with an unmasked /proc, " + weaker;
    case Layer::FileView: {
      const bool one = failure.item < steps.step_count;
      const std::string what = one ? ": /" + std::string(steps.steps[failure.item].target) : std::string();
      if (failure.sys_errno == ESTALE || failure.sys_errno == ELOOP)
        return begin + what + " was exchanged while the sandbox was made" + end + "Try again";
      return begin + what + end + "Run ttyward doctor, " + weaker;
    }
    case Layer::Directory:
      return std::string("the folder ") + steps.directory + " is not visible in the sandbox (" + error + ")" +
             end + "Start in the workspace, or list the folder under sandbox.readable in your configuration";
    default:
      return begin + end + "Run ttyward doctor";
  }
}

std::vector<std::string> layers_of(const Plan& plan) {
  std::vector<std::string> layers;
  if (plan.walls == Walls::Container) {
    layers = {"container of " + plan.engine, "no new privileges", "no capabilities", "limits"};
    if (plan.network != Network::Host) layers.emplace_back("network namespace");
    return layers;
  }
  if (plan.walls == Walls::Namespaces) {
    layers = {"user namespace", "view of files", "process namespace", "ipc, uts and cgroup namespaces"};
    if (plan.network != Network::Host) layers.emplace_back("network namespace");
    if (plan.network == Network::Proxy) layers.emplace_back("proxy");
  }
  if (kernel::landlock_version() > 0) layers.emplace_back("landlock");
  for (const char* always : {"seccomp", "no new privileges", "no capabilities", "limits"})
    layers.emplace_back(always);
  if (plan.groups.memory && plan.groups.processes) {
    layers.emplace_back("cgroup of memory and processes");
  } else if (plan.groups.memory || plan.groups.processes) {
    layers.emplace_back(plan.groups.memory ? "cgroup of memory" : "cgroup of processes");
  }
  return layers;
}

std::vector<std::string> notes_of(const Plan& plan, int landlock_version) {
  std::vector<std::string> notes = plan.notes;
  if (plan.walls == Walls::Container) return notes;
  constexpr int kScopes = 6;  // the version of Landlock that knows them
  if (landlock_version < kScopes && (plan.network == Network::Host || plan.walls == Walls::Landlock)) {
    notes.emplace_back(plan.walls == Walls::Landlock
                           ? "this kernel's Landlock does not stop signals to other processes of the user"
                           : "this kernel's Landlock does not stop connections to abstract unix sockets of "
                             "the machine");
  }
  if (plan.limits.memory != 0 && !plan.groups.memory)
    notes.emplace_back(
        "memory is limited for each process, not for all together: no cgroup can be made here");
  return notes;
}

std::vector<std::string> notes_of(const Plan& plan) {
  return notes_of(plan, kernel::landlock_version());
}

}  // namespace ttyward::sandbox
