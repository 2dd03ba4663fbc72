#include "engine/shell_care.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "engine/parts_testing.h"
#include "engine/typist.h"

namespace ttyward::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A bash that waits for its first line; of it only the process is needed.
class WaitingBash {
 public:
  WaitingBash() {
    int started[2] = {-1, -1};
    EXPECT_EQ(::pipe(pipe_), 0);
    EXPECT_EQ(::pipe2(started, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe_[0], 0);
      ::close(pipe_[1]);
      ::execl("/bin/bash", "bash", nullptr);
      ::_exit(127);
    }
    ::close(pipe_[0]);
    // Closed by the exec: then it is bash.
    ::close(started[1]);
    char none = 0;
    while (::read(started[0], &none, 1) < 0 && errno == EINTR) {
    }
    ::close(started[0]);
  }
  WaitingBash(const WaitingBash&) = delete;
  WaitingBash& operator=(const WaitingBash&) = delete;
  ~WaitingBash() {
    ::close(pipe_[1]);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pty::RunState state() const {
    pty::RunState state;
    state.waiting.emplace();
    state.waiting->pid = pid_;
    state.waiting->program = "bash";
    state.terminal.emplace();
    state.terminal->line_editor = true;
    return state;
  }

 private:
  int pipe_[2] = {-1, -1};
  pid_t pid_ = 0;
};

class Caring : public testing::Parts {
 protected:
  void on_ready() override { care_.started(); }
  WaitingBash other_;
  Typist typist_{live_};
  ShellCare care_{live_, typist_};
};

TEST_F(Caring, a_shell_inside_ours_is_found_by_two_looks_and_given_hooks) {
  const Command& command = run("bash");
  EXPECT_TRUE(care_.consider(other_.state()));
  EXPECT_THAT(notes_.typed, IsEmpty());
  EXPECT_TRUE(care_.consider(other_.state()));
  EXPECT_TRUE(command.over());
  EXPECT_THAT(command.facts.reason, HasSubstr("started inside the shell"));
  EXPECT_TRUE(model_.shell().integrating());
  EXPECT_TRUE(notes_.typed.starts_with("\x15"));
  EXPECT_TRUE(notes_.typed.ends_with('\r'));
  EXPECT_THAT(log(), HasSubstr(R"("k":"unmarked")"));
  EXPECT_THAT(log(), HasSubstr(R"("k":"integrate")"));
}

TEST_F(Caring, output_between_two_looks_starts_them_again) {
  run("bash");
  EXPECT_TRUE(care_.consider(other_.state()));
  care_.output_came();
  EXPECT_TRUE(care_.consider(other_.state()));
  EXPECT_THAT(notes_.typed, IsEmpty());
}

TEST_F(Caring, nothing_is_typed_between_a_persons_keys) {
  const Command& command = run("bash");
  model_.access().set_lease(Lease{1, "anna", 0});
  EXPECT_FALSE(care_.consider(other_.state()));
  EXPECT_FALSE(care_.consider(other_.state()));
  EXPECT_THAT(notes_.typed, IsEmpty());
  EXPECT_FALSE(command.over());
}

TEST_F(Caring, a_command_that_reads_is_no_shell_at_its_prompt) {
  run("read -e x");
  pty::RunState state = other_.state();
  state.waiting->pid = ::getpid();  // not a shell
  EXPECT_FALSE(care_.consider(state));
  EXPECT_THAT(log(), Not(HasSubstr("unmarked")));
}

TEST_F(Caring, a_shell_that_never_prints_a_mark_is_ready_without_when_its_time_is_over) {
  settings_.shell_integration_timeout = std::chrono::milliseconds(20);
  care_.watch_start();
  EXPECT_FALSE(model_.ready());
  until([&] { return model_.ready(); });
  EXPECT_EQ(model_.quality(), shell::Quality::None);
  EXPECT_THAT(log(), HasSubstr("no_integration"));
}

TEST_F(Caring, a_shell_that_takes_no_hooks_is_given_up_and_goes_by_sentinel) {
  settings_.shell_integration_timeout = std::chrono::milliseconds(20);
  run("bash");
  care_.consider(other_.state());
  care_.consider(other_.state());
  ASSERT_TRUE(model_.shell().integrating());
  // Nothing comes.
  until([&] { return !model_.shell().integrating(); });
  EXPECT_TRUE(model_.shell().needs_sentinel());
  EXPECT_THAT(model_.fallback_reason(), HasSubstr("found by a sentinel"));
}

}  // namespace
}  // namespace ttyward::engine
