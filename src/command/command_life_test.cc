// The life of a command on a clock that the test moves: no process, no file.
#include "command/command_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace ttyward::command {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using terminal::CommandResult;
using terminal::CommandState;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Step = CommandLife::Step;

journal::ExitRecord exit_with(int code) {
  journal::ExitRecord record;
  record.kind = journal::EndKind::Exited;
  record.code = code;
  record.run_us = 1'234'000;
  record.cpu_ms = 12;
  record.max_rss_kib = 4096;
  return record;
}

journal::ExitRecord killed_by(int signal, bool core = false) {
  journal::ExitRecord record = exit_with(signal);
  record.kind = journal::EndKind::Signaled;
  record.core_dumped = core ? 1 : 0;
  return record;
}

pty::RunState waiting_for(pty::WaitKind kind) {
  pty::RunState state;
  state.activity = pty::Activity::Sleeping;
  pty::Waiting waiting;
  waiting.kind = kind;
  waiting.pid = 77;
  waiting.program = "bash";
  waiting.evidence = "blocked in read(0)";
  state.waiting = waiting;
  return state;
}

const pty::RunState kBusy;

class Lives : public ::testing::Test {
 protected:
  CommandLife accepted(LifeOptions options = {}) {
    CommandResult facts;
    facts.command_id = "c1";
    facts.command = "make";
    facts.cwd = "/src";
    facts.started_at_ms = 1000;
    return {options, facts, now_};
  }
  CommandLife running(LifeOptions options = {}) {
    CommandLife life = accepted(options);
    life.begin(0, now_);
    return life;
  }
  void pass(milliseconds time) { now_ += time; }
  // Moves the clock to the next deadline, which must be `expected` from now.
  void pass_to_deadline(const CommandLife& life, milliseconds expected) {
    ASSERT_TRUE(life.deadline());
    EXPECT_EQ(std::chrono::duration_cast<milliseconds>(*life.deadline() - now_), expected);
    now_ = *life.deadline();
  }
  Step next(CommandLife& life) { return life.next(now_); }
  void print(CommandLife& life, uint64_t read_to) { life.output(read_to, now_); }
  // Two looks that agree.
  void ask(CommandLife& life, pty::WaitKind kind = pty::WaitKind::Line) {
    for (int i = 0; i < 2; i++) {
      now_ = *life.deadline();
      ASSERT_EQ(next(life), Step::Look);
      life.looked(waiting_for(kind), "Name?", now_);
    }
  }

  CommandLife::TimePoint now_{seconds(1000)};
};

// --- ends

TEST_F(Lives, an_exit_is_the_result_with_all_that_the_kernel_told) {
  CommandLife life = running();
  print(life, 10);
  life.exited(exit_with(3), 10, now_);
  EXPECT_TRUE(life.answered());
  EXPECT_TRUE(life.over());
  EXPECT_EQ(next(life), Step::Wait);
  EXPECT_FALSE(life.deadline());
  const CommandResult result = life.result(now_);
  EXPECT_EQ(result.command_id, "c1");
  EXPECT_EQ(result.cwd, "/src");
  EXPECT_EQ(result.state, CommandState::Exited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, "");
  EXPECT_EQ(result.core_dumped, false);
  EXPECT_EQ(result.known_by, "wait");
  EXPECT_EQ(result.duration_ms, 1234);
  EXPECT_EQ(result.cpu_ms, 12);
  EXPECT_EQ(result.max_rss_kib, 4096);
  EXPECT_EQ(result.total_bytes, 10u);
  EXPECT_EQ(result.shell_code(), 3);
  EXPECT_FALSE(result.time_left_ms);
}

