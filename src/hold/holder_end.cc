// How a command's life ends: its exit, the last output, what it left behind.
#include <time.h>
#include <unistd.h>

#include "hold/holder.h"
#include "sandbox/confinement.h"

namespace ttyward::hold {

namespace {

uint64_t unix_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

void Holder::reap() {
  if (scope_ == Scope::OwnProcess) {
    pty::Child* const owned[] = {&child_};
    pty::reap(owned);
  } else if (!child_.exit()) {
    static_cast<void>(child_.try_reap());
  }
}

bool Holder::alone() const {
  return scope_ == Scope::SharedProcess || pty::nothing_left();
}

void Holder::note_exit(Clock::time_point now) {
  exited_at_ = now;
  drain_until_ = now + drain_time_;
  poller_.remove(child_.pidfd());
  if (confinement_) {
    confinement_->command_ended();
    // Nothing of it is to be seen any more when the exit is told.
    if (confinement_->wait_briefly()) confinement_.reset();
  }
  follow(std::nullopt);
  if (paused_) grant(0);  // handle_full lets the last bytes in
  for (Source& source : sources_) drain(source);
}

void Holder::settle() {
  journal::ExitRecord record;
  if (const auto& exit = child_.exit()) {
    const bool exited = exit->status.kind == pty::ExitStatus::Kind::Exited;
    record.kind = exited ? journal::EndKind::Exited : journal::EndKind::Signaled;
    record.code = exited ? exit->status.code : exit->status.signal;
    record.core_dumped = exit->status.core_dumped ? 1 : 0;
    record.cpu_ms = static_cast<uint64_t>(exit->use.cpu_ms);
    record.max_rss_kib = static_cast<uint64_t>(exit->use.max_rss_kib);
  }
  record.reason = reason_;
  record.exited_unix_ns = unix_now_ns();
  record.run_us = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(*exited_at_ - started_).count());
  if (!alone()) record.survivors = static_cast<uint32_t>(processes().size());
  writer_.record_exit(record);
  exit_ = record;
}

void Holder::try_close(Clock::time_point now) {
  if (ladder_ && ladder_->outcome() == pty::KillLadder::Outcome::Working) return;
  if (!alone() && !ladder_) {
    if (survivors_ == Survivors::Keep) {
      drain_until_.reset();  // what they print is kept too
      return;
    }
    terminate({}, reason_, now);
    return;
  }
  if (!all_ended()) {
    // The survivors are gone, or cannot be helped: one more drain time for the rest.
    if (!drain_until_) drain_until_ = now + drain_time_;
    for (Source& source : sources_) drain(source);
    if (!all_ended() && now < *drain_until_) return;
  }
  if (!all_ended() && output_end_ == journal::OutputEnd::Eof) output_end_ = journal::OutputEnd::DrainTimeout;
  for (const Source& source : sources_) poller_.remove(source.fd.get());
  poller_.remove(stdin_.get());
  poller_.remove(child_signals_.get());
  writer_.close(output_end_);
  closed_ = output_end_;
}

void Holder::terminate(std::vector<pty::KillRung> rungs, journal::EndReason reason, Clock::time_point now) {
  if (closed_) return;
  if (ladder_ && ladder_->outcome() == pty::KillLadder::Outcome::Working) return;
  if (!exited_at_) reason_ = reason;
  if (rungs.empty()) rungs = pty::default_kill_rungs();
  auto actions = scope_ == Scope::OwnProcess ? pty::KillActions::below_this_process({&child_})
                                             : pty::KillActions::below(child_.pid(), {&child_});
  ladder_.emplace(std::move(actions), std::move(rungs), std::vector<pty::ProcessId>{}, now);
  // Blocked in a write, it could not print what it says at its end.
  follow(std::nullopt);
  if (paused_) grant(0);
  step_ladder(now);
}

void Holder::step_ladder(Clock::time_point now) {
  if (ladder_->outcome() == pty::KillLadder::Outcome::Working) ladder_->step(now);
}

void Holder::tell() {
  if (observer_ == nullptr) return;
  if (writer_.end() != told_end_) {
    told_end_ = writer_.end();
    observer_->on_output(told_end_);
  }
  if (paused_ && !told_paused_) {
    told_paused_ = true;
    observer_->on_paused();
  }
  if (exit_ && !told_exit_) {
    told_exit_ = true;
    observer_->on_exit(*exit_);
  }
  if (closed_ && !told_closed_) {
    told_closed_ = true;
    observer_->on_closed(*closed_);
  }
}

}  // namespace ttyward::hold
