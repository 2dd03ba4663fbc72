#include "engine/terminal_model.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "engine/watchers.h"
#include "shell/launch.h"

namespace ttyward::engine {

using terminal::CommandState;

TerminalModel::TerminalModel(TerminalSpec spec, ModelOptions options, Observer& observer)
    : spec_(std::move(spec)),
      options_(std::move(options)),
      observer_(&observer),
      provider_(spec_.provider),
      feed_(output_options(Of::All), spec_.temporary() ? Feed::Marks::Ignore : Feed::Marks::Follow, *this),
      book_(options_.records) {}

terminal::OutputOptions TerminalModel::output_options(Of what) const {
  using Source = terminal::BinarySniffer::Source;
  terminal::OutputOptions options;
  options.cols = spec_.size.columns;
  options.rows = spec_.size.rows;
  options.source = what == Of::All && !spec_.temporary() ? Source::Shell
                   : provider_ == pty::Provider::Pty     ? Source::Terminal
                                                         : Source::Pipe;
  options.bare_lines = on_pipes();
  options.transcript = options_.transcript;
  return options;
}

terminal::OutputOptions TerminalModel::command_options() {
  terminal::OutputOptions options = output_options(Of::Command);
  options.transcript.kept = &feed_.kept();
  return options;
}

bool TerminalModel::busy() const {
  return book_.queued() != nullptr || book_.runs(book_.current()) || (shell_ && shell_->executing());
}

// --- how it comes to life

void TerminalModel::set_shell(ShellSession::Options options) {
  shell_.emplace(std::move(options));
}

void TerminalModel::started(pid_t child, pty::Provider provider) {
  child_pid_ = child;
  if (std::exchange(provider_, provider) != provider) feed_.begin_again(output_options(Of::All));
}

void TerminalModel::became_ready() {
  if (std::exchange(ready_, true)) return;
  observer_->on_ready();
  observer_->on_changed(kReady | kMeta);
}

void TerminalModel::start_one_command(int64_t created_at_ms) {
  command::LifeOptions limits;
  limits.timeout = spec_.timeout;
  limits.idle_timeout = spec_.idle_timeout;
  limits.survivors = spec_.keep_background ? hold::Survivors::Keep : hold::Survivors::Kill;
  Command& command = add_command(spec_.command_id, spec_.owner, spec_.command, limits);
  command.facts.cwd = spec_.cwd;
  command.facts.description = spec_.description;
  command.facts.verdict_json = spec_.verdict_json;
  command.facts.started_at_ms = created_at_ms;
  command.life.begin(0, observer_->now());
  command.sent = true;
  command.started_seen = true;
  book_.set_current(&command);
}

// --- bytes

void TerminalModel::feed_bytes(uint64_t offset, std::string_view bytes) {
  if (Command* command = printing()) {
    const CommandState before = command->facts.state;
    command->life.output(offset + bytes.size(), observer_->now());
    if (command->facts.state != before) observer_->on_changed(kCommandState);
  }
  observer_->on_bytes(offset, bytes);
}

Command* TerminalModel::printing() const {
  Command* command = book_.current();
  if (!book_.runs(command) || command == book_.ending() || !command->started_seen) return nullptr;
  return command;
}

void TerminalModel::feed_output(uint64_t offset, std::string_view bytes) {
  Command* command = printing();
  if (command == nullptr) return;
  if (command->output) command->output->feed(bytes, offset);
  observer_->on_command_bytes(*command, bytes);
}

void TerminalModel::feed_mark(const vt::ShellMark& mark) {
  if (on_pipes() && mark.end <= known_from_) return;
  if (!mark.alternate) mark_row_ = mark.row;
  shell_->tracker().mark(mark);
  handle_events();
  mark_row_.reset();
}

void TerminalModel::feed_event(const vt::Event& event) {
  if (const auto* title = std::get_if<vt::TitleChanged>(&event)) {
    title_ = title->title;
    observer_->on_changed(kMeta);
  } else if (const auto* progress = std::get_if<vt::Progress>(&event)) {
    progress_ = progress->state == vt::Progress::State::None ? std::nullopt : std::optional(*progress);
    observer_->on_changed(kMeta);
  } else if (const auto* size = std::get_if<vt::ResizeRequested>(&event)) {
    // 80 or 132 columns, after the program said that it will ask for them.
    if (size->by != vt::ResizeRequested::By::ColumnMode) return;
    observer_->on_resize_wanted({static_cast<uint16_t>(size->cols), static_cast<uint16_t>(size->rows), 0, 0});
  }
}

void TerminalModel::feed_gap(uint64_t newlines) {
  if (shell_) shell_->tracker().bytes_missed();
  if (Command* silent = printing()) silent->life.skip(read_to(), observer_->now());
  Command* command = book_.current();
  if (book_.runs(command) && command->output) command->output->skip_lost(newlines);
}

void TerminalModel::feed_replies(std::string replies) {
  observer_->on_replies(std::move(replies));
}

void TerminalModel::resize(const pty::WindowSize& size) {
  spec_.size = size;
  feed_.output().resize(size.columns, size.rows);
  if (book_.current() != nullptr && book_.current()->output)
    book_.current()->output->resize(size.columns, size.rows);
}

void TerminalModel::end_synchronized_output() {
  feed_.output().end_synchronized_output();
  if (book_.current() != nullptr && book_.current()->output)
    book_.current()->output->end_synchronized_output();
}

// --- what the shell says

void TerminalModel::handle_events() {
  if (!shell_) return;
  for (const shell::TrackerEvent& event : shell_->tracker().take_events()) handle(event);
}

void TerminalModel::handle(const shell::TrackerEvent& event) {
  if (read_to() <= known_from_ && known_from_ > 0) {
    // Nobody knows these commands any more.
    if (std::holds_alternative<shell::CommandStarted>(event) ||
        std::holds_alternative<shell::CommandFinished>(event))
      return;
  }
  if (std::holds_alternative<shell::PromptReady>(event)) {
    prompt_ready();
  } else if (const auto* started = std::get_if<shell::CommandStarted>(&event)) {
    command_started(*started);
  } else if (const auto* finished = std::get_if<shell::CommandFinished>(&event)) {
    command_finished(*finished);
  } else if (std::holds_alternative<shell::IncompleteInput>(event)) {
    if (book_.current() != nullptr && book_.current()->submission) observer_->on_incomplete_input();
  } else if (const auto* quality = std::get_if<shell::QualityChanged>(&event)) {
    observer_->on_quality(*quality);
    observer_->on_changed(kMeta);
  } else if (std::holds_alternative<shell::ShellReturned>(event)) {
    shell_->returned();
    fallback_reason_.clear();
    observer_->on_shell_returned();
  } else if (const auto* cwd = std::get_if<shell::CwdChanged>(&event)) {
    shell_->cwd_changed(*cwd);
    observer_->on_changed(kMeta);
  } else if (const auto* environment = std::get_if<shell::EnvironmentChanged>(&event)) {
    shell_->environment_changed(*environment, ready_);
  }
}

void TerminalModel::prompt_ready() {
  if (shell_->integrated()) {
    fallback_reason_.clear();
    observer_->on_shell_integrated();
    observer_->on_changed(kMeta);
  }
  prompt_line_ = cursor_line();
  became_ready();
  observer_->on_prompt();
  observer_->on_changed(kPrompt);
}

void TerminalModel::submitted(Command& command) {
  book_.submission_used(*command.submission);
  command.sent = true;
  command.life.sent(observer_->now());
  book_.set_current(&command);
  command.typed_at = {shell_->tracker().ready() ? prompt_line_ : cursor_line(), 0};
  shell_->tracker().submitted({*command.submission, command.delivered, command.line, read_to(),
                               command.sentinel_nonce, command.quiet});
  handle_events();
  observer_->on_submitted();
}

void TerminalModel::typed(std::string_view bytes) {
  keys_since_start_ = true;
  shell_->tracker().typed(bytes, read_to());
}

void TerminalModel::unmarked(const ShellSession::Unmarked& what) {
  fallback_reason_ = what.why;
  shell_->unmarked(what, read_to());
  handle_events();
  shell_->unmarked_told();
}

void TerminalModel::start_timed_out() {
  shell_->start_timed_out();
  handle_events();
  became_ready();
}

void TerminalModel::resume(const shell::CommandTracker::AtPrompt& from) {
  shell_->resume(from);
  fallback_reason_.clear();
  ready_ = true;
  book_.set_current(nullptr);
  handle_events();
}

void TerminalModel::shell_gone(const journal::ExitRecord& exit) {
  const bool exited = exit.kind == journal::EndKind::Exited;
  const bool signaled = exit.kind == journal::EndKind::Signaled;
  shell_->tracker().shell_gone(exited ? std::optional(exit.code) : std::nullopt,
                               signaled ? std::optional(exit.code) : std::nullopt, read_to());
  handle_events();
}

void TerminalModel::close(bool lost) {
  finish_ending();
  closed_ = true;
  ready_ = true;
  lost_ = lost;
  for (Command* command : {book_.current(), book_.queued()}) {
    if (!book_.runs(command)) continue;
    lose(*command, lost ? "its holder was killed, so its exit status is not known"
                        : "its terminal ended first, so its exit status is not known");
  }
  book_.set_current(nullptr);
  book_.set_queued(nullptr);
}

// --- commands

Command& TerminalModel::add_command(std::string id, Owner by, std::string text,
                                    const command::LifeOptions& limits) {
  terminal::CommandResult facts;
  facts.command_id = id.empty() ? base::random_id('c') : std::move(id);
  facts.terminal_id = spec_.id;
  facts.command = std::move(text);
  facts.cwd = cwd();
  facts.started_at_ms = observer_->unix_ms();
  facts.place = spec_.place;
  facts.provider = pty::provider_name(provider_);
  facts.fallback_reason = fallback_reason_;
  facts.integration = shell::quality_name(quality());
  auto command = std::make_unique<Command>(limits, std::move(facts), observer_->now());
  command->by = by;
  return book_.add(std::move(command));
}

void TerminalModel::command_started(const shell::CommandStarted& event) {
  finish_ending();
  observer_->on_start_mark();
  Command* command = event.submission ? book_.find(*event.submission) : nullptr;
  if (command == nullptr) {
    if (exit_expected_) return;
    command = &add_command(observer_->typed_command_id(event.output_begin), Owner::User,
                           event.command_line.value_or(""));
    command->sent = true;
    command->typed_at.first = prompt_line_;
    if (event.command_line && typed_meanwhile_.size() < options_.records)
      typed_meanwhile_.push_back(*event.command_line);
  }
  command->started_seen = true;
  command->facts.integration = shell::quality_name(quality());
  if (!event.cwd.empty() && command->delivered == command->facts.command) command->facts.cwd = event.cwd;
  if (const auto below = feed_.newlines_below(event.output_begin)) command->newlines_before = below;
  command->life.begin(event.output_begin, observer_->now());
  command->output = std::make_unique<terminal::Output>(command_options());
  book_.set_current(command);
  note_typed_lines(*command);
  keys_since_start_ = false;
  observer_->on_changed(kCommandStarted);
  observer_->on_started(*command);
}

terminal::LineNumber TerminalModel::line_at(vt::StableRow row) const {
  const vt::Screen& screen = feed_.output().screen();
  if (screen.is_alternate() || row < screen.stable_row(0) || row >= screen.stable_row(screen.rows()))
    return 0;
  terminal::LineNumber line = feed_.output().transcript().size() + 1;
  for (int r = 0; screen.stable_row(r) < row; r++) line += screen.line(r).wrapped ? 0 : 1;
  return line;
}

terminal::LineNumber TerminalModel::cursor_line() const {
  const vt::Screen& screen = feed_.output().screen();
  return line_at(mark_row_.value_or(screen.stable_row(screen.cursor().row)));
}

void TerminalModel::note_typed_lines(Command& command) {
  const terminal::LineNumber output = mark_row_ ? cursor_line() : 0;
  TypedLines& typed = command.typed_at;
  typed.last = output - std::min<terminal::LineNumber>(output, 1);
  if (typed.first == 0 || typed.last < typed.first) return void(typed = {});
  // Where the screen was cleared the numbers begin again: older ones mean other lines.
  for (const auto& other : book_.commands()) {
    if (other.get() != &command && other->typed_at.last >= typed.first) other->typed_at = {};
  }
}

bool TerminalModel::typing() const {
  const Command* command = book_.current();
  return book_.runs(command) && command->sent && !command->started_seen && command->sentinel_nonce.empty() &&
         quality() == shell::Quality::Rich;
}

size_t TerminalModel::typed_part(terminal::LineNumber number, std::string_view text) const {
  const Command* current = book_.current();
  const bool unstarted = book_.runs(current) && current->sent && !current->started_seen;
  if (keys_since_start_ && !shell_->executing() && number == prompt_line_) return text.size();
  if (unstarted && number == current->typed_at.first) return text.size();
  for (const auto& command : book_.commands()) {
    if (number < command->typed_at.first || number > command->typed_at.last) continue;
    // Something may have been printed while it was typed: only lines with the text itself are meant.
    std::string_view rest = command->line.empty() ? command->facts.command : command->line;
    while (!rest.empty()) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      line = line.substr(0, line.find_first_of("\t\r\x1b"));
      const size_t end = line.find_last_not_of(' ');
      if (end == std::string_view::npos) continue;
      line = line.substr(0, end + 1);
      if (const size_t at = text.find(line); at != std::string_view::npos) return at + line.size();
    }
  }
  return 0;
}