TEST_F(Lives, a_code_above_128_is_a_code) {
  CommandLife life = running();
  life.exited(exit_with(143), 0, now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(life.facts().exit_code, 143);
  EXPECT_EQ(life.facts().signal, "");
}

TEST_F(Lives, every_signal_has_its_name_and_its_shell_code) {
  for (int number = 1; number <= 64; number++) {
    CommandLife life = running();
    life.exited(killed_by(number), 0, now_);
    EXPECT_EQ(life.state(), CommandState::Signaled);
    EXPECT_FALSE(life.facts().exit_code);
    EXPECT_NE(life.facts().signal, "");
    EXPECT_EQ(life.facts().shell_code(), 128 + number);
  }
}

TEST_F(Lives, a_core_dump_is_told) {
  CommandLife life = running();
  life.exited(killed_by(SIGSEGV, true), 0, now_);
  EXPECT_EQ(life.facts().signal, "SIGSEGV");
  EXPECT_EQ(life.facts().core_dumped, true);
}

TEST_F(Lives, an_end_that_nobody_saw_is_lost_and_says_so) {
  CommandLife life = running();
  pass(seconds(2));
  life.exited({}, 0, now_);
  EXPECT_EQ(life.state(), CommandState::Lost);
  EXPECT_FALSE(life.facts().exit_code);
  EXPECT_FALSE(life.facts().core_dumped.has_value());
  EXPECT_EQ(life.facts().known_by, "");
  EXPECT_THAT(life.facts().reason, HasSubstr("holder"));
  EXPECT_EQ(life.facts().duration_ms, 2000);
  EXPECT_EQ(life.facts().shell_code(), 125);
}

TEST_F(Lives, a_lost_holder_ends_it_with_the_reason_that_is_known) {
  CommandLife life = running({.timeout = seconds(60)});
  print(life, 5);
  pass(seconds(3));
  life.lost("its holder was killed, so its exit status is not known", now_);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(life.state(), CommandState::Lost);
  EXPECT_THAT(life.facts().reason, HasSubstr("holder was killed"));
  EXPECT_EQ(life.facts().duration_ms, 3000);
  EXPECT_EQ(next(life), Step::Wait);
  // Whatever comes afterwards changes nothing.
  life.exited(exit_with(0), 5, now_);
  print(life, 9);
  EXPECT_EQ(life.state(), CommandState::Lost);
  EXPECT_EQ(life.result(now_).total_bytes, 5u);
}

TEST_F(Lives, a_full_journal_under_the_kill_policy_is_the_reason) {
  CommandLife life = running();
  journal::ExitRecord record = killed_by(SIGKILL);
  record.reason = journal::EndReason::Overflow;
  life.exited(record, 0, now_);
  EXPECT_EQ(life.state(), CommandState::Signaled);
  EXPECT_THAT(life.facts().reason, HasSubstr("quota"));
}

TEST_F(Lives, a_command_that_never_ran_leaves_nothing_to_kill) {
  CommandLife life = accepted({.timeout = seconds(1)});
  life.fail(CommandState::FailedToStart, "no such folder", now_);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(next(life), Step::Wait);
  EXPECT_EQ(life.state(), CommandState::FailedToStart);
  EXPECT_EQ(life.facts().reason, "no such folder");
}

// --- drain

TEST_F(Lives, an_exit_counts_when_what_was_printed_before_it_was_read) {
  CommandLife life = running({.timeout = seconds(1)});
  print(life, 10);
  life.exited(exit_with(0), 30, now_);
  EXPECT_FALSE(life.answered());
  EXPECT_EQ(life.state(), CommandState::Running);
  pass(seconds(10));
  EXPECT_EQ(next(life), Step::Wait);  // it has ended: no limit is left to pass
  EXPECT_FALSE(life.deadline());
  print(life, 29);
  EXPECT_FALSE(life.over());
  print(life, 30);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(life.result(now_).total_bytes, 30u);
}

TEST_F(Lives, bytes_that_are_gone_count_as_read) {
  CommandLife life = running();
  life.exited(exit_with(0), 30, now_);
  life.skip(30, now_);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(life.result(now_).total_bytes, 30u);
}

TEST_F(Lives, late_output_of_what_it_left_behind_is_not_its_own) {
  CommandLife life = running();
  print(life, 10);
  life.exited(exit_with(0), 10, now_);
  print(life, 50);
  EXPECT_EQ(life.result(now_).total_bytes, 10u);
}

TEST_F(Lives, output_begins_where_the_command_did) {
  CommandLife life = accepted();
  life.sent(now_);
  life.begin(100, now_);
  print(life, 130);
  EXPECT_EQ(life.result(now_).total_bytes, 30u);
}

// --- time limits

TEST_F(Lives, a_time_limit_answers_at_once_and_asks_for_the_kill) {
  CommandLife life = running({.timeout = seconds(2)});
  print(life, 10);
  pass_to_deadline(life, seconds(2));
  EXPECT_EQ(next(life), Step::Look);  // what it is stuck on, if anything
  life.looked(kBusy, "", now_);
  EXPECT_EQ(next(life), Step::Kill);
  EXPECT_TRUE(life.answered());
  EXPECT_FALSE(life.over());
  EXPECT_EQ(next(life), Step::Wait);  // once
  EXPECT_FALSE(life.deadline());
  const CommandResult result = life.result(now_);
  EXPECT_EQ(result.state, CommandState::TimedOut);
  EXPECT_EQ(result.reason, "it ran longer than its time limit of 2 s");
  EXPECT_EQ(result.duration_ms, 2000);
  EXPECT_FALSE(result.exit_code);
  EXPECT_FALSE(result.waiting);
  EXPECT_EQ(result.shell_code(), 124);
}

TEST_F(Lives, facts_that_come_after_the_answer_are_added_and_the_answer_stays) {
  CommandLife life = running({.timeout = milliseconds(300)});
  pass(milliseconds(300));
  next(life);
  life.looked(kBusy, "", now_);
  ASSERT_EQ(next(life), Step::Kill);
  EXPECT_THAT(life.facts().reason, HasSubstr("300 ms"));
  print(life, 20);
  life.exited(killed_by(SIGTERM), 20, now_);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  EXPECT_THAT(life.facts().reason, HasSubstr("300 ms"));
  EXPECT_EQ(life.facts().signal, "SIGTERM");
  EXPECT_EQ(life.facts().known_by, "wait");
  EXPECT_EQ(life.result(now_).total_bytes, 20u);
  EXPECT_EQ(life.facts().shell_code(), 124);
}

TEST_F(Lives, a_time_limit_says_what_it_was_stuck_on) {
  CommandLife life = running({.timeout = seconds(1)});
  pass(seconds(1));
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Password), "Password:", now_);
  ASSERT_EQ(next(life), Step::Kill);
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  ASSERT_TRUE(life.facts().waiting);
  EXPECT_EQ(life.facts().waiting->kind, "password");
  EXPECT_EQ(life.facts().waiting->prompt, "Password:");
}

