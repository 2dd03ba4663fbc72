// Commands in a terminal: accepted, typed, started, ended.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ctime>

#include <boost/json/array.hpp>

#include "base/ids.h"
#include "base/mask_secrets.h"
#include "engine/json_fields.h"
#include "engine/terminal.h"
#include "engine/time.h"
#include "pty/exit_status.h"
#include "pty/listening_ports.h"
#include "pty/proc.h"
#include "pty/process_tree.h"
#include "shell/piped.h"
#include "shell/quoting.h"
#include "shell/sentinel.h"
#include "shell/text_tracking.h"

namespace ttyward::engine {

using terminal::CommandState;

namespace {
constexpr pid_t kMostYounger = 2000;  // processes looked at one by one
constexpr int kDeepest = 64;          // generations

// Of all processes, the one that was made last; 0: not known. Numbers are given in turn.
pid_t newest_pid() {
  const auto text = pty::read_proc_file("/proc/loadavg");
  const size_t at = text ? text->find_last_of(' ') : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(text->c_str() + at, nullptr, 10));
}

bool descends_from(const pty::ProcessStat& process, pid_t ancestor) {
  pid_t parent = process.parent;
  for (int i = 0; i < kDeepest && parent > 1; i++) {
    if (parent == ancestor) return true;
    const auto stat = pty::read_stat(parent);
    parent = stat ? stat->parent : 0;
  }
  return false;
}

int64_t boot_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

boost::json::array background_record(const std::vector<terminal::BackgroundProcess>& processes) {
  boost::json::array list;
  for (const auto& process : processes)
    list.push_back(boost::json::object{{"pid", process.pid}, {"command", process.command}});
  return list;
}
}  // namespace

Command& Terminal::add_command(std::string id, Owner by, std::string text) {
  auto command = std::make_unique<Command>();
  command->by = by;
  command->facts.command_id = id.empty() ? base::random_id('c') : std::move(id);
  command->facts.terminal_id = spec_.id;
  command->facts.command = std::move(text);
  command->facts.cwd = cwd_;
  command->facts.started_at_ms = unix_ms();
  command->facts.provider = pty::provider_name(provider_);
  command->facts.fallback_reason = fallback_reason_;
  command->facts.integration = shell::quality_name(quality());
  command->started = command->last_output = Clock::now();
  commands_.push_back(std::move(command));
  while (commands_.size() > host_.settings.records && commands_.front()->over) {
    forgotten_.push_back(commands_.front()->facts.command_id);
    commands_.pop_front();
  }
  if (!replaying_) tell_forgotten();
  return *commands_.back();
}

// Not while it is read back: that happens on several threads at once.
void Terminal::tell_forgotten() {
  for (const std::string& id : std::exchange(forgotten_, {})) {
    if (host_.on_command_forgotten) host_.on_command_forgotten(id);
  }
}

base::Result<Command*> Terminal::submit(CommandRequest request) {
  if (closed_) {
    return base::fail(base::ErrorCode::Unavailable,
                      "terminal " + spec_.id + " has ended; open another one to run this");
  }
  if (spec_.temporary()) {
    return base::fail(base::ErrorCode::InvalidArgument,
                      "terminal " + spec_.id + " runs one command only; open a persistent terminal");
  }
  if (auto checked = shell::check_command_text(request.text); !checked)
    return tl::unexpected(checked.error());
  if (ready_ && !can_follow() && !request.sentinel) {
    return base::fail(
        base::ErrorCode::Unsupported,
        "terminal " + spec_.id + " has no shell integration: what runs in it cannot be followed");
  }
  if (queued_ != nullptr || (busy() && (on_pipes() || !request.sentinel))) {
    const Command* with = queued_ != nullptr ? queued_ : current_;
    const std::string what = with != nullptr ? "'" + with->facts.command + "'" : "a command somebody typed";
    return base::fail(base::ErrorCode::Unavailable,
                      "terminal " + spec_.id + " is busy with " + what +
                          "; wait for it, interrupt it, or use another terminal");
  }
  Command& command = add_command(std::move(request.id), request.by, request.text);
  command.delivered = request.cwd.empty() ? request.text : with_cwd(request.text, request.cwd);
  if (!request.cwd.empty()) command.facts.cwd = request.cwd;
  command.facts.verdict_json = std::move(request.verdict_json);
  command.second_look = std::move(request.second_look);
  command.timeout = request.timeout;
  command.idle_timeout = request.idle_timeout;
  const bool unmarked = marks_lost_ && !integrating_ && quality() == shell::Quality::None;
  if (request.sentinel || on_pipes() || unmarked) command.sentinel_nonce = base::random_nonce();
  queued_ = &command;
  promised_until_ = {};
  // The caller's time begins now, whether or not the shell is ready.
  arm_times();
  changed(kMeta);
  host_.loop.post([this, alive = alive_] {
    if (*alive) pump();
  });
  return &command;
}

