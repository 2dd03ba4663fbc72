#include "sandbox/serve_only.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

namespace ttyward::sandbox {
namespace {

bool refused(long result) {
  return result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

// What a confined process could do all the same, one word each; empty: nothing.
std::string attempts(int own_pipe) {
  std::string could;
  const auto attempt = [&](const char* what, long result) {
    if (!refused(result)) could += std::string(what) + " ";
  };
  attempt("open", ::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  attempt("create", ::open("/tmp/ttyward-serve-only", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  attempt("folder", ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  attempt("mkdir", ::mkdir("/tmp/ttyward-serve-only", 0700));
  attempt("unlink", ::unlink("/tmp/ttyward-serve-only"));
  attempt("socket", ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  attempt("internet", ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  attempt("signal", ::kill(::getppid(), 0));
  attempt("fork", ::fork());
  const char* const argv[] = {"/bin/true", nullptr};
  attempt("exec", ::execv("/bin/true", const_cast<char* const*>(argv)));
  // What it has open works on, and so do threads.
  int seen = 0;
  std::thread([&] { seen = refused(::open("/etc/passwd", O_RDONLY | O_CLOEXEC)) ? 1 : 2; }).join();
  if (seen != 1) could += "open-in-thread ";
  const int made = ::eventfd(0, EFD_CLOEXEC);
  if (made < 0) could += "no-eventfd ";
  ::close(made);
  char letter = 0;
  if (::read(own_pipe, &letter, 1) != 1 || letter != 'x') could += "no-reading ";
  return could;
}

TEST(ServeOnly, runs_nothing_opens_nothing_and_goes_on_with_what_it_has) {
  int in[2];
  int out[2];
  ASSERT_EQ(::pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(out, O_CLOEXEC), 0);
  ASSERT_EQ(::write(in[1], "x", 1), 1);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto confined = serve_only();
    const std::string told =
        confined ? "confined " + attempts(in[0]) : "unconfined: " + confined.error().message;
    static_cast<void>(!::write(out[1], told.data(), told.size()));
    ::_exit(0);
  }
  ::close(out[1]);
  std::string told;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(out[0], buffer, sizeof buffer)) > 0;)
    told.append(buffer, static_cast<size_t>(got));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(told, "confined ");
  for (const int fd : {in[0], in[1], out[0]}) ::close(fd);
}

TEST(ServeOnly, a_process_can_still_abort) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!serve_only()) ::_exit(1);
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

}  // namespace
}  // namespace ttyward::sandbox
