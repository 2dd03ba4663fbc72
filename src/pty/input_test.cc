#include "pty/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <termios.h>

#include "pty/spawn.h"
#include "pty/testing.h"

namespace ttyward::pty {
namespace {

using testing::eventually;
using ::testing::HasSubstr;
using testing::read_all;
using testing::read_until;
using testing::Running;
using testing::shell_spec;
using testing::wait_for_exit;

Spawned start(const std::string& line, Provider provider = Provider::Pty, StdinKind in = StdinKind::Pipe) {
  SpawnSpec spec = shell_spec(line, provider);
  spec.stdin_kind = in;
  auto spawned = spawn(spec);
  EXPECT_TRUE(spawned);
  return std::move(*spawned);
}

// Feeds the queue to a terminal while reading what comes back, as a loop does.
std::string converse(int master, InputQueue& queue, const std::string& until) {
  const auto deadline = testing::Clock::now() + testing::kPatience;
  std::string seen;
  char buffer[16384];
  while (seen.find(until) == std::string::npos && testing::Clock::now() < deadline) {
    const bool blocked = queue.flush(master) == InputQueue::Progress::Blocked;
    pollfd entry{master, static_cast<short>(POLLIN | (blocked ? POLLOUT : 0)), 0};
    ::poll(&entry, 1, testing::until(deadline));
    const ssize_t n = ::read(master, buffer, sizeof buffer);
    if (n > 0) seen.append(buffer, static_cast<size_t>(n));
    if (n == 0 || (n == -1 && errno != EAGAIN)) break;
  }
  return seen;
}

TEST(InputQueue, takes_all_or_nothing_up_to_its_limit) {
  InputQueue queue(10);
  EXPECT_TRUE(queue.push("12345678"));
  const auto refused = queue.push("abc");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::Exhausted);
  EXPECT_EQ(queue.size(), 8U);
  EXPECT_TRUE(queue.push("ab"));
}

// That the program gets every byte is the claim; the echo is the kernel's and may
// have gaps when the reader is slow.
TEST(InputQueue, a_large_paste_into_an_echoing_terminal_arrives_whole_and_does_not_deadlock) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + " of a rather long text\n";
  InputQueue queue;
  ASSERT_TRUE(queue.push(text));
  Running reference(start("head -n 5000 | cksum", Provider::Pipe));
  ASSERT_TRUE(
      eventually([&] { return queue.flush(reference->stdin_fd.get()) == InputQueue::Progress::Empty; }));
  std::string sum = read_all(reference->stdout_fd.get());
  ASSERT_FALSE(sum.empty());
  sum.back() = '\r';

  Running running(start("head -n 5000 | cksum"));
  ASSERT_TRUE(queue.push(text));
  const std::string seen = converse(running->master.get(), queue, sum);
  EXPECT_TRUE(seen.find(sum) != std::string::npos)
      << seen.size()
      << " bytes seen, the last of them: " << seen.substr(seen.size() - std::min<size_t>(seen.size(), 200));
}