TEST_F(Lives, a_look_that_fails_or_does_not_come_back_does_not_hold_up_the_answer) {
  CommandLife failing = running({.timeout = seconds(1)});
  CommandLife silent = running({.timeout = seconds(1)});
  pass(seconds(1));
  ASSERT_EQ(next(failing), Step::Look);
  ASSERT_EQ(next(silent), Step::Look);
  failing.look_failed(now_);
  EXPECT_EQ(next(failing), Step::Kill);
  EXPECT_EQ(next(silent), Step::Wait);
  pass_to_deadline(silent, kLastLook);
  EXPECT_EQ(next(silent), Step::Kill);
  EXPECT_EQ(silent.state(), CommandState::TimedOut);
  silent.looked(waiting_for(pty::WaitKind::Line), "late", now_);
  EXPECT_FALSE(silent.facts().waiting);
}

TEST_F(Lives, a_look_that_is_on_its_way_is_the_last_one) {
  CommandLife life = running({.timeout = milliseconds(160), .input_patience = seconds(9)});
  pass(kFirstLook);
  ASSERT_EQ(next(life), Step::Look);
  pass(milliseconds(10));
  EXPECT_EQ(next(life), Step::Wait);
  life.looked(kBusy, "", now_);
  EXPECT_EQ(next(life), Step::Kill);
}

TEST_F(Lives, silence_has_its_own_limit_and_output_moves_it) {
  CommandLife life = running({.timeout = seconds(60), .idle_timeout = seconds(5)});
  pass(seconds(4));
  print(life, 1);
  pass_to_deadline(life, seconds(5));
  ASSERT_EQ(next(life), Step::Look);
  life.looked(kBusy, "", now_);
  ASSERT_EQ(next(life), Step::Kill);
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  EXPECT_EQ(life.facts().reason, "it printed nothing for 5 s");
  EXPECT_EQ(life.facts().duration_ms, 9000);
}

TEST_F(Lives, output_during_the_last_look_takes_the_limit_on_silence_back) {
  CommandLife life = running({.idle_timeout = seconds(5)});
  pass(seconds(5));
  ASSERT_EQ(next(life), Step::Look);
  print(life, 1);
  life.looked(kBusy, "", now_);
  EXPECT_EQ(next(life), Step::Wait);
  EXPECT_FALSE(life.answered());
  pass_to_deadline(life, seconds(5));
}

