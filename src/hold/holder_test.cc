// The holder's core in this process: what a command prints, how it ends, what is
// done to it. Every wait is for an event.
#include "hold/holder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>

#include "journal/reader.h"
#include "journal/scratch_folder.h"
#include "pty/proc.h"
#include "pty/testing.h"

namespace ttyward::hold {
namespace {

using journal::EndKind;
using journal::OutputEnd;
using pty::Provider;
using pty::testing::kPatience;
using pty::testing::shell_spec;

class HolderTest : public ::testing::Test {
 protected:
  void start(const std::string& line, Provider provider, const std::function<void(HoldSpec&)>& change = {}) {
    HoldSpec spec;
    spec.spawn = shell_spec(line, provider);
    spec.spawn.stdin_kind = pty::StdinKind::Pipe;
    spec.journal.id = "t1";
    if (change) change(spec);
    holder_.reset();  // it must not outlive its poller
    auto poller = io::Poller::create();
    ASSERT_TRUE(poller);
    holder_.reset();  // before the poller it hangs on
    poller_ = std::make_unique<io::Poller>(std::move(*poller));
    auto folder = journal::Folder::open(scratch_.journals());
    ASSERT_TRUE(folder);
    auto holder = Holder::start(*poller_, *folder, std::move(spec), Scope::SharedProcess);
    ASSERT_TRUE(holder) << holder.error().error.message;
    holder_ = std::move(*holder);
  }

  // Drives the holder until it holds; false when patience is over.
  bool drive_until(const std::function<bool()>& holds) {
    const auto give_up = Holder::Clock::now() + kPatience;
    while (!holds()) {
      const auto until = std::min(holder_->deadline().value_or(give_up), give_up);
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Holder::Clock::now()).count();
      poller_->wait(static_cast<int>(std::max<int64_t>(0, left)));
      holder_->turn(Holder::Clock::now());
      if (Holder::Clock::now() >= give_up) return false;
    }
    return true;
  }
  bool drive_to_the_end() {
    return drive_until([this] { return holder_->closed(); });
  }
  bool drive_until_seen(const std::string& text) {
    return drive_until([&] { return output().find(text) != std::string::npos; });
  }
  journal::Reader reader() { return std::move(journal::Reader::open(scratch_.journals(), "t1").value()); }
  std::string output() { return reader().read_all({0, ~0ULL}, 64 << 20).value(); }
  void type(const std::string& text) {
    auto sent = holder_->send_input({reinterpret_cast<const std::byte*>(text.data()), text.size()});
    ASSERT_TRUE(sent) << sent.error().message;
  }

  journal::ScratchFolder scratch_;
  std::unique_ptr<io::Poller> poller_;
  std::unique_ptr<Holder> holder_;
};

TEST_F(HolderTest, a_command_in_a_terminal_is_kept_with_its_exit) {
  start("printf 'hi\\n'; exit 3", Provider::Pty);
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(output(), "hi\r\n");
  ASSERT_TRUE(holder_->exit());
  EXPECT_EQ(holder_->exit()->kind, EndKind::Exited);
  EXPECT_EQ(holder_->exit()->code, 3);
  auto r = reader();
  EXPECT_TRUE(r.complete().value());
  EXPECT_EQ(*r.status()->exit, *holder_->exit());
  EXPECT_EQ(r.provider(), journal::Provider::Pty);
}

TEST_F(HolderTest, a_command_in_pipes_keeps_its_streams_apart) {
  start("printf out; printf err >&2; kill -SEGV $$", Provider::Pipe);
  ASSERT_TRUE(drive_to_the_end());
  auto r = reader();
  EXPECT_TRUE(r.complete().value());
  EXPECT_EQ(r.status()->exit->kind, EndKind::Signaled);
  EXPECT_EQ(r.status()->exit->code, SIGSEGV);
  std::map<uint64_t, std::string> by_stream;
  const auto marks = r.marks({0, ~0ULL}).value();
  const std::string text = output();
  uint64_t stream = 0;
  for (uint64_t at = 0; at < text.size(); ++at) {
    for (const auto& mark : marks) {
      if (mark.kind() == journal::Mark::Kind::Stream && mark.offset == at) stream = mark.value;
    }
    by_stream[stream] += text[at];
  }
  EXPECT_EQ(by_stream, (std::map<uint64_t, std::string>{{1, "out"}, {2, "err"}}));
}

TEST_F(HolderTest, a_command_that_cannot_start_leaves_no_journal) {
  auto poller = io::Poller::create();
  auto folder = journal::Folder::open(scratch_.journals());
  HoldSpec spec;
  spec.spawn.argv = {"/nonexistent/program"};
  spec.spawn.environment = pty::testing::plain_environment();
  spec.journal.id = "t1";
  auto holder = Holder::start(*poller, *folder, spec, Scope::SharedProcess);
  ASSERT_FALSE(holder);
  EXPECT_EQ(holder.error().failure, pty::SpawnFailure::NotFound);
  EXPECT_FALSE(std::filesystem::exists(scratch_.journals() + "/t1.main"));
  EXPECT_EQ((*folder)->used(), 0U);
}

TEST_F(HolderTest, every_byte_of_a_flood_arrives) {
  for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
    std::filesystem::remove_all(scratch_.journals());
    start("seq 1 200000", provider);
    ASSERT_TRUE(drive_to_the_end());
    std::string expected;
    for (int i = 1; i <= 200000; ++i)
      expected += std::to_string(i) + (provider == Provider::Pty ? "\r\n" : "\n");
    EXPECT_TRUE(output() == expected);
    EXPECT_TRUE(reader().complete().value());
  }
}

