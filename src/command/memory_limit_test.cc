// A command that the kernel kills for want of memory: what it printed is there, and how it ended is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/ids.h"
#include "command/running_command.h"
#include "journal/scratch_folder.h"
#include "pty/testing.h"

namespace ttyward::command {
namespace {

using pty::Provider;
using terminal::CommandResult;
using terminal::CommandState;

// A memory group of its own below the one we are in, of either version; gone afterwards.
class MemoryGroup {
 public:
  explicit MemoryGroup(const std::string& limit) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const size_t name = line.find(':');
      const size_t path = line.find(':', name + 1);
      if (path == std::string::npos) continue;
      const std::string controllers = line.substr(name + 1, path - name - 1);
      if (controllers != "memory" && !controllers.empty()) continue;
      const bool second = controllers.empty();
      const std::string mount = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
      if (make(mount + line.substr(path + 1), second ? "memory.max" : "memory.limit_in_bytes", limit)) return;
    }
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }

  const std::string& path() const { return path_; }  // empty: there can be none here

 private:
  bool make(const std::string& below, const char* setting, const std::string& limit) {
    const std::string path = below + "/ttyward-test-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0700) != 0) return false;
    std::ofstream file(path + "/" + setting);
    file << limit << std::flush;
    if (file.good()) {
      path_ = path;
      return true;
    }
    ::rmdir(path.c_str());
    return false;
  }

  std::string path_;
};

CommandResult result_of(const std::string& line, Provider provider) {
  const journal::ScratchFolder scratch;
  io::Poller poller = std::move(io::Poller::create().value());
  const auto folder = journal::Folder::open(scratch.journals()).value();
  RunOptions options;
  options.spawn = pty::testing::shell_spec(line, provider);
  options.id = base::random_id('c');
  options.scope = hold::Scope::SharedProcess;
  options.timeout = pty::testing::kPatience;
  auto run = RunningCommand::start(poller, folder, std::move(options), nullptr);
  if (!run) {
    ADD_FAILURE() << run.error().error.message;
    return {};
  }
  while (!(*run)->done() || !(*run)->settled()) {
    poller.wait(100);
    (*run)->step(RunningCommand::Clock::now());
  }
  return (*run)->result();
}

TEST(MemoryLimit, a_command_killed_for_want_of_memory_keeps_its_output_and_is_told_as_killed) {
  const MemoryGroup group("33554432");
  if (group.path().empty()) GTEST_SKIP() << "no memory group can be made here";
  const std::string join = "echo $$ > " + group.path() + "/cgroup.procs && seq 1 5000 && ";
  for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
    // tail keeps all it reads until the end, and this has none.
    const CommandResult killed = result_of(join + "exec tail /dev/zero", provider);
    EXPECT_EQ(killed.state, CommandState::Signaled) << killed.reason;
    EXPECT_EQ(killed.signal, "SIGKILL");
    EXPECT_EQ(killed.total_lines, 5000U);
    EXPECT_EQ(killed.lost_bytes, 0U);

    const CommandResult child = result_of(join + "{ tail /dev/zero; echo ended $?; exit 3; }", provider);
    EXPECT_EQ(child.exit_code, 3) << child.reason;
    EXPECT_THAT(child.output.text, ::testing::HasSubstr("ended 137\n"));
  }
}

}  // namespace
}  // namespace ttyward::command