TEST(InputQueue, a_reader_that_does_not_read_blocks_the_queue_not_us) {
  Running running(start("echo ready; sleep 1000", Provider::Pipe));
  read_until(running->stdout_fd.get(), "ready");
  InputQueue queue;
  ASSERT_TRUE(queue.push(std::string(500'000, 'x')));
  EXPECT_EQ(queue.flush(running->stdin_fd.get()), InputQueue::Progress::Blocked);
  EXPECT_GT(queue.size(), 0U);
  EXPECT_LT(queue.size(), 500'000U);
}

TEST(InputQueue, a_reader_that_went_away_is_an_answer_not_a_signal) {
  Running running(start("exec <&-; echo ready; sleep 1000", Provider::Pipe));
  read_until(running->stdout_fd.get(), "ready");
  InputQueue queue;
  ASSERT_TRUE(queue.push("hello"));
  const auto old = std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(queue.flush(running->stdin_fd.get()), InputQueue::Progress::Closed);
  std::signal(SIGPIPE, old);
  EXPECT_TRUE(queue.empty());
}

TEST(Interrupt, by_the_line_discipline_as_a_person_would) {
  Running running(start("trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.01; done"));
  read_until(running->master.get(), "ready");
  const auto way = interrupt_terminal(running->master.get(), InputQueue());
  ASSERT_TRUE(way);
  EXPECT_EQ(*way, InterruptWay::LineDiscipline);
  const std::string rest = read_until(running->master.get(), "interrupted");
  EXPECT_THAT(rest, HasSubstr("^C"));
  EXPECT_EQ(wait_for_exit(running->child)->status.code, 5);
}

TEST(Interrupt, reaches_the_job_in_front_not_its_shell) {
  Running running(
      start("set -m; sh -c 'trap \"exit 3\" INT; echo ready; while :; do sleep 0.01; done'; echo status $?; "
            "exit 4"));
  read_until(running->master.get(), "ready");
  ASSERT_NE(::tcgetpgrp(running->master.get()), running->child.pid());
  ASSERT_TRUE(interrupt_terminal(running->master.get(), InputQueue()));
  EXPECT_THAT(read_until(running->master.get(), "status"), HasSubstr("status"));
  EXPECT_EQ(wait_for_exit(running->child)->status.code, 4);
}

TEST(Interrupt, in_raw_mode_the_signal_itself_is_sent) {
  Running running(start("trap 'exit 6' INT; stty raw; echo ready; while :; do sleep 0.01; done"));
  read_until(running->master.get(), "ready");
  const auto way = interrupt_terminal(running->master.get(), InputQueue());
  ASSERT_TRUE(way);
  EXPECT_EQ(*way, InterruptWay::ForegroundGroup);
  EXPECT_EQ(wait_for_exit(running->child)->status.code, 6);
}

TEST(Interrupt, does_not_wait_behind_queued_input) {
  Running running(start("trap 'exit 7' INT; echo ready; while :; do sleep 0.01; done"));
  read_until(running->master.get(), "ready");
  InputQueue queue;
  ASSERT_TRUE(queue.push("waiting"));
  const auto way = interrupt_terminal(running->master.get(), queue);
  ASSERT_TRUE(way);
  EXPECT_EQ(*way, InterruptWay::ForegroundGroup);
  EXPECT_EQ(wait_for_exit(running->child)->status.code, 7);
}

TEST(Interrupt, a_command_in_pipes_by_its_group) {
  Running running(start("echo ready; sleep 1000 | sleep 1001", Provider::Pipe, StdinKind::Null));
  read_until(running->stdout_fd.get(), "ready");
  const auto way = interrupt_group(running->child.pid());
  ASSERT_TRUE(way);
  EXPECT_EQ(*way, InterruptWay::ProcessGroup);
  EXPECT_EQ(wait_for_exit(running->child)->status.signal, SIGINT);
}

TEST(EndOfInput, is_the_terminals_character_in_line_mode_only) {
  Running running(start("cat; echo end of input; stty raw; echo ready; sleep 1000"));
  EXPECT_EQ(end_of_input(running->master.get()), "\x04");
  running.type(end_of_input(running->master.get()));
  read_until(running->master.get(), "ready");
  EXPECT_EQ(end_of_input(running->master.get()), "");
}

TEST(Resize, tells_the_program_rows_columns_and_pixels) {
  Running running(
      start("/usr/bin/python3 -c 'import fcntl,signal,struct,termios\n"
            "signal.pthread_sigmask(signal.SIG_BLOCK,[signal.SIGWINCH])\n"
            "print(\"ready\",flush=True)\n"
            "signal.sigwait([signal.SIGWINCH])\n"
            "print(struct.unpack(\"4H\",fcntl.ioctl(0,termios.TIOCGWINSZ,b\"x\"*8)))'"));
  read_until(running->master.get(), "ready");
  const WindowSize size{120, 40, 1200, 800};
  ASSERT_TRUE(resize(running->master.get(), size));
  EXPECT_THAT(read_all(running->master.get()), HasSubstr("(40, 120, 1200, 800)"));
}

TEST(Resize, can_be_read_back) {
  const auto terminal = open_pseudo_terminal({100, 30, 5, 6});
  ASSERT_TRUE(terminal);
  EXPECT_EQ(*window_size(terminal->master.get()), (WindowSize{100, 30, 5, 6}));
  EXPECT_FALSE(resize(-1, {}));
}

TEST(LetTextIn, changes_only_what_keeps_text_out_of_a_line_editor) {
  termios editor{};
  editor.c_lflag = ISIG;
  editor.c_iflag = IXON;
  editor.c_cc[VINTR] = 0x03;
  editor.c_cc[VQUIT] = 0x1C;
  editor.c_cc[VSUSP] = _POSIX_VDISABLE;
  editor.c_cc[VSTART] = 0x11;
  editor.c_cc[VSTOP] = 0x13;
  termios changed = editor;
  EXPECT_FALSE(let_text_in(changed));
  changed.c_iflag |= IGNCR;
  changed.c_cc[VINTR] = 'x';
  changed.c_cc[VSTOP] = '\r';
  EXPECT_TRUE(let_text_in(changed));
  EXPECT_EQ(changed.c_iflag, editor.c_iflag);
  EXPECT_EQ(changed.c_cc[VINTR], 0x03);
  EXPECT_EQ(changed.c_cc[VSTOP], 0x13);
  // Where the keys mean nothing, and where lines are the terminal's business.
  editor.c_cc[VINTR] = 'x';
  editor.c_lflag = 0;
  EXPECT_FALSE(let_text_in(editor));
  editor.c_lflag = ISIG | ICANON | ECHO;
  EXPECT_FALSE(let_text_in(editor));
}

}  // namespace
}  // namespace ttyward::pty
