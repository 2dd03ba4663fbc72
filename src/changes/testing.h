// For tests only: a workspace, a shelf, and a shell that runs on a layer.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/ids.h"
#include "base/testing.h"
#include "changes/shelf.h"

namespace ttyward::changes::testing {

inline void write_file(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "(missing)";
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Runs a script of sh on the workspace with its layer mounted over it, in namespaces of its own, as an
// ordinary user would. The exit status; -1: this machine lets nobody mount one.
inline int run_on_layer(const std::string& workspace, const std::string& upper, const std::string& work,
                        const std::string& script) {
  constexpr int kNoLayer = 99;
  const pid_t pid = ::fork();
  if (pid == 0) {
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(kNoLayer);
    const auto put = [](const char* path, const std::string& text) {
      const int fd = ::open(path, O_WRONLY);
      if (fd < 0 || ::write(fd, text.data(), text.size()) < 0) ::_exit(kNoLayer);
      ::close(fd);
    };
    put("/proc/self/setgroups", "deny");
    put("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1");
    put("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1");
    const std::string options = "userxattr,lowerdir=" + workspace + ",upperdir=" + upper + ",workdir=" + work;
    if (::mount("overlay", workspace.c_str(), "overlay", 0, options.c_str()) != 0) ::_exit(kNoLayer);
    if (::chdir(workspace.c_str()) != 0) ::_exit(kNoLayer);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(kNoLayer);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code == kNoLayer ? -1 : code;
}

// A workspace and a place for change sets; gone with the object.
class Workshop {
 public:
  // `owner`: for whom it is made, if not for us. Only root can do that.
  explicit Workshop(uid_t owner = ::geteuid())
      : path_(std::filesystem::temp_directory_path() / ("ttyward-changes-" + base::random_nonce())) {
    std::filesystem::create_directories(workspace());
    std::filesystem::create_directory(path_ / "state");
    ::chmod((path_ / "state").c_str(), 0700);
    for (const std::string& each : {path_.string(), workspace(), (path_ / "state").string()})
      EXPECT_TRUE(owner == ::geteuid() || ::chown(each.c_str(), owner, owner) == 0);
  }
  ~Workshop() {
    static_cast<void>(!std::system(("chmod -R u+rwX '" + path_.string() + "' 2>/dev/null").c_str()));
    base::testing::remove_tree(path_);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  std::string workspace() const { return path_ / "work place"; }
  std::string in(const std::string& name) const { return workspace() + "/" + name; }
  std::string outside(const std::string& name) const { return path_ / name; }
  Shelf shelf() const { return Shelf(std::vector<std::string>{path_ / "state" / "changes"}); }

  void file(const std::string& name, std::string_view text) const { write_file(in(name), text); }
  std::string text(const std::string& name) const { return read_file(in(name)); }
  bool exists(const std::string& name) const {
    struct stat info{};
    return ::lstat(in(name).c_str(), &info) == 0;
  }

  // Runs the script on a new layer; the id of its finished set. Empty: layers do not work here.
  std::string run(const std::string& script, std::vector<std::string> protected_paths = {}) const {
    NewSet wanted;
    wanted.id = base::random_id('c');
    wanted.workspace = workspace();
    wanted.command = script;
    wanted.protected_paths = std::move(protected_paths);
    auto prepared = shelf().prepare(wanted);
    EXPECT_TRUE(prepared) << prepared.error().message;
    if (!prepared) return {};
    const int status = run_on_layer(workspace(), prepared->upper, prepared->work, script);
    if (status == -1) return {};
    EXPECT_EQ(status, 0) << script;
    auto finished = prepared->set.finish();
    EXPECT_TRUE(finished) << finished.error().message;
    return wanted.id;
  }
  ChangeSet open(const std::string& id, ChangeSet::Access access = ChangeSet::Access::Exclusive) const {
    auto set = shelf().open(id, access);
    if (!set) throw std::runtime_error(set.error().message);
    return std::move(*set);
  }
  // "A new.txt +1", "M a.txt +1-1", "D b.txt -3": the list as a person would want it.
  std::string listed(const std::string& id) const {
    const auto entries = open(id, ChangeSet::Access::Read).entries();
    if (!entries) return entries.error().message;
    std::string out;
    for (size_t i = 0; i < entries->size(); i++) {
      const Entry& entry = (*entries)[i];
      if (implied(*entries, i)) continue;
      out += entry.kind == Kind::Added ? 'A' : entry.kind == Kind::Changed ? 'M' : 'D';
      out += " " + entry.path + (entry.after.type == NodeType::Folder ? "/" : "");
      if (entry.lines_added.value_or(0) > 0) out += " +" + std::to_string(*entry.lines_added);
      if (entry.lines_removed.value_or(0) > 0) out += " -" + std::to_string(*entry.lines_removed);
      if (entry.binary) out += " binary";
      if (entry.files_below > 0) out += " files " + std::to_string(entry.files_below);
      if (!entry.link.empty()) out += " -> " + entry.link;
      if (entry.obstacle != Obstacle::None) out += " !" + std::to_string(static_cast<int>(entry.obstacle));
      out += "\n";
    }
    return out;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace ttyward::changes::testing
