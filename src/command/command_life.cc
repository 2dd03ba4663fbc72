#include "command/command_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "pty/exit_status.h"

namespace ttyward::command {

using std::chrono::milliseconds;
using terminal::CommandResult;
using terminal::CommandState;

namespace {

std::string seconds_text(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{} ms", time.count());
}

milliseconds between(CommandLife::TimePoint from, CommandLife::TimePoint to) {
  return std::chrono::duration_cast<milliseconds>(to - from);
}

std::optional<int64_t> time_left(CommandLife::TimePoint from, milliseconds limit,
                                 CommandLife::TimePoint now) {
  if (limit.count() == 0) return std::nullopt;
  return std::max<int64_t>(0, between(now, from + limit).count());
}

}  // namespace

CommandLife::CommandLife(const LifeOptions& options, CommandResult facts, TimePoint accepted)
    : options_(options),
      facts_(std::move(facts)),
      started_(accepted),
      last_output_(accepted),
      quiet_since_(accepted) {
  facts_.state = CommandState::Running;
}

void CommandLife::sent(TimePoint now) {
  sent_ = true;
  quiet_since_ = now;
  schedule_look(now);
}

void CommandLife::begin(uint64_t offset, TimePoint now) {
  sent_ = begun_ = true;
  range_ = {offset, offset};
  // What a shell spent before the command ran is not held against it.
  started_ = last_output_ = quiet_since_ = now;
  found_waiting_ = 0;
  schedule_look(now);
}

void CommandLife::output(uint64_t read_to, TimePoint now) {
  if (over_) return;
  range_.end = std::max(range_.end, read_to);
  last_output_ = quiet_since_ = now;
  found_waiting_ = 0;
  note_running();
  schedule_look(now);
  finish_exit(now);
}

void CommandLife::skip(uint64_t read_to, TimePoint now) {
  if (over_) return;
  range_.end = std::max(range_.end, read_to);
  finish_exit(now);
}

void CommandLife::exited(const journal::ExitRecord& record, uint64_t end, TimePoint now) {
  if (over_ || exit_) return;
  exit_ = record;
  exit_end_ = end;
  finish_exit(now);
}

// An exit counts when everything printed before it was read, and when what it left behind is known.
void CommandLife::finish_exit(TimePoint now) {
  if (!drained() || over_) return;
  if (exit_->survivors > 0 && !listed_) return;  // next() asks for the list
  apply_exit(now);
}

void CommandLife::apply_exit(TimePoint now) {
  const bool exited = exit_->kind == journal::EndKind::Exited;
  const bool signaled = exit_->kind == journal::EndKind::Signaled;
  if (exited) facts_.exit_code = exit_->code;
  if (signaled) facts_.signal = pty::signal_name(exit_->code);
  facts_.core_dumped.reset();
  if (exited || signaled) {
    facts_.core_dumped = exit_->core_dumped != 0;
    facts_.known_by = "wait";
    facts_.cpu_ms = static_cast<int64_t>(exit_->cpu_ms);
    facts_.max_rss_kib = static_cast<int64_t>(exit_->max_rss_kib);
    facts_.duration_ms = static_cast<int64_t>(exit_->run_us / 1000);
  } else if (!answered_) {
    facts_.duration_ms = between(started_, now).count();
  }
  if (!answered_) {
    facts_.state = exited ? CommandState::Exited : signaled ? CommandState::Signaled : CommandState::Lost;
    // A shell that hands the interrupt on ends with 128 + SIGINT instead of dying of it.
    if (interrupted_ && (signaled || facts_.exit_code == 128 + SIGINT)) {
      facts_.state = CommandState::Interrupted;
    }
    if (exit_->reason == journal::EndReason::Overflow) {
      facts_.reason = "ended: its output reached the journal's quota, and the overflow policy is kill";
    } else if (facts_.state == CommandState::Lost && facts_.reason.empty()) {
      facts_.reason = "its holder was killed, so its exit status is not known";
    }
  }
  finish(now);
}

void CommandLife::shell_finished(const shell::CommandFinished& event, const std::string& unmarked,
                                 TimePoint now) {
  if (over_) return;
  ended_ = true;
  range_ = event.output;
  facts_.known_by = shell::known_by_name(event.known_by);
  facts_.pipeline = event.pipeline;
  facts_.exit_code = event.exit_code;
  // A shell tells that a part of its command was killed, but not whether that left a core.
  if (event.signal || !event.exit_code) facts_.core_dumped.reset();
  if (event.signal) facts_.signal = pty::signal_name(*event.signal);
  if (answered_) return;
  facts_.duration_ms = between(started_, now).count();
  // A shell says 128 + n for a part of its command that was killed by signal n; some say 256 + n.
  const bool by_interrupt = interrupted_ && (!event.exit_code || *event.exit_code == 128 + SIGINT ||
                                             *event.exit_code == 256 + SIGINT);
  if (event.signal) {
    facts_.state = CommandState::Signaled;
  } else if (by_interrupt) {
    facts_.state = CommandState::Interrupted;
  } else if (event.exit_code) {
    facts_.state = CommandState::Exited;
  } else {
    facts_.state = event.known_by == shell::KnownBy::Nothing && event.shell_gone ? CommandState::Lost
                                                                                 : CommandState::Exited;
    facts_.reason = unmarked.empty() ? "it ended, but its exit status was not observed"
                                     : "its exit status was not observed: " + unmarked;
  }
  if (event.incomplete) {
    facts_.reason =
        "the command is not complete (an open quote, bracket or heredoc): the shell asked for "
        "more, and it was abandoned";
  } else if (!event.executed) {
    if (event.exit_code) {
      facts_.reason = "the shell refused it (a syntax error) and ran nothing";
    } else if (by_interrupt) {
      facts_.reason = "it was interrupted before it started, so nothing ran";
    } else {
      facts_.state = CommandState::FailedToStart;
      facts_.reason =
          "the shell came back to its prompt without starting it, so nothing ran: an option (set -n), a "
          "limit "
          "(ulimit), a key setting (stty) or a function in this shell keeps commands out; open another "
          "terminal";
    }
  } else if (event.shell_gone && facts_.reason.empty()) {
    facts_.reason = "it ended the shell";
  } else if (event.left_alternate && facts_.reason.empty()) {
    facts_.reason = "a full-screen program ended without restoring the screen";
  }
  facts_.decode_shell_code();
}

void CommandLife::finish(TimePoint now) {
  if (over_) return;
  const bool timed = exit_ || (ended_ && !answered_);
  if (facts_.duration_ms == 0 && !timed) facts_.duration_ms = between(started_, now).count();
  over_ = answered_ = true;
  kill_due_ = false;
  facts_.waiting.reset();
  range_.end = std::max(range_.end, range_.begin);
}

void CommandLife::lost(std::string reason, TimePoint now) {
  if (over_) return;
  if (!answered_) {
    facts_.state = CommandState::Lost;
    facts_.reason = std::move(reason);
    facts_.duration_ms = between(started_, now).count();
    facts_.core_dumped.reset();
  }
  finish(now);
}

void CommandLife::end(CommandState state, std::string reason, TimePoint now) {
  if (answered_ || ended_) return;
  answer(state, std::move(reason), now);
}

void CommandLife::fail(CommandState state, std::string reason, TimePoint now) {
  if (answered_) return;
  answer(state, std::move(reason), now);
  finish(now);
}

void CommandLife::answer(CommandState state, std::string reason, TimePoint now) {
  facts_.state = state;
  facts_.reason = std::move(reason);
  facts_.duration_ms = between(started_, now).count();
  answered_ = true;
  kill_due_ = true;
}

// --- looks

void CommandLife::schedule_look(TimePoint now) {
  const milliseconds silent = between(quiet_since_, now);
  if (silent < kFirstLook) {
    next_look_ = quiet_since_ + kFirstLook;
  } else {
    next_look_ =
        now + (found_waiting_ == 1 ? kSecondLook : std::clamp(silent / 2, kFirstLook, kLongestPause));
  }
  if (found_waiting_ > 1 && options_.input_patience.count() > 0) {
    next_look_ = std::min(next_look_, std::max(now + kSecondLook, waiting_since_ + options_.input_patience));
  }
}

void CommandLife::want_looks(bool wanted, TimePoint now) {
  if (wanted && !looks_wanted()) schedule_look(now);
  looks_wanted_ = wanted;
}

void CommandLife::input_given(TimePoint now) {
  quiet_since_ = now;
  found_waiting_ = 0;
  note_running();
  schedule_look(now);
}

void CommandLife::note_running() {
  if (answered_ || ended_) return;
  facts_.waiting.reset();
  facts_.state = CommandState::Running;
}

void CommandLife::note_waiting(const pty::Waiting& waiting, std::string prompt) {
  facts_.waiting = terminal::WaitingFor{pty::wait_kind_name(waiting.kind), std::move(prompt), waiting.program,
                                        waiting.pid, waiting.evidence};
}

void CommandLife::looked(const pty::RunState& state, std::string prompt, TimePoint now) {
  look_open_ = false;
  if (answered_ || ended_) return schedule_look(now);
  // Output on its way may be the end of the command, or its next question.
  if (state.output_pending) return look_failed(now);
  // Until it has begun, whoever reads is the shell, and what it reads is the command.
  if (!state.waiting || !begun_) {
    found_waiting_ = 0;
    note_running();
    return schedule_look(now);
  }
  if (++found_waiting_ == 1) waiting_since_ = now;
  if (found_waiting_ > 1) facts_.state = CommandState::AwaitingInput;
  // At a time limit one look is all there is; the state will be TimedOut.
  if (found_waiting_ > 1 || limit_since_) note_waiting(*state.waiting, std::move(prompt));
  schedule_look(now);
  const bool patience_over =
      options_.input_patience.count() > 0 && now - waiting_since_ >= options_.input_patience;
  if (found_waiting_ > 1 && patience_over && !limit_since_) {
    answer(CommandState::AwaitingInput,
           fmt::format("{} waits for input ({}) and nobody can provide it", facts_.waiting->program,
                       facts_.waiting->kind),
           now);
  }
}

void CommandLife::look_failed(TimePoint now) {
  look_open_ = false;
  schedule_look(now);
}

void CommandLife::left_behind(std::vector<terminal::BackgroundProcess> processes,
                              std::vector<terminal::OpenPort> ports, TimePoint now) {
  listing_ = false;
  listed_ = true;
  if (options_.survivors == hold::Survivors::Keep) {
    facts_.background = std::move(processes);
    facts_.ports = std::move(ports);
  } else {
    facts_.ended_background = std::move(processes);
  }
  finish_exit(now);
}

// --- time

std::optional<std::string> CommandLife::limit_reached(TimePoint now) const {
  if (options_.timeout.count() > 0 && now >= started_ + options_.timeout) {
    return fmt::format("it ran longer than its time limit of {}", seconds_text(options_.timeout));
  }
  if (options_.idle_timeout.count() > 0 && now >= last_output_ + options_.idle_timeout) {
    return fmt::format("it printed nothing for {}", seconds_text(options_.idle_timeout));
  }
  return std::nullopt;
}

std::optional<CommandLife::TimePoint> CommandLife::nearest_limit() const {
  std::optional<TimePoint> nearest;
  if (options_.timeout.count() > 0) nearest = started_ + options_.timeout;
  if (options_.idle_timeout.count() > 0) {
    const TimePoint idle = last_output_ + options_.idle_timeout;
    nearest = nearest ? std::min(*nearest, idle) : idle;
  }
  return nearest;
}

CommandLife::Step CommandLife::next(TimePoint now) {
  if (std::exchange(kill_due_, false)) return Step::Kill;
  if (over_) return Step::Wait;
  if (exit_) {
    if (!drained() || exit_->survivors == 0 || listing_ || listed_) return Step::Wait;
    listing_ = true;
    return Step::ListProcesses;
  }
  if (ended_) return Step::Wait;
  if (answered_) {
    // It may be over without anybody having heard of it: whoever wants to know goes on asking.
    if (!looks_wanted_ || !look_due(now)) return Step::Wait;
    look_open_ = true;
    return Step::Look;
  }
  if (auto reason = limit_reached(now)) {
    if (begun_ && !limit_since_) {
      limit_since_ = now;
      if (std::exchange(look_open_, true)) return Step::Wait;  // one is on its way already
      return Step::Look;
    }
    if (begun_ && look_open_ && now < *limit_since_ + kLastLook) return Step::Wait;
    answer(CommandState::TimedOut, std::move(*reason), now);
    return next(now);
  }
  limit_since_.reset();  // it has printed something after all
  if (looks_wanted() && look_due(now)) {
    look_open_ = true;
    return Step::Look;
  }
  return Step::Wait;
}

std::optional<CommandLife::TimePoint> CommandLife::deadline() const {
  if (over_ || ended_ || exit_) return std::nullopt;
  if (answered_) {
    return looks_wanted_ && sent_ && !look_open_ ? std::optional(next_look_) : std::nullopt;
  }
  if (limit_since_) return *limit_since_ + kLastLook;
  std::optional<TimePoint> nearest = nearest_limit();
  if (sent_ && looks_wanted() && !look_open_) {
    nearest = nearest ? std::min(*nearest, next_look_) : next_look_;
  }
  return nearest;
}

// --- results

CommandResult CommandLife::result(TimePoint now) const {
  CommandResult result = facts_;
  result.total_bytes = range_.end - range_.begin;
  if (answered_ || ended_) return result;
  result.duration_ms = between(started_, now).count();
  result.time_left_ms = time_left(started_, options_.timeout, now);
  result.idle_left_ms = time_left(last_output_, options_.idle_timeout, now);
  return result;
}

CommandResult CommandLife::result(terminal::Output& output, const terminal::ViewLimits& view,
                                  TimePoint now) const {
  CommandResult made = result(now);
  describe_output(output, view, answered_, made);
  return made;
}

void describe_output(terminal::Output& output, const terminal::ViewLimits& view, bool no_more,
                     CommandResult& result) {
  result.binary = output.is_binary();
  output.as_if_finished([&](const terminal::Transcript& transcript) {
    result.total_lines = transcript.size();
    if (!result.binary) {
      result.output =
          make_view(transcript, view, {result.command, no_more ? result.exit_code : std::nullopt});
    }
  });
  if (result.binary) {
    result.output = {fmt::format("[binary output: {} bytes, not shown]\n", result.total_bytes), std::nullopt};
    return;
  }
  result.encoding = output.encoding();
  result.no_newline = no_more && output.ends_in_line();
}

}  // namespace ttyward::command