TEST_F(Lives, bytes_that_are_gone_are_no_sign_of_life) {
  CommandLife life = running({.idle_timeout = seconds(5)});
  pass(seconds(4));
  life.skip(1000, now_);
  pass_to_deadline(life, seconds(1));
}

TEST_F(Lives, without_limits_nothing_is_due) {
  CommandLife life = running();
  EXPECT_FALSE(life.deadline());
  pass(std::chrono::hours(1000));
  EXPECT_EQ(next(life), Step::Wait);
}

TEST_F(Lives, an_accepted_command_that_is_never_sent_runs_out_of_time_too) {
  CommandLife life = accepted({.timeout = seconds(3)});
  pass_to_deadline(life, seconds(3));
  EXPECT_EQ(next(life), Step::Kill);  // no look: nothing runs
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  life.finish(now_);
  EXPECT_TRUE(life.over());
  EXPECT_EQ(life.facts().duration_ms, 3000);
}

TEST_F(Lives, its_time_begins_anew_when_it_runs) {
  CommandLife life = accepted({.timeout = seconds(3)});
  pass(seconds(2));
  life.sent(now_);
  life.begin(0, now_);
  pass_to_deadline(life, seconds(3));
}

TEST_F(Lives, time_that_passed_before_this_process_counts) {
  CommandResult facts;
  CommandLife life({.timeout = seconds(10)}, facts, now_ - seconds(8));
  pass_to_deadline(life, seconds(2));
}

TEST_F(Lives, a_running_command_says_how_much_time_is_left) {
  CommandLife life = running({.timeout = seconds(10), .idle_timeout = seconds(4)});
  pass(seconds(1));
  print(life, 1);
  pass(seconds(2));
  const CommandResult result = life.result(now_);
  EXPECT_EQ(result.duration_ms, 3000);
  EXPECT_EQ(result.time_left_ms, 7000);
  EXPECT_EQ(result.idle_left_ms, 2000);
}

// --- input

TEST_F(Lives, nobody_is_asked_while_nobody_wants_to_know) {
  CommandLife life = running();
  EXPECT_FALSE(life.deadline());
  life.want_looks(true, now_);
  pass_to_deadline(life, kFirstLook);
  EXPECT_EQ(next(life), Step::Look);
  EXPECT_EQ(next(life), Step::Wait);  // one at a time
  life.looked(kBusy, "", now_);
  life.want_looks(false, now_);
  EXPECT_FALSE(life.deadline());
}

TEST_F(Lives, looks_begin_when_it_is_silent_and_come_less_and_less_often) {
  CommandLife life = running();
  life.want_looks(true, now_);
  pass(milliseconds(100));
  print(life, 1);
  pass_to_deadline(life, kFirstLook);
  for (const int pause : {150, 150, 225, 337, 506, 759, 1138, 1707, 2000, 2000}) {
    ASSERT_EQ(next(life), Step::Look);
    life.looked(kBusy, "", now_);
    pass_to_deadline(life, milliseconds(pause));
  }
  print(life, 2);
  pass_to_deadline(life, kFirstLook);
}

TEST_F(Lives, two_looks_must_agree_that_it_waits) {
  CommandLife life = running({.input_patience = std::chrono::hours(1)});
  pass_to_deadline(life, kFirstLook);
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Line), "Name?", now_);
  EXPECT_EQ(life.state(), CommandState::Running);
  pass_to_deadline(life, kSecondLook);
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Line), "Name?", now_);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
  const CommandResult result = life.result(now_);
  ASSERT_TRUE(result.waiting);
  EXPECT_EQ(result.waiting->kind, "line");
  EXPECT_EQ(result.waiting->prompt, "Name?");
  EXPECT_EQ(result.waiting->program, "bash");
  EXPECT_EQ(result.waiting->pid, 77);
  EXPECT_EQ(result.waiting->evidence, "blocked in read(0)");
  EXPECT_FALSE(life.answered());
}

TEST_F(Lives, one_look_between_two_others_that_finds_nobody_starts_again) {
  CommandLife life = running({.input_patience = std::chrono::hours(1)});
  for (const bool waits : {true, false, true}) {
    now_ = *life.deadline();
    ASSERT_EQ(next(life), Step::Look);
    life.looked(waits ? waiting_for(pty::WaitKind::Line) : kBusy, "", now_);
    EXPECT_EQ(life.state(), CommandState::Running);
  }
}