// The same command elsewhere, and the shell back where it was.
std::string Terminal::with_cwd(const std::string& text, const std::string& cwd) const {
  const shell::Dialect dialect = shell::dialect_of(identity_.kind);
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

// Sends what is queued once the shell can take it.
void Terminal::pump() {
  if (queued_ == nullptr || closed_ || !link_ || replaying_) return;
  Command& command = *queued_;
  const bool for_shell = command.sentinel_nonce.empty();
  if (for_shell) {
    if (!tracker_ || !tracker_->ready()) return;
    if (lease_ && command.by == Owner::Agent) return;  // when it is given back
    if (tracker_->line_begun()) {
      // A person left half a line: it goes, as Ctrl-C would have it, and the new prompt brings us back.
      if (break_timer_ != 0) return;
      send_bytes(shell::kAbandonInput, {});
      return note_break();
    }
    if (break_timer_ != 0) return;
    const bool paste = output_->screen().modes().has(vt::Mode::BracketedPaste);
    if (!paste && shell::has_line_editor(identity_.kind) && !editor_waited_) {
      if (editor_timer_ == 0) {
        editor_timer_ = host_.loop.after(std::chrono::milliseconds(shell::kEditorGraceMs), [this] {
          editor_timer_ = 0;
          editor_waited_ = true;
          pump();
        });
      }
      return;
    }
    host_.loop.cancel(editor_timer_);
    // Whatever got onto the line since the prompt came is nobody's command. mksh would print its prompt
    // again, with marks that end a command.
    if (std::exchange(clear_line_, false) && identity_.kind != shell::ShellKind::Mksh) {
      send_bytes(shell::kClearLine, {});
    }
  }
  queued_ = nullptr;
  // Since it was decided the folder, its files or the shell may have become something else.
  if (const auto look = std::exchange(command.second_look, nullptr)) {
    if (std::string objection = look(); !objection.empty()) {
      command.facts.state = CommandState::Denied;
      command.facts.reason = std::move(objection);
      return finish(command);
    }
  }
  if (auto sent = send_command(command); !sent) {
    command.facts.state = CommandState::FailedToStart;
    command.facts.reason = sent.error().message;
    finish(command);
  }
}

base::Result<void> Terminal::write_command_file(Command& command, std::string_view content) {
  command.file = private_folder_ + "/" + command.facts.command_id + ".cmd";
  ::unlink(command.file.c_str());
  const base::UniqueFd file(
      ::open(command.file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_errno(errno, "cannot write " + command.file);
  for (size_t at = 0; at < content.size();) {
    const ssize_t n = ::write(file.get(), content.data() + at, content.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail_errno(errno, "cannot write " + command.file);
    at += static_cast<size_t>(n);
  }
  return {};
}

base::Result<std::string> Terminal::sentinel_bytes(Command& command) {
  if (!on_pipes()) {
    auto made = shell::make_sentinel(command.delivered, command.sentinel_nonce,
                                     marks_lost_ ? shell::dialect_of(identity_.kind) : shell::Dialect::Posix);
    if (!made) return tl::unexpected(made.error());
    return std::move(made->bytes);
  }
  if (command.delivered.size() > shell::kMostPipedText) {
    if (auto written = write_command_file(command, command.delivered); !written)
      return tl::unexpected(written.error());
  }
  return shell::piped_line(command.delivered, command.sentinel_nonce, identity_.kind, command.file);
}

base::Result<void> Terminal::send_command(Command& command) {
  command.submission = ++last_submission_;
  std::string bytes;
  if (!command.sentinel_nonce.empty()) {
    auto sentinel = sentinel_bytes(command);
    if (!sentinel) return tl::unexpected(sentinel.error());
    bytes = std::move(*sentinel);
  } else {
    shell::DeliveryContext context;
    context.kind = identity_.kind;
    context.bracketed_paste = output_->screen().modes().has(vt::Mode::BracketedPaste);
    context.history = host_.settings.history;
    context.nonce = tracker_->next_nonce();
    context.file_name = command.facts.command_id + ".cmd";
    auto delivery = shell::deliver(command.delivered, context);
    if (!delivery) return tl::unexpected(delivery.error());
    if (delivery->file_content) {
      if (auto written = write_command_file(command, *delivery->file_content); !written) return written;
    }
    bytes = std::move(delivery->bytes);
    command.line = std::move(delivery->line);
  }
  command.sent = true;
  command.newlines_before = newlines_;
  pid_before_ = newest_pid();
  command.facts.cwd = command.delivered == command.facts.command ? cwd_ : command.facts.cwd;
  current_ = &command;
  boost::json::object entry{{"k", "submit"},
                            {"c", command.facts.command_id},
                            {"n", *command.submission},
                            {"by", owner_name(command.by)},
                            {"text", command.facts.command},
                            {"delivered", command.delivered},
                            {"line", command.line},
                            {"file", command.file},
                            {"cwd", command.facts.cwd},
                            {"sentinel", command.sentinel_nonce},
                            {"verdict", command.facts.verdict_json},
                            {"started_at", command.facts.started_at_ms},
                            {"timeout_ms", command.timeout.count()},
                            {"idle_timeout_ms", command.idle_timeout.count()},
                            {"at", read_to_},
                            {"marks", tracker_->nonces_used()},
                            {"input", input_sent_},
                            {"prompt", at_prompt()}};
  if (auto logged = log_->append(entry); !logged) return logged;
  tracker_->submitted(
      {*command.submission, command.delivered, command.line, read_to_, command.sentinel_nonce});
  for (shell::TrackerEvent& event : tracker_->take_events()) handle(std::move(event));
  send_bytes(bytes, [this, alive = alive_, id = command.facts.command_id](const base::Result<void>& sent) {
    if (!*alive) return;
    Command* typed = find(id);
    if (typed == nullptr || typed->over) return;
    typed->accepted = sent.has_value();
    if (sent) return tidy_log(*typed);
    typed->facts.state = CommandState::FailedToStart;
    typed->facts.reason = sent.error().message;
    finish(*typed);
  });
  look_when_silent();
  changed(kCommandState);
  return {};
}

void Terminal::command_started(const shell::CommandStarted& event) {
  finish_ending();
  blank_nonce();
  Command* command = nullptr;
  if (event.submission) {
    for (const auto& known : commands_) {
      if (known->submission == event.submission && !known->over) command = known.get();
    }
  }
  if (command == nullptr) {
    if (killing_) return;  // the `exit` of kill() is nobody's command
    // Typed by somebody at the keyboard.
    std::string id;
    if (const auto known = typed_ids_.find(event.output_begin); known != typed_ids_.end()) id = known->second;
    command = &add_command(std::move(id), Owner::User, event.command_line.value_or(""));
    command->sent = true;
    pid_before_ = 0;
    log({{"k", "typed_command"},
         {"c", command->facts.command_id},
         {"begin", event.output_begin},
         {"at", read_to_},
         {"prompt", prompt_}});
    if (event.command_line && typed_meanwhile_.size() < host_.settings.records) {
      typed_meanwhile_.push_back(*event.command_line);
    }
  }
  command->started_seen = true;
  command->facts.integration = shell::quality_name(quality());
  if (!event.cwd.empty() && command->delivered == command->facts.command) command->facts.cwd = event.cwd;
  command->range.begin = event.output_begin;
  if (const auto below = newlines_below(event.output_begin)) command->newlines_before = below;
  command->started = command->last_output = Clock::now();
  command->output = std::make_unique<terminal::Output>(output_options(source_of_commands()));
  current_ = command;
  changed(kCommandStarted);
  look_when_silent();
  if (interrupt_due_ && !replaying_) send_interrupt();
}

void Terminal::command_finished(const shell::CommandFinished& event) {
  finish_ending();
  Command* command = current_;
  if (event.submission) {
    for (const auto& known : commands_) {
      if (known->submission == event.submission && !known->over) command = known.get();
    }
  }
  if (command == nullptr || command->over) return;
  host_.loop.cancel(abandon_timer_);
  replies_.clear();  // who asked is gone
  if (event.known_by == shell::KnownBy::ShellMark) failed_integrations_ = 0;
  terminal::CommandResult& facts = command->facts;
  command->range = event.output;
  if (!command->answered) {
    facts.duration_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - command->started).count();
  }
  command->has_echo = event.output_has_echo;
  facts.known_by = shell::known_by_name(event.known_by);
  facts.pipeline = event.pipeline;
  facts.exit_code = event.exit_code;
  if (event.signal || !event.exit_code) facts.core_dumped.reset();
  if (event.signal) facts.signal = pty::signal_name(*event.signal);
  if (!event.shell_gone) read_kernel_cwd();
  if (!event.shell_gone && event.exit_code == 0 && quality() != shell::Quality::Rich)
    note_from_text(*command);
  facts.cwd_after = event.shell_gone ? "" : cwd_;
  if (!command->answered) {
    // A shell says 128 + n for a part of its command that was killed by signal n.
    const bool by_interrupt = command->interrupted && (!event.exit_code || *event.exit_code == 128 + SIGINT ||
                                                       *event.exit_code == 256 + SIGINT);
    if (event.signal) {
      facts.state = CommandState::Signaled;
    } else if (by_interrupt) {
      facts.state = CommandState::Interrupted;
    } else if (event.exit_code) {
      facts.state = CommandState::Exited;
    } else {
      facts.state = event.known_by == shell::KnownBy::Nothing && event.shell_gone ? CommandState::Lost
                                                                                  : CommandState::Exited;
      facts.reason = unmarked_reason_.empty() ? "it ended, but how was not observed"
                                              : "how it ended was not observed: " + unmarked_reason_;
    }
    if (event.incomplete) {
      facts.reason =
          "the command is not complete (an open quote, bracket or heredoc): the shell asked for "
          "more, and it was abandoned";
    } else if (!event.executed) {
      facts.reason = "the shell refused it (a syntax error) and ran nothing";
    } else if (event.shell_gone && facts.reason.empty()) {
      facts.reason = "it ended the shell";
    } else if (event.left_alternate && facts.reason.empty()) {
      facts.reason = "a full-screen program went away without restoring the screen";
    }
    facts.decode_shell_code();
  }
  if (command->has_echo) skip_echo(*command);
  const auto delay = host_.settings.command_delay;
  if (event.shell_gone || delay.count() == 0) return finish(*command);
  ending_ = command;
  if (replaying_) return;
  ending_timer_ = host_.loop.after(delay, [this] {
    ending_timer_ = 0;
    finish_ending();
  });
}

// For shells that report nothing: what their commands say. Where they are is known from the text only if the
// kernel cannot be asked, because the shell is elsewhere.
void Terminal::note_from_text(const Command& command) {
  if (shell_elsewhere()) {
    if (auto moved = shell::cwd_after(command.facts.command, cwd_, "")) {
      cwd_ = std::move(*moved);
      cwd_known_by_ = "text";
    }
    return;
  }
  if (!command.facts.command.starts_with("export ")) return;
  for (const auto& [name, value] : shell::assigned_by(command.facts.command)) {
    const std::string assignment = name + "=" + value;
    environment_[name] = base::mask_secrets(assignment) == assignment ? value : "[hidden]";
  }
}

void Terminal::finish_ending() {
  Command* command = std::exchange(ending_, nullptr);
  if (command == nullptr) return;
  host_.loop.cancel(ending_timer_);
  command->facts.cwd_after = cwd_;
  finish(*command);
}

// Where no mark says where the output begins, what was typed comes first.
void Terminal::skip_echo(Command& command) {
  const size_t most = std::min<uint64_t>(command.range.end - command.range.begin, command.line.size() + 4096);
  uint64_t next = 0;
  const auto head = raw(command.range.begin, most, &next);
  if (head) {
    const size_t at = command.line.empty() ? std::string::npos : head->find(command.line);
    const size_t end =
        at == std::string::npos ? head->find('\n') : head->find('\n', at + command.line.size());
    if (end != std::string::npos) command.range.begin += end + 1;
  }
  command.output.reset();  // made anew from the right beginning
}

// For a terminal that is one command: the kernel's own word.
void Terminal::fill_exit(Command& command, const journal::ExitRecord& exit) {
  terminal::CommandResult& facts = command.facts;
  if (exit.kind == journal::EndKind::Exited) facts.exit_code = exit.code;
  if (exit.kind == journal::EndKind::Signaled) facts.signal = pty::signal_name(exit.code);
  facts.core_dumped.reset();
  if (exit.kind != journal::EndKind::Unknown) facts.core_dumped = exit.core_dumped != 0;
  facts.known_by = exit.kind == journal::EndKind::Unknown ? "" : "wait";
  facts.cpu_ms = static_cast<int64_t>(exit.cpu_ms);
  facts.max_rss_kib = static_cast<int64_t>(exit.max_rss_kib);
  facts.duration_ms = static_cast<int64_t>(exit.run_us / 1000);
  facts.provider = pty::provider_name(provider_);
  facts.fallback_reason = fallback_reason_;
  command.range = {0, read_to_};
  if (!command.answered) {
    facts.state = exit.kind == journal::EndKind::Exited     ? CommandState::Exited
                  : exit.kind == journal::EndKind::Signaled ? CommandState::Signaled
                                                            : CommandState::Lost;
    if (command.interrupted && (facts.state == CommandState::Signaled || facts.exit_code == 128 + SIGINT)) {
      facts.state = CommandState::Interrupted;
    }
    if (exit.reason == journal::EndReason::Overflow) {
      facts.reason = "ended: its output reached the journal's quota, and the overflow policy is kill";
    }
  }
  finish(command);
}

void Terminal::finish(Command& command) {
  if (command.over) return;
  command.over = true;
  command.answered = true;
  interrupt_due_ = false;
  terminal::CommandResult& facts = command.facts;
  facts.waiting.reset();
  if (command.range.end < command.range.begin) command.range.end = command.range.begin;
  if (!spec_.temporary() && facts.duration_ms == 0) {
    facts.duration_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - command.started).count();
  }
  if (const auto known = finished_records_.find(facts.command_id);
      replaying_ && known != finished_records_.end()) {
    overlay(command, known->second);
  }
  if (!spec_.temporary() && !replaying_) list_background(command);
  facts.total_bytes = command.range.end - command.range.begin;
  facts.lost_bytes = lost_of(command);
  if (command.output) {
    command.output->finish();
    facts.total_lines = command.output->transcript().size();
    facts.binary = command.output->is_binary();
    facts.encoding = command.output->encoding();
  } else if (spec_.temporary() && output_ && !damage_) {
    output_->as_if_finished([&](const terminal::Transcript& lines) { facts.total_lines = lines.size(); });
    facts.binary = output_->is_binary();
    facts.encoding = output_->encoding();
  }
  if (!command.file.empty()) ::unlink(command.file.c_str());
  if (queued_ == &command) queued_ = nullptr;
  if (current_ == &command) {
    host_.loop.cancel(times_timer_);
    host_.loop.cancel(climb_timer_);
    host_.loop.cancel(abandon_timer_);
    current_ = nullptr;
  }
  log({{"k", "finish"},
       {"c", facts.command_id},
       {"at", read_to_},
       {"state", terminal::command_state_name(facts.state)},
       {"exit_code", facts.exit_code ? boost::json::value(*facts.exit_code) : nullptr},
       {"signal", facts.signal},
       {"known_by", facts.known_by},
       {"reason", facts.reason},
       {"cwd_after", facts.cwd_after},
       {"duration_ms", facts.duration_ms},
       {"marks", tracker_ ? tracker_->nonces_used() : 0},
       {"begin", command.range.begin},
       {"end", command.range.end},
       {"lost", facts.lost_bytes},
       {"newlines_before", command.newlines_before.value_or(0)},
       {"lines", facts.total_lines},
       {"background", background_record(facts.background)}});
  tidy_log(command);
  record(command);
  forget_outputs();
  changed(kCommandFinished);
}

// What was printed is in the journal: lines of commands that are over are made again when somebody asks. The
// newest are asked for as a rule; and those that take long to make are kept a while longer.
void Terminal::forget_outputs() {
  constexpr size_t kNewestKept = 2;
  constexpr size_t kLargeKept = 8;
  constexpr uint64_t kLarge = 4 << 20;  // bytes that take more than a moment
  size_t kept = 0;
  for (auto at = commands_.rbegin(); at != commands_.rend(); ++at) {
    Command& command = **at;
    if (!command.over || !command.output) continue;
    const bool large = command.range.end - command.range.begin > kLarge;
    if (++kept > (large ? kLargeKept : kNewestKept)) command.output.reset();
  }
}

// What it started and did not wait for. Jobs of an interactive shell have groups of their own; what is in the
// shell's group belongs to its prompt. Only processes that are younger than the command are looked at: there
// are few, and a look at all of them would cost more than most commands.
void Terminal::list_background(Command& command) {
  if (child_pid_ <= 0 || holder_pid_ <= 0 || closed_ || exit_ || !command.started_seen) return;
  std::vector<pid_t> pids;
  const auto consider = [&](const pty::ProcessStat& process) {
    const bool of_prompt = process.group == child_pid_ && !on_pipes();
    if (process.pid == child_pid_ || process.zombie() || of_prompt) return;
    pids.push_back(process.pid);
    command.facts.background.push_back({process.pid, pty::read_command_line(process.pid)});
  };
  const pid_t newest = newest_pid();
  if (pid_before_ > 0 && newest >= pid_before_ && newest - pid_before_ <= kMostYounger) {
    for (pid_t pid = pid_before_ + 1; pid <= newest; pid++) {
      const auto process = pty::read_stat(pid);
      if (process && descends_from(*process, holder_pid_)) consider(*process);
    }
  } else if (const auto below = pty::descendant_stats(holder_pid_)) {
    const int64_t began =
        boot_ms() -
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - command.started).count();
    const int64_t tick_ms = 1000 / ::sysconf(_SC_CLK_TCK);
    for (const pty::ProcessStat& process : *below) {
      if (static_cast<int64_t>(process.start_time + 1) * tick_ms >= began) consider(process);
    }
  }
  list_ports(command.facts, pids);
}

void Terminal::list_ports(terminal::CommandResult& facts, std::span<const pid_t> pids) {
  if (pids.empty()) return;
  for (const auto& port : pty::listening_ports(pids).value_or(std::vector<pty::ListeningPort>()))
    facts.ports.push_back({port.port, port.pid});
}

void Terminal::record(const Command& command) {
  if (host_.on_record && !replaying_) host_.on_record(*this, command);
}

terminal::CommandResult Terminal::facts(const Command& command) const {
  terminal::CommandResult result = command.facts;
  if (!command.over) {
    if (!command.answered) {
      result.duration_ms =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - command.started).count();
    }
    result.total_bytes = command.started_seen ? read_to_ - std::min(read_to_, command.range.begin) : 0;
    result.lost_bytes = command.started_seen || spec_.temporary() ? lost_of(command) : 0;
    add_live_facts(command, result);
  }
  if (spec_.temporary() && child_pid_ > 0) result.pid = result.process_group = child_pid_;
  return result;
}

