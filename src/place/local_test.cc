#include "place/local.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"

namespace ttyward::place {
namespace {

TEST(LocalPlace, says_of_a_process_what_was_asked_and_no_more) {
  const auto self = process_now(local(), ::getpid(), kStat | kArguments | kFolder | kProgramFile);
  ASSERT_TRUE(self);
  EXPECT_EQ(self->stat.pid, ::getpid());
  EXPECT_EQ(self->stat.parent, ::getppid());
  EXPECT_EQ(self->folder, std::filesystem::current_path().string());
  EXPECT_NE(self->program_file.find("place_tests"), std::string::npos);
  EXPECT_FALSE(self->arguments.empty());
  EXPECT_TRUE(self->environment.empty());
  EXPECT_TRUE(self->names.empty());
}

TEST(LocalPlace, of_a_process_that_is_gone_nothing_is_known) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(process_now(local(), child, kStat));
  EXPECT_FALSE(process_now(local(), child, kFolder));
  EXPECT_FALSE(process_now(local(), 0, kStat));
}

TEST(LocalPlace, knows_who_dies_of_an_interrupt) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  for (const bool ignored : {false, true}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGINT, ignored ? SIG_IGN : SIG_DFL);
      (void)!::write(ready[1], "x", 1);
      ::pause();
      ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(process_now(local(), child, kInterrupt)->dies_of_interrupt, !ignored);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(LocalPlace, finds_the_port_a_process_listens_on) {
  const base::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const std::vector<pid_t> pids{::getpid()};
  const auto ports = ports_now(local(), pids);
  EXPECT_TRUE(std::any_of(ports.begin(), ports.end(), [&](const pty::ListeningPort& port) {
    return port.port == ntohs(address.sin_port);
  }));
  EXPECT_TRUE(ports_now(local(), {}).empty());
}

TEST(LocalPlace, tells_files_from_folders_and_says_what_is_missing) {
  const auto kind = [](const std::string& path) {
    return *at_once<base::Result<FileKind>>([&](auto then) { local().file(path, then); });
  };
  EXPECT_EQ(*kind("/"), FileKind::Folder);
  EXPECT_EQ(*kind("/proc/self/exe"), FileKind::File);
  EXPECT_EQ(*kind("/dev/null"), FileKind::Other);
  ASSERT_FALSE(kind("/no/such/thing"));
  EXPECT_NE(kind("/no/such/thing").error().message.find("/no/such/thing"), std::string::npos);
}

class PlaceFiles : public ::testing::Test {
 protected:
  PlaceFiles() { EXPECT_NE(::mkdtemp(folder_.data()), nullptr); }
  ~PlaceFiles() override { std::filesystem::remove_all(folder_); }
  static base::Result<std::string> text(const std::string& path, size_t most = 4096) {
    return *at_once<base::Result<std::string>>([&](auto then) { local().text(path, most, then); });
  }
  static std::string program(const std::string& name, const std::string& search) {
    return *at_once<std::string>([&](auto then) { local().program(name, search, then); });
  }

  std::string folder_ = std::filesystem::temp_directory_path() / "ttyward-place-XXXXXX";
};

TEST_F(PlaceFiles, are_written_anew_and_never_through_a_link) {
  const std::string victim = folder_ + "/victim";
  const std::string path = folder_ + "/c.cmd";
  ASSERT_TRUE(local().write_file(victim, "precious", 0600));
  ASSERT_EQ(::symlink(victim.c_str(), path.c_str()), 0);
  ASSERT_TRUE(local().write_file(path, "echo hi", 0600));
  EXPECT_EQ(text(path).value(), "echo hi");
  EXPECT_EQ(text(path, 4).value(), "echo");
  EXPECT_EQ(text(victim).value(), "precious");
  struct stat about{};
  ASSERT_EQ(::lstat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_FALSE(local().write_file(folder_ + "/none/c.cmd", "", 0600));
  EXPECT_FALSE(text(folder_ + "/none"));
}

TEST_F(PlaceFiles, a_folder_is_the_users_own_and_new) {
  ASSERT_TRUE(local().make_folder(folder_ + "/own"));
  struct stat about{};
  ASSERT_EQ(::stat((folder_ + "/own").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0700U);
  const auto again = local().make_folder(folder_ + "/own");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("/own"), std::string::npos);
}

TEST_F(PlaceFiles, a_program_is_found_where_a_shell_would_find_it) {
  ASSERT_TRUE(local().make_folder(folder_ + "/first"));
  ASSERT_TRUE(local().make_folder(folder_ + "/second"));
  ASSERT_TRUE(local().write_file(folder_ + "/first/tool", "no program", 0600));
  ASSERT_TRUE(local().write_file(folder_ + "/second/real", "#!/bin/sh\n", 0700));
  ASSERT_EQ(::symlink("real", (folder_ + "/second/tool").c_str()), 0);
  const std::string real = std::filesystem::canonical(folder_).string() + "/second/real";
  EXPECT_EQ(program("tool", folder_ + "/first::" + folder_ + "/second"), real);
  EXPECT_EQ(program(folder_ + "/second/tool", ""), real);
  EXPECT_EQ(program("tool", folder_ + "/first"), "");
  EXPECT_EQ(program(folder_ + "/first/tool", "/bin"), "");
}

TEST(AtOnce, an_answer_that_comes_later_is_not_taken) {
  std::function<void(int)> kept;
  EXPECT_FALSE(at_once<int>([&](auto then) { kept = then; }));
  kept(7);  // whoever asked is gone
  EXPECT_EQ(at_once<int>([](auto then) { then(8); }), 8);
}

}  // namespace
}  // namespace ttyward::place
