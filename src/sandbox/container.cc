#include "sandbox/container.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace ttyward::sandbox {
namespace {

// They name places and people of this machine.
constexpr auto kNotPassedOn =
    std::to_array<std::string_view>({"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_RUNTIME_DIR",
                                     "DOCKER_HOST", "CONTAINER_HOST"});

bool exists(const std::string& path) {
  struct stat about{};
  return ::lstat(path.c_str(), &about) == 0;
}

std::string volume(const std::string& path, bool writable) {
  return "--volume=" + path + ":" + path + (writable ? "" : ":ro");
}

void add_mounts(const Plan& plan, std::vector<std::string>& words) {
  for (const Entry& entry : plan.entries)
    if (exists(entry.path)) words.push_back(volume(entry.path, entry.access != Entry::Access::Read));
  for (const std::string& path : plan.read_only)
    if (plan.writes(path.substr(0, std::max<size_t>(1, path.rfind('/')))) && exists(path))
      words.push_back(volume(path, false));
}

// What is hidden within the mounts. podman would copy what is below into the empty folder.
void add_hidden(const Plan& plan, std::vector<std::string>& words) {
  for (const std::string& path : plan.hidden) {
    const bool mounted = std::any_of(plan.entries.begin(), plan.entries.end(),
                                     [&](const Entry& entry) { return is_within(path, entry.path); });
    struct stat about{};
    if (!mounted || ::lstat(path.c_str(), &about) != 0 || S_ISLNK(about.st_mode)) continue;
    const std::string empty = plan.engine.ends_with("podman") ? ":ro,mode=0555,notmpcopyup" : ":ro,mode=0555";
    words.push_back(S_ISDIR(about.st_mode) ? "--tmpfs=" + path + empty
                                           : "--volume=/dev/null:" + path + ":ro");
  }
}

void add_user(const Plan& plan, std::vector<std::string>& words) {
  // Without rights podman maps users itself; this keeps ours.
  if (::geteuid() != 0 && plan.engine == "podman") {
    words.emplace_back("--userns=keep-id");
    return;
  }
  const Identity who = plan.run_as.value_or(Identity{::geteuid(), ::getegid(), false});
  words.push_back("--user=" + std::to_string(who.user) + ":" + std::to_string(who.group));
}

void add_limits(const Limits& limits, std::vector<std::string>& words) {
  const auto limit = [&](const char* name, uint64_t value) {
    const std::string number = std::to_string(value);
    if (value != 0) words.push_back(std::string("--ulimit=") + name + "=" + number + ":" + number);
  };
  words.emplace_back("--ulimit=core=0:0");
  if (limits.memory != 0) words.push_back("--memory=" + std::to_string(limits.memory) + "b");
  if (limits.processes != 0) words.push_back("--pids-limit=" + std::to_string(limits.processes));
  limit("nofile", limits.open_files);
  limit("fsize", limits.file_size);
  limit("cpu", limits.cpu_seconds);
}

// An image may have no bash; its sh reads most lines as well.
void add_command(const std::vector<std::string>& argv, std::vector<std::string>& words) {
  const std::string_view shell = argv.front();
  const std::string_view name = shell.substr(shell.rfind('/') + 1);
  if (argv.size() == 3 && argv[1] == "-c" && (name == "bash" || name == "sh")) {
    for (const char* word :
         {"sh", "-c", "if command -v bash >/dev/null; then exec bash -c \"$1\"; else exec sh -c \"$1\"; fi",
          "sh"})
      words.emplace_back(word);
    words.push_back(argv[2]);
    return;
  }
  words.insert(words.end(), argv.begin(), argv.end());
}

}  // namespace

std::vector<std::string> container_argv(const Plan& plan, const ContainerStart& start) {
  std::vector<std::string> words = {plan.engine,
                                    "run",
                                    "--rm",
                                    "--interactive",
                                    "--cap-drop=ALL",
                                    "--security-opt=no-new-privileges",
                                    "--security-opt=label=disable",
                                    "--tmpfs=/tmp:rw,exec",
                                    "--env=HOME=/tmp",
                                    "--workdir=" + start.directory};
  if (start.terminal) words.emplace_back("--tty");
  words.emplace_back(plan.network == Network::Host ? "--network=host" : "--network=none");
  add_user(plan, words);
  add_limits(plan.limits, words);
  add_mounts(plan, words);
  add_hidden(plan, words);
  for (const std::string& variable : start.variables) {
    const std::string name = variable.substr(0, variable.find('='));
    if (std::find(kNotPassedOn.begin(), kNotPassedOn.end(), name) == kNotPassedOn.end())
      words.push_back("--env=" + name);
  }
  words.insert(words.end(), plan.engine_options.begin(), plan.engine_options.end());
  words.push_back(plan.image);
  add_command(start.argv, words);
  return words;
}

std::vector<std::string> engine_variables() {
  std::vector<std::string> found;
  for (const char* name : {"XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "CONTAINERS_CONF",
                           "CONTAINERS_STORAGE_CONF", "DBUS_SESSION_BUS_ADDRESS"})
    if (const char* value = std::getenv(name)) found.push_back(std::string(name) + "=" + value);
  return found;
}

}  // namespace ttyward::sandbox
