// One command from start to result, with real programs.
#include "command/running_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/ids.h"
#include "journal/scratch_folder.h"
#include "pty/process_tree.h"
#include "pty/testing.h"

namespace ttyward::command {
namespace {

using pty::Provider;
using std::chrono::milliseconds;
using terminal::CommandResult;
using terminal::CommandState;
using terminal::ViewLimits;
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

class RunningCommands : public ::testing::Test {
 protected:
  RunningCommands() : poller_(std::move(io::Poller::create().value())) {
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
  std::unique_ptr<RunningCommand> start(RunOptions options) {
    auto run = RunningCommand::start(poller_, folder_, std::move(options), &seen_);
    if (run) return std::move(*run);
    ADD_FAILURE() << run.error().error.message;
    return nullptr;
  }
  void turn(RunningCommand& run) {
    const auto now = RunningCommand::Clock::now();
    const auto deadline = run.deadline().value_or(now + pty::testing::kPatience);
    poller_.wait(
        static_cast<int>(std::max<int64_t>(0, std::chrono::ceil<milliseconds>(deadline - now).count())));
    run.step(RunningCommand::Clock::now());
  }
  template <typename Condition>
  void until(RunningCommand& run, Condition holds) {
    const auto give_up = RunningCommand::Clock::now() + pty::testing::kPatience;
    while (!holds() && RunningCommand::Clock::now() < give_up) turn(run);
    EXPECT_TRUE(holds());
  }
  CommandResult finish(RunningCommand& run) {
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

TEST_F(RunningCommands, a_result_holds_what_was_printed_and_how_it_ended) {
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

TEST_F(RunningCommands, a_command_that_cannot_start_leaves_no_journal) {
  RunOptions bad = options("");
  bad.spawn.argv = {"/no/such/program"};
  const auto run = RunningCommand::start(poller_, folder_, bad, &seen_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().result.state, CommandState::FailedToStart);
  EXPECT_EQ(run.error().result.shell_code(), 127);
  EXPECT_THAT(run.error().result.reason, HasSubstr("/no/such/program"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.journals() + "/" + bad.id + ".main"));
}

TEST_F(RunningCommands, a_time_limit_gives_the_result_at_once_and_cleans_up_after_it) {
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
  EXPECT_FALSE(pty::describe_process(run->child_pid()));
}

TEST_F(RunningCommands, silence_is_limited_by_its_own_time) {
  RunOptions limited = options("echo begun; sleep 1000");
  limited.idle_timeout = milliseconds(100);
  const CommandResult result = result_of(std::move(limited));
  EXPECT_EQ(result.state, CommandState::TimedOut);
  EXPECT_THAT(result.reason, HasSubstr("printed nothing"));
}

TEST_F(RunningCommands, a_question_is_seen_and_an_answer_makes_it_run_again) {
  RunOptions asking = options("read -p 'Name? ' name; echo hello $name");
  asking.input_patience = std::chrono::hours(1);
  const auto run = start(std::move(asking));
  until(*run, [&] { return !seen_.states.empty(); });
  EXPECT_THAT(seen_.states, ElementsAre(CommandState::AwaitingInput));
  run->send_input("you\n");
  const CommandResult result = finish(*run);
  EXPECT_THAT(result.output.text, HasSubstr("hello you\n"));
  EXPECT_THAT(seen_.states,
              ElementsAre(CommandState::AwaitingInput, CommandState::Running, CommandState::Exited));
  EXPECT_FALSE(result.waiting);
}

TEST_F(RunningCommands, a_question_nobody_answers_ends_it) {
  RunOptions asking = options("read -s -p 'Password: ' secret");
  asking.input_patience = milliseconds(1);
  const CommandResult result = result_of(std::move(asking));
  EXPECT_EQ(result.state, CommandState::AwaitingInput);
  ASSERT_TRUE(result.waiting);
  EXPECT_EQ(result.waiting->kind, "password");
  EXPECT_EQ(result.waiting->prompt, "Password:");
  EXPECT_FALSE(result.waiting->evidence.empty());
}

TEST_F(RunningCommands, interrupt_and_terminate_are_told_apart) {
  const auto run = start(options("echo ready; exec sleep 1000"));
  until(*run, [&] { return seen_.data.find("ready") != std::string::npos; });
  run->interrupt();
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.state, CommandState::Interrupted);
  EXPECT_EQ(result.signal, "SIGINT");

  seen_ = {};
  const auto other = start(options("echo ready; exec sleep 1000"));
  until(*other, [&] { return seen_.data.find("ready") != std::string::npos; });
  other->terminate(CommandState::Denied, "because", RunningCommand::Clock::now());
  ASSERT_TRUE(other->done());
  EXPECT_EQ(other->result().state, CommandState::Denied);
  EXPECT_EQ(other->result().reason, "because");
  finish(*other);
}

TEST_F(RunningCommands, while_paused_nothing_is_shown_and_nothing_is_lost) {
  const auto run = start(options("seq 1 20000"));
  run->pause_reading(true);
  until(*run, [&] { return run->exit().has_value(); });
  EXPECT_EQ(seen_.data, "");
  EXPECT_FALSE(run->done());
  run->pause_reading(false);
  run->step(RunningCommand::Clock::now());
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.total_lines, 20000u);
  EXPECT_EQ(result.lost_bytes, 0u);
  EXPECT_EQ(result.total_bytes, seen_.data.size());
}

TEST_F(RunningCommands, what_a_program_asks_its_terminal_is_answered) {
  const CommandResult result =
      result_of(options("stty raw -echo; printf '\\033[6n'; IFS= read -r -d R answer; stty sane; "
                        "printf '%s\\n' \"${answer#*[}\""));
  EXPECT_EQ(result.output.text, "1;1\n");
}

TEST_F(RunningCommands, a_full_journal_keeps_both_ends_and_counts_the_middle) {
  RunOptions much = options("seq 1 400000", Provider::Pipe);
  much.journal_quota = journal::kSmallestQuota;
  const auto run = start(std::move(much));
  run->pause_reading(true);  // so that what is dropped was never read
  until(*run, [&] { return run->exit().has_value(); });
  run->pause_reading(false);
  run->step(RunningCommand::Clock::now());
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.total_bytes, 2'688'895u);  // of seq
  EXPECT_GT(result.lost_bytes, 1'000'000u);
  EXPECT_TRUE(result.output.text.starts_with("1\n2\n"));
  EXPECT_TRUE(result.output.text.ends_with("399999\n400000\n"));
}

TEST_F(RunningCommands, binary_output_is_announced_once_and_not_shown) {
  const CommandResult result = result_of(options("head -c 100000 /dev/zero", Provider::Pipe));
  EXPECT_TRUE(result.binary);
  EXPECT_EQ(result.total_bytes, 100'000u);
  EXPECT_THAT(result.output.text, HasSubstr("100000 bytes"));
  EXPECT_EQ(seen_.data, "");
  EXPECT_EQ(seen_.binary, 1);
}

TEST_F(RunningCommands, a_part_of_the_output_can_be_looked_at_alone) {
  const auto run = start(options("seq 1 100", Provider::Pipe));
  finish(*run);
  CommandResult part;
  run->view_of_range(2, 8, ViewLimits{}, part);
  EXPECT_EQ(part.output.text, "2\n3\n4\n");
  EXPECT_EQ(part.total_lines, 3u);
  EXPECT_EQ(part.total_bytes, 6u);
}

// bench_exec soak does the same ten thousand times.
TEST_F(RunningCommands, hundreds_in_a_row_leave_no_descriptor_no_process_and_no_file) {
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
    auto run = RunningCommand::start(poller_, folder_, std::move(next), nullptr);
    if (i % 50 != 49) {
      ASSERT_TRUE(run);
      const CommandResult result = finish(**run);
      ASSERT_EQ(result.exit_code, 0);
      ASSERT_EQ(result.total_lines, i % 7 == 0 ? 20000u : 1u);
      const uint64_t allocated = (*run)->journal_bytes();
      run->reset();
      ASSERT_TRUE(folder_->remove(id, allocated));
    }
    if (i == 20) before = used();
  }
  EXPECT_TRUE(used() == *before);
}

// The same command held in this process and by a ttyward-hold: nobody can tell from the result.
class HeldCommands : public RunningCommands {
 protected:
  RunOptions held(const std::string& line, Provider provider = Provider::Pty) {
    RunOptions made = options(line, provider);
    made.holder = {TTYWARD_HOLD, scratch_.journals() + "/../holders", {}, nullptr, nullptr, {}};
    std::filesystem::create_directories(made.holder->sockets);
    std::filesystem::permissions(made.holder->sockets, std::filesystem::perms::owner_all);
    return made;
  }
};

TEST_F(HeldCommands, a_result_is_that_of_a_command_held_here) {
  for (const Provider provider : {Provider::Pty, Provider::Pipe}) {
    const std::string line = "printf 'out\\n'; echo err >&2; exit 7";
    const CommandResult here = result_of(options(line, provider));
    const CommandResult there = result_of(held(line, provider));
    EXPECT_EQ(there.state, here.state);
    EXPECT_EQ(there.exit_code, here.exit_code);
    EXPECT_EQ(there.known_by, here.known_by);
    EXPECT_EQ(there.output.text, here.output.text);
    EXPECT_EQ(there.total_bytes, here.total_bytes);
    EXPECT_EQ(there.total_lines, here.total_lines);
    EXPECT_EQ(there.provider, here.provider);
    EXPECT_EQ(there.core_dumped, here.core_dumped);
  }
}

TEST_F(HeldCommands, time_limits_questions_and_interrupts_are_the_same) {
  RunOptions slow = held("echo begun; sleep 1000");
  slow.timeout = milliseconds(300);
  const CommandResult late = result_of(std::move(slow));
  EXPECT_EQ(late.state, CommandState::TimedOut);
  EXPECT_EQ(late.output.text, "begun\n");

  RunOptions asking = held("read -s -p 'Password: ' secret");
  asking.input_patience = milliseconds(1);
  const CommandResult asked = result_of(std::move(asking));
  EXPECT_EQ(asked.state, CommandState::AwaitingInput);
  ASSERT_TRUE(asked.waiting);
  EXPECT_EQ(asked.waiting->kind, "password");

  seen_ = {};
  const auto run = start(held("echo ready; read line; echo got $line; exec sleep 1000"));
  until(*run, [&] { return seen_.data.find("ready") != std::string::npos; });
  run->send_input("this\n");
  until(*run, [&] { return seen_.data.find("got this") != std::string::npos; });
  run->interrupt();
  EXPECT_EQ(finish(*run).state, CommandState::Interrupted);
}

TEST_F(HeldCommands, a_flood_is_read_to_its_end) {
  const CommandResult result = result_of(held("seq 1 200000", Provider::Pipe));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.total_lines, 200'000u);
  EXPECT_EQ(result.lost_bytes, 0u);
}

TEST_F(HeldCommands, what_is_left_behind_is_listed_as_the_rule_says) {
  RunOptions kept = held("sleep 1000 & echo up");
  kept.survivors = hold::Survivors::Keep;
  kept.spawn.session = pty::Session::Ours;
  const auto run = start(std::move(kept));
  until(*run, [&] { return run->done(); });
  ASSERT_EQ(run->result().background.size(), 1u);
  EXPECT_EQ(run->result().background[0].command, "sleep 1000");
  ::kill(static_cast<pid_t>(run->result().background[0].pid), SIGKILL);
  until(*run, [&] { return run->settled(); });

  const CommandResult ended = result_of(held("trap '' HUP; sleep 1000 & echo up"));
  EXPECT_TRUE(ended.background.empty());
  EXPECT_EQ(ended.ended_background.size(), 1u);
}

TEST_F(HeldCommands, a_holder_that_is_killed_takes_the_truth_with_it) {
  const auto run = start(held("echo $PPID; sleep 1000"));
  until(*run, [&] { return seen_.data.find('\n') != std::string::npos; });
  ::kill(static_cast<pid_t>(std::stol(seen_.data)), SIGKILL);
  const CommandResult result = finish(*run);
  EXPECT_EQ(result.state, CommandState::Lost);
  EXPECT_FALSE(result.exit_code);
  EXPECT_THAT(result.reason, HasSubstr("holder"));
}

}  // namespace
}  // namespace ttyward::command