TEST_F(Lives, output_and_a_look_that_finds_nobody_make_it_run_again) {
  CommandLife life = running({.input_patience = std::chrono::hours(1)});
  ask(life);
  ASSERT_EQ(life.state(), CommandState::AwaitingInput);
  print(life, 5);
  EXPECT_EQ(life.state(), CommandState::Running);
  EXPECT_FALSE(life.facts().waiting);
  ask(life);
  ASSERT_EQ(life.state(), CommandState::AwaitingInput);
  now_ = *life.deadline();
  ASSERT_EQ(next(life), Step::Look);
  life.looked(kBusy, "", now_);
  EXPECT_EQ(life.state(), CommandState::Running);
  EXPECT_FALSE(life.facts().waiting);
}

TEST_F(Lives, what_was_typed_to_it_makes_it_run_and_looks_begin_anew) {
  CommandLife life = running();
  life.want_looks(true, now_);
  pass(seconds(60));
  ask(life);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
  pass(seconds(60));
  life.input_given(now_);
  EXPECT_EQ(life.state(), CommandState::Running);
  EXPECT_EQ(life.quiet_since(), now_);
  pass_to_deadline(life, kFirstLook);
  ask(life);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
}

TEST_F(Lives, a_command_that_was_just_sent_is_looked_at_soon_however_long_it_was_queued) {
  CommandLife life = accepted();
  life.want_looks(true, now_);
  pass(seconds(60));
  EXPECT_FALSE(life.deadline());
  life.sent(now_);
  pass_to_deadline(life, kFirstLook);
}

TEST_F(Lives, a_question_that_nobody_answers_ends_it_when_patience_is_over) {
  CommandLife life = running({.input_patience = seconds(5)});
  pass(kFirstLook);
  const auto asked = now_;
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Line), "Name?", now_);
  while (!life.answered()) {
    now_ = *life.deadline();
    ASSERT_EQ(next(life), Step::Look);
    life.looked(waiting_for(pty::WaitKind::Line), "Name?", now_);
  }
  EXPECT_EQ(now_ - asked, seconds(5));
  EXPECT_EQ(next(life), Step::Kill);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
  EXPECT_EQ(life.facts().reason, "bash waits for input (line) and nobody can provide it");
  ASSERT_TRUE(life.facts().waiting);
  life.exited(killed_by(SIGINT), 0, now_);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
  EXPECT_FALSE(life.facts().waiting);  // it waits no more
}

TEST_F(Lives, the_smallest_patience_still_takes_two_looks) {
  CommandLife life = running({.input_patience = milliseconds(1)});
  pass_to_deadline(life, kFirstLook);
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Key), "", now_);
  EXPECT_FALSE(life.answered());
  pass_to_deadline(life, kSecondLook);
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Key), "", now_);
  EXPECT_TRUE(life.answered());
}

TEST_F(Lives, without_patience_a_question_ends_nothing) {
  CommandLife life = running();
  life.want_looks(true, now_);
  ask(life);
  pass(std::chrono::hours(10));
  ASSERT_EQ(next(life), Step::Look);
  life.looked(waiting_for(pty::WaitKind::Line), "Name?", now_);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
  EXPECT_FALSE(life.answered());
}

TEST_F(Lives, output_on_its_way_makes_a_look_worthless) {
  CommandLife life = running({.input_patience = seconds(1)});
  pty::RunState state = waiting_for(pty::WaitKind::Line);
  state.output_pending = true;
  for (int i = 0; i < 3; i++) {
    now_ = *life.deadline();
    ASSERT_EQ(next(life), Step::Look);
    life.looked(state, "", now_);
    EXPECT_EQ(life.state(), CommandState::Running);
  }
}

TEST_F(Lives, a_shell_that_reads_the_command_is_not_the_command_asking) {
  CommandLife life = accepted({.input_patience = seconds(1)});
  EXPECT_FALSE(life.deadline());  // not handed over: nothing to look at
  life.sent(now_);
  for (int i = 0; i < 3; i++) {
    now_ = *life.deadline();
    ASSERT_EQ(next(life), Step::Look);
    life.looked(waiting_for(pty::WaitKind::Line), "$ ", now_);
    EXPECT_EQ(life.state(), CommandState::Running);
  }
  life.begin(0, now_);
  ask(life);
  EXPECT_EQ(life.state(), CommandState::AwaitingInput);
}

