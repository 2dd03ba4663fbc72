#include "engine/shell_care.h"

#include <algorithm>

#include "base/ids.h"
#include "engine/typist.h"
#include "shell/command_line.h"

namespace ttyward::engine {
namespace {

constexpr std::chrono::milliseconds kPromptPause{150};
// While a shell starts, and after an interrupt, the kernel is asked so often whether a shell is at its
// prompt.
constexpr int kStartLooks = 1000;
constexpr int kInterruptLooks = 20;
// A shell that has read a command and waits again after this time has no mark to say so.
constexpr std::chrono::milliseconds kLongestStart{1000};
constexpr std::chrono::milliseconds kIntegrationTime{3000};
constexpr int kMostIntegrations = 2;  // without a command that ended with its mark in between

}  // namespace

bool touches_prompts(std::string_view text) {
  for (const char* name : {"PROMPT_COMMAND", "PS0", "PS1", "precmd", "preexec", "fish_prompt", "__ttyward"}) {
    if (text.find(name) != std::string_view::npos) return true;
  }
  return false;
}

ShellCare::ShellCare(LiveTerminal& live, Typist& typist)
    : live_(live),
      typist_(typist),
      start_timer_(live.loop),
      prompt_timer_(live.loop),
      integrate_timer_(live.loop) {}

void ShellCare::stop() {
  start_timer_.cancel();
  prompt_timer_.cancel();
  integrate_timer_.cancel();
}

void ShellCare::watch_start() {
  start_timer_.after(live_.settings.shell_integration_timeout, [this] { start_failed(); });
  look_for_prompt(kStartLooks);
}

void ShellCare::start_failed() {
  if (live_.model.ready() || live_.model.closed()) return;
  live_.log.note({{"k", "no_integration"}, {"at", live_.model.read_to()}});
  live_.files.remove_start_files();
  live_.model.start_timed_out();
}

void ShellCare::watch_interrupt() {
  look_for_prompt(kInterruptLooks);
}

void ShellCare::prompt() {
  if (!image_) image_ = image_now();
}

std::optional<uint64_t> ShellCare::image_now() const {
  const auto shell = place::process_now(live_.place, live_.model.child_pid(), place::kImage);
  return shell ? shell->image : std::nullopt;
}

void ShellCare::command_ended(const shell::CommandFinished& event) {
  if (event.known_by == shell::KnownBy::ShellMark) failed_integrations_ = 0;
}

std::optional<ShellAtPrompt> ShellCare::shell_at_prompt(const pty::RunState& state) const {
  return engine::shell_at_prompt(live_.place, state, live_.model.feed().output().cursor_line());
}

// A shell may also read on behalf of a command (`read -e`). So the marks are missed only where they cannot
// come.
std::optional<std::string> ShellCare::why_unmarked(const ShellAtPrompt& reader,
                                                   const Command* command) const {
  const TerminalModel& model = live_.model;
  if (reader.kind == shell::ShellKind::Other)
    return "a shell on another machine or in a container reads the terminal (" + reader.program + ")";
  if (reader.pid != model.shell_pid()) {
    return reader.program + " (process " + std::to_string(reader.pid) +
           "), started inside the shell, reads the terminal now";
  }
  if (command == nullptr) return "the shell that reads the terminal does not have ttyward's hooks";
  const auto image = image_now();
  if (reader.pid == model.child_pid() && image_ && image && *image != *image_) {
    return "the shell was replaced by " + reader.program + " (exec)";
  }
  const auto quiet_since = std::max(live_.last_output, command->life.quiet_since());
  const bool unread = !command->started_seen && TerminalModel::Clock::now() - quiet_since > kLongestStart;
  if (command->life.was_interrupted() || command->answered() || unread ||
      touches_prompts(command->delivered)) {
    return "the shell's prompt has no marks: something removed ttyward's hooks";
  }
  return std::nullopt;
}

bool ShellCare::consider(const pty::RunState& state) {
  TerminalModel& model = live_.model;
  Command* command = model.book().current();
  if (model.exit_expected() || !model.has_shell() || model.shell().expected() == shell::Quality::None ||
      model.shell().integrating())
    return false;
  if (command != nullptr && !command->sentinel_nonce.empty()) return false;
  // A person's keyboard is theirs: nothing is typed between their keys. What came by a call was not typed.
  const bool persons = command != nullptr && command->by == Owner::User && !command->submission &&
                       model.spec().owner != Owner::Agent;
  if (model.access().lease() || persons) return false;
  const auto reader = shell_at_prompt(state);
  if (command != nullptr && reader && reader->pid == model.shell_pid() &&
      model.shell().tracker().passed_over()) {
    if (++prompt_looks_ < 2) return true;
    prompt_looks_ = 0;
    typist_.type_again(*command);
    return true;
  }
  const auto why = reader ? why_unmarked(*reader, command) : std::nullopt;
  if (!why) {
    prompt_looks_ = 0;
    return false;
  }
  if (++prompt_looks_ >= 2) marks_lost(*reader, *why);
  return true;
}

// Whether or not anybody waits for an answer.
void ShellCare::look_for_prompt(int looks) {
  if (prompt_timer_.running() || looks <= 0) return;
  prompt_timer_.after(kPromptPause, [this, looks] {
    const TerminalModel& model = live_.model;
    if (model.closed() || !live_.holder.connected() || model.shell().integrating()) return;
    if (model.ready() && !model.book().runs(model.book().current())) return;
    if (TerminalModel::Clock::now() - live_.last_output < kPromptPause) return look_for_prompt(looks - 1);
    live_.ask_kernel([this, looks](const base::Result<pty::RunState>& state) {
      const TerminalModel& now = live_.model;
      if (now.closed() || (now.ready() && now.book().current() == nullptr)) return;
      if (state && !live_.output_unread(*state)) consider(*state);
      look_for_prompt(looks - 1);
    });
  });
}

void ShellCare::hook_lost() {
  live_.post([this] {
    const TerminalModel& model = live_.model;
    if (model.closed() || model.shell().integrating() || model.book().current() != nullptr ||
        model.access().lease())
      return;
    const shell::ShellKind kind = model.shell().identity().kind;
    marks_lost({model.shell_pid(), kind, shell::shell_kind_name(kind)},
               "something removed the hook that reports exit codes (PROMPT_COMMAND)");
  });
}

void ShellCare::marks_lost(const ShellAtPrompt& reader, const std::string& why) {
  TerminalModel& model = live_.model;
  prompt_looks_ = 0;
  const bool inside = reader.pid != model.shell_pid();
  live_.log.note(
      {{"k", "unmarked"}, {"at", model.read_to()}, {"why", why}, {"inner", inside}, {"pid", reader.pid}});
  typist_.line_is_clear();
  model.unmarked({why, inside ? std::optional(reader.pid) : std::nullopt});
  model.shell().reader_is(reader.kind);
  live_.watchers.changed(kMeta);
  if (failed_integrations_ >= kMostIntegrations) return give_up();
  integrate(reader);
}

void ShellCare::integrate(const ShellAtPrompt& reader) {
  TerminalModel& model = live_.model;
  failed_integrations_++;
  shell::ShellSpec spec;
  spec.private_folder = live_.files.folder();
  spec.history = live_.settings.history;
  spec.report_environment = live_.settings.report_environment;
  if (!shell::integrate_later(reader.kind, spec)) return give_up();
  live_.log.note(
      {{"k", "integrate"}, {"at", model.read_to()}, {"shell", shell::shell_kind_name(reader.kind)}});
  model.shell().integrate(reader.kind);
  spec.nonce = model.shell().tracker().nonce();
  const auto late = shell::integrate_later(reader.kind, spec);
  if (!live_.place.write_file(late->file.path, late->file.content)) return give_up();
  live_.files.add_start_file(late->file.path);
  live_.files.hand_over(model.shell().tracker().next_nonce());
  integrate_timer_.after(kIntegrationTime, [this] { give_up(); });
  live_.holder.type(std::string(shell::kClearLine) + late->line + shell::enter(reader.kind));
}

// The shell that reads now has no marks and gets none.
void ShellCare::give_up() {
  TerminalModel& model = live_.model;
  model.shell().give_up();
  integrate_timer_.cancel();
  live_.files.remove_start_files();
  model.set_fallback_reason(model.fallback_reason() +
                            "; it does not support hooks, so the end of a command is found by a sentinel");
  start_failed();
  Command* queued = model.book().queued();
  if (queued != nullptr && queued->sentinel_nonce.empty()) queued->sentinel_nonce = base::random_nonce();
  live_.watchers.changed(kMeta | kPrompt);
  typist_.pump();
}

}  // namespace ttyward::engine