// What is true of a command only until it ends.
void Terminal::add_live_facts(const Command& command, terminal::CommandResult& result) const {
  if (command.answered) return;
  const auto left = [](Clock::time_point from, std::chrono::milliseconds limit) -> std::optional<int64_t> {
    if (limit.count() == 0) return std::nullopt;
    return std::max<int64_t>(
        0, std::chrono::duration_cast<std::chrono::milliseconds>(from + limit - Clock::now()).count());
  };
  if (result.reason.empty() && paused()) {
    result.reason =
        "paused: its output has reached the journal's quota; to let it go on: ttyward resume " + spec_.id;
  }
  result.time_left_ms = left(command.started, command.timeout);
  result.idle_left_ms = left(command.last_output, command.idle_timeout);
  if (lease_ && !command.sent && result.state == CommandState::Running) {
    result.state = CommandState::Queued;
    result.reason = "it has not begun: " + lease_->by + " has the keyboard of this terminal";
  } else if (!spec_.temporary() && command.started_seen && child_pid_ > 0) {
    const pid_t front = foreground_group();
    if (front > 0 && front != child_pid_) result.pid = result.process_group = front;
  }
}

bool Terminal::feed_from_journal(terminal::Output& output, uint64_t begin, uint64_t end,
                                 std::optional<uint64_t> newlines_before) {
  if (!reader_) return false;
  bool end_missing = false;
  if (newlines_before) reader_->know_newlines(begin, *newlines_before);
  std::string buffer(64 * 1024, '\0');
  for (uint64_t at = begin; at < end;) {
    const size_t most = std::min<uint64_t>(end - at, buffer.size());
    const auto chunk = reader_->read(at, std::as_writable_bytes(std::span(buffer.data(), most)));
    if (!chunk || (chunk->bytes == 0 && chunk->gap == 0)) break;
    if (chunk->gap > 0) {
      end_missing = chunk->gap > end - at;
      if (!end_missing) output.skip_lost(chunk->newlines.value_or(0));
    } else {
      output.feed(std::string_view(buffer).substr(0, chunk->bytes));
    }
    at += chunk->bytes + chunk->gap;
  }
  return end_missing;
}