void TerminalModel::command_finished(const shell::CommandFinished& event) {
  finish_ending();
  Command* command = event.submission ? book_.find(*event.submission) : nullptr;
  if (command == nullptr) command = book_.current();
  if (!book_.runs(command)) return;
  observer_->on_ended(*command, event);
  command->life.shell_finished(event, shell_->unmarked_reason(), observer_->now());
  command->has_echo = event.output_has_echo;
  if (!event.shell_gone && quality() != shell::Quality::Rich) {
    auto where = shell_->elsewhere() ? std::nullopt : observer_->kernel_cwd();
    if (where) shell_->kernel_cwd(std::move(*where));
    if (event.exit_code == 0) shell_->note_from_text(command->facts.command);
  }
  command->facts.cwd_after = event.shell_gone ? "" : cwd();
  if (command->has_echo) skip_echo(*command);
  if (shell_->identity().kind == shell::ShellKind::Bash) cut_hook_line(*command);
  if (event.shell_gone || !options_.hold_ends) return finish(*command);
  book_.set_ending(command);
  observer_->on_ending(*command);
}

// Where no mark says where the output begins, what was typed comes first.
void TerminalModel::skip_echo(Command& command) {
  const size_t most =
      std::min<uint64_t>(command.range().end - command.range().begin, command.line.size() + 4096);
  uint64_t next = 0;
  if (const auto head = feed_.raw(command.range().begin, most, &next)) {
    const size_t at = command.line.empty() ? std::string::npos : head->find(command.line);
    const size_t end =
        at == std::string::npos ? head->find('\n') : head->find('\n', at + command.line.size());
    if (end != std::string::npos)
      command.life.set_range({command.range().begin + end + 1, command.range().end});
  }
  command.output.reset();  // made anew from the right beginning
}