TEST_F(Lives, a_command_that_ends_while_it_is_looked_at_has_ended) {
  CommandLife life = running({.input_patience = seconds(1)});
  now_ = *life.deadline();
  ASSERT_EQ(next(life), Step::Look);
  life.exited(exit_with(0), 0, now_);
  life.looked(waiting_for(pty::WaitKind::Line), "", now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_FALSE(life.facts().waiting);
}

// --- interrupts, and ends by the owner

TEST_F(Lives, an_interrupt_that_ends_it_is_told_apart_from_other_ends) {
  struct Case {
    journal::ExitRecord record;
    CommandState state;
  };
  for (const Case& c :
       {Case{killed_by(SIGINT), CommandState::Interrupted},
        Case{killed_by(SIGTERM), CommandState::Interrupted}, Case{exit_with(130), CommandState::Interrupted},
        Case{exit_with(0), CommandState::Exited}, Case{exit_with(1), CommandState::Exited}}) {
    CommandLife life = running();
    life.interrupted();
    life.exited(c.record, 0, now_);
    EXPECT_EQ(life.state(), c.state) << c.record.code;
  }
  CommandLife alone = running();
  alone.exited(killed_by(SIGINT), 0, now_);
  EXPECT_EQ(alone.state(), CommandState::Signaled);
}

TEST_F(Lives, the_owner_ends_it_with_a_state_and_a_reason) {
  CommandLife life = running({.timeout = seconds(60)});
  pass(seconds(1));
  life.end(CommandState::Denied, "because", now_);
  EXPECT_EQ(next(life), Step::Kill);
  EXPECT_TRUE(life.answered());
  EXPECT_FALSE(life.over());
  life.end(CommandState::Interrupted, "again", now_);
  EXPECT_EQ(next(life), Step::Wait);
  EXPECT_EQ(life.state(), CommandState::Denied);
  EXPECT_EQ(life.facts().reason, "because");
  life.exited(killed_by(SIGKILL), 0, now_);
  EXPECT_EQ(life.state(), CommandState::Denied);
}

TEST_F(Lives, a_command_that_has_ended_is_not_ended_again) {
  CommandLife life = running();
  life.exited(exit_with(0), 0, now_);
  life.end(CommandState::Interrupted, "too late", now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(next(life), Step::Wait);
}

// --- what it leaves behind

journal::ExitRecord leaving(uint32_t survivors) {
  journal::ExitRecord record = exit_with(0);
  record.survivors = survivors;
  return record;
}

TEST_F(Lives, what_it_left_behind_is_asked_for_before_the_answer) {
  CommandLife life = running({.survivors = hold::Survivors::Keep});
  life.exited(leaving(2), 0, now_);
  EXPECT_FALSE(life.answered());
  EXPECT_EQ(next(life), Step::ListProcesses);
  EXPECT_EQ(next(life), Step::Wait);
  life.left_behind({{5, "server"}, {6, "worker"}}, {{8080, 5}}, now_);
  EXPECT_TRUE(life.over());
  EXPECT_THAT(life.facts().background, SizeIs(2));
  EXPECT_THAT(life.facts().ports, SizeIs(1));
  EXPECT_THAT(life.facts().ended_background, IsEmpty());
}

TEST_F(Lives, what_ends_with_it_is_listed_as_ended) {
  CommandLife life = running({.survivors = hold::Survivors::Kill});
  life.exited(leaving(1), 0, now_);
  ASSERT_EQ(next(life), Step::ListProcesses);
  life.left_behind({{5, "server"}}, {{8080, 5}}, now_);
  EXPECT_TRUE(life.over());
  EXPECT_THAT(life.facts().background, IsEmpty());
  EXPECT_THAT(life.facts().ports, IsEmpty());
  EXPECT_THAT(life.facts().ended_background, SizeIs(1));
}

TEST_F(Lives, the_list_is_asked_for_when_the_output_was_read) {
  CommandLife life = running({.survivors = hold::Survivors::Keep});
  life.exited(leaving(1), 10, now_);
  EXPECT_EQ(next(life), Step::Wait);
  print(life, 10);
  EXPECT_FALSE(life.over());
  EXPECT_EQ(next(life), Step::ListProcesses);
  life.left_behind({}, {}, now_);  // they have ended meanwhile, or nobody could say
  EXPECT_TRUE(life.over());
}

// --- a shell's word

shell::CommandFinished finished_with(std::optional<int> code) {
  shell::CommandFinished event;
  event.exit_code = code;
  event.known_by = shell::KnownBy::ShellMark;
  event.output = {10, 25};
  return event;
}

TEST_F(Lives, a_shell_tells_the_code_and_the_prompt_makes_it_over) {
  CommandLife life = accepted();
  life.sent(now_);
  life.begin(10, now_);
  pass(milliseconds(700));
  shell::CommandFinished event = finished_with(2);
  event.pipeline = {0, 2};
  life.shell_finished(event, "", now_);
  EXPECT_FALSE(life.over());
  life.finish(now_);
  EXPECT_TRUE(life.over());
  const CommandResult result = life.result(now_);
  EXPECT_EQ(result.state, CommandState::Exited);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.known_by, "shell_mark");
  EXPECT_EQ(result.pipeline, (std::vector<int>{0, 2}));
  EXPECT_EQ(result.duration_ms, 700);
  EXPECT_EQ(result.total_bytes, 15u);
  EXPECT_EQ(result.core_dumped, false);
}

TEST_F(Lives, a_shells_code_for_a_signal_is_decoded_and_its_core_is_not_known) {
  CommandLife life = running();
  life.shell_finished(finished_with(128 + SIGSEGV), "", now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(life.facts().signal, "SIGSEGV");
  EXPECT_FALSE(life.facts().core_dumped.has_value());
}

TEST_F(Lives, a_shell_that_was_interrupted_says_so_by_its_code) {
  for (const std::optional<int> code :
       {std::optional(130), std::optional(256 + SIGINT), std::optional<int>()}) {
    CommandLife life = running();
    life.interrupted();
    life.shell_finished(finished_with(code), "", now_);
    EXPECT_EQ(life.state(), CommandState::Interrupted);
  }
  CommandLife other = running();
  other.interrupted();
  other.shell_finished(finished_with(0), "", now_);
  EXPECT_EQ(other.state(), CommandState::Exited);
}

TEST_F(Lives, a_shell_that_dies_takes_the_command_with_it) {
  CommandLife killed = running();
  shell::CommandFinished event = finished_with(std::nullopt);
  event.signal = SIGKILL;
  event.shell_gone = true;
  killed.shell_finished(event, "", now_);
  EXPECT_EQ(killed.state(), CommandState::Signaled);
  EXPECT_EQ(killed.facts().signal, "SIGKILL");
  EXPECT_FALSE(killed.facts().core_dumped.has_value());
  EXPECT_EQ(killed.facts().reason, "it ended the shell");

  CommandLife left = running();
  event = finished_with(0);
  event.shell_gone = true;
  left.shell_finished(event, "", now_);
  EXPECT_EQ(left.state(), CommandState::Exited);
  EXPECT_EQ(left.facts().reason, "it ended the shell");

  CommandLife gone = running();
  event = finished_with(std::nullopt);
  event.known_by = shell::KnownBy::Nothing;
  event.shell_gone = true;
  gone.shell_finished(event, "", now_);
  EXPECT_EQ(gone.state(), CommandState::Lost);
}

TEST_F(Lives, an_end_without_a_code_says_why_there_is_none) {
  CommandLife life = running();
  life.shell_finished(finished_with(std::nullopt), "", now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(life.facts().reason, "it ended, but its exit status was not observed");
  CommandLife unmarked = running();
  unmarked.shell_finished(finished_with(std::nullopt), "another shell took over", now_);
  EXPECT_EQ(unmarked.facts().reason, "its exit status was not observed: another shell took over");
}

TEST_F(Lives, a_command_the_shell_did_not_run_says_so) {
  CommandLife incomplete = running();
  shell::CommandFinished event = finished_with(130);
  event.incomplete = true;
  incomplete.shell_finished(event, "", now_);
  EXPECT_THAT(incomplete.facts().reason, HasSubstr("not complete"));

  CommandLife refused = running();
  event = finished_with(2);
  event.executed = false;
  refused.shell_finished(event, "", now_);
  EXPECT_THAT(refused.facts().reason, HasSubstr("syntax error"));

  CommandLife messy = running();
  event = finished_with(0);
  event.left_alternate = true;
  messy.shell_finished(event, "", now_);
  EXPECT_THAT(messy.facts().reason, HasSubstr("full-screen"));
}

TEST_F(Lives, nothing_is_due_between_a_shells_word_and_its_prompt) {
  CommandLife life = running({.timeout = milliseconds(100)});
  life.want_looks(true, now_);
  shell::CommandFinished event;
  event.exit_code = 0;
  life.shell_finished(event, "", now_);
  EXPECT_FALSE(life.deadline());
  pass(seconds(1));
  EXPECT_EQ(next(life), Step::Wait);
  life.end(CommandState::TimedOut, "too late", now_);
  life.looked(waiting_for(pty::WaitKind::Line), "$", now_);
  life.finish(now_);
  EXPECT_EQ(life.state(), CommandState::Exited);
  EXPECT_EQ(life.result(now_).duration_ms, 0);
}

TEST_F(Lives, whoever_wants_to_know_goes_on_asking_after_a_time_limit) {
  CommandLife life = running({.timeout = milliseconds(100)});
  life.want_looks(true, now_);
  life.end(CommandState::TimedOut, "too long", now_);
  ASSERT_EQ(next(life), Step::Kill);
  now_ = *life.deadline();
  ASSERT_EQ(next(life), Step::Look);
  EXPECT_FALSE(life.deadline());
  life.looked(waiting_for(pty::WaitKind::Line), "$", now_);
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  EXPECT_TRUE(life.deadline());
  life.want_looks(false, now_);
  EXPECT_FALSE(life.deadline());
}

TEST_F(Lives, a_shells_word_after_a_time_limit_adds_the_code_only) {
  CommandLife life = running({.timeout = seconds(1)});
  pass(seconds(1));
  next(life);
  life.look_failed(now_);
  ASSERT_EQ(next(life), Step::Kill);
  pass(seconds(1));
  life.shell_finished(finished_with(130), "", now_);
  life.finish(now_);
  EXPECT_EQ(life.state(), CommandState::TimedOut);
  EXPECT_EQ(life.facts().exit_code, 130);
  EXPECT_EQ(life.facts().duration_ms, 1000);
  EXPECT_EQ(life.facts().signal, "");
  EXPECT_THAT(life.facts().reason, HasSubstr("time limit"));
}

// --- output

TEST_F(Lives, the_result_holds_the_output_as_a_person_would_have_seen_it) {
  terminal::Output output({});
  CommandLife life = running();
  output.feed("one\r\ntwo");
  print(life, 8);
  CommandResult result = life.result(output, {}, now_);
  EXPECT_EQ(result.output.text, "one\ntwo\n");
  EXPECT_EQ(result.total_lines, 2u);
  EXPECT_EQ(result.total_bytes, 8u);
  EXPECT_FALSE(result.no_newline);  // more may come
  life.exited(exit_with(0), 8, now_);
  result = life.result(output, {}, now_);
  EXPECT_TRUE(result.no_newline);
}

TEST_F(Lives, a_view_is_cut_and_counts_the_rest) {
  terminal::Output output({});
  CommandLife life = running();
  std::string text;
  for (int i = 1; i <= 100; i++) text += std::to_string(i) + "\r\n";
  output.feed(text);
  print(life, text.size());
  life.exited(exit_with(0), text.size(), now_);
  const CommandResult result = life.result(output, {.lines = 10}, now_);
  EXPECT_EQ(result.total_lines, 100u);
  ASSERT_TRUE(result.output.omitted);
  EXPECT_EQ(result.output.omitted->lines, 90u);
}

TEST_F(Lives, binary_output_is_counted_and_not_shown) {
  terminal::OutputOptions options;
  options.source = terminal::BinarySniffer::Source::Pipe;
  terminal::Output output(options);
  CommandLife life = running();
  output.feed(std::string(100'000, '\0'));
  print(life, 100'000);
  life.exited(exit_with(0), 100'000, now_);
  const CommandResult result = life.result(output, {}, now_);
  EXPECT_TRUE(result.binary);
  EXPECT_EQ(result.output.text, "[binary output: 100000 bytes, not shown]\n");
}

}  // namespace
}  // namespace ttyward::command
