// What a terminal does when its holder or its model says something.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/ids.h"
#include "base/unix_time.h"
#include "command/pipe_report.h"
#include "engine/log_records.h"
#include "engine/open_ports.h"
#include "engine/terminal.h"
#include "sandbox/profile.h"

namespace ttyward::engine {
namespace {

// A frame that takes longer than this is shown as far as it has come.
constexpr std::chrono::milliseconds kLongestFrame{500};

}  // namespace

// --- the holder's word

void Terminal::on_welcome(const hold::StatusMessage& status) {
  holder_pid_ = static_cast<pid_t>(status.holder_pid);
  reached_again_ = 0;
  if (far_ != nullptr && !link_lost_.empty()) {
    link_lost_.clear();  // or it is said again
    watchers_.changed(kMeta);
  }
  model_->started(static_cast<pid_t>(status.child_pid), provider());
  if (!model_->feed().following()) return;
  if (status.has_exit != 0 && !end_.exit && status.exit.size() == sizeof(journal::ExitRecord)) {
    journal::ExitRecord record;
    std::memcpy(&record, status.exit.data(), sizeof record);
    return on_exited(record);
  }
  if (const auto now = model_->feed().reader().status())
    resend_if_unsent(now->input_bytes + status.input_waiting);
  read_new();
}

void Terminal::on_output(uint64_t) {
  read_new();
}

void Terminal::on_paused() {
  watchers_.changed(kMeta);
}

void Terminal::on_exited(const journal::ExitRecord& record) {
  if (end_.exit || !model_->feed().following()) return;
  end_.exit = record;
  end_.output_end = model_->feed().end();
  read_new();
}

void Terminal::on_closed() {
  end_.holder_closed = true;
  read_new();
}

void Terminal::on_link(const hold::LinkMessage& link) {
  const std::string why = link.linked ? "" : link.why;
  if (why == link_lost_) return;
  link_lost_ = why;
  watchers_.changed(kMeta);
}

void Terminal::on_lost(const std::string& why) {
  lost_reason_ = why;
  link_lost_.clear();
}

void Terminal::remove_command_file(const Command& command) const {
  if (command.file.empty()) return;
  if (far_ != nullptr) return far_->remove_tree(command.file);
  ::unlink(command.file.c_str());
}

void Terminal::on_gone() {
  const std::unique_ptr<command::Source> gone = holder_.disconnect();
  if (live() && reach_again()) return;
  if (!live()) watchers_.changed(kMeta);
  if (!model_->feed().following()) return close(State::Lost);
  const auto status = model_->feed().reader().status();
  if (status && status->exit && !end_.exit) {
    end_.exit = status->exit;
    end_.output_end = model_->feed().end();
  }
  end_.holder_closed = true;
  if (!end_.exit) end_.holder_lost = true;
  read_new();
}

// What is not much at once, and a flood in slices, which all terminals share.
void Terminal::read_new() {
  if (reading_ || !model_->feed().following()) return;
  if (read_on(Feed::kAtOnce)) return;
  reading_ = true;
  host_.slices.add([this, alive = alive_](Slices::Clock::time_point until) {
    if (!*alive) return true;
    reading_ = !read_on({UINT64_MAX, until - Slices::Clock::now()});
    return !reading_;
  });
}

// True: all there is was read.
bool Terminal::read_on(const Feed::Budget& budget) {
  const bool caught_up = model_->feed().read_all(budget);
  watch_synchronized_output();
  if (caught_up) read_all_there_is();
  return caught_up;
}

void Terminal::read_all_there_is() {
  if (end_.exit && !end_.handled && read_to() >= end_.output_end) shell_ended();
  if (end_.holder_lost && live()) {
    Command* const command = current();
    if (!lost_reason_.empty() && model_->book().runs(command)) model_->lose(*command, lost_reason_);
    close(State::Lost);
  }
  if (holder_.connected() && !end_.holder_closed) holder_->watch(read_to());
}

void Terminal::watch_synchronized_output() {
  const auto in_frame = [this] { return output().screen().modes().has(vt::Mode::SynchronizedOutput); };
  if (frame_timer_.running() || !in_frame()) return;
  frame_timer_.after(kLongestFrame, [this, in_frame] {
    if (!in_frame()) return;
    model_->end_synchronized_output();
    watchers_.changed(kOutput);
  });
}

// The process this terminal is for has ended, and all it printed was read.
void Terminal::shell_ended() {
  end_.handled = true;
  if (has_shell()) {
    model_->shell_gone(*end_.exit);
    return close(State::Finished);
  }
  Command& command = *commands().back();
  model_->command_exited(command, *end_.exit);
  if (!command.over()) return watch_.drive();  // what it left behind has to be listed
  close(State::Finished);
}

void Terminal::list_left_behind(Command& command) {
  const auto told = [this, alive = alive_,
                     &command](const base::Result<std::vector<command::Source::Process>>& list) {
    if (!*alive) return;
    std::vector<terminal::BackgroundProcess> left;
    std::vector<pid_t> pids;
    for (const command::Source::Process& process : list.value_or(std::vector<command::Source::Process>())) {
      if (process.pid == pid()) continue;
      left.push_back({process.pid, process.command});
      pids.push_back(process.pid);
    }
    if (!spec().keep_background) pids.clear();
    place_.ports(pids, [this, alive, &command, left](const std::optional<place::Place::Ports>& ports) {
      if (!*alive) return;
      terminal::CommandResult listening;
      add_ports(listening, ports.value_or(place::Place::Ports()));
      model_->left_behind(command, left, std::move(listening.ports));
      close(State::Finished);
    });
  };
  if (!holder_.connected()) return told(std::vector<command::Source::Process>());
  holder_->processes(told);
}

void Terminal::close(State final, Logged logged) {
  if (!live()) return;
  // What ended while nobody looked ended when the kernel says so.
  if (end_.closed_at_ms == 0 && end_.exit)
    end_.closed_at_ms = static_cast<int64_t>(end_.exit->exited_unix_ns / 1'000'000);
  if (end_.closed_at_ms == 0) end_.closed_at_ms = base::unix_ms();
  model_->close(final == State::Lost);
  files_.remove_all();
  // A holder that was killed could not tidy up.
  if (final == State::Lost && far_ == nullptr && !spec().sandbox.workspace.empty())
    sandbox::remove_left_placeholders(spec().sandbox.workspace, spec().cwd);
  if (logged == Logged::No)
    note({{"k", "closed"}, {"lost", model_->lost()}, {"closed_at", end_.closed_at_ms}});
  log_.give_back_room();
  typist_.stop();
  care_.stop();
  interrupter_.stop();
  watch_.stop();
  replies_.stop();
  watchers_.changed(kClosed | kReady | kMeta);
}

// --- what the model says

int64_t Terminal::unix_ms() const {
  return base::unix_ms();
}

void Terminal::on_bytes(uint64_t offset, std::string_view bytes) {
  live_.last_output = Clock::now();
  last_output_at_ms_ = base::unix_ms();
  care_.output_came();
  watchers_.changed(kOutput);
  watchers_.bytes(offset, bytes);
}

void Terminal::on_command_bytes(const Command& command, std::string_view bytes) {
  watchers_.command_bytes(command, bytes);
}

void Terminal::on_prompt() {
  files_.remove_start_files();
  files_.hand_over(model_->shell().tracker().next_nonce());
  if (files_.forget_typed()) typist_.clear_line_first();
  care_.prompt();
  prompt_ = prompt_record(*model_);
  typist_.prompt();
}

// Its nonce was taken.
void Terminal::on_start_mark() {
  files_.blank(model_->shell().tracker().next_nonce().size());
}

std::string Terminal::typed_command_id(uint64_t begin) {
  const std::string command_id = base::random_id('c');
  typist_.command_typed_by_others();
  note({{"k", "typed_command"}, {"c", command_id}, {"begin", begin}, {"prompt", prompt_}});
  return command_id;
}

void Terminal::on_started(Command& /*command*/) {
  tell_forgotten();
  watch_.drive();
  interrupter_.catch_up();
}

void Terminal::on_ended(Command& /*command*/, const shell::CommandFinished& event) {
  typist_.stop_abandoning();
  replies_.clear();  // who asked is gone
  care_.command_ended(event);
}

void Terminal::on_ending(Command& /*command*/) {
  ending_timer_.after(host_.settings.command_delay, [this] { model_->finish_ending(); });
}

void Terminal::on_finishing(Command& command) {
  if (spec().temporary() && command.facts.exit_code) {
    const base::UniqueFd file(
        ::openat(host_.logs, statuses_file(id()).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (file)
      command.facts.pipeline =
          command::statuses_in(command::read_report(file.get()), *command.facts.exit_code);
  }
  if (spec().temporary() || pid() <= 0 || holder_pid_ <= 0 || !live() || end_.exit || !command.started_seen)
    return;
  place::LeftBehindQuery query;
  query.holder = holder_pid_;
  query.shell = pid();
  query.newest_before = typist_.newest_before();
  query.ran = std::chrono::duration_cast<std::chrono::milliseconds>(
      Clock::now() - typist_.sent_at().value_or(command.life.started()));
  query.shells_group_too = on_pipes();
  // A far place answers when the command is over already: its record is completed then.
  place_.left_behind(query,
                     [this, alive = alive_, id = command.facts.command_id](const place::LeftBehind& left) {
                       Command* const ended = *alive ? find(id) : nullptr;
                       if (ended == nullptr) return;
                       for (const auto& process : left.processes)
                         ended->facts.background.push_back({process.pid, process.command});
                       add_ports(ended->facts, left.ports);
                     });
}

void Terminal::on_finished(Command& command) {
  remove_command_file(command);
  if (model_->book().ending() == nullptr) ending_timer_.cancel();
  if (current() == nullptr) typist_.stop_abandoning();
  watch_.drive();
  interrupter_.command_over();
  log_.note(finish_record(command, read_to(), has_shell() ? model_->shell().tracker().nonces_used() : 0));
  if (spec().temporary()) ::unlinkat(host_.logs, statuses_file(id()).c_str(), 0);
  log_.tidy(command, *model_, host_.settings.log_bytes);
  record(command);
}

void Terminal::on_quality(const shell::QualityChanged& event) {
  if (host_.on_quality) host_.on_quality(*this, event.from, event.to, event.reason);
  const bool could_be_rich = shell::attainable_quality(shell().kind) == shell::Quality::Rich;
  // Its prompt is marked, its hook before that is gone.
  if (event.from == shell::Quality::Rich && event.to == shell::Quality::Basic && could_be_rich)
    care_.hook_lost();
}

// While a person has the keyboard the size is that of their window.
void Terminal::on_resize_wanted(const pty::WindowSize& size) {
  if (!lease()) resize(size, [](const auto&) {});
}

std::optional<std::string> Terminal::kernel_cwd() {
  if (shell_pid() <= 0) return std::nullopt;
  auto shell = place::process_now(place_, shell_pid(), place::kFolder);
  if (!shell || shell->folder.empty()) return std::nullopt;
  return std::move(shell->folder);
}

void Terminal::tell_forgotten() {
  for (const std::string& command_id : model_->book().take_forgotten()) {
    if (host_.on_command_forgotten) host_.on_command_forgotten(command_id);
  }
}

void Terminal::record(const Command& command) {
  if (host_.on_record) host_.on_record(*this, command);
}

}  // namespace ttyward::engine