// With `set -v` bash prints what it reads: before its mark, the line that prints the mark.
void TerminalModel::cut_hook_line(Command& command) {
  const bool verbose = shell_->tracker().reading().has_option("verbose");
  if (!verbose && command.delivered.find("set") == std::string::npos) return;
  for (const std::string_view hook : shell::kBashHooks) {
    const std::string line = std::string(hook) + "\r\n";
    const shell::ByteRange range = command.range();
    if (range.end - range.begin < line.size()) continue;
    uint64_t next = 0;
    const auto tail = feed_.raw(range.end - line.size(), line.size(), &next);
    if (!tail || *tail != line) continue;
    command.life.set_range({range.begin, range.end - line.size()});
    command.output.reset();  // made anew without it
    return;
  }
}

// For a terminal that is one command: the kernel's own word.
void TerminalModel::command_exited(Command& command, const journal::ExitRecord& exit) {
  command.facts.place = spec_.place;
  command.facts.provider = pty::provider_name(provider_);
  command.facts.fallback_reason = fallback_reason_;
  command.life.set_range({0, read_to()});
  command.life.exited(exit, read_to(), observer_->now());
  if (command.over()) finish(command);
}

void TerminalModel::left_behind(Command& command, std::vector<terminal::BackgroundProcess> processes,
                                std::vector<terminal::OpenPort> ports) {
  if (command.over()) return;
  command.life.left_behind(std::move(processes), std::move(ports), observer_->now());
  finish(command);
}

