// One command from start to result, with real programs.
#include "terminal/command_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/ids.h"
#include "journal/scratch_folder.h"
#include "pty/process_tree.h"
#include "pty/testing.h"

namespace ttyward::terminal {
namespace {

using pty::Provider;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Observed : RunObserver {
  void on_data(std::string_view bytes) override { data += bytes; }
  void on_binary(uint64_t) override { binary++; }
  void on_state(CommandState state) override { states.push_back(state); }

  std::string data;
  int binary = 0;
  std::vector<CommandState> states;
};

class CommandRuns : public ::testing::Test {
 protected:
  CommandRuns() : poller_(std::move(io::Poller::create().value())) {
    folder_ = journal::Folder::open(scratch_.journals()).value();
  }

  RunOptions options(const std::string& line, Provider provider = Provider::Pty) {
    RunOptions options;
    options.spawn = pty::testing::shell_spec(line, provider);
    options.shown_command = line;
    options.id = base::random_id('c');
    options.scope = hold::Scope::SharedProcess;
    options.kill_rungs = {{SIGKILL, milliseconds(2000)}};
    return options;
  }
  std::unique_ptr<CommandRun> start(RunOptions options) {
    auto run = CommandRun::start(poller_, folder_, std::move(options), &seen_);
    if (run) return std::move(*run);
    ADD_FAILURE() << run.error().error.message;
    return nullptr;
  }
  void turn(CommandRun& run) {
    const auto now = CommandRun::Clock::now();
    const auto deadline = run.deadline().value_or(now + pty::testing::kPatience);
    poller_.wait(
        static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(deadline - now).count())));
    run.step(CommandRun::Clock::now());
  }
  template <typename Condition>
  void until(CommandRun& run, Condition holds) {
    const auto give_up = CommandRun::Clock::now() + pty::testing::kPatience;
    while (!holds() && CommandRun::Clock::now() < give_up) turn(run);
    EXPECT_TRUE(holds());
  }
  CommandResult finish(CommandRun& run) {
    until(run, [&] { return run.done() && run.settled(); });
    return run.result();
  }
  CommandResult result_of(RunOptions options) {
    const auto run = start(std::move(options));
    return run ? finish(*run) : CommandResult{};
  }

  journal::ScratchFolder scratch_;
  io::Poller poller_;
  std::shared_ptr<journal::Folder> folder_;
  Observed seen_;
};

TEST_F(CommandRuns, a_result_holds_what_was_printed_and_how_it_ended) {
  for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
    seen_ = {};
    const CommandResult result = result_of(options("echo out; echo err >&2; exit 7", provider));
    EXPECT_EQ(result.state, CommandState::Exited);
    EXPECT_EQ(result.exit_code, 7);
    EXPECT_EQ(result.known_by, "wait");
    EXPECT_EQ(result.total_lines, 2u);
    EXPECT_THAT(result.output.text, HasSubstr("out\n"));
    EXPECT_THAT(result.output.text, HasSubstr("err\n"));
    EXPECT_EQ(result.total_bytes, seen_.data.size());
    EXPECT_EQ(result.provider, pty::provider_name(provider));
    EXPECT_THAT(seen_.states, ElementsAre(CommandState::Exited));
  }
}

TEST_F(CommandRuns, a_command_that_cannot_start_leaves_no_journal) {
  RunOptions bad = options("");
  bad.spawn.argv = {"/no/such/program"};
  const auto run = CommandRun::start(poller_, folder_, bad, &seen_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().result.state, CommandState::FailedToStart);
  EXPECT_EQ(run.error().result.shell_code(), 127);
  EXPECT_THAT(run.error().result.reason, HasSubstr("/no/such/program"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.journals() + "/" + bad.id + ".main"));
}