TEST_F(HolderTest, input_reaches_the_command_and_its_end_too) {
  start("cat", Provider::Pipe);
  const std::string big(300'000, 'x');
  type(big);
  ASSERT_TRUE(holder_->close_input());
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(output(), big);
  EXPECT_EQ(reader().status()->input_bytes, big.size());

  std::filesystem::remove_all(scratch_.journals());
  start("stty -echo; echo ready; cat", Provider::Pty);
  ASSERT_TRUE(drive_until_seen("ready"));
  type("line\n");
  ASSERT_TRUE(holder_->close_input());
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(output(), "ready\r\nline\r\n");
  const auto marks = reader().marks({0, ~0ULL}).value();
  EXPECT_TRUE(std::any_of(marks.begin(), marks.end(), [](const journal::Mark& mark) {
    return mark.kind() == journal::Mark::Kind::Secret && mark.value == 5;
  }));
}

TEST_F(HolderTest, input_that_nobody_reads_is_bounded) {
  start("exec sleep 1000", Provider::Pipe);
  const std::string piece(200'000, 'x');
  base::Result<void> sent;
  for (int i = 0; i < 20 && sent; ++i) {
    sent = holder_->send_input({reinterpret_cast<const std::byte*>(piece.data()), piece.size()});
  }
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, base::ErrorCode::Exhausted);
  EXPECT_LE(holder_->input_waiting(), pty::InputQueue::kDefaultLimit);
  holder_->terminate({{SIGKILL, std::chrono::seconds(10)}}, journal::EndReason::Requested,
                     Holder::Clock::now());
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(holder_->exit()->reason, journal::EndReason::Requested);
  EXPECT_EQ(holder_->exit()->code, SIGKILL);
}

TEST_F(HolderTest, interrupt_interrupts) {
  for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
    std::filesystem::remove_all(scratch_.journals());
    start("trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done", provider);
    ASSERT_TRUE(drive_until_seen("ready"));
    ASSERT_TRUE(holder_->interrupt());
    ASSERT_TRUE(drive_to_the_end());
    EXPECT_NE(output().find("caught"), std::string::npos);
    EXPECT_EQ(holder_->exit()->code, 7);
  }
}

TEST_F(HolderTest, interrupt_reaches_a_program_that_reads_raw) {
  start("trap 'echo caught; exit 7' INT; stty raw -echo; echo ready; while :; do sleep 0.01; done",
        Provider::Pty);
  ASSERT_TRUE(drive_until_seen("ready"));
  ASSERT_TRUE(holder_->interrupt());
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_NE(output().find("caught"), std::string::npos);
}