void TerminalModel::finish_ending() {
  Command* command = book_.take_ending();
  if (command == nullptr) return;
  command->facts.cwd_after = cwd();
  finish(*command);
}

void TerminalModel::fail(Command& command, CommandState state, std::string reason) {
  command.life.fail(state, std::move(reason), observer_->now());
  finish(command);
}

void TerminalModel::lose(Command& command, std::string reason) {
  command.life.lost(std::move(reason), observer_->now());
  finish(command);
}

void TerminalModel::finish(Command& command) {
  if (std::exchange(command.recorded, true)) return;
  command.life.finish(observer_->now());
  terminal::CommandResult& facts = command.facts;
  observer_->on_finishing(command);
  facts.total_bytes = command.range().end - command.range().begin;
  facts.lost_bytes = lost_of(command);
  if (command.output) {
    command.output->finish();
    facts.total_lines = command.output->transcript().size();
    facts.binary = command.output->is_binary();
    facts.encoding = command.output->encoding();
  } else if (spec_.temporary() && !journal_lost_) {
    feed_.output().as_if_finished(
        [&](const terminal::Transcript& lines) { facts.total_lines = lines.size(); });
    facts.binary = feed_.output().is_binary();
    facts.encoding = feed_.output().encoding();
  }
  book_.ended(command);
  observer_->on_finished(command);
  book_.forget_outputs();
  observer_->on_changed(kCommandFinished);
}

