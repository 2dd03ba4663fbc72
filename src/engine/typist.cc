#include "engine/typist.h"

#include <utility>

#include "engine/log_records.h"
#include "engine/quiet_line.h"
#include "shell/command_line.h"
#include "shell/piped.h"
#include "shell/quoting.h"
#include "shell/sentinel.h"

namespace ttyward::engine {

using terminal::CommandState;

namespace {

// How long a shell takes to come back to its prompt after Ctrl-C, and when it is not waited for any longer.
constexpr std::chrono::milliseconds kBreakSettle{100};
constexpr std::chrono::milliseconds kLongestBreak{1000};

}  // namespace

std::string with_cwd(const std::string& text, const std::string& cwd, shell::ShellKind shell) {
  const shell::Dialect dialect = shell::dialect_of(shell);
  const auto quoted = [&](const std::string& word) { return shell::quote(word, dialect).value_or("''"); };
  switch (dialect) {
    case shell::Dialect::Fish:
      return "begin; set -l __tw_d $PWD; cd " + quoted(cwd) + "; and eval " + quoted(text) +
             "; set -l __tw_s $status; cd $__tw_d; sh -c \"exit $__tw_s\"; end";
    case shell::Dialect::PowerShell:
      return "Push-Location -LiteralPath " + quoted(cwd) + "; try { " + text + "\n} finally { Pop-Location }";
    case shell::Dialect::Cmd:
      return "pushd " + quoted(cwd) + " && " + text + " & popd";
    case shell::Dialect::Posix:
      break;
  }
  // The assignment before eval is the shell's own business and gone with the unset.
  return "__tw_d=$PWD; if cd -- " + quoted(cwd) + "; then eval " + quoted(text) +
         "; else false; fi; __tw_s=$?; cd -- \"$__tw_d\"; eval \"unset __tw_d __tw_s; (exit $__tw_s)\"";
}

Typist::Typist(LiveTerminal& live)
    : live_(live),
      editor_timer_(live.loop),
      abandon_timer_(live.loop),
      break_timer_(live.loop),
      prompt_timer_(live.loop) {}

void Typist::stop() {
  editor_timer_.cancel();
  abandon_timer_.cancel();
  break_timer_.cancel();
  prompt_timer_.cancel();
}

void Typist::pump() {
  TerminalModel& model = live_.model;
  Command* command = model.book().queued();
  if (command == nullptr || model.closed() || !live_.holder.connected()) return;
  if (command->sentinel_nonce.empty() && !shell_can_take(*command)) return;
  model.book().set_queued(nullptr);
  // Since it was decided the folder, its files or the shell may have become something else.
  if (const auto look = std::exchange(command->second_look, nullptr)) {
    if (std::string objection = look(); !objection.empty())
      return model.fail(*command, CommandState::Denied, std::move(objection));
  }
  if (auto sent = send(*command); !sent) fail(*command, sent.error());
}

bool Typist::shell_can_take(const Command& command) {
  TerminalModel& model = live_.model;
  if (!model.has_shell() || !model.shell().tracker().ready()) return false;
  if (model.access().lease() && command.by == Owner::Agent) return false;  // when it is given back
  if (break_timer_.running()) return false;
  if (model.shell().tracker().line_begun()) {
    // A person left half a line: it goes, and the new prompt brings us back.
    live_.holder.type(shell::kAbandonInput);
    note_break();
    return false;
  }
  const shell::ShellKind kind = model.shell().identity().kind;
  const bool paste = model.feed().output().screen().modes().has(vt::Mode::BracketedPaste);
  if (!paste && shell::has_line_editor(kind) && !editor_waited_) {
    if (!editor_timer_.running()) {
      editor_timer_.after(std::chrono::milliseconds(shell::kEditorGraceMs), [this] {
        editor_waited_ = true;
        pump();
      });
    }
    return false;
  }
  editor_timer_.cancel();
  // Input that arrived after the prompt belongs to no command. mksh would print its prompt
  // again, with marks that end a command.
  if (std::exchange(clear_line_, false) && kind != shell::ShellKind::Mksh)
    live_.holder.type(shell::kClearLine);
  return true;
}

base::Result<void> Typist::write_command_file(Command& command, std::string_view content) {
  command.file = live_.files.folder() + "/" + command.facts.command_id + ".cmd";
  return live_.place.write_file(command.file, content);
}

base::Result<std::string> Typist::sentinel_bytes(Command& command) {
  const ShellSession& shell = live_.model.shell();
  if (!live_.model.on_pipes()) {
    const shell::Dialect dialect =
        shell.marks_lost() ? shell::dialect_of(shell.identity().kind) : shell::Dialect::Posix;
    auto made = shell::make_sentinel(command.delivered, command.sentinel_nonce, dialect);
    if (!made) return tl::unexpected(made.error());
    return std::move(made->bytes);
  }
  if (command.delivered.size() > shell::kMostPipedText) {
    if (auto written = write_command_file(command, command.delivered); !written)
      return tl::unexpected(written.error());
  }
  return shell::piped_line(command.delivered, command.sentinel_nonce, shell.identity().kind, command.file);
}

base::Result<std::string> Typist::bytes_for(Command& command) {
  if (!command.sentinel_nonce.empty()) return sentinel_bytes(command);
  const TerminalModel& model = live_.model;
  shell::DeliveryContext context;
  context.kind = model.shell().identity().kind;
  context.bracketed_paste = model.feed().output().screen().modes().has(vt::Mode::BracketedPaste);
  context.history = live_.settings.history;
  context.nonce = model.shell().tracker().next_nonce();
  context.file_name = command.facts.command_id + ".cmd";
  auto delivery = shell::deliver(command.delivered, context);
  if (!delivery) return tl::unexpected(delivery.error());
  if (delivery->file_content) {
    if (auto written = write_command_file(command, *delivery->file_content); !written)
      return tl::unexpected(written.error());
  }
  command.line = std::move(delivery->line);
  return std::move(delivery->bytes);
}

base::Result<void> Typist::send(Command& command) {
  TerminalModel& model = live_.model;
  command.submission = model.book().next_submission();
  const auto bytes = bytes_for(command);
  if (!bytes) return tl::unexpected(bytes.error());
  command.sent = true;
  command.newlines_before = model.feed().newlines();
  newest_before_ = live_.place.newest_process();
  sent_at_ = Clock::now();
  const shell::CommandTracker& tracker = model.shell().tracker();
  command.quiet = command.sentinel_nonce.empty() && command.file.empty() &&
                  is_quiet_line(command.delivered, tracker.reading());
  if (command.delivered == command.facts.command) command.facts.cwd = model.cwd();
  model.book().set_current(&command);
  const auto record = submit_record(command, model, live_.holder.typed_bytes());
  if (auto logged = live_.log.write(record); !logged) return logged;
  if (command.quiet) live_.files.hand_over(tracker.quiet_nonce());
  model.submitted(command);
  live_.holder.type(
      *bytes, [this, alive = live_.alive, id = command.facts.command_id](const base::Result<void>& sent) {
        if (!*alive) return;
        Command* typed = live_.model.book().find(id);
        if (typed == nullptr || typed->over()) return;
        typed->accepted = sent.has_value();
        if (sent) return live_.log.tidy(*typed, live_.model, live_.settings.log_bytes);
        fail(*typed, sent.error());
      });
  live_.watchers.changed(kCommandState);
  return {};
}

void Typist::type_again(Command& command) {
  const auto bytes = bytes_for(command);
  if (!bytes) return fail(command, bytes.error());
  live_.model.shell().tracker().sent_again();
  live_.holder.type(*bytes);
}

void Typist::fail(Command& command, const base::Error& error) {
  live_.model.fail(command, CommandState::FailedToStart, error.message);
}

void Typist::prompt() {
  editor_waited_ = false;
  prompt_timer_.cancel();
  if (break_timer_.running()) {
    prompt_after_break_ = true;
    settle_after_break();
  }
  live_.post([this] { pump(); });
}

// Several interrupts may bring one prompt or several, and an empty line need not bring one at all: so a
// prompt counts once nothing came after it for a moment.
void Typist::note_break() {
  TerminalModel& model = live_.model;
  if (!model.has_shell() || model.book().current() != nullptr || model.shell().executing()) return;
  live_.log.note({{"k", "break"}, {"at", model.read_to()}});
  model.interrupted();
  break_at_ = Clock::now();
  prompt_after_break_ = false;
  settle_after_break();
}

void Typist::settle_after_break() {
  break_timer_.after(kBreakSettle, [this] {
    if (!prompt_after_break_ && Clock::now() - break_at_ < kLongestBreak) return settle_after_break();
    live_.model.shell().tracker().line_abandoned();
    if (!prompt_after_break_) ask_for_prompt();
    pump();
  });
}

// With Ctrl-C the kernel throws away what a terminal has printed and nobody has read. That may be the end of
// a prompt, with its mark: the shell reads, and nobody knows. It shows another one for an empty line.
void Typist::ask_for_prompt() {
  const auto missing = [this] {
    const TerminalModel& model = live_.model;
    return model.has_shell() && !model.closed() && live_.holder.connected() && !model.access().lease() &&
           model.book().current() == nullptr &&
           model.shell().tracker().state() == shell::CommandTracker::State::Prompt;
  };
  if (!missing()) return;
  prompt_timer_.after(kLongestBreak, [this] { ask_for_prompt(); });
  live_.ask_kernel([this, missing](const base::Result<pty::RunState>& state) {
    if (!state || !missing() || live_.output_unread(*state)) return;
    if (state->waiting && state->waiting->pid == live_.model.shell_pid())
      live_.holder.type(std::string(1, shell::enter(live_.model.shell().identity().kind)));
  });
}

void Typist::abandon_input() {
  if (!live_.holder.connected() || abandon_timer_.running()) return;
  live_.holder.type(shell::kAbandonInput);
  abandon_timer_.after(std::chrono::milliseconds(shell::kAbandonRetryMs), [this] {
    if (live_.model.book().runs(live_.model.book().current())) abandon_input();
  });
}

}  // namespace ttyward::engine