TEST_F(HolderTest, a_command_that_waits_for_a_line_is_known_to) {
  start("echo ready; read line", Provider::Pty);
  ASSERT_TRUE(drive_until_seen("ready"));
  ASSERT_TRUE(pty::testing::eventually(
      [this] { return holder_->run_state(pty::AlternateScreen::Off).waiting.has_value(); }));
  type("x\n");
  ASSERT_TRUE(drive_to_the_end());
}

TEST_F(HolderTest, resize_is_seen_by_the_command) {
  start("trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done", Provider::Pty);
  ASSERT_TRUE(drive_until_seen("ready"));
  ASSERT_TRUE(holder_->resize({101, 37, 0, 0}));
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_NE(output().find("37 101"), std::string::npos);
  EXPECT_EQ(reader().status()->cols, 101);
}

TEST_F(HolderTest, a_grandchild_that_holds_the_pipe_delays_the_result_by_the_drain_time_only) {
  start("sleep 1000 & echo $! ; exit 0", Provider::Pipe,
        [](HoldSpec& spec) { spec.drain_time = std::chrono::milliseconds(20); });
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(holder_->exit()->code, 0);
  EXPECT_EQ(holder_->output_end(), OutputEnd::DrainTimeout);
  EXPECT_FALSE(reader().complete().value());
  const int sleeper = std::stoi(output());
  ASSERT_GT(sleeper, 1);
  ::kill(sleeper, SIGKILL);
}

TEST_F(HolderTest, a_command_that_closes_its_terminal_and_opens_it_again_is_heard) {
  start("exec >/dev/null 2>&1 </dev/null; sleep 0.05; echo again >/dev/tty; exit 4", Provider::Pty);
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(output(), "again\r\n");
  EXPECT_EQ(holder_->exit()->code, 4);
}

TEST_F(HolderTest, pause_stops_the_producer_and_nothing_is_lost) {
  start("head -c 3000000 /dev/zero", Provider::Pipe, [](HoldSpec& spec) {
    spec.journal.quota = 1 << 20;
    spec.journal.overflow = journal::Overflow::Pause;
  });
  ASSERT_TRUE(drive_until([this] { return holder_->paused(); }));
  EXPECT_FALSE(holder_->exit());
  holder_->grant(16 << 20);
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(output().size(), 3'000'000U);
  EXPECT_TRUE(reader().complete().value());
}

TEST_F(HolderTest, a_paused_command_can_be_ended) {
  start("yes", Provider::Pty, [](HoldSpec& spec) {
    spec.journal.quota = 1 << 20;
    spec.journal.overflow = journal::Overflow::Pause;
  });
  ASSERT_TRUE(drive_until([this] { return holder_->paused(); }));
  holder_->terminate({}, journal::EndReason::Requested, Holder::Clock::now());
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(holder_->exit()->kind, EndKind::Signaled);
}

TEST_F(HolderTest, kill_on_overflow_ends_the_command_and_says_why) {
  start("yes", Provider::Pty, [](HoldSpec& spec) {
    spec.journal.quota = 1 << 20;
    spec.journal.overflow = journal::Overflow::Kill;
  });
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_EQ(holder_->exit()->reason, journal::EndReason::Overflow);
  EXPECT_EQ(holder_->exit()->kind, EndKind::Signaled);
  // Whether bytes were left out depends on how much was on its way when it was killed.
  EXPECT_GT(output().size(), 1U << 19U);
  EXPECT_LE(output().size(), 1U << 20U);
}

TEST_F(HolderTest, resource_use_is_recorded) {
  start("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", Provider::Pipe);
  ASSERT_TRUE(drive_to_the_end());
  EXPECT_GT(holder_->exit()->cpu_ms, 0U);
  EXPECT_GT(holder_->exit()->max_rss_kib, 500U);
  EXPECT_GT(holder_->exit()->run_us, 0U);
}

TEST_F(HolderTest, nothing_stays_open_after_many_commands) {
  const auto descriptors = [] { return pty::list_descriptors(::getpid())->size(); };
  size_t before = 0;
  for (int i = 0; i < 60; ++i) {
    std::filesystem::remove_all(scratch_.journals());
    start("echo $$", i % 2 == 0 ? Provider::Pty : Provider::Pipe);
    ASSERT_TRUE(drive_to_the_end());
    holder_.reset();
    poller_.reset();
    if (i == 1) before = descriptors();
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace ttyward::hold