TEST_F(CommandRuns, a_time_limit_gives_the_result_at_once_and_cleans_up_after_it) {
  RunOptions limited = options("echo begun; sleep 1000");
  limited.timeout = milliseconds(300);
  const auto run = start(std::move(limited));
  until(*run, [&] { return run->done(); });
  EXPECT_EQ(run->result().state, CommandState::TimedOut);
  EXPECT_EQ(run->result().output.text, "begun\n");
  EXPECT_EQ(run->result().exit_code, std::nullopt);
  EXPECT_EQ(run->result().shell_code(), 124);
  EXPECT_THAT(run->result().reason, HasSubstr("300 ms"));
  finish(*run);
  EXPECT_FALSE(pty::describe_process(run->holder().child_pid()));
}

TEST_F(CommandRuns, silence_is_limited_by_its_own_time) {
  RunOptions limited = options("echo begun; sleep 1000");
  limited.idle_timeout = milliseconds(100);
  const CommandResult result = result_of(std::move(limited));
  EXPECT_EQ(result.state, CommandState::TimedOut);
  EXPECT_THAT(result.reason, HasSubstr("printed nothing"));
}

TEST_F(CommandRuns, a_question_is_seen_and_an_answer_makes_it_run_again) {
  RunOptions asking = options("read -p 'Name? ' name; echo hello $name");
  asking.input_patience = std::chrono::hours(1);
  const auto run = start(std::move(asking));
  until(*run, [&] { return !seen_.states.empty(); });
  EXPECT_THAT(seen_.states, ElementsAre(CommandState::AwaitingInput));
  ASSERT_TRUE(run->run_state().waiting);
  EXPECT_EQ(run->run_state().waiting->kind, pty::WaitKind::Line);
  ASSERT_TRUE(run->send_input("you\n"));
  const CommandResult result = finish(*run);
  EXPECT_THAT(result.output.text, HasSubstr("hello you\n"));
  EXPECT_THAT(seen_.states,
              ElementsAre(CommandState::AwaitingInput, CommandState::Running, CommandState::Exited));
  EXPECT_FALSE(result.waiting);
}

TEST_F(CommandRuns, a_question_nobody_answers_ends_it) {
  RunOptions asking = options("read -s -p 'Password: ' secret");
  asking.input_patience = milliseconds(1);
  const CommandResult result = result_of(std::move(asking));
  EXPECT_EQ(result.state, CommandState::AwaitingInput);
  ASSERT_TRUE(result.waiting);
  EXPECT_EQ(result.waiting->kind, "password");
  EXPECT_EQ(result.waiting->prompt, "Password:");
  EXPECT_FALSE(result.waiting->evidence.empty());
}

TEST_F(CommandRuns, interrupt_and_terminate_are_told_apart) {
  const auto run = start(options("echo ready; exec sleep 1000"));
  until(*run, [&] { return seen_.data.find("ready") != std::string::npos; });
  run->interrupt();
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.state, CommandState::Interrupted);
  EXPECT_EQ(result.signal, "SIGINT");

  seen_ = {};
  const auto other = start(options("echo ready; exec sleep 1000"));
  until(*other, [&] { return seen_.data.find("ready") != std::string::npos; });
  other->terminate(CommandState::Denied, "because", CommandRun::Clock::now());
  ASSERT_TRUE(other->done());
  EXPECT_EQ(other->result().state, CommandState::Denied);
  EXPECT_EQ(other->result().reason, "because");
  finish(*other);
}

TEST_F(CommandRuns, while_paused_nothing_is_shown_and_nothing_is_lost) {
  const auto run = start(options("seq 1 20000"));
  run->pause_reading(true);
  until(*run, [&] { return run->holder().exit().has_value(); });
  EXPECT_EQ(seen_.data, "");
  EXPECT_FALSE(run->done());
  run->pause_reading(false);
  run->step(CommandRun::Clock::now());
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.total_lines, 20000u);
  EXPECT_EQ(result.lost_bytes, 0u);
  EXPECT_EQ(result.total_bytes, seen_.data.size());
}