uint64_t TerminalModel::lost_of(const Command& command) const {
  if (journal_lost_) return command.facts.total_bytes;
  const uint64_t begin = command.range().begin;
  return feed_.lost_in({begin, command.over() ? command.range().end : std::max(read_to(), begin)});
}

// --- outputs

terminal::Output& TerminalModel::output_of(Command& command) {
  if (spec_.temporary()) return feed_.output();
  if (!command.output) {
    OutputMaking making(command_options(), feed_, source_of(command));
    making.step(Clock::duration::max());
    keep_output(command, making.take());
  }
  return *command.output;
}

OutputMaking::Source TerminalModel::source_of(const Command& command) const {
  if (!command.started_seen) return {};
  return {{command.range().begin, command.over() ? command.range().end : read_to()},
          command.newlines_before,
          command.over(),
          command.facts.total_lines};
}

std::unique_ptr<OutputMaking> TerminalModel::make_output(const Command* command, Colours colours) {
  const bool all = command == nullptr || spec_.temporary();
  // While a command runs its output grows: it is not made in slices.
  if (colours == Colours::Without && (all || command->output || !command->over())) return nullptr;
  terminal::OutputOptions options = all ? output_options(Of::All) : command_options();
  options.with_styles = colours == Colours::With;
  // Who reads it may keep it longer than there is a terminal.
  if (options.with_styles) options.transcript.kept = nullptr;
  const OutputMaking::Source source =
      all ? OutputMaking::Source{{0, read_to()}, 0, closed_, 0} : source_of(*command);
  return std::make_unique<OutputMaking>(options, feed_, source);
}

void TerminalModel::keep_output(Command& command, std::unique_ptr<terminal::Output> output) {
  if (!command.output) command.output = std::move(output);
}

}  // namespace ttyward::engine