const terminal::Output& Terminal::output_of(Command& command) {
  if (spec_.temporary()) return *output_;
  if (command.output) return *command.output;
  command.output = std::make_unique<terminal::Output>(output_options(source_of_commands()));
  const bool end_missing =
      feed_from_journal(*command.output, command.range.begin, command.over ? command.range.end : read_to_,
                        command.newlines_before);
  if (command.over) command.output->finish();
  if (command.over && end_missing) command.output->count_lost_end(command.facts.total_lines);
  return *command.output;
}

std::unique_ptr<terminal::Output> Terminal::styled_output(const Command* command) {
  const bool all = command == nullptr || spec_.temporary();
  terminal::OutputOptions options = output_options(all ? source_of_all() : source_of_commands());
  options.with_styles = true;
  auto output = std::make_unique<terminal::Output>(options);
  if (all) {
    feed_from_journal(*output, 0, read_to_, 0);
  } else if (command->started_seen) {
    feed_from_journal(*output, command->range.begin, command->over ? command->range.end : read_to_,
                      command->newlines_before);
  }
  if (all ? closed_ : command->over) output->finish();
  return output;
}

terminal::CommandResult Terminal::result(const Command& command, const terminal::ViewLimits& view) {
  terminal::CommandResult result = facts(command);
  if (!command.over && command.started_seen && holder_pid_ > 0) {
    std::vector<pid_t> pids;
    for (const auto& process :
         pty::quick_descendant_stats(holder_pid_).value_or(std::vector<pty::ProcessStat>()))
      pids.push_back(process.pid);
    list_ports(result, pids);
  }
  if (!command.started_seen && !spec_.temporary()) return result;
  auto& output = const_cast<terminal::Output&>(output_of(const_cast<Command&>(command)));
  result.lost_bytes = lost_of(command);
  result.binary = output.is_binary();
  if (result.binary) {
    result.output.text = "[binary output: " + std::to_string(result.total_bytes) + " bytes, not shown]\n";
    return result;
  }
  result.encoding = output.encoding();
  result.no_newline = command.over && output.ends_in_line();
  output.as_if_finished([&](const terminal::Transcript& transcript) {
    result.total_lines = transcript.size();
    result.output = make_view(transcript, view);
  });
  return result;
}

}  // namespace ttyward::engine