TEST_F(CommandRuns, what_a_program_asks_its_terminal_is_answered) {
  const CommandResult result =
      result_of(options("stty raw -echo; printf '\\033[6n'; IFS= read -r -d R answer; stty sane; "
                        "printf '%s\\n' \"${answer#*[}\""));
  EXPECT_EQ(result.output.text, "1;1\n");
}

TEST_F(CommandRuns, a_full_journal_keeps_both_ends_and_counts_the_middle) {
  RunOptions much = options("seq 1 400000", Provider::Pipe);
  much.journal_quota = journal::kSmallestQuota;
  const auto run = start(std::move(much));
  run->pause_reading(true);  // so that what is dropped was never read
  until(*run, [&] { return run->holder().exit().has_value(); });
  run->pause_reading(false);
  run->step(CommandRun::Clock::now());
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.total_bytes, 2'688'895u);  // of seq
  EXPECT_GT(result.lost_bytes, 1'000'000u);
  EXPECT_TRUE(result.output.text.starts_with("1\n2\n"));
  EXPECT_TRUE(result.output.text.ends_with("399999\n400000\n"));
}

TEST_F(CommandRuns, binary_output_is_announced_once_and_not_shown) {
  const CommandResult result = result_of(options("head -c 100000 /dev/zero", Provider::Pipe));
  EXPECT_TRUE(result.binary);
  EXPECT_EQ(result.total_bytes, 100'000u);
  EXPECT_THAT(result.output.text, HasSubstr("100000 bytes"));
  EXPECT_EQ(seen_.data, "");
  EXPECT_EQ(seen_.binary, 1);
}

TEST_F(CommandRuns, a_part_of_the_output_can_be_looked_at_alone) {
  const auto run = start(options("seq 1 100", Provider::Pipe));
  finish(*run);
  CommandResult part;
  run->view_of_range(2, 8, ViewLimits{}, part);
  EXPECT_EQ(part.output.text, "2\n3\n4\n");
  EXPECT_EQ(part.total_lines, 3u);
  EXPECT_EQ(part.total_bytes, 6u);
}

// bench_exec soak does the same ten thousand times.
TEST_F(CommandRuns, hundreds_in_a_row_leave_no_descriptor_no_process_and_no_file) {
  struct Used {
    size_t descriptors = 0;
    size_t processes = 0;
    size_t files = 0;
    uint64_t counted = 0;  // bytes of journals
    bool operator==(const Used&) const = default;
  };
  const auto entries = [](const std::string& path) {
    const std::filesystem::directory_iterator listing(path);
    return static_cast<size_t>(std::distance(begin(listing), end(listing)));
  };
  const auto used = [&] {
    return Used{entries("/proc/self/fd"), pty::list_descendants(::getpid())->size(),
                entries(scratch_.journals()), folder_->used()};
  };
  std::optional<Used> before;
  for (int i = 0; i < 300; i++) {
    const Provider provider = i % 3 == 0 ? Provider::Pipe : Provider::Pty;
    RunOptions next = options(i % 7 == 0 ? "seq 1 20000" : "echo " + std::to_string(i), provider);
    const std::string id = next.id;
    if (i % 50 == 49) next.spawn.argv = {"/no/such/program"};
    auto run = CommandRun::start(poller_, folder_, std::move(next), nullptr);
    if (i % 50 != 49) {
      ASSERT_TRUE(run);
      const CommandResult result = finish(**run);
      ASSERT_EQ(result.exit_code, 0);
      ASSERT_EQ(result.total_lines, i % 7 == 0 ? 20000u : 1u);
      const uint64_t allocated = (*run)->holder().journal().allocated();
      run->reset();
      ASSERT_TRUE(folder_->remove(id, allocated));
    }
    if (i == 20) before = used();
  }
  EXPECT_TRUE(used() == *before);
}

}  // namespace
}  // namespace ttyward::terminal
